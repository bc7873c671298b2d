SET lock_timeout = '5s';

-- What a fleet says of its proxies' load reports: how often, in seconds, 0 for what the servers say, and of which clusters, sorted, none for all.
ALTER TABLE fleets
  ADD COLUMN load_report_interval integer NOT NULL DEFAULT 0 CHECK (load_report_interval BETWEEN 0 AND 60),
  ADD COLUMN load_report_clusters text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (cardinality(load_report_clusters) <= 1000 AND octet_length(load_report_clusters::text) <= 262144);
ALTER TABLE fleets ADD COLUMN load_report_endpoints boolean NOT NULL DEFAULT false; -- and for each endpoint too
GRANT UPDATE (load_report_interval, load_report_clusters, load_report_endpoints) ON fleets TO fairlead_app;
-- Of an endpoint: its name is the address, its locality counts its requests too.
ALTER TABLE load_minutes DROP CONSTRAINT load_minutes_kind_check, ADD CONSTRAINT load_minutes_kind_check CHECK (kind IN ('requests', 'drops', 'metric', 'endpoint', 'left_out'));

-- What is kept of load reports for longer than the hour. Rows come by load_note and go by load_sweep.

-- Of each cluster of a fleet that proxies report: since when without a gap of half an hour, and when one of them sent something there last.
CREATE TABLE load_clusters (
  tenant_id      uuid NOT NULL,
  fleet_id       uuid NOT NULL,
  cluster        text COLLATE "C" NOT NULL CHECK (octet_length(cluster) <= 512), -- '': of some cluster a report was left out
  reported_since timestamptz NOT NULL,
  reported_at    timestamptz NOT NULL, -- last, to some minutes
  called_at      timestamptz,          -- likewise; null: not since reported_since
  PRIMARY KEY (tenant_id, fleet_id, cluster),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX load_clusters_by_age ON load_clusters (reported_at); -- what is swept

-- The nodes that report all clusters that they have. What others send nobody knows.
CREATE TABLE load_nodes (
  tenant_id      uuid NOT NULL,
  fleet_id       uuid NOT NULL,
  node_id        text COLLATE "C" NOT NULL,
  reported_since timestamptz NOT NULL,
  reported_at    timestamptz NOT NULL, -- last, to some minutes
  PRIMARY KEY (tenant_id, fleet_id, node_id),
  FOREIGN KEY (tenant_id, fleet_id, node_id) REFERENCES nodes ON DELETE CASCADE
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['load_clusters', 'load_nodes'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY app ON %I FOR SELECT TO fairlead_app USING (tenant_id = app_tenant())', t);
    EXECUTE format('CREATE POLICY owner ON %I TO fairlead_owner USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT ON %I TO fairlead_app', t);
  END LOOP;
END $$;
