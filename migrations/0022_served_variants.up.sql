SET lock_timeout = '5s';

-- Each variant of a cluster's document is served with all of the cluster's endpoints: what they count is taken so often.
ALTER TABLE endpoint_clusters ADD COLUMN variants integer NOT NULL DEFAULT 1; -- that are served with them, when it was built last

-- Leases that are held are swept apart from those that expire.
DROP INDEX endpoint_leases_due;
CREATE INDEX endpoint_leases_due ON endpoint_leases (due_at) WHERE held_since IS NULL;
CREATE INDEX endpoint_leases_held ON endpoint_leases (due_at) WHERE held_since IS NOT NULL;
