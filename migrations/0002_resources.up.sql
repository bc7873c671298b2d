SET lock_timeout = '5s';

-- Types are kept as the slugs of the API's paths ('clusters', 'virtual-hosts'), not as numbers: the slugs are the public
-- and stable name of the closed set, a row can be read without a table beside it, and the number that the code gives
-- to a type is an order of sending, which may change. Eight bytes more per row are the price. That a slug is one of
-- the set is checked by the writer; a reader that is older than the writer leaves types out that it does not serve.

-- Bytes by content, once per tenant. hash is the resource's body hash; of a Secret it covers the version as well,
-- because sealed bytes open for their own version alone.
CREATE TABLE bodies (
  tenant_id uuid  NOT NULL REFERENCES tenants (id),
  hash      bytea NOT NULL CHECK (octet_length(hash) = 32),
  body      bytea NOT NULL, -- of a Secret: sealed
  PRIMARY KEY (tenant_id, hash)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE bodies ALTER COLUMN body SET STORAGE EXTERNAL; -- small or sealed: compressing costs more than it saves

CREATE TABLE resources (
  tenant_id      uuid NOT NULL,
  fleet_id       uuid NOT NULL,
  type           text COLLATE "C" NOT NULL CHECK (type ~ '^[a-z-]{1,32}$'),
  name           text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 512),
  variant        text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(variant) <= 128),
  revision       bigint NOT NULL,                -- of the row's last change
  -- The last revision that gave the row another selector or priority, deleted it, or brought it back; 0: none did. That of a
  -- variant may have moved nodes to another variant of the name, whose own row says nothing of it.
  reselected     bigint NOT NULL DEFAULT 0,
  deleted        boolean NOT NULL DEFAULT false, -- a tombstone: what follows is empty
  selector       text NOT NULL DEFAULT '',
  priority       integer NOT NULL DEFAULT 0,
  ttl_ms         bigint NOT NULL DEFAULT 0 CHECK (ttl_ms >= 0),
  labels         jsonb,
  description    text NOT NULL DEFAULT '',
  version        text NOT NULL DEFAULT '',
  doc_hash       bytea,                          -- over all that a tenant can set
  body_hash      bytea,
  derived        jsonb,                          -- {"refs":[[type,name]],"eds":"","vhds":true,"domains":[]}; null: nothing
  derive_version smallint NOT NULL DEFAULT 0,    -- of the code that made it
  summary        jsonb,                          -- of a Secret: what may be shown of it; of others the placeholders that it was written with
  bytes          integer NOT NULL DEFAULT 0,     -- what it counts, see resource_bytes; 0 of a tombstone
  created_at     timestamptz NOT NULL,
  created_by     text NOT NULL,
  updated_at     timestamptz NOT NULL,
  updated_by     text NOT NULL,
  PRIMARY KEY (tenant_id, fleet_id, type, name, variant),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, body_hash) REFERENCES bodies (tenant_id, hash),
  CHECK (deleted = (doc_hash IS NULL) AND deleted = (body_hash IS NULL))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
-- The other indexes must not begin with columns that a lookup by the key names. While a table is new and not analyzed
-- yet, the planner takes every index that fits a little for as good as the key; with (tenant_id, fleet_id, revision)
-- it read the whole fleet for every resource of the first large write, 10 s for 10,000 of them. So what changed is found by
-- a hash of the fleet, and the catch-up asks for it in words that fit this index alone.
CREATE INDEX resources_by_revision ON resources (uuid_hash(fleet_id), revision);
-- What compaction looks for.
CREATE INDEX resources_tombstones ON resources (uuid_hash(fleet_id), revision) WHERE deleted;
CREATE INDEX resources_by_body ON resources (body_hash, tenant_id);
-- What selectors decide about. Not to be found by a lookup of a key: that names no variant in a condition.
CREATE INDEX resources_with_variant ON resources (tenant_id, fleet_id) WHERE variant <> '';

-- What a live resource names, to be found from both ends.
CREATE TABLE resource_refs (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  type      text COLLATE "C" NOT NULL,
  name      text COLLATE "C" NOT NULL,
  variant   text COLLATE "C" NOT NULL,
  ref_type  text COLLATE "C" NOT NULL,
  ref_name  text COLLATE "C" NOT NULL CHECK (octet_length(ref_name) <= 512),
  PRIMARY KEY (tenant_id, fleet_id, type, name, variant, ref_type, ref_name),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX resource_refs_by_target ON resource_refs (ref_name, ref_type, tenant_id, fleet_id);

-- One row per revision.
CREATE TABLE fleet_history (
  tenant_id uuid   NOT NULL,
  fleet_id  uuid   NOT NULL,
  revision  bigint NOT NULL CHECK (revision > 0),
  token     uuid   NOT NULL,
  at        timestamptz NOT NULL,
  kind      text   NOT NULL, -- 'apply', 'rollback', ...
  message   text   NOT NULL,
  actor     text   NOT NULL,
  credential uuid,
  changes   integer NOT NULL CHECK (changes > 0),
  created   integer NOT NULL DEFAULT 0, -- of changes, those that brought a resource
  deleted   integer NOT NULL DEFAULT 0, -- of changes, those that took one away; the others changed one
  types     text[] COLLATE "C" NOT NULL DEFAULT '{}', -- of the resources that changed, each once
  PRIMARY KEY (tenant_id, fleet_id, revision),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- One row per resource and revision that changed it, with all that a rollback restores. The state at revision N is, of
-- each (type, name, variant), the row with the highest revision <= N, unless it is a tombstone.
CREATE TABLE resource_history (
  tenant_id      uuid NOT NULL,
  fleet_id       uuid NOT NULL,
  type           text COLLATE "C" NOT NULL,
  name           text COLLATE "C" NOT NULL,
  variant        text COLLATE "C" NOT NULL,
  revision       bigint NOT NULL,
  deleted        boolean NOT NULL,
  selector       text NOT NULL,
  priority       integer NOT NULL,
  ttl_ms         bigint NOT NULL,
  labels         jsonb,
  description    text NOT NULL,
  version        text NOT NULL,
  doc_hash       bytea,
  body_hash      bytea,
  derived        jsonb,
  derive_version smallint NOT NULL,
  summary        jsonb,
  bytes          integer NOT NULL DEFAULT 0,
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(), -- these four as in resources
  created_by     text NOT NULL DEFAULT '',
  updated_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_by     text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, fleet_id, type, name, variant, revision),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, body_hash) REFERENCES bodies (tenant_id, hash)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX resource_history_by_body ON resource_history (body_hash, tenant_id);
-- What compaction comes to next, and what was deleted, which a rollback asks of revisions whose tombstones are gone.
CREATE INDEX resource_history_by_revision ON resource_history (uuid_hash(fleet_id), revision);
CREATE INDEX resource_history_tombstones ON resource_history (uuid_hash(fleet_id), revision) WHERE deleted;

-- One change of one resource. Never a column's type: it can be altered at any time.
CREATE TYPE resource_change AS (
  ord            integer, -- its place in the call, from 1
  type           text COLLATE "C",
  name           text COLLATE "C",
  variant        text COLLATE "C",
  delete         boolean,
  if_match       text,    -- '': none, '*': must exist, else the ETag
  if_none_match  boolean, -- must not exist
  selector       text,
  priority       integer,
  ttl_ms         bigint,
  labels         jsonb,
  description    text,
  version        text,
  doc_hash       bytea,
  body_hash      bytea,
  derived        jsonb,
  derive_version smallint,
  summary        jsonb,
  read_at        bigint,  -- the revision of the row that it was made from; null: not told
  read_tag       text     -- likewise, its ETag
);
