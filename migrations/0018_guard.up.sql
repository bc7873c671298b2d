SET lock_timeout = '5s';

-- Which resources of the tenant's fleet changed after a revision. A door, though not across tenants: under the policy of
-- the application's role the index by revision cannot be used, as the function that it is made with is not leakproof, and
-- the whole fleet would be read, or all fleets. The words fit that index alone (0002).
CREATE FUNCTION fleet_changed_since(p_fleet uuid, p_revision bigint) RETURNS TABLE (type text, name text, variant text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT r.type, r.name, r.variant FROM resources r
   WHERE uuid_hash(r.fleet_id) = uuid_hash(p_fleet) AND r.revision > p_revision
     AND r.tenant_id IS NOT DISTINCT FROM app_tenant() AND r.fleet_id IS NOT DISTINCT FROM p_fleet
$$;
REVOKE EXECUTE ON FUNCTION fleet_changed_since(uuid, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fleet_changed_since(uuid, bigint) TO fairlead_app;
