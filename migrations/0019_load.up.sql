SET lock_timeout = '5s';

-- What proxies report of their load (LRS), of the last hour: sums by cluster and minute, of all nodes and servers. Rows come by load_add and go by load_sweep.
CREATE TABLE load_minutes (
  tenant_id   uuid NOT NULL,
  fleet_id    uuid NOT NULL,
  cluster     text COLLATE "C" NOT NULL CHECK (octet_length(cluster) <= 512), -- as proxies say; '' of what was left out
  minute      timestamptz NOT NULL,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('requests', 'drops', 'metric', 'left_out')),
  name        text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(name) <= 128), -- the category of drops, the metric
  region      text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(region) <= 128), -- of requests
  zone        text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(zone) <= 128),
  sub_zone    text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(sub_zone) <= 128),
  issued      bigint NOT NULL,
  succeeded   bigint NOT NULL,
  failed      bigint NOT NULL,
  in_progress double precision NOT NULL, -- requests, times the seconds that they were
  count       bigint NOT NULL,           -- of drops; of requests that a metric was told of; of parts of reports that were left out
  total       double precision NOT NULL, -- of a metric
  PRIMARY KEY (tenant_id, fleet_id, cluster, minute, kind, name, region, zone, sub_zone),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX load_minutes_by_age ON load_minutes (minute);                -- what is swept
CREATE INDEX load_minutes_of_fleet ON load_minutes (fleet_id, minute); -- the last minutes of all clusters; not led by the key's columns, see resources

ALTER TABLE load_minutes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON load_minutes FOR SELECT TO fairlead_app USING (tenant_id = app_tenant());
CREATE POLICY owner ON load_minutes TO fairlead_owner USING (true) WITH CHECK (true);
GRANT SELECT ON load_minutes TO fairlead_app;
