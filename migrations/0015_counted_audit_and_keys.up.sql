SET lock_timeout = '5s';

-- What the events of the tenant's audit count (audit_event_bytes), in the row whose lock orders them.
ALTER TABLE audit_heads ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE audit_heads h SET bytes = coalesce((
  SELECT sum(512 + octet_length(e.actor) + octet_length(e.ip) + octet_length(e.request_id) + octet_length(e.action) + octet_length(e.object)
             + coalesce(octet_length(e.detail::text), 0)) FROM audit_events e WHERE e.tenant_id = h.tenant_id), 0);

-- What a kept answer counts (idempotency_answer): of those from before, which go within a day, nothing.
ALTER TABLE idempotency_keys ADD COLUMN bytes integer NOT NULL DEFAULT 0;

-- What all of a tenant come to.
CREATE TABLE idempotency_use (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  bytes     bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE idempotency_use ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON idempotency_use TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant());
CREATE POLICY owner ON idempotency_use TO fairlead_owner USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON idempotency_use TO fairlead_app;

-- A tenant's oldest are found without those of the others.
CREATE INDEX idempotency_keys_of_tenant ON idempotency_keys (uuid_hash(tenant_id), created_at);
DROP INDEX idempotency_keys_by_age;
