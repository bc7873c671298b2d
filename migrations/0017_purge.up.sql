SET lock_timeout = '5s';

-- What is deleted stays for 30 days and is then purged by the API servers' compaction. A tenant's deletion gives its live
-- fleets its own time, to the microsecond: whoever takes it back knows which fleets went with it. The slug stays taken
-- until the purge.
ALTER TABLE tenants ADD COLUMN deleted_at timestamptz;
CREATE INDEX tenants_deleted ON tenants (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX fleets_deleted ON fleets (deleted_at, tenant_id) WHERE deleted_at IS NOT NULL; -- not led by the key's column, see 0002
ALTER POLICY app ON tenants USING (id = app_tenant() AND deleted_at IS NULL);

-- The doors of 0007, which do not lead to a deleted tenant.
CREATE OR REPLACE FUNCTION find_token(p_id uuid)
RETURNS TABLE (operator boolean, tenant_id uuid, hash bytea, role text, name text, fleet_id uuid, writes_secrets boolean,
               created_at timestamptz, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT false, t.tenant_id, t.hash, t.role, t.name, t.fleet_id, t.writes_secrets, t.created_at, t.expires_at, t.revoked_at
    FROM api_tokens t JOIN tenants n ON n.id = t.tenant_id AND n.deleted_at IS NULL WHERE t.id = p_id
  UNION ALL
  SELECT true, NULL, o.hash, NULL, o.name, NULL, false, o.created_at, o.expires_at, o.revoked_at
    FROM operator_tokens o WHERE o.id = p_id
$$;

CREATE OR REPLACE FUNCTION find_node_credential(p_id uuid)
RETURNS TABLE (tenant_id uuid, fleet_id uuid, hash bytea, nodes text, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT c.tenant_id, c.fleet_id, c.hash, c.nodes, c.expires_at, c.revoked_at
    FROM node_credentials c JOIN tenants n ON n.id = c.tenant_id AND n.deleted_at IS NULL WHERE c.id = p_id
$$;

CREATE OR REPLACE FUNCTION operator_tenants(p_after text, p_limit integer) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.slug > p_after AND t.deleted_at IS NULL ORDER BY t.slug LIMIT p_limit
$$;

CREATE OR REPLACE FUNCTION operator_tenant_by_slug(p_slug text) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.slug = p_slug AND t.deleted_at IS NULL
$$;

-- Ends a tenant: its tokens and node credentials lead nowhere, its fleets are deleted. Returns those that were not yet. The
-- tenant's lock lets others add rows that name it: a write does, which has the head that this waits for.
CREATE FUNCTION delete_tenant(p_tenant uuid, p_actor jsonb) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_slug text;
  v_at   timestamptz;
BEGIN
  SELECT t.slug INTO v_slug FROM tenants t WHERE t.id = p_tenant AND t.deleted_at IS NULL FOR NO KEY UPDATE;
  PERFORM must_exist(FOUND);
  PERFORM FROM fleet_heads h WHERE h.tenant_id = p_tenant AND h.deleted_at IS NULL ORDER BY h.fleet_id FOR NO KEY UPDATE;
  v_at := clock_timestamp();
  UPDATE tenants t SET deleted_at = v_at WHERE t.id = p_tenant;
  UPDATE fleet_heads h SET deleted_at = v_at WHERE h.tenant_id = p_tenant AND h.deleted_at IS NULL;
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object)
  VALUES (p_tenant, (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
          coalesce(p_actor->>'request_id', ''), 'tenant.delete', 'tenant ' || v_slug);
  RETURN QUERY UPDATE fleets f SET deleted_at = v_at WHERE f.tenant_id = p_tenant AND f.deleted_at IS NULL RETURNING f.id;
END $$;

-- Audit events go with their tenant and never before.
CREATE OR REPLACE FUNCTION audit_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM tenants t WHERE t.id = OLD.tenant_id AND t.deleted_at < clock_timestamp() - interval '30 days') THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'audit events are never changed or removed' USING ERRCODE = 'insufficient_privilege';
END $$;

-- Removes at most p_limit rows of the tenant, or of one fleet of it, from the tables in their order: those first that
-- name others. Returns how many. Nobody is granted it but through the two doors below.
CREATE FUNCTION purge_rows(p_tables text[], p_tenant uuid, p_fleet uuid, p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_table text;
  v_gone  integer := 0;
  n       integer;
BEGIN
  FOREACH v_table IN ARRAY p_tables LOOP
    EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT x.ctid FROM %1$I x WHERE x.tenant_id = $1%2$s LIMIT $3))',
                   v_table, CASE WHEN p_fleet IS NOT NULL THEN ' AND x.fleet_id = $2' ELSE '' END) USING p_tenant, p_fleet, p_limit - v_gone;
    GET DIAGNOSTICS n = ROW_COUNT;
    v_gone := v_gone + n;
    EXIT WHEN v_gone >= p_limit;
  END LOOP;
  RETURN v_gone;
END $$;

CREATE FUNCTION tables_of_fleets() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY['node_retries', 'node_exceptions', 'node_events', 'nack_texts', 'node_status', 'nodes', 'server_settled', 'delivery',
               'resource_refs', 'resources', 'resource_history', 'fleet_history', 'node_credentials', 'api_tokens', 'fleet_heads'] $$;

-- One step of the purge of a fleet of the transaction's tenant: true when it is gone, false when more is to be done, null
-- when it is not due or another process is at it. Its bodies are left to bodies_collect, its audit events stay.
CREATE FUNCTION purge_fleet(p_fleet uuid, p_limit integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM FROM fleets f WHERE f.tenant_id = app_tenant() AND f.id = p_fleet AND f.deleted_at < clock_timestamp() - interval '30 days'
     FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF purge_rows(tables_of_fleets(), app_tenant(), p_fleet, p_limit) >= p_limit THEN
    RETURN false;
  END IF;
  DELETE FROM fleets f WHERE f.tenant_id = app_tenant() AND f.id = p_fleet;
  INSERT INTO audit_events (tenant_id, actor, ip, request_id, action, object, fleet_id)
  VALUES (app_tenant(), 'fairlead', '', '', 'fleet.purge', 'fleet ' || p_fleet, p_fleet);
  RETURN true;
END $$;

-- The tenants that are due, the oldest first.
CREATE FUNCTION tenants_to_purge(p_limit integer) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.deleted_at < clock_timestamp() - interval '30 days' ORDER BY t.deleted_at LIMIT p_limit
$$;

-- The same for a tenant with all that it has, its audit events too.
CREATE FUNCTION purge_tenant(p_tenant uuid, p_limit integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM FROM tenants t WHERE t.id = p_tenant AND t.deleted_at < clock_timestamp() - interval '30 days' FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF purge_rows(tables_of_fleets() || ARRAY['fleets', 'bodies', 'idempotency_keys', 'audit_events'], p_tenant, NULL, p_limit) >= p_limit THEN
    RETURN false;
  END IF;
  DELETE FROM tenants t WHERE t.id = p_tenant;
  RETURN true;
END $$;

-- Removes the tokens and node credentials of the transaction's tenant that ended 30 days ago; the audit events keep what
-- is to be known of them. A door, so that the API's role itself may remove none.
CREATE FUNCTION sweep_credentials() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DELETE FROM node_credentials c WHERE c.tenant_id = app_tenant() AND least(c.revoked_at, c.expires_at) < clock_timestamp() - interval '30 days';
  DELETE FROM api_tokens t WHERE t.tenant_id = app_tenant() AND least(t.revoked_at, t.expires_at) < clock_timestamp() - interval '30 days';
$$;

-- The same sooner: of those that ended only as many are kept, the newest, as there may be live ones. Else who makes and ends
-- them at the rate of writes fills the lists and what every xDS server is told. Called before one more is made, under
-- the lock of its limit. Its cost grows with what is kept. A token that ended has none below it that has not.
CREATE FUNCTION drop_ended_credentials(p_fleet uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DELETE FROM node_credentials d WHERE d.tenant_id = app_tenant() AND d.id = ANY (ARRAY(
    SELECT c.id FROM node_credentials c
     WHERE c.tenant_id = app_tenant() AND c.fleet_id = p_fleet AND least(c.revoked_at, c.expires_at) <= clock_timestamp()
     ORDER BY least(c.revoked_at, c.expires_at) DESC, c.id DESC OFFSET tenant_limit('credentials')))
$$;
CREATE FUNCTION drop_ended_tokens() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DELETE FROM api_tokens d WHERE d.tenant_id = app_tenant() AND d.id = ANY (ARRAY(
    SELECT k.id FROM api_tokens k
     WHERE k.tenant_id = app_tenant() AND least(k.revoked_at, k.expires_at) <= clock_timestamp()
     ORDER BY least(k.revoked_at, k.expires_at) DESC, k.id DESC OFFSET tenant_limit('tokens')))
$$;

REVOKE EXECUTE ON FUNCTION delete_tenant(uuid, jsonb), purge_rows(text[], uuid, uuid, integer), tables_of_fleets(), purge_fleet(uuid, integer),
  tenants_to_purge(integer), purge_tenant(uuid, integer), sweep_credentials(), drop_ended_credentials(uuid), drop_ended_tokens() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION delete_tenant(uuid, jsonb), purge_fleet(uuid, integer), tenants_to_purge(integer), purge_tenant(uuid, integer),
  sweep_credentials(), drop_ended_credentials(uuid), drop_ended_tokens() TO fairlead_app;
