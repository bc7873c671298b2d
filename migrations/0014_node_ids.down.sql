SET lock_timeout = '5s';
ALTER TABLE node_credentials ALTER COLUMN nodes SET DEFAULT '*';
ALTER TABLE fleet_heads DROP COLUMN node_ids;
