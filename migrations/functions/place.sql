-- Whether a tenant that is there is known by its tokens.
CREATE OR REPLACE FUNCTION is_served(p_place text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT p_place IN ('here', 'leaving') $$;

-- A door across tenants, which does not lead to a deleted one: where the tenant is that a token, a node credential or a session has. Of an operator's it is
-- 'here'. Null: there is none with this id.
CREATE OR REPLACE FUNCTION token_place(p_id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT n.place FROM tenants n WHERE n.deleted_at IS NULL AND n.id = ANY (ARRAY(
    SELECT t.tenant_id FROM api_tokens t WHERE t.id = p_id
     UNION ALL
    SELECT c.tenant_id FROM node_credentials c WHERE c.id = p_id
     UNION ALL
    SELECT s.tenant_id FROM sessions s WHERE s.id = p_id AND s.tenant_id IS NOT NULL))
   UNION ALL
  SELECT 'here' FROM operator_tokens o WHERE o.id = p_id
   UNION ALL
  SELECT 'here' FROM sessions s WHERE s.id = p_id AND s.tenant_id IS NULL
   LIMIT 1
$$;
