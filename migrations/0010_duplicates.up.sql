SET lock_timeout = '5s';

-- How many clients with the node's id one server has had for half a minute; 0: one, or it cannot tell.
ALTER TABLE node_status ADD COLUMN duplicates integer NOT NULL DEFAULT 0;
