-- What one tenant may store and ask for. A limit's name is also its name in the API; null: there is no such limit.
-- Of a fleet: resources, fleet_bytes (see resource_bytes; per row: two resources with one body are two for the servers that
-- hold them), history_bytes (the same of all kept revisions, with a fixed number for each row), credentials, event_bytes and refusal_bytes (of what the
-- servers report). Of a tenant: fleets, deleted_fleets (whose data is still kept), tokens, audit_days (for how long its audit is kept), audit_bytes (what it comes to), idempotency_bytes
-- (what the kept answers come to); and in each API server
-- waiting_polls, writes and reads per minute, the same again for each token.
CREATE OR REPLACE FUNCTION limit_default(p_name text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE p_name
    WHEN 'fleets' THEN 100
    WHEN 'deleted_fleets' THEN 100
    WHEN 'tokens' THEN 1000
    WHEN 'audit_days' THEN 365
    WHEN 'audit_bytes' THEN 4::bigint * 1024 * 1024 * 1024
    WHEN 'idempotency_bytes' THEN 1024 * 1024 * 1024
    WHEN 'credentials' THEN 1000
    WHEN 'resources' THEN 50000
    WHEN 'fleet_bytes' THEN 64 * 1024 * 1024
    WHEN 'history_bytes' THEN 1024 * 1024 * 1024
    WHEN 'event_bytes' THEN 16 * 1024 * 1024
    WHEN 'refusal_bytes' THEN 64 * 1024 * 1024
    WHEN 'waiting_polls' THEN 1000
    WHEN 'token_waiting_polls' THEN 200
    WHEN 'writes_per_minute' THEN 6000
    WHEN 'token_writes_per_minute' THEN 3000
    WHEN 'reads_per_minute' THEN 60000
    WHEN 'token_reads_per_minute' THEN 30000
  END::bigint $$;

-- In plpgsql, which keeps its plan: every write asks for a limit.
CREATE OR REPLACE FUNCTION tenant_limit(p_name text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT l.most FROM tenant_limits l WHERE l.tenant_id = app_tenant() AND l.name = p_name), limit_default(p_name));
END $$;

-- The operator's door: p_set is {name: number, or null for the default}. An unknown name and a number that cannot be are
-- check violations. The tenant sees it as an audit event.
CREATE OR REPLACE FUNCTION operator_set_limits(p_tenant uuid, p_set jsonb, p_actor jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM must_exist(EXISTS (SELECT FROM tenants t WHERE t.id = p_tenant));
  INSERT INTO tenant_limits (tenant_id, name, most) SELECT p_tenant, s.key, s.value::bigint FROM jsonb_each_text(p_set) s WHERE s.value IS NOT NULL
  ON CONFLICT (tenant_id, name) DO UPDATE SET most = excluded.most;
  DELETE FROM tenant_limits l USING jsonb_each_text(p_set) s WHERE l.tenant_id = p_tenant AND l.name = s.key AND s.value IS NULL;
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, detail)
  VALUES (p_tenant, (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
          coalesce(p_actor->>'request_id', ''), 'tenant.limits', 'tenant ' || p_tenant, p_set);
END $$;

-- Ends the transaction with FL429 unless p_wanted of something, which the tenant or the fleet would have then, is within its limit.
CREATE OR REPLACE FUNCTION must_be_within(p_name text, p_used bigint, p_wanted bigint, p_most bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_wanted > p_most THEN
    RAISE EXCEPTION '% of %: % would be wanted', p_name, p_most, p_wanted
    USING ERRCODE = 'FL429', DETAIL = jsonb_build_object('what', p_name, 'limit', p_most, 'used', p_used, 'wanted', p_wanted);
  END IF;
END $$;

-- Makes sure that the tenant may have one more of p_name, until the transaction's end: whoever else makes one waits for it.
CREATE OR REPLACE FUNCTION tenant_must_have_room(p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t uuid := app_tenant();
  n bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('tenant_limits ' || p_name || ' ' || t, 0));
  IF p_name = 'fleets' THEN
    SELECT count(*) INTO n FROM fleets f WHERE f.tenant_id = t AND f.deleted_at IS NOT NULL;
    PERFORM must_be_within('deleted_fleets', n, n, tenant_limit('deleted_fleets'));
    SELECT count(*) INTO n FROM fleets f WHERE f.tenant_id = t AND f.deleted_at IS NULL;
  ELSE
    SELECT count(*) INTO n FROM api_tokens k WHERE k.tenant_id = t AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp());
  END IF;
  PERFORM must_be_within(p_name, n, n + 1, tenant_limit(p_name));
END $$;

-- The same of a fleet's credentials, under the head's lock.
CREATE OR REPLACE FUNCTION fleet_must_have_room(p_fleet uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  SELECT count(*) INTO n FROM node_credentials c
   WHERE c.tenant_id = app_tenant() AND c.fleet_id = p_fleet AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > clock_timestamp());
  PERFORM must_be_within('credentials', n, n + 1, tenant_limit('credentials'));
END $$;

-- What a live resource counts: all of it that a tenant can make long. p_body is the length of its body and of its summary.
CREATE OR REPLACE FUNCTION resource_bytes(p_body integer, p_name text, p_variant text, p_selector text, p_labels jsonb, p_description text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(p_body, 0) + octet_length(p_name) + octet_length(p_variant) + coalesce(octet_length(p_selector), 0)
       + coalesce(octet_length(p_labels::text), 0) + coalesce(octet_length(p_description), 0) $$;

-- What a row of the history counts beside that.
CREATE OR REPLACE FUNCTION history_row_bytes() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 256 $$;

-- Refuses what the fleet has no room for. A write that takes away is always possible, also above a limit that was lowered.
-- Compaction brings the history below its limit, oldest first, and runs once an hour: what may come in between is as much again,
-- beside deletions (p_history 0), each of which a put must have come before.
CREATE OR REPLACE FUNCTION fleet_must_fit(h fleet_heads, p_rows integer, p_bytes bigint, p_history bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_rows > 0 THEN
    PERFORM must_be_within('resources', h.resources, h.resources + p_rows, tenant_limit('resources'));
  END IF;
  IF p_bytes > 0 THEN
    PERFORM must_be_within('fleet_bytes', h.bytes, h.bytes + p_bytes, tenant_limit('fleet_bytes'));
  END IF;
  IF p_history > 0 AND h.history_bytes + p_history > 2 * tenant_limit('history_bytes') THEN
    PERFORM must_be_within('history_bytes', h.history_bytes, h.history_bytes + p_history, tenant_limit('history_bytes'));
  END IF;
END $$;

-- What the fleet has of its limits: [{what, used, limit}].
CREATE OR REPLACE FUNCTION fleet_room(p_fleet uuid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT jsonb_agg(jsonb_build_object('what', l.what, 'used', l.used, 'limit', tenant_limit(l.what)) ORDER BY l.n)
            FROM fleet_heads h
           CROSS JOIN LATERAL (VALUES (1, 'resources', h.resources), (2, 'fleet_bytes', h.bytes), (3, 'history_bytes', h.history_bytes)) l (n, what, used)
           WHERE h.tenant_id = app_tenant() AND h.fleet_id = p_fleet);
END $$;

-- Refuses what would add an event to the audit of a tenant that is at its limit: nothing of it may go before its time. What takes something away, and a sign-in, may be
-- made up to twice the limit (p_times); what revokes something, and what operators do, does not ask.
CREATE OR REPLACE FUNCTION audit_must_have_room(p_tenant uuid, p_times integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_used bigint := coalesce((SELECT h.bytes FROM audit_heads h WHERE h.tenant_id = p_tenant), 0);
  v_most bigint := coalesce((SELECT l.most FROM tenant_limits l WHERE l.tenant_id = p_tenant AND l.name = 'audit_bytes'), limit_default('audit_bytes'));
BEGIN
  IF v_used > p_times * v_most THEN
    PERFORM must_be_within('audit_bytes', v_used, v_used, v_most);
  END IF;
END $$;
