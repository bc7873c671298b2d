SET lock_timeout = '5s';
ALTER TABLE node_exceptions DROP COLUMN good_revision, DROP COLUMN good_ttl_ms, DROP COLUMN good_derived;
ALTER TABLE node_status DROP COLUMN clean;
