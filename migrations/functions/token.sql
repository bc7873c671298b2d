-- A door across tenants, which does not lead to a deleted one, nor to one that another cell has: what stands behind a token's id, of the API's and the
-- operators'. In plpgsql, whose plans live as long as a session: a door in SQL is planned anew by each request.
CREATE OR REPLACE FUNCTION find_token(p_id uuid)
RETURNS TABLE (operator boolean, tenant_id uuid, hash bytea, role text, name text, fleet_id uuid, writes_secrets boolean, uses_secrets text[],
               created_at timestamptz, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY
  SELECT false, t.tenant_id, t.hash, t.role, t.name, t.fleet_id, t.writes_secrets, nullif(t.uses_secrets, '{}'), t.created_at, t.expires_at, t.revoked_at
    FROM api_tokens t JOIN tenants n ON n.id = t.tenant_id AND n.deleted_at IS NULL AND is_served(n.place) WHERE t.id = p_id
  UNION ALL
  SELECT true, NULL, o.hash, NULL, o.name, NULL, false, NULL, o.created_at, o.expires_at, o.revoked_at
    FROM operator_tokens o WHERE o.id = p_id;
END $$;

-- Who makes a token holds this shared, who ends some holds it alone: no token is made by one that is being ended, at
-- whatever depth, unseen by the statement that ends them.
CREATE OR REPLACE FUNCTION tokens_lock(p_alone boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  k bigint := hashtextextended('tokens of ' || app_tenant(), 0);
BEGIN
  IF p_alone THEN
    PERFORM pg_advisory_xact_lock(k);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(k);
  END IF;
END $$;

-- FL401 unless the token can make another now, one that ends at p_expires. It can until the transaction ends.
CREATE OR REPLACE FUNCTION token_makes(p_id uuid, p_expires timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tokens_lock(false);
  IF NOT EXISTS (SELECT FROM api_tokens k WHERE k.tenant_id = app_tenant() AND k.id = p_id AND k.revoked_at IS NULL
                    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp() AND k.expires_at >= p_expires)) THEN
    RAISE EXCEPTION 'the token that makes this one ends before it' USING ERRCODE = 'FL401';
  END IF;
END $$;

-- The same for what does not end with its maker: a token that stands alone, a node credential. A maker that is no token of the tenant,
-- an operator's or none, has nothing to be asked. Called before a fleet's head is locked, as who ends tokens locks in this order.
CREATE OR REPLACE FUNCTION maker_must_be_good(p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tokens_lock(false);
  IF EXISTS (SELECT FROM api_tokens k WHERE k.tenant_id = app_tenant() AND k.id = p_id AND least(k.revoked_at, k.expires_at) <= clock_timestamp()) THEN
    RAISE EXCEPTION 'the token that makes this has ended' USING ERRCODE = 'FL401';
  END IF;
END $$;

-- The tokens that something comes from which p_id makes, the nearest first.
CREATE OR REPLACE FUNCTION makers_of(p_id uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_id IS NULL THEN '{}' ELSE p_id || coalesce((SELECT k.makers FROM api_tokens k WHERE k.tenant_id = app_tenant() AND k.id = p_id), '{}') END
$$;

-- The token and those that end with it, at whatever depth.
CREATE OR REPLACE FUNCTION tokens_ending_with(p_id uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  WITH RECURSIVE below AS (
    SELECT p_id AS id
     UNION
    SELECT k.id FROM below b CROSS JOIN LATERAL (
             SELECT c.id FROM api_tokens c WHERE c.tenant_id = app_tenant() AND c.parent_id = b.id OFFSET 0) k)
  SELECT array_agg(b.id) FROM below b
$$;

-- Ends a token and all that end with it; one that has leaked with all that it made, tokens that stand alone and node credentials too.
-- FL404 if there is none, FL403 if it has a role that is not in p_roles. A second call changes nothing that the first has changed, and is
-- recorded. The cost grows with what ends; of one that has leaked with the tenant's tokens and credentials. Returns the fleets whose
-- credentials have ended.
CREATE OR REPLACE FUNCTION token_revoke(p_id uuid, p_roles text[], p_leaked boolean, p_actor jsonb) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  v_role text;
  v_ids  uuid[];
BEGIN
  PERFORM tokens_lock(true);
  SELECT k.role INTO v_role FROM api_tokens k WHERE k.tenant_id = app_tenant() AND k.id = p_id;
  PERFORM must_exist(FOUND);
  IF (v_role = ANY (p_roles)) IS NOT TRUE THEN
    RAISE EXCEPTION 'a token of the role % is above the one that revokes it', v_role USING ERRCODE = 'FL403';
  END IF;
  v_ids := tokens_ending_with(p_id);
  IF p_leaked THEN -- heads are locked before events are written, as by every write
    v_ids := v_ids || ARRAY(SELECT k.id FROM api_tokens k WHERE k.tenant_id = app_tenant() AND k.makers && v_ids AND k.id <> ALL (v_ids));
    RETURN QUERY SELECT credentials_revoke(v_ids, p_id, p_actor);
  END IF;
  WITH ended AS (
    UPDATE api_tokens k SET revoked_at = clock_timestamp()
     WHERE k.tenant_id = app_tenant() AND k.id = ANY (v_ids) AND k.revoked_at IS NULL RETURNING k.id)
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, detail)
  SELECT app_tenant(), (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
         coalesce(p_actor->>'request_id', ''), 'token.revoke', 'token ' || o.id, ended_detail(nullif(p_id, o.id), p_leaked)
    FROM (SELECT p_id AS id UNION SELECT e.id FROM ended e) o;
END $$;

-- What an event tells of what has ended: with which token, and that it has leaked. NULL: nothing.
CREATE OR REPLACE FUNCTION ended_detail(p_with uuid, p_leaked boolean) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT nullif(jsonb_strip_nulls(jsonb_build_object('ended_with', p_with, 'leaked', nullif(p_leaked, false))), '{}')
$$;

-- Makes a token stand alone. FL404 if there is none, FL423 if it has ended.
CREATE OR REPLACE FUNCTION token_hand_over(p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  k api_tokens%ROWTYPE;
BEGIN
  PERFORM tokens_lock(true);
  SELECT * INTO k FROM api_tokens t WHERE t.tenant_id = app_tenant() AND t.id = p_id;
  PERFORM must_exist(FOUND);
  IF k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp() THEN
    RAISE EXCEPTION 'the token has ended' USING ERRCODE = 'FL423';
  END IF;
  UPDATE api_tokens t SET parent_id = NULL WHERE t.tenant_id = app_tenant() AND t.id = p_id;
END $$;

-- As drop_ended_credentials, of the tenant's tokens. One that ended has none below it that has not.
CREATE OR REPLACE FUNCTION drop_ended_tokens() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DELETE FROM api_tokens d WHERE d.tenant_id = app_tenant() AND d.id = ANY (ARRAY(
    SELECT k.id FROM api_tokens k
     WHERE k.tenant_id = app_tenant() AND least(k.revoked_at, k.expires_at) <= clock_timestamp()
     ORDER BY least(k.revoked_at, k.expires_at) DESC, k.id DESC OFFSET tenant_limit('tokens')))
$$;
