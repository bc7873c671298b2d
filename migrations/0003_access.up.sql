SET lock_timeout = '5s';

-- Tokens of the API. Only the SHA-256 of a token is kept: 256 random bits need no slow hash. What ended stays ended, and
-- what a token may is settled when it is made.
CREATE TABLE api_tokens (
  tenant_id      uuid NOT NULL REFERENCES tenants (id),
  id             uuid NOT NULL,
  hash           bytea NOT NULL CHECK (octet_length(hash) = 32),
  role           text NOT NULL CHECK (role IN ('viewer', 'ci', 'editor', 'admin', 'owner')),
  name           text NOT NULL DEFAULT '' CHECK (octet_length(name) <= 256),
  fleet_id       uuid,                            -- bounds the token to one fleet
  writes_secrets boolean NOT NULL DEFAULT false,  -- for role ci
  -- Who made it, and with which token it ends: its maker's, until an owner hands it over. An operator's makes tokens that
  -- end with none. A token that is deleted takes those with it that end with it.
  made_by        uuid,                            -- a credential, of the tenant or of an operator; no foreign key
  parent_id      uuid,
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by     text NOT NULL DEFAULT '',
  expires_at     timestamptz,
  revoked_at     timestamptz,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, parent_id) REFERENCES api_tokens (tenant_id, id) ON DELETE CASCADE,
  CHECK (role <> 'ci' OR fleet_id IS NOT NULL),
  CHECK (parent_id <> id)
);
-- Not unique: no key without the tenant. Ids are ours and random.
CREATE INDEX api_tokens_by_id ON api_tokens (id);
CREATE INDEX api_tokens_by_parent ON api_tokens (tenant_id, parent_id) WHERE parent_id IS NOT NULL;

-- The operator's tokens belong to no tenant, so they stand in a table of their own that no role but the owner can read.
CREATE TABLE operator_tokens (
  id         uuid PRIMARY KEY,
  hash       bytea NOT NULL CHECK (octet_length(hash) = 32),
  name       text NOT NULL DEFAULT '' CHECK (octet_length(name) <= 256),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by text NOT NULL DEFAULT '',
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_by text NOT NULL DEFAULT ''
);

CREATE TABLE node_credentials (
  tenant_id   uuid NOT NULL,
  fleet_id    uuid NOT NULL,
  id          uuid NOT NULL,
  hash        bytea NOT NULL CHECK (octet_length(hash) = 32),
  nodes       text NOT NULL CHECK (octet_length(nodes) BETWEEN 1 AND 512), -- 'exact', 'prefix*', '*'
  description text NOT NULL DEFAULT '' CHECK (octet_length(description) <= 4096),
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by  text NOT NULL DEFAULT '',
  expires_at  timestamptz,
  revoked_at  timestamptz,
  PRIMARY KEY (tenant_id, fleet_id, id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX node_credentials_by_id ON node_credentials (id);

-- What was done, by whom. Rows are written in the transaction of the change and never touched again.
CREATE TABLE audit_events (
  tenant_id    uuid NOT NULL REFERENCES tenants (id),
  id           uuid NOT NULL DEFAULT gen_random_uuid(),
  at           timestamptz NOT NULL DEFAULT clock_timestamp(),
  credential   uuid,
  actor        text NOT NULL,
  ip           text NOT NULL,
  request_id   text NOT NULL,
  action       text NOT NULL, -- 'resources.apply', 'token.create', ...
  object       text NOT NULL, -- what it was done to
  fleet_id     uuid,          -- no foreign key: the record outlives the fleet
  old_revision bigint,
  new_revision bigint,
  detail       jsonb,         -- names and counts; no values
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_events_by_time ON audit_events (tenant_id, at);
-- What concerns the tenant as a whole and no fleet: its tokens, and itself.
CREATE INDEX audit_events_of_tenant ON audit_events (tenant_id, at, id) WHERE fleet_id IS NULL;

-- The answer to a request, in the transaction of its change: a repeat gets it again. Kept for 24 hours.
CREATE TABLE idempotency_keys (
  tenant_id    uuid NOT NULL REFERENCES tenants (id),
  principal    uuid NOT NULL, -- the credential
  key          text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
  request_hash bytea NOT NULL,
  answer       jsonb,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, principal, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at, tenant_id); -- not led by the key's column, see resources
