SET lock_timeout = '5s';

-- Declared here, because a policy and a check name them; functions/ has what they do.
CREATE FUNCTION app_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT NULL::uuid';
CREATE FUNCTION limit_default(p_name text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT NULL::bigint';

-- What this database was made from: the hashes of the numbered files up to version, of the triggers, and of all that is
-- laid after the tables, triggers too.
CREATE TABLE schema_contents (
  what    text PRIMARY KEY CHECK (what IN ('tables', 'functions', 'triggers')),
  version bigint NOT NULL,
  hash    text NOT NULL
);

-- What is deleted stays for 30 days, in which it can be restored, and is then purged by the API servers' compaction. A tenant's deletion gives its live
-- fleets its own time, to the microsecond: who takes it back (restore_tenant) knows which fleets went with it. The slug stays taken
-- until the purge.
CREATE TABLE tenants (
  id         uuid PRIMARY KEY,
  slug       text COLLATE "C" NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  name       text NOT NULL DEFAULT '' CHECK (octet_length(name) <= 256),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
);
CREATE INDEX tenants_deleted ON tenants (deleted_at) WHERE deleted_at IS NOT NULL;

-- Limits that the operator has set for the tenant in the place of the default. 2^53 is what every JSON reader can hold.
CREATE TABLE tenant_limits (
  tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  name      text COLLATE "C" NOT NULL CHECK (limit_default(name) IS NOT NULL),
  most      bigint NOT NULL CHECK (most BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (tenant_id, name),
  CHECK (name <> 'audit_days' OR most BETWEEN 30 AND 36500)
);

CREATE TABLE fleets (
  tenant_id       uuid NOT NULL REFERENCES tenants (id),
  id              uuid NOT NULL,
  name            text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 128),
  description     text NOT NULL DEFAULT '' CHECK (octet_length(description) <= 4096),
  -- What becomes of a write that leaves something without what it names: a warning, or no write.
  reference_check text NOT NULL DEFAULT 'warn' CHECK (reference_check IN ('warn', 'strict')),
  -- For how long before a revision a node must have been seen to count in its receipt, and after how long without a sign
  -- of life it is forgotten, both in seconds. Tombstones are kept as long as nodes are remembered.
  receipt_window     integer NOT NULL DEFAULT 86400 CHECK (receipt_window BETWEEN 60 AND 30 * 86400),
  forget_nodes_after integer NOT NULL DEFAULT 7 * 86400 CHECK (forget_nodes_after BETWEEN 3600 AND 90 * 86400),
  -- Clusters that the proxies have in their own bootstrap, sorted: what names one names what is there.
  static_clusters text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (cardinality(static_clusters) <= 100),
  -- Texts by their names, which stand in the place of their placeholders in what is written to the fleet.
  placeholder_values jsonb NOT NULL DEFAULT '{}' CHECK (octet_length(placeholder_values::text) <= 262144),
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by      text NOT NULL DEFAULT '',
  deleted_at      timestamptz,
  PRIMARY KEY (tenant_id, id)
);
-- A deleted fleet gives its name free.
CREATE UNIQUE INDEX fleets_by_name ON fleets (tenant_id, name) WHERE deleted_at IS NULL;
CREATE INDEX fleets_deleted ON fleets (deleted_at, tenant_id) WHERE deleted_at IS NOT NULL; -- not led by the key's column, see resources

-- One narrow, hot row per fleet: its lock makes the order of commits the order of revisions. Every write of the fleet
-- updates it, so it has room on its page for its next versions and no index but the key.
CREATE TABLE fleet_heads (
  tenant_id  uuid   NOT NULL,
  fleet_id   uuid   NOT NULL,
  revision   bigint NOT NULL DEFAULT 0,
  token      uuid   NOT NULL DEFAULT gen_random_uuid(), -- drawn anew with every revision
  -- Moves with credentials and settings. Microseconds of the clock rather than a counter: after a failover that lost
  -- commits the next value is not one that a reader may already hold with other content.
  epoch      bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  compacted  bigint NOT NULL DEFAULT 0,                 -- what changed is complete for readers at revision >= compacted
  history_from bigint NOT NULL DEFAULT 0,               -- lower revisions are forgotten: they can neither be shown nor restored
  -- Whether several clients may have one node id at once. The xDS servers act on it, so it stands where they read.
  node_ids   text   NOT NULL DEFAULT 'shared' CHECK (node_ids IN ('shared', 'exclusive')),
  -- What the fleet holds: of live rows, and of all kept revisions. Kept by fleet_commit and fleet_compact, under the lock.
  resources     integer NOT NULL DEFAULT 0,
  bytes         bigint NOT NULL DEFAULT 0,
  history_bytes bigint NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- when revision was made
  deleted_at timestamptz,
  PRIMARY KEY (tenant_id, fleet_id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  CHECK (0 <= compacted AND compacted <= revision),
  CHECK (0 <= history_from AND history_from <= revision)
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
