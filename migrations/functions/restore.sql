-- What was deleted comes back, within 30 days. The trigger on deleted_at lets it through for the tables' owner alone, whose doors these
-- are: nothing else brings anything back, and nothing comes back without an audit event. What has ended meanwhile, a token or a credential, stays so.

-- A fleet of the transaction's tenant. FL404 where there is none that can come back, FL429 where the tenant has all its fleets; a unique
-- violation where another one has its name. The epoch moves, so that no reader takes it for what it knew.
CREATE OR REPLACE FUNCTION restore_fleet(p_fleet uuid, p_actor jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  t uuid := app_tenant();
  n bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('tenant_limits fleets ' || t, 0)); -- of tenant_must_have_room
  PERFORM FROM fleet_heads h WHERE h.tenant_id = t AND h.fleet_id = p_fleet AND h.deleted_at > clock_timestamp() - interval '30 days' FOR NO KEY UPDATE;
  PERFORM must_exist(FOUND);
  SELECT count(*) INTO n FROM fleets f WHERE f.tenant_id = t AND f.deleted_at IS NULL;
  PERFORM must_be_within('fleets', n, n + 1, tenant_limit('fleets'));
  UPDATE fleet_heads h SET deleted_at = NULL, epoch = greatest(h.epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
   WHERE h.tenant_id = t AND h.fleet_id = p_fleet;
  UPDATE fleets f SET deleted_at = NULL WHERE f.tenant_id = t AND f.id = p_fleet;
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, fleet_id)
  VALUES (t, (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
          coalesce(p_actor->>'request_id', ''), 'fleet.restore', 'fleet ' || p_fleet, p_fleet);
END $$;

-- The operator's: a tenant, and the fleets that were deleted with it, which it returns. FL404 where there is none that can come back, FL423 where
-- it is there.
CREATE OR REPLACE FUNCTION restore_tenant(p_slug text, p_actor jsonb) RETURNS TABLE (tenant uuid, fleet uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v tenants%ROWTYPE;
BEGIN
  SELECT * INTO v FROM tenants t WHERE t.slug = p_slug FOR NO KEY UPDATE;
  PERFORM must_exist(FOUND);
  IF v.deleted_at IS NULL THEN
    RAISE EXCEPTION 'the tenant is not deleted' USING ERRCODE = 'FL423';
  END IF;
  PERFORM must_exist(v.deleted_at > clock_timestamp() - interval '30 days');
  PERFORM FROM fleet_heads h WHERE h.tenant_id = v.id AND h.deleted_at = v.deleted_at ORDER BY h.fleet_id FOR NO KEY UPDATE;
  UPDATE tenants t SET deleted_at = NULL WHERE t.id = v.id;
  UPDATE fleet_heads h SET deleted_at = NULL, epoch = greatest(h.epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
   WHERE h.tenant_id = v.id AND h.deleted_at = v.deleted_at;
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object)
  VALUES (v.id, (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
          coalesce(p_actor->>'request_id', ''), 'tenant.restore', 'tenant ' || v.slug);
  RETURN QUERY UPDATE fleets f SET deleted_at = NULL WHERE f.tenant_id = v.id AND f.deleted_at = v.deleted_at RETURNING v.id, f.id;
END $$;
