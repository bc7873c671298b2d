-- A door across tenants, which does not lead to a deleted one: what stands behind a node credential's id.
CREATE OR REPLACE FUNCTION find_node_credential(p_id uuid)
RETURNS TABLE (tenant_id uuid, fleet_id uuid, hash bytea, nodes text, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT c.tenant_id, c.fleet_id, c.hash, c.nodes, c.expires_at, c.revoked_at
    FROM node_credentials c JOIN tenants n ON n.id = c.tenant_id AND n.deleted_at IS NULL WHERE c.id = p_id
$$;

-- Removes the tokens and node credentials of the transaction's tenant that ended 30 days ago; the audit events keep what
-- is to be known of them. A door, so that the API's role itself may remove none.
CREATE OR REPLACE FUNCTION sweep_credentials() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DELETE FROM node_credentials c WHERE c.tenant_id = app_tenant() AND least(c.revoked_at, c.expires_at) < clock_timestamp() - interval '30 days';
  DELETE FROM api_tokens t WHERE t.tenant_id = app_tenant() AND least(t.revoked_at, t.expires_at) < clock_timestamp() - interval '30 days';
$$;

-- The same sooner: of those that ended only as many are kept, the newest, as there may be live ones. Else who makes and ends
-- them at the rate of writes fills the lists and what every xDS server is told. Called before one more is made, under
-- the lock of its limit. Its cost grows with what is kept.
CREATE OR REPLACE FUNCTION drop_ended_credentials(p_fleet uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DELETE FROM node_credentials d WHERE d.tenant_id = app_tenant() AND d.id = ANY (ARRAY(
    SELECT c.id FROM node_credentials c
     WHERE c.tenant_id = app_tenant() AND c.fleet_id = p_fleet AND least(c.revoked_at, c.expires_at) <= clock_timestamp()
     ORDER BY least(c.revoked_at, c.expires_at) DESC, c.id DESC OFFSET tenant_limit('credentials')))
$$;
