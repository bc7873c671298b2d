-- For how long a session is good without being used, and at most; and how many a token has open.
CREATE OR REPLACE FUNCTION session_idle() RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '30 minutes' $$;
CREATE OR REPLACE FUNCTION session_life() RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '12 hours' $$;
CREATE OR REPLACE FUNCTION session_most() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 20 $$;

-- Whether a session is good, as far as its own row says it.
CREATE OR REPLACE FUNCTION session_open(p_seen timestamptz, p_expires timestamptz, p_ended timestamptz) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT p_ended IS NULL AND p_expires > clock_timestamp() AND p_seen > clock_timestamp() - session_idle()
$$;

-- A door across tenants, which does not lead to a deleted one, nor to one that another cell has: what stands behind a session's id, and behind its token's.
CREATE OR REPLACE FUNCTION find_session(p_id uuid)
RETURNS TABLE (hash bytea, created_at timestamptz, last_seen_at timestamptz, idle_at timestamptz, expires_at timestamptz, ended_at timestamptz,
               credential_id uuid, operator boolean, tenant_id uuid, role text, name text, fleet_id uuid, writes_secrets boolean, uses_secrets text[],
               token_created_at timestamptz, token_expires_at timestamptz, token_revoked_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY
  SELECT s.hash, s.created_at, s.last_seen_at, s.last_seen_at + session_idle(), s.expires_at, s.ended_at,
         s.credential_id, k.operator, k.tenant_id, k.role, k.name, k.fleet_id, k.writes_secrets, k.uses_secrets, k.created_at, k.expires_at, k.revoked_at
    FROM sessions s CROSS JOIN LATERAL find_token(s.credential_id) k
   WHERE s.id = p_id AND k.tenant_id IS NOT DISTINCT FROM s.tenant_id;
END $$;

-- Ends a session and tells the tenant's audit of it; an operator's has none. Nothing happens to one that has ended.
CREATE OR REPLACE FUNCTION session_close(p_id uuid, p_actor jsonb, p_why text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  s sessions%ROWTYPE;
BEGIN
  UPDATE sessions x SET ended_at = clock_timestamp() WHERE x.id = p_id AND x.ended_at IS NULL RETURNING * INTO s;
  IF s.tenant_id IS NOT NULL THEN
    PERFORM session_tell(s.tenant_id, 'session.end', s.id, p_actor, jsonb_strip_nulls(jsonb_build_object('token', s.credential_id, 'why', p_why)));
  END IF;
END $$;

CREATE OR REPLACE FUNCTION session_tell(p_tenant uuid, p_action text, p_id uuid, p_actor jsonb, p_detail jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, detail)
  VALUES (p_tenant, (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
          coalesce(p_actor->>'request_id', ''), p_action, 'session ' || p_id, p_detail);
END $$;

-- Begins a session of a token: FL401 unless that is good. The session whose cookie the browser sent along, p_old, ends, as
-- its own token's doing, unless its tenant is leaving; so do the oldest of those that the token has too many of. Of those that have ended as many are kept.
-- Returns when it ends at the latest.
CREATE OR REPLACE FUNCTION begin_session(p_id uuid, p_hash bytea, p_credential uuid, p_ip text, p_agent text, p_old uuid, p_old_hash bytea, p_actor jsonb)
RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  k     record;
  v_end timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('sessions of ' || p_credential, 0));
  SELECT * INTO k FROM find_token(p_credential) t WHERE t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp());
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the token has ended' USING ERRCODE = 'FL401';
  END IF;
  IF k.tenant_id IS NOT NULL THEN
    PERFORM audit_must_have_room(k.tenant_id, 2);
  END IF;
  PERFORM session_close(s.id, p_actor || jsonb_build_object('credential', s.credential_id, 'actor', t.name), 'replaced')
     FROM sessions s CROSS JOIN LATERAL find_token(s.credential_id) t WHERE s.id = p_old AND s.hash = p_old_hash AND NOT EXISTS (SELECT FROM tenants n WHERE n.id = s.tenant_id AND n.place <> 'here');
  PERFORM session_close(o.id, p_actor, 'too_many')
     FROM (SELECT s.id FROM sessions s WHERE s.credential_id = p_credential AND session_open(s.last_seen_at, s.expires_at, s.ended_at)
            ORDER BY s.created_at DESC, s.id DESC OFFSET session_most() - 1) o;
  DELETE FROM sessions d WHERE d.id = ANY (ARRAY(
    SELECT s.id FROM sessions s WHERE s.credential_id = p_credential AND NOT session_open(s.last_seen_at, s.expires_at, s.ended_at)
     ORDER BY s.created_at DESC, s.id DESC OFFSET session_most()));
  INSERT INTO sessions (id, tenant_id, credential_id, hash, expires_at, ip, user_agent)
  VALUES (p_id, k.tenant_id, p_credential, p_hash, least(clock_timestamp() + session_life(), k.expires_at), p_ip, p_agent)
  RETURNING expires_at INTO v_end;
  IF k.tenant_id IS NOT NULL THEN
    PERFORM session_tell(k.tenant_id, 'session.begin', p_id, p_actor, NULL);
  END IF;
  -- The one that was replaced may be another tenant's: both audits' heads are locked here in one order, before the transaction's end locks each as its event comes.
  PERFORM FROM audit_heads h WHERE h.tenant_id = k.tenant_id OR h.tenant_id = (SELECT s.tenant_id FROM sessions s WHERE s.id = p_old AND s.hash = p_old_hash)
    ORDER BY h.tenant_id FOR NO KEY UPDATE;
  RETURN v_end;
END $$;

-- A session is used: noted once a minute, and never of one that is over, or whose tenant is leaving.
CREATE OR REPLACE FUNCTION touch_session(p_id uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  UPDATE sessions s SET last_seen_at = clock_timestamp()
   WHERE s.id = p_id AND s.last_seen_at <= clock_timestamp() - interval '1 minute' AND session_open(s.last_seen_at, s.expires_at, s.ended_at)
     AND NOT EXISTS (SELECT FROM tenants n WHERE n.id = s.tenant_id AND n.place <> 'here')
$$;

-- Ends a session of the transaction's tenant: FL404 if there is none, FL403 if it is neither of the token p_own nor of one
-- whose role is in p_roles. A second call changes nothing.
CREATE OR REPLACE FUNCTION end_session(p_id uuid, p_own uuid, p_roles text[], p_actor jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_may boolean;
BEGIN
  SELECT s.credential_id = p_own OR t.role = ANY (p_roles) INTO v_may FROM sessions s
    JOIN api_tokens t ON t.tenant_id = s.tenant_id AND t.id = s.credential_id WHERE s.tenant_id = app_tenant() AND s.id = p_id;
  PERFORM must_exist(FOUND);
  IF NOT v_may THEN
    RAISE EXCEPTION 'the session is not for this token to end' USING ERRCODE = 'FL403';
  END IF;
  PERFORM session_close(p_id, p_actor, NULL);
END $$;

-- The same of an operator's.
CREATE OR REPLACE FUNCTION operator_end_session(p_id uuid, p_actor jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM must_exist(EXISTS (SELECT FROM sessions s WHERE s.id = p_id AND s.tenant_id IS NULL));
  PERFORM session_close(p_id, p_actor, NULL);
END $$;

-- A door across tenants: ends the open sessions of a token, an operator's too, but the one p_keep where there is one, and tells how many. Who
-- signs in at the same time comes before or after it, as a whole.
CREATE OR REPLACE FUNCTION end_other_sessions(p_credential uuid, p_keep uuid, p_actor jsonb) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_ids uuid[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('sessions of ' || p_credential, 0));
  v_ids := ARRAY(SELECT s.id FROM sessions s WHERE s.credential_id = p_credential AND s.id IS DISTINCT FROM p_keep
                                               AND session_open(s.last_seen_at, s.expires_at, s.ended_at) ORDER BY s.id);
  PERFORM session_close(i.id, p_actor, NULL) FROM unnest(v_ids) AS i (id);
  RETURN cardinality(v_ids);
END $$;

-- The operators' open sessions, newest first; never the hashes.
CREATE OR REPLACE FUNCTION operator_list_sessions()
RETURNS TABLE (id uuid, credential_id uuid, name text, role text, created_at timestamptz, last_seen_at timestamptz, idle_at timestamptz,
               expires_at timestamptz, ip text, user_agent text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT s.id, s.credential_id, o.name, '', s.created_at, s.last_seen_at, s.last_seen_at + session_idle(), s.expires_at, s.ip, s.user_agent
    FROM sessions s JOIN operator_tokens o ON o.id = s.credential_id
   WHERE s.tenant_id IS NULL AND o.revoked_at IS NULL AND session_open(s.last_seen_at, s.expires_at, s.ended_at)
$$;

-- One step of forgetting the sessions of all tenants that were over 30 days ago: true when there are no more. The audit
-- keeps what is to be known of them.
-- All three: it walks an index and stops early, instead of collecting and sorting all that fits; and no tenant's transaction sets enable_seqscan.
CREATE OR REPLACE FUNCTION sweep_sessions(p_limit integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  n integer;
BEGIN
  DELETE FROM sessions d WHERE d.ctid = ANY (ARRAY(
    SELECT s.ctid FROM sessions s WHERE s.expires_at < clock_timestamp() - interval '30 days'
       AND NOT EXISTS (SELECT FROM tenants n WHERE n.id = s.tenant_id AND n.place <> 'here' OFFSET 0) ORDER BY s.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n < p_limit;
END $$;
