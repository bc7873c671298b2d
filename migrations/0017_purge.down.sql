SET lock_timeout = '5s';
-- Who was deleted is gone from here on: the older doors would lead to them.
UPDATE api_tokens SET revoked_at = clock_timestamp()
 WHERE revoked_at IS NULL AND tenant_id IN (SELECT id FROM tenants WHERE deleted_at IS NOT NULL);

CREATE OR REPLACE FUNCTION find_token(p_id uuid)
RETURNS TABLE (operator boolean, tenant_id uuid, hash bytea, role text, name text, fleet_id uuid, writes_secrets boolean,
               created_at timestamptz, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT false, t.tenant_id, t.hash, t.role, t.name, t.fleet_id, t.writes_secrets, t.created_at, t.expires_at, t.revoked_at
    FROM api_tokens t WHERE t.id = p_id
  UNION ALL
  SELECT true, NULL, o.hash, NULL, o.name, NULL, false, o.created_at, o.expires_at, o.revoked_at
    FROM operator_tokens o WHERE o.id = p_id
$$;

CREATE OR REPLACE FUNCTION find_node_credential(p_id uuid)
RETURNS TABLE (tenant_id uuid, fleet_id uuid, hash bytea, nodes text, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT c.tenant_id, c.fleet_id, c.hash, c.nodes, c.expires_at, c.revoked_at FROM node_credentials c WHERE c.id = p_id
$$;

CREATE OR REPLACE FUNCTION operator_tenants(p_after text, p_limit integer) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.slug > p_after ORDER BY t.slug LIMIT p_limit
$$;

CREATE OR REPLACE FUNCTION operator_tenant_by_slug(p_slug text) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.slug = p_slug
$$;

CREATE OR REPLACE FUNCTION audit_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit events are never changed or removed' USING ERRCODE = 'insufficient_privilege';
END $$;
DROP FUNCTION delete_tenant(uuid, jsonb), purge_fleet(uuid, integer), tenants_to_purge(integer), purge_tenant(uuid, integer), sweep_credentials(), drop_ended_credentials(uuid), drop_ended_tokens(),
  purge_rows(text[], uuid, uuid, integer), tables_of_fleets();
ALTER POLICY app ON tenants USING (id = app_tenant());
DROP INDEX fleets_deleted;
ALTER TABLE tenants DROP COLUMN deleted_at;
