SET lock_timeout = '5s';

-- The tenant that the transaction works for. Outside of a transaction that has set it the setting is unset or '', which
-- becomes NULL, which no tenant_id equals.
CREATE FUNCTION app_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT nullif(current_setting('app.tenant_id', true), '')::uuid $$;

CREATE TABLE tenants (
  id         uuid PRIMARY KEY,
  slug       text COLLATE "C" NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  name       text NOT NULL DEFAULT '' CHECK (octet_length(name) <= 256),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE fleets (
  tenant_id   uuid NOT NULL REFERENCES tenants (id),
  id          uuid NOT NULL,
  name        text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 128),
  description text NOT NULL DEFAULT '' CHECK (octet_length(description) <= 4096),
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by  text NOT NULL DEFAULT '',
  deleted_at  timestamptz,
  PRIMARY KEY (tenant_id, id)
);
-- A deleted fleet gives its name free.
CREATE UNIQUE INDEX fleets_by_name ON fleets (tenant_id, name) WHERE deleted_at IS NULL;

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
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- when revision was made
  deleted_at timestamptz,
  PRIMARY KEY (tenant_id, fleet_id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  CHECK (0 <= compacted AND compacted <= revision)
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
