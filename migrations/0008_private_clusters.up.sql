SET lock_timeout = '5s';

-- Clusters of the proxies' bootstrap that may carry the proxies' own credentials, sorted: nothing that is written may name one, but by who
-- may write the guard rule bootstrap_names. They are there without being in static_clusters.
ALTER TABLE fleets
  ADD COLUMN private_clusters text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (cardinality(private_clusters) <= 100);
-- Why a client was not let in.
ALTER TYPE denied_reason ADD VALUE 'routed';
GRANT UPDATE (private_clusters) ON fleets TO fairlead_app;
