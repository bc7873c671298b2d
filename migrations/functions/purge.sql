-- Removes at most p_limit rows of the tenant, or of one fleet of it, from the tables in their order: those first that
-- name others. Returns how many. Nobody is granted it but through the two doors below.
CREATE OR REPLACE FUNCTION purge_rows(p_tables text[], p_tenant uuid, p_fleet uuid, p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION tables_of_fleets() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY['load_minutes', 'load_clusters', 'load_nodes', 'endpoints', 'endpoint_leases', 'endpoint_clusters', 'endpoint_builds', 'node_retries', 'refusal_ends', 'refusals', 'node_events', 'nack_texts', 'node_status', 'nodes', 'server_settled', 'delivery',
               'resource_refs', 'resources', 'resource_history', 'fleet_history', 'node_credentials', 'api_tokens', 'fleet_heads'] $$;

CREATE OR REPLACE FUNCTION tables_of_tenants() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY['sessions'] || tables_of_fleets() || ARRAY['fleets', 'bodies', 'idempotency_keys', 'idempotency_use', 'audit_events', 'audit_chain', 'audit_signatures', 'audit_anchors',
               'audit_checks', 'audit_deliveries', 'audit_heads'] $$;

-- One step of the purge of a fleet of the transaction's tenant: true when it is gone, false when more is to be done, null
-- when it is not due or another process is at it. Its bodies are left to bodies_collect, its audit events stay.
CREATE OR REPLACE FUNCTION purge_fleet(p_fleet uuid, p_limit integer) RETURNS boolean
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
CREATE OR REPLACE FUNCTION tenants_to_purge(p_limit integer) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.deleted_at < clock_timestamp() - interval '30 days' ORDER BY t.deleted_at LIMIT p_limit
$$;

-- The same for a tenant with all that it has, its audit events too.
CREATE OR REPLACE FUNCTION purge_tenant(p_tenant uuid, p_limit integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM FROM tenants t WHERE t.id = p_tenant AND t.deleted_at < clock_timestamp() - interval '30 days' FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF purge_rows(tables_of_tenants(), p_tenant, NULL, p_limit) >= p_limit THEN
    RETURN false;
  END IF;
  DELETE FROM tenants t WHERE t.id = p_tenant;
  RETURN true;
END $$;
