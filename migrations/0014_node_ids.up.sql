SET lock_timeout = '5s';

-- Whether several clients may have one node id at once. The xDS servers act on it, so it stands where they read.
ALTER TABLE fleet_heads ADD COLUMN node_ids text NOT NULL DEFAULT 'shared' CHECK (node_ids IN ('shared', 'exclusive'));

-- Which nodes a credential is for is said when it is made: all of them has to be written.
ALTER TABLE node_credentials ALTER COLUMN nodes DROP DEFAULT;
