-- A door across tenants, which does not lead to a deleted one, nor to one that another cell has: what stands behind a node credential's id.
CREATE OR REPLACE FUNCTION find_node_credential(p_id uuid)
RETURNS TABLE (tenant_id uuid, fleet_id uuid, hash bytea, nodes text, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY
  SELECT c.tenant_id, c.fleet_id, c.hash, c.nodes, c.expires_at, c.revoked_at
    FROM node_credentials c JOIN tenants n ON n.id = c.tenant_id AND n.deleted_at IS NULL AND is_served(n.place) WHERE c.id = p_id;
END $$;

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

-- Ends all node credentials that come from these tokens, because the token p_with has leaked; those of deleted fleets too, which may be
-- restored. The heads are locked in the order of their ids. Returns the fleets.
CREATE OR REPLACE FUNCTION credentials_revoke(p_makers uuid[], p_with uuid, p_actor jsonb) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  v_fleets uuid[] := ARRAY(SELECT DISTINCT c.fleet_id FROM node_credentials c
                            WHERE c.tenant_id = app_tenant() AND c.makers && p_makers AND c.revoked_at IS NULL ORDER BY 1);
BEGIN
  PERFORM FROM fleet_heads h WHERE h.tenant_id = app_tenant() AND h.fleet_id = ANY (v_fleets) ORDER BY h.fleet_id FOR NO KEY UPDATE;
  WITH ended AS (
    UPDATE node_credentials c SET revoked_at = clock_timestamp()
     WHERE c.tenant_id = app_tenant() AND c.fleet_id = ANY (v_fleets) AND c.makers && p_makers AND c.revoked_at IS NULL RETURNING c.fleet_id, c.id)
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, fleet_id, detail)
  SELECT app_tenant(), (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
         coalesce(p_actor->>'request_id', ''), 'credential.revoke', 'node credential ' || e.id, e.fleet_id, ended_detail(p_with, true)
    FROM ended e;
  UPDATE fleet_heads h SET epoch = greatest(h.epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
   WHERE h.tenant_id = app_tenant() AND h.fleet_id = ANY (v_fleets) AND h.deleted_at IS NULL;
  RETURN QUERY SELECT unnest(v_fleets);
END $$;

-- Before a node credential is renewed: FL404 if there is none, FL423 if it has ended. With p_end it ends then, unless it
-- does sooner. A door, as the API's role itself cannot move an end. The head is locked.
CREATE OR REPLACE FUNCTION credential_renews(p_fleet uuid, p_id uuid, p_end timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  c node_credentials%ROWTYPE;
BEGIN
  SELECT * INTO c FROM node_credentials x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.id = p_id;
  PERFORM must_exist(FOUND);
  IF least(c.revoked_at, c.expires_at) <= clock_timestamp() THEN
    RAISE EXCEPTION 'the node credential has ended' USING ERRCODE = 'FL423';
  END IF;
  UPDATE node_credentials x SET expires_at = least(x.expires_at, p_end)
   WHERE p_end IS NOT NULL AND x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.id = p_id;
END $$;

-- A door across tenants for the xDS servers: when and from where node credentials were used. What another server has just noted, or has
-- at hand, is passed by.
CREATE OR REPLACE FUNCTION note_credential_uses(p_tenants uuid[], p_fleets uuid[], p_ids uuid[], p_at timestamptz[], p_addresses text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  WITH uses AS (
    SELECT c.tenant_id, c.fleet_id, c.id, least(u.at, clock_timestamp()) AS at, u.address
      FROM unnest(p_tenants, p_fleets, p_ids, p_at, p_addresses) AS u (tenant, fleet, id, at, address)
      JOIN node_credentials c ON c.tenant_id = u.tenant AND c.fleet_id = u.fleet AND c.id = u.id
      JOIN tenants n ON n.id = c.tenant_id AND n.place = 'here'
     WHERE c.last_used_at IS NULL OR c.last_used_at < u.at
     ORDER BY 1, 2, 3 FOR NO KEY UPDATE OF c SKIP LOCKED)
  UPDATE node_credentials c SET last_used_at = u.at, last_used_from = u.address
    FROM uses u WHERE c.tenant_id = u.tenant_id AND c.fleet_id = u.fleet_id AND c.id = u.id
$$;
