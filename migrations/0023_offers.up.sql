SET lock_timeout = '5s';

-- The offer of the node in which it was refused or, of what has ended, the last one that ended it (Go's fleet.Offer); 0: of a server of before.
ALTER TABLE node_exceptions ADD COLUMN offer bigint NOT NULL DEFAULT 0;
