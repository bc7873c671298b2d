-- The tenant that the transaction works for. Outside of a transaction that has set it the setting is unset or '', which
-- becomes NULL, which no tenant_id equals.
CREATE OR REPLACE FUNCTION app_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT nullif(current_setting('app.tenant_id', true), '')::uuid $$;

-- Ends the transaction with FL404 unless what it was to change is there.
CREATE OR REPLACE FUNCTION must_exist(p_there boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT p_there THEN
    RAISE EXCEPTION 'no such row' USING ERRCODE = 'FL404';
  END IF;
END $$;

-- The operator's doors to tenants. Deleted ones are not to be seen, but in the list of those that can come back; those that another cell has are not at all.

CREATE OR REPLACE FUNCTION operator_tenants(p_after text, p_from text, p_before text, p_limit integer, p_deleted boolean) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t
   WHERE t.slug > p_after AND t.slug >= p_from AND t.slug < p_before AND is_served(t.place)
     AND CASE WHEN p_deleted THEN t.deleted_at > clock_timestamp() - interval '30 days' ELSE t.deleted_at IS NULL END
   ORDER BY t.slug LIMIT p_limit
$$;

CREATE OR REPLACE FUNCTION operator_tenant_by_slug(p_slug text) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.slug = p_slug AND t.deleted_at IS NULL AND is_served(t.place)
$$;

CREATE OR REPLACE FUNCTION operator_create_tenant(p_id uuid, p_slug text, p_name text, p_actor jsonb) RETURNS tenants
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v tenants%ROWTYPE;
BEGIN
  INSERT INTO tenants (id, slug, name) VALUES (p_id, p_slug, p_name) RETURNING * INTO v;
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object)
  VALUES (p_id, (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
          coalesce(p_actor->>'request_id', ''), 'tenant.create', 'tenant ' || p_slug);
  RETURN v;
END $$;

-- Ends a tenant: its tokens and node credentials lead nowhere, its fleets are deleted. Returns those that were not yet. The
-- tenant's lock lets others add rows that name it: a write does, which has the head that this waits for. p_seen is a list of reasons to have it
-- confirmed that were seen (confirm.sql), FL428 with the tenant's id as the head's token for others; null: the caller is not asked.
CREATE OR REPLACE FUNCTION delete_tenant(p_tenant uuid, p_actor jsonb, p_seen jsonb) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  h      fleet_heads%ROWTYPE; -- of no fleet
  v_slug text;
  v_fleets uuid[];
  v_at   timestamptz;
BEGIN
  SELECT t.slug INTO v_slug FROM tenants t WHERE t.id = p_tenant AND t.deleted_at IS NULL FOR NO KEY UPDATE;
  PERFORM must_exist(FOUND);
  v_fleets := ARRAY(SELECT f.fleet_id FROM fleet_heads f WHERE f.tenant_id = p_tenant AND f.deleted_at IS NULL ORDER BY f.fleet_id FOR NO KEY UPDATE);
  IF p_seen IS NOT NULL THEN
    h.revision := 0;
    h.token := p_tenant;
    PERFORM fleet_must_be_confirmed(h, to_confirm_nodes(p_tenant, v_fleets), p_seen);
  END IF;
  v_at := clock_timestamp();
  UPDATE tenants t SET deleted_at = v_at WHERE t.id = p_tenant;
  UPDATE fleet_heads f SET deleted_at = v_at WHERE f.tenant_id = p_tenant AND f.deleted_at IS NULL;
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object)
  VALUES (p_tenant, (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
          coalesce(p_actor->>'request_id', ''), 'tenant.delete', 'tenant ' || v_slug);
  RETURN QUERY UPDATE fleets f SET deleted_at = v_at WHERE f.tenant_id = p_tenant AND f.deleted_at IS NULL RETURNING f.id;
END $$;
