-- Whether a tenant that is there is known by its tokens.
CREATE OR REPLACE FUNCTION is_served(p_place text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT p_place IN ('here', 'leaving') $$;

-- A door across tenants: where the tenant is that a token, a node credential or a session has, or 'deleted' of one that was deleted here. Of an operator's it is
-- 'here'. Null: there is none with this id, or not with this hash. Without a hash it is asked by the id alone: not for somebody who may not have its secret.
CREATE OR REPLACE FUNCTION place_of_token(p_id uuid, p_hash bytea) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT CASE WHEN n.deleted_at IS NULL THEN n.place WHEN is_served(n.place) THEN 'deleted' END FROM tenants n WHERE n.id = ANY (ARRAY(
    SELECT t.tenant_id FROM api_tokens t WHERE t.id = p_id AND t.hash = coalesce(p_hash, t.hash)
     UNION ALL
    SELECT c.tenant_id FROM node_credentials c WHERE c.id = p_id AND c.hash = coalesce(p_hash, c.hash)
     UNION ALL
    SELECT s.tenant_id FROM sessions s WHERE s.id = p_id AND s.hash = coalesce(p_hash, s.hash) AND s.tenant_id IS NOT NULL))
   UNION ALL
  SELECT 'here' FROM operator_tokens o WHERE o.id = p_id AND o.hash = coalesce(p_hash, o.hash)
   UNION ALL
  SELECT 'here' FROM sessions s WHERE s.id = p_id AND s.hash = coalesce(p_hash, s.hash) AND s.tenant_id IS NULL
   LIMIT 1
$$;

-- The same by the id alone, which servers of the last release call.
CREATE OR REPLACE FUNCTION token_place(p_id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$ SELECT place_of_token(p_id, NULL) $$;

-- Ends a write of a tenant that is not here, by whichever way it comes: the state is of Postgres's class 57, so that a server of the last release takes it for a
-- database that is away. The tables' owner, who copies tenants and migrates, is let pass: that is who has logged in, and not whom a door runs as.
CREATE OR REPLACE FUNCTION tenant_is_elsewhere() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_has_role(session_user, 'fairlead_owner', 'MEMBER') THEN
    RAISE EXCEPTION 'the tenant is being moved to another cell' USING ERRCODE = '57FL1';
  END IF;
END $$;

-- Before each statement that writes to a table of tables_of_writes. Of the transaction's tenant it asks in words that fit tenants_elsewhere alone, which has a row for
-- each tenant that moves or has moved. It asks once in a transaction: that holds a table for writing from then on, and who moves the tenant waits for its end.
CREATE OR REPLACE FUNCTION tenant_must_be_here() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF app_tenant() IS NULL OR app_tenant()::text = current_setting('fairlead.here', true) THEN
    RETURN NULL;
  END IF;
  IF EXISTS (SELECT FROM public.tenants n WHERE n.id IS NOT DISTINCT FROM app_tenant() AND n.place <> 'here') THEN
    PERFORM tenant_is_elsewhere();
  END IF;
  PERFORM set_config('fairlead.here', app_tenant()::text, true);
  RETURN NULL;
END $$;

-- The same of each row that a door has written without a transaction's tenant, which sets enable_seqscan.
CREATE OR REPLACE FUNCTION row_must_be_here() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  IF EXISTS (SELECT FROM public.tenants n WHERE n.id IS NOT DISTINCT FROM coalesce(NEW.tenant_id, OLD.tenant_id) AND n.place <> 'here') THEN
    PERFORM tenant_is_elsewhere();
  END IF;
  RETURN NULL;
END $$;

-- What a tenant that is leaving is refused to write: all that its API writes. What proxies report is not among it.
CREATE OR REPLACE FUNCTION tables_of_writes() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY['tenant_limits', 'idempotency_keys', 'idempotency_use', 'fleets', 'fleet_heads', 'bodies', 'resources', 'resource_refs', 'fleet_history', 'resource_history',
               'endpoint_builds', 'endpoint_leases', 'endpoint_clusters', 'endpoints', 'api_tokens', 'node_credentials', 'sessions', 'audit_events', 'audit_chain', 'audit_heads',
               'audit_anchors', 'audit_signatures', 'audit_checks', 'audit_deliveries'] $$;

-- Whether rows are those of a tenant that comes from another cell, with the events and the links that they had there. Of the tables' owner alone.
-- In plpgsql, as triggers have it in their conditions: one in SQL would be parsed for each statement.
CREATE OR REPLACE FUNCTION is_arriving() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce(current_setting('fairlead.arriving', true), '') = 'on' AND pg_has_role(session_user, 'fairlead_owner', 'MEMBER');
END $$;
