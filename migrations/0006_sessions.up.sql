SET lock_timeout = '5s';

-- Sessions of the web page. One acts as its API token, and ends with it. Only the SHA-256 of the secret in the cookie is kept.
-- An operator's belongs to no tenant: the table's key is the id alone, and no role but the owner sees such a row.
CREATE TABLE sessions (
  id            uuid PRIMARY KEY,
  tenant_id     uuid,                    -- null: of an operator's token
  credential_id uuid NOT NULL,           -- the token. Operators' tokens are never removed: no foreign key
  hash          bytea NOT NULL CHECK (octet_length(hash) = 32),
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_at  timestamptz NOT NULL DEFAULT clock_timestamp(), -- to the minute
  expires_at    timestamptz NOT NULL,    -- no later than the token's
  ended_at      timestamptz,
  ip            text NOT NULL CHECK (octet_length(ip) <= 64),
  user_agent    text NOT NULL CHECK (octet_length(user_agent) <= 256), -- whatever the browser said: to be shown as text alone
  FOREIGN KEY (tenant_id, credential_id) REFERENCES api_tokens (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_tenant ON sessions (tenant_id, id);
CREATE INDEX sessions_by_token ON sessions (credential_id, id);
CREATE INDEX sessions_by_age ON sessions (expires_at);

-- The API's role reads those of the transaction's tenant; all that changes one is a door.
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON sessions TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant());
CREATE POLICY owner ON sessions TO fairlead_owner USING (true) WITH CHECK (true);
GRANT SELECT ON sessions TO fairlead_app;
