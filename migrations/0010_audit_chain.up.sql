SET lock_timeout = '5s';

-- The chain of a tenant's audit: a link for each event, numbered without gaps in the order in which their transactions ended. The hash is of
-- the hash before and of the whole event (audit_canonical). Events from before there was a chain have no link.
CREATE TABLE audit_chain (
  tenant_id uuid NOT NULL,
  seq       bigint NOT NULL CHECK (seq > 0),
  event_id  uuid NOT NULL,                      -- no foreign key: an event that is gone is to be seen
  hash      bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (tenant_id, seq)
);
CREATE UNIQUE INDEX audit_chain_by_event ON audit_chain (tenant_id, event_id);

-- The newest link of each chain. Its row lock orders the chain, and is the last one that a transaction takes.
CREATE TABLE audit_heads (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  seq       bigint NOT NULL DEFAULT 0,
  hash      bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (octet_length(hash) = 32),
  begun_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  unchained bigint NOT NULL DEFAULT 0           -- events that were there when the chain began, and are in none
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Up to where retention has removed a chain: the last link that went.
CREATE TABLE audit_anchors (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  seq       bigint NOT NULL,
  hash      bytea NOT NULL CHECK (octet_length(hash) = 32),
  event_at  timestamptz NOT NULL,               -- of that link's event
  at        timestamptz NOT NULL                -- when it went
);

-- Heads as API servers have signed them, with a key that the database does not have (internal/audit).
CREATE TABLE audit_signatures (
  tenant_id  uuid NOT NULL REFERENCES tenants (id),
  seq        bigint NOT NULL,
  hash       bytea NOT NULL CHECK (octet_length(hash) = 32),
  at         timestamptz NOT NULL,
  anchor_seq bigint NOT NULL,
  unchained  bigint NOT NULL,
  signature  bytea NOT NULL CHECK (octet_length(signature) = 32),
  PRIMARY KEY (tenant_id, seq)
);

-- What the verification of a chain has come to: the run under way, and the result of the last one that ended.
CREATE TABLE audit_checks (
  tenant_id     uuid PRIMARY KEY REFERENCES tenants (id),
  claimed_until timestamptz,                    -- by one API server
  begun_at      timestamptz,                    -- null: no run is under way
  at_seq        bigint NOT NULL DEFAULT 0,      -- up to where it has come, and the hash there
  at_hash       bytea CHECK (octet_length(at_hash) = 32),
  checked_at    timestamptz,                    -- the last one's end; null: there was none
  checked_seq   bigint NOT NULL DEFAULT 0,
  fault         text,                           -- null: nothing was wrong
  fault_seq     bigint,
  fault_detail  text
);

-- Up to where a collector has what is in a chain: its events, and its signed heads.
CREATE TABLE audit_deliveries (
  tenant_id     uuid NOT NULL REFERENCES tenants (id),
  collector     text NOT NULL CHECK (collector IN ('webhook', 'syslog')),
  seq           bigint NOT NULL DEFAULT 0,
  head_seq      bigint NOT NULL DEFAULT 0,
  at            timestamptz,                    -- of the last delivery
  claimed_by    uuid,                           -- an API server, while it delivers
  claimed_until timestamptz,
  PRIMARY KEY (tenant_id, collector)
);

DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['audit_chain', 'audit_heads', 'audit_anchors', 'audit_signatures', 'audit_checks', 'audit_deliveries'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY app ON %I TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant())', t);
    EXECUTE format('CREATE POLICY owner ON %I TO fairlead_owner USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT ON %I TO fairlead_app', t);
  END LOOP;
END $$;
GRANT INSERT ON audit_signatures TO fairlead_app;
GRANT INSERT, UPDATE ON audit_checks, audit_deliveries TO fairlead_app;
