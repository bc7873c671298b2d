SET lock_timeout = '5s';
ALTER TABLE node_status DROP COLUMN duplicates;
