SET lock_timeout = '5s';

-- The doors across tenants: all of them. They run as the owner, with a fixed search path, and each gives one narrow
-- answer. A test lists them and fails when there is one more.

CREATE FUNCTION find_token(p_id uuid)
RETURNS TABLE (operator boolean, tenant_id uuid, hash bytea, role text, name text, fleet_id uuid, writes_secrets boolean,
               created_at timestamptz, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT false, t.tenant_id, t.hash, t.role, t.name, t.fleet_id, t.writes_secrets, t.created_at, t.expires_at, t.revoked_at
    FROM api_tokens t WHERE t.id = p_id
  UNION ALL
  SELECT true, NULL, o.hash, NULL, o.name, NULL, false, o.created_at, o.expires_at, o.revoked_at
    FROM operator_tokens o WHERE o.id = p_id
$$;

CREATE FUNCTION find_node_credential(p_id uuid)
RETURNS TABLE (tenant_id uuid, fleet_id uuid, hash bytea, nodes text, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT c.tenant_id, c.fleet_id, c.hash, c.nodes, c.expires_at, c.revoked_at FROM node_credentials c WHERE c.id = p_id
$$;

CREATE FUNCTION operator_tenants(p_after text, p_limit integer) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.slug > p_after ORDER BY t.slug LIMIT p_limit
$$;

CREATE FUNCTION operator_tenant_by_slug(p_slug text) RETURNS SETOF tenants
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT * FROM tenants t WHERE t.slug = p_slug
$$;

CREATE FUNCTION operator_create_tenant(p_id uuid, p_slug text, p_name text, p_actor jsonb) RETURNS tenants
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

-- The first operator's token alone: false when there is one already.
CREATE FUNCTION operator_first_token(p_id uuid, p_hash bytea, p_name text, p_expires timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  LOCK TABLE operator_tokens IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM operator_tokens) THEN
    RETURN false;
  END IF;
  INSERT INTO operator_tokens (id, hash, name, expires_at) VALUES (p_id, p_hash, p_name, p_expires);
  RETURN true;
END $$;

REVOKE EXECUTE ON FUNCTION find_token(uuid), find_node_credential(uuid), operator_tenants(text, integer), operator_tenant_by_slug(text),
  operator_create_tenant(uuid, text, text, jsonb), operator_first_token(uuid, bytea, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_token(uuid), operator_tenants(text, integer), operator_tenant_by_slug(text),
  operator_create_tenant(uuid, text, text, jsonb), operator_first_token(uuid, bytea, text, timestamptz) TO fairlead_app;
GRANT EXECUTE ON FUNCTION find_node_credential(uuid) TO fairlead_node;
