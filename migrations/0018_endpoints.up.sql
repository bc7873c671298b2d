SET lock_timeout = '5s';

-- Endpoints as data: what is registered beside the tenant's own ClusterLoadAssignments. What is served of a cluster is built of both, and stands beside the document
-- (resources.served_...): no revision of a document moves by it, so that history, rollback, export and preconditions are of documents alone.

-- The right to be an endpoint until a time. Who registers renews it.
CREATE TABLE endpoint_leases (
  tenant_id  uuid NOT NULL,
  fleet_id   uuid NOT NULL,
  id         uuid NOT NULL,
  ttl_ms     bigint NOT NULL CHECK (ttl_ms BETWEEN 5000 AND 86400000),
  expires_at timestamptz NOT NULL,
  due_at     timestamptz NOT NULL,           -- when the sweep looks at it next. A renewal leaves it, so that it changes no index
  keep_last  boolean NOT NULL DEFAULT false, -- at its end the last endpoints of a cluster stay
  held_since timestamptz,                    -- it has run out, and its endpoints stay for that or after an outage; null: no
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, fleet_id, id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX endpoint_leases_due ON endpoint_leases (due_at);

CREATE TABLE endpoints (
  tenant_id  uuid NOT NULL,
  fleet_id   uuid NOT NULL,
  cluster    text COLLATE "C" NOT NULL CHECK (octet_length(cluster) BETWEEN 1 AND 512), -- the name of the ClusterLoadAssignment
  address    text COLLATE "C" NOT NULL CHECK (octet_length(address) BETWEEN 1 AND 512), -- once in a cluster, in whatever locality: a gRPC client refuses it twice
  region     text NOT NULL DEFAULT '' CHECK (octet_length(region) <= 128),
  zone       text NOT NULL DEFAULT '' CHECK (octet_length(zone) <= 128),
  sub_zone   text NOT NULL DEFAULT '' CHECK (octet_length(sub_zone) <= 128),
  weight     integer NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 65535),
  health     text NOT NULL DEFAULT 'healthy' CHECK (health IN ('healthy', 'draining', 'unhealthy')),
  metadata   jsonb,                                -- filter_metadata
  lease_id   uuid,                                 -- null: it stays until it is removed
  bytes      integer NOT NULL,                     -- what it counts, see endpoint_bytes
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL,
  PRIMARY KEY (tenant_id, fleet_id, cluster, address),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, fleet_id, lease_id) REFERENCES endpoint_leases (tenant_id, fleet_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX endpoints_by_lease ON endpoints (lease_id) WHERE lease_id IS NOT NULL;

-- One row for each cluster that has endpoints here, or has had some that are served still. Its lock comes before those of its endpoints.
CREATE TABLE endpoint_clusters (
  tenant_id  uuid NOT NULL,
  fleet_id   uuid NOT NULL,
  cluster    text COLLATE "C" NOT NULL CHECK (octet_length(cluster) BETWEEN 1 AND 512),
  changed    bigint NOT NULL DEFAULT 1, -- counts changes of its endpoints and of its document
  built      bigint NOT NULL DEFAULT 0, -- those that are in what is served
  changed_by text NOT NULL DEFAULT '',  -- who made the last one
  endpoints  integer NOT NULL DEFAULT 0,
  bytes      bigint NOT NULL DEFAULT 0, -- of its endpoints
  counted    bigint NOT NULL DEFAULT 0, -- of these, what the fleet's head counts
  documented integer NOT NULL DEFAULT 0, -- endpoints that its document has, when it was built last
  panic_threshold smallint NOT NULL DEFAULT 50 CHECK (panic_threshold BETWEEN 0 AND 100), -- percent that stay after an outage, see endpoints_sweep
  PRIMARY KEY (tenant_id, fleet_id, cluster),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX endpoint_clusters_dirty ON endpoint_clusters (fleet_id) WHERE changed <> built;

-- When a fleet's endpoints may be built next: who takes the turn moves it.
CREATE TABLE endpoint_builds (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  next_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, fleet_id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- When the sweep of leases ran last, on whatever server, and when it began to run again after the last time that it could not: the one row.
CREATE TABLE endpoint_clock (
  one          boolean PRIMARY KEY DEFAULT true CHECK (one),
  swept_at     timestamptz NOT NULL,
  recovered_at timestamptz NOT NULL,
  outage_at    timestamptz NOT NULL DEFAULT '-infinity', -- likewise, but for times without leases, in which it has nothing to do
  idle         boolean NOT NULL DEFAULT true             -- there was no lease
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
INSERT INTO endpoint_clock (swept_at, recovered_at) VALUES (clock_timestamp(), clock_timestamp());

-- What is served of a row in the place of its document, or without one.
ALTER TABLE resources
  ADD COLUMN served_revision bigint NOT NULL DEFAULT 0, -- that changed what is served last
  ADD COLUMN served_version  text,                      -- null: as the document is
  ADD COLUMN served_body     bytea;
ALTER TABLE resources ALTER COLUMN served_body SET STORAGE EXTERNAL;
CREATE INDEX resources_by_served ON resources (uuid_hash(fleet_id), served_revision) WHERE served_revision > 0;

-- The last revision that was a write: what expects the fleet at a revision does not look at those of endpoints.
ALTER TABLE fleet_heads ADD COLUMN written_revision bigint NOT NULL DEFAULT 0;
UPDATE fleet_heads SET written_revision = revision;
-- Of a revision of the kind endpoints: the first of those that follow each other without another kind between them.
ALTER TABLE fleet_history ADD COLUMN run_from bigint;

DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['endpoint_leases', 'endpoints', 'endpoint_clusters', 'endpoint_builds'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY app ON %I TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant())', t);
    EXECUTE format('CREATE POLICY owner ON %I TO fairlead_owner USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO fairlead_app', t);
  END LOOP;
END $$;
ALTER TABLE endpoint_clock ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON endpoint_clock TO fairlead_owner USING (true) WITH CHECK (true);
GRANT UPDATE (written_revision) ON fleet_heads TO fairlead_app;
