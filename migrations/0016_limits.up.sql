SET lock_timeout = '5s';

-- What one tenant may store and ask for. A limit's name is also its name in the API; null: there is no such limit.
-- Of a fleet: resources, fleet_bytes (see resource_bytes; per row: two resources with one body are two for the servers that
-- hold them), history_bytes (the same of all kept revisions, with a fixed number for each row), credentials, event_bytes and refusal_bytes (of what the
-- servers report). Of a tenant: fleets, deleted_fleets (whose data is still kept), tokens; and in each API server
-- waiting_polls, writes and reads per minute, the same again for each token.
CREATE FUNCTION limit_default(p_name text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE p_name
    WHEN 'fleets' THEN 100
    WHEN 'deleted_fleets' THEN 100
    WHEN 'tokens' THEN 1000
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

-- Where the operator has set another one. 2^53 is what every JSON reader can hold.
CREATE TABLE tenant_limits (
  tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  name      text COLLATE "C" NOT NULL CHECK (limit_default(name) IS NOT NULL),
  most      bigint NOT NULL CHECK (most BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (tenant_id, name)
);
ALTER TABLE tenant_limits ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON tenant_limits FOR SELECT TO fairlead_app USING (tenant_id = app_tenant());
CREATE POLICY owner ON tenant_limits TO fairlead_owner USING (true) WITH CHECK (true);
GRANT SELECT ON tenant_limits TO fairlead_app;

-- In plpgsql, which keeps its plan: every write asks for a limit.
CREATE FUNCTION tenant_limit(p_name text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT l.most FROM tenant_limits l WHERE l.tenant_id = app_tenant() AND l.name = p_name), limit_default(p_name));
END $$;

-- The operator's door: p_set is {name: number, or null for the default}. An unknown name and a number that cannot be are
-- check violations. The tenant sees it as an audit event.
CREATE FUNCTION operator_set_limits(p_tenant uuid, p_set jsonb, p_actor jsonb) RETURNS void
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
CREATE FUNCTION must_be_within(p_name text, p_used bigint, p_wanted bigint, p_most bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_wanted > p_most THEN
    RAISE EXCEPTION '% of %: % would be wanted', p_name, p_most, p_wanted
    USING ERRCODE = 'FL429', DETAIL = jsonb_build_object('what', p_name, 'limit', p_most, 'used', p_used, 'wanted', p_wanted);
  END IF;
END $$;

-- Makes sure that the tenant may have one more of p_name, until the transaction's end: whoever else makes one waits for it.
CREATE FUNCTION tenant_must_have_room(p_name text) RETURNS void LANGUAGE plpgsql AS $$
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
CREATE FUNCTION fleet_must_have_room(p_fleet uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  SELECT count(*) INTO n FROM node_credentials c
   WHERE c.tenant_id = app_tenant() AND c.fleet_id = p_fleet AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > clock_timestamp());
  PERFORM must_be_within('credentials', n, n + 1, tenant_limit('credentials'));
END $$;

-- What a live resource counts: all of it that a tenant can make long. p_body is its body's length.
CREATE FUNCTION resource_bytes(p_body integer, p_name text, p_variant text, p_selector text, p_labels jsonb, p_description text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(p_body, 0) + octet_length(p_name) + octet_length(p_variant) + coalesce(octet_length(p_selector), 0)
       + coalesce(octet_length(p_labels::text), 0) + coalesce(octet_length(p_description), 0) $$;

-- What a row of the history counts beside that.
CREATE FUNCTION history_row_bytes() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 256 $$;

-- What a fleet holds: of live rows, and of all kept revisions. Kept by fleet_commit and fleet_compact, under the head's lock.
ALTER TABLE resources ADD COLUMN bytes integer NOT NULL DEFAULT 0;        -- 0 of a tombstone
ALTER TABLE resource_history ADD COLUMN bytes integer NOT NULL DEFAULT 0;
ALTER TABLE fleet_heads
  ADD COLUMN resources     integer NOT NULL DEFAULT 0,
  ADD COLUMN bytes         bigint NOT NULL DEFAULT 0,
  ADD COLUMN history_bytes bigint NOT NULL DEFAULT 0;

UPDATE resources r SET bytes = resource_bytes(octet_length(b.body), r.name, r.variant, r.selector, r.labels, r.description)
  FROM bodies b WHERE b.tenant_id = r.tenant_id AND b.hash = r.body_hash;
UPDATE resource_history r SET bytes = resource_bytes(octet_length(b.body), r.name, r.variant, r.selector, r.labels, r.description)
  FROM bodies b WHERE b.tenant_id = r.tenant_id AND b.hash = r.body_hash;
UPDATE fleet_heads h SET
  (resources, bytes) = (SELECT count(*), coalesce(sum(r.bytes), 0) FROM resources r WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND NOT r.deleted),
  history_bytes = (SELECT coalesce(sum(r.bytes + history_row_bytes()), 0) FROM resource_history r WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id);

-- Refuses what the fleet has no room for. A write that takes away is always possible, also above a limit that was lowered.
-- Compaction brings the history below its limit, oldest first, and runs once an hour: what may come in between is as much again,
-- beside deletions (p_history 0), each of which a put must have come before.
CREATE FUNCTION fleet_must_fit(h fleet_heads, p_rows integer, p_bytes bigint, p_history bigint) RETURNS void LANGUAGE plpgsql AS $$
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

-- As in 0011, with the sizes.
CREATE OR REPLACE FUNCTION fleet_commit(h fleet_heads, p_write jsonb, p_changes resource_change[], p_bodies bytea[],
                             OUT o_revision bigint, OUT o_changed integer, OUT o_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  e      resource_change[];
  v_new  bigint := h.revision + 1;
  v_tok  uuid := gen_random_uuid();
  v_who  text := coalesce(p_write->>'actor', '');
  v_cred uuid := (p_write->>'credential')::uuid;
  v_size integer[]; -- of e, in its order; 0 of a deletion
  v_rows integer;   -- what the fleet has more than before
  v_more bigint;    -- bytes that it has more
  v_all  bigint;    -- bytes that are put
BEGIN
  SELECT coalesce(array_agg(c ORDER BY c.ord), '{}'), count(*) FILTER (WHERE r.name IS NULL) - count(*) FILTER (WHERE c.delete),
         -coalesce(sum(r.bytes), 0) INTO e, v_rows, v_more
    FROM unnest(p_changes) c
    LEFT JOIN LATERAL (SELECT * FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                          AND p.type = c.type AND p.name = c.name AND p.variant = c.variant AND NOT p.deleted OFFSET 0) r ON true
   WHERE CASE WHEN c.delete THEN r.name IS NOT NULL ELSE r.doc_hash IS DISTINCT FROM c.doc_hash END;
  o_changed := cardinality(e);
  IF o_changed = 0 THEN
    o_revision := h.revision;
    o_at := h.changed_at;
    RETURN;
  END IF;

  -- The sizes of what is sent, and of bodies that are stored already (of a rollback), which are not read for it. Before
  -- anything is written: what is refused is to leave nothing behind.
  SELECT array_agg(s.bytes ORDER BY s.ord), sum(s.bytes) INTO v_size, v_all
    FROM (SELECT c.ord, CASE WHEN c.delete THEN 0 ELSE resource_bytes(
                 coalesce(b.bytes, (SELECT octet_length(x.body) FROM bodies x WHERE x.tenant_id = h.tenant_id AND x.hash = c.body_hash)),
                 c.name, c.variant, c.selector, c.labels, c.description) END AS bytes
            FROM unnest(e) c
            LEFT JOIN (SELECT octet_length(p.body) AS bytes, p.ord FROM unnest(p_bodies) WITH ORDINALITY p (body, ord)) b ON b.ord = c.ord) s;
  v_more := v_more + v_all;
  PERFORM fleet_must_fit(h, v_rows, v_more, v_all);
  o_revision := v_new;
  o_at := clock_timestamp();

  -- In the order of the hash: two fleets that add the same bodies cannot wait for each other in a circle.
  INSERT INTO bodies (tenant_id, hash, body)
  SELECT DISTINCT ON (c.body_hash) h.tenant_id, c.body_hash, b.body
    FROM unnest(e) c JOIN unnest(p_bodies) WITH ORDINALITY b (body, ord) ON b.ord = c.ord
   WHERE NOT c.delete AND b.body IS NOT NULL
   ORDER BY c.body_hash
  ON CONFLICT DO NOTHING;

  WITH w AS (
    INSERT INTO resources AS r (tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, labels,
           description, version, doc_hash, body_hash, derived, derive_version, summary, created_at, created_by, updated_at, updated_by, bytes)
    SELECT h.tenant_id, h.fleet_id, c.type, c.name, c.variant, v_new, c.delete, coalesce(c.selector, ''), coalesce(c.priority, 0),
           coalesce(c.ttl_ms, 0), c.labels, coalesce(c.description, ''), coalesce(c.version, ''), c.doc_hash, c.body_hash, c.derived,
           coalesce(c.derive_version, 0), c.summary, o_at, v_who, o_at, v_who, v_size[c.ordinality]
      FROM unnest(e) WITH ORDINALITY c
    ON CONFLICT (tenant_id, fleet_id, type, name, variant) DO UPDATE
       SET revision = excluded.revision, deleted = excluded.deleted, selector = excluded.selector, priority = excluded.priority,
           ttl_ms = excluded.ttl_ms, labels = excluded.labels, description = excluded.description, version = excluded.version,
           doc_hash = excluded.doc_hash, body_hash = excluded.body_hash, derived = excluded.derived,
           derive_version = excluded.derive_version, summary = excluded.summary,
           reselected = CASE WHEN (r.selector, r.priority, r.deleted) IS DISTINCT FROM (excluded.selector, excluded.priority, excluded.deleted)
                             THEN excluded.revision ELSE r.reselected END,
           created_at = CASE WHEN r.deleted THEN excluded.created_at ELSE r.created_at END,
           created_by = CASE WHEN r.deleted THEN excluded.created_by ELSE r.created_by END,
           updated_at = excluded.updated_at, updated_by = excluded.updated_by, bytes = excluded.bytes
    RETURNING r.*)
  INSERT INTO resource_history (tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, labels,
         description, version, doc_hash, body_hash, derived, derive_version, summary, bytes)
  SELECT tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, labels,
         description, version, doc_hash, body_hash, derived, derive_version, summary, bytes FROM w;

  DELETE FROM resource_refs x USING unnest(e) c
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = c.type AND x.name = c.name AND x.variant = c.variant;
  INSERT INTO resource_refs (tenant_id, fleet_id, type, name, variant, ref_type, ref_name)
  SELECT h.tenant_id, h.fleet_id, c.type, c.name, c.variant, f->>0, f->>1
    FROM unnest(e) c CROSS JOIN LATERAL jsonb_array_elements(c.derived->'refs') f
   WHERE NOT c.delete
  ON CONFLICT DO NOTHING;

  -- A refusal ends with the version that was refused, also where the server that recorded it is gone: when no variant of
  -- the name has it any more. Where one still has it the node's server knows whether it is the node's.
  UPDATE node_exceptions x SET resolved_at = clock_timestamp(), resolved_by = v_new FROM unnest(e) c
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = c.type AND x.name = c.name AND x.resolved_at IS NULL
     AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND r.type = x.type AND r.name = x.name
                        AND NOT r.deleted AND r.version = x.version OFFSET 0);

  o_at := clock_timestamp();
  UPDATE fleet_heads SET revision = v_new, token = v_tok, changed_at = o_at, resources = resources + v_rows, bytes = bytes + v_more,
         history_bytes = history_bytes + v_all + o_changed * history_row_bytes()
   WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
  INSERT INTO fleet_history (tenant_id, fleet_id, revision, token, at, kind, message, actor, credential, changes)
  VALUES (h.tenant_id, h.fleet_id, v_new, v_tok, o_at, p_write->>'kind', coalesce(p_write->>'message', ''), v_who, v_cred, o_changed);
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, fleet_id, old_revision, new_revision, detail)
  SELECT h.tenant_id, v_cred, v_who, coalesce(p_write->>'ip', ''), coalesce(p_write->>'request_id', ''),
         'fleet.' || (p_write->>'kind'), 'fleet ' || h.fleet_id, h.fleet_id, h.revision, v_new,
         jsonb_build_object('changed', o_changed, 'message', coalesce(p_write->>'message', ''), 'resources', -- the first hundred
           (SELECT jsonb_agg(jsonb_build_array(CASE WHEN c.delete THEN 'delete' ELSE 'put' END, c.type, c.name, c.variant) ORDER BY c.ord)
              FROM unnest(e[:100]) c));
END $$;

-- As in 0006, with the sizes.
CREATE OR REPLACE FUNCTION fleet_compact(p_fleet uuid, p_tombstones bigint, p_history bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  h       fleet_heads%ROWTYPE;
  v_floor bigint;
  v_gone  bigint;
BEGIN
  h := fleet_lock(p_fleet, NULL);
  v_floor := greatest(h.compacted, least(p_tombstones, h.revision));
  IF v_floor > h.compacted THEN
    UPDATE fleet_heads SET compacted = v_floor WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
    DELETE FROM resources WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id AND deleted AND revision <= v_floor;
  END IF;
  v_floor := least(p_history, h.revision);
  DELETE FROM fleet_history WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id AND revision < v_floor;
  WITH d AS (
    DELETE FROM resource_history x
     WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision <= v_floor
       AND (x.deleted OR EXISTS (
            SELECT FROM resource_history y
             WHERE y.tenant_id = x.tenant_id AND y.fleet_id = x.fleet_id AND y.type = x.type AND y.name = x.name AND y.variant = x.variant
               AND y.revision > x.revision AND y.revision <= v_floor))
    RETURNING x.bytes)
  SELECT sum(d.bytes + history_row_bytes()) INTO v_gone FROM d;
  IF v_gone > 0 THEN
    UPDATE fleet_heads SET history_bytes = history_bytes - v_gone WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
  END IF;
END $$;

-- Keeps of what the servers report about a fleet the newest, within its limits: events, and refusals, of these first the
-- open ones. Of the words of clients what nothing names any more goes too. What is dropped is told, once an hour at most. One at a
-- time: who finds another at it leaves it to that one. A report that relied on a text that goes away at that moment gets a foreign
-- key violation and writes again. It reads all that is reported of the fleet, once: each statement keeps the planner from a join, for
-- which it would take any index that fits a little (see 0002), and a row that changes meanwhile is passed by. It is the owner's, because a server may add events and not remove them; it works in the
-- transaction's tenant alone.
CREATE FUNCTION fleet_trim_reports(p_fleet uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  t          uuid := app_tenant();
  v_events   bigint := tenant_limit('event_bytes'); -- first what may be, then what went
  v_refusals bigint := tenant_limit('refusal_bytes');
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('fleet_trim_reports ' || p_fleet, 0)) THEN
    RETURN 0;
  END IF;
  DELETE FROM node_events d WHERE d.ctid = ANY (ARRAY(
    SELECT l.ctid FROM (
      SELECT e.ctid, sum(event_bytes(e, x.text)) OVER (ORDER BY e.at DESC, e.id DESC) AS upto
        FROM node_events e
        LEFT JOIN LATERAL (SELECT n.text FROM nack_texts n WHERE n.tenant_id = t AND n.fleet_id = p_fleet AND n.hash = e.text_hash OFFSET 0) x ON true
       WHERE e.tenant_id = t AND e.fleet_id = p_fleet) l WHERE l.upto > v_events));
  GET DIAGNOSTICS v_events = ROW_COUNT;
  DELETE FROM node_exceptions d WHERE d.ctid = ANY (ARRAY(
    SELECT l.ctid FROM (
      SELECT e.ctid, sum(refusal_bytes(e, x.text)) OVER (ORDER BY e.resolved_at IS NULL DESC, e.at DESC, e.ctid) AS upto
        FROM node_exceptions e
        LEFT JOIN LATERAL (SELECT n.text FROM nack_texts n WHERE n.tenant_id = t AND n.fleet_id = p_fleet AND n.hash = e.text_hash OFFSET 0) x ON true
       WHERE e.tenant_id = t AND e.fleet_id = p_fleet) l WHERE l.upto > v_refusals));
  GET DIAGNOSTICS v_refusals = ROW_COUNT;
  DELETE FROM nack_texts x
   WHERE x.tenant_id = t AND x.fleet_id = p_fleet AND x.hash NOT IN (
         SELECT e.text_hash FROM node_exceptions e WHERE e.tenant_id = t AND e.fleet_id = p_fleet
          UNION ALL
         SELECT e.text_hash FROM node_events e WHERE e.tenant_id = t AND e.fleet_id = p_fleet AND e.text_hash IS NOT NULL);
  IF v_events + v_refusals > 0 THEN
    INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, action)
    VALUES (t, p_fleet, node_event_id(ARRAY['dropped', p_fleet::text, date_trunc('hour', clock_timestamp(), 'UTC')::text]), clock_timestamp(), 'dropped', '',
            'the fleet is at its limit: the ' || concat_ws(' and the ', CASE WHEN v_events > 0 THEN v_events || ' oldest events' END,
                                                                       CASE WHEN v_refusals > 0 THEN v_refusals || ' oldest refusals' END) || ' were dropped')
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN v_events + v_refusals;
END $$;

-- Not led by the key's columns (see 0002): with those each text that went was looked for among all refusals of its fleet.
DROP INDEX node_exceptions_by_text;
CREATE INDEX node_exceptions_by_text ON node_exceptions (text_hash, tenant_id, fleet_id);

ALTER TABLE node_events DROP CONSTRAINT node_events_kind_check,
  ADD CONSTRAINT node_events_kind_check CHECK (kind IN ('refused', 'kept_back', 'recovered', 'duplicates', 'dropped'));

-- What a row counts: its texts, and as much as the rest of it and its entries in the indexes come to. Stable, as what they call: only so
-- they become part of the statement, which asks for 100,000 rows.
CREATE FUNCTION event_bytes(e node_events, p_text text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT 256 + octet_length(e.node_id) * 2 + octet_length(e.name) + octet_length(e.action) + coalesce(octet_length(p_text), 0)::bigint $$;
CREATE FUNCTION refusal_bytes(e node_exceptions, p_text text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT 512 + octet_length(e.node_id) + octet_length(e.name) * 2 + octet_length(e.action) + coalesce(pg_column_size(e.good_derived), 0)
             + coalesce(octet_length(p_text), 0)::bigint $$;

REVOKE EXECUTE ON FUNCTION limit_default(text), tenant_limit(text), operator_set_limits(uuid, jsonb, jsonb), must_be_within(text, bigint, bigint, bigint),
  tenant_must_have_room(text), fleet_must_have_room(uuid), resource_bytes(integer, text, text, text, jsonb, text),
  history_row_bytes(), fleet_must_fit(fleet_heads, integer, bigint, bigint), fleet_trim_reports(uuid),
  event_bytes(node_events, text), refusal_bytes(node_exceptions, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION limit_default(text), tenant_limit(text), operator_set_limits(uuid, jsonb, jsonb), must_be_within(text, bigint, bigint, bigint),
  tenant_must_have_room(text), fleet_must_have_room(uuid), resource_bytes(integer, text, text, text, jsonb, text),
  history_row_bytes(), fleet_must_fit(fleet_heads, integer, bigint, bigint), fleet_trim_reports(uuid),
  event_bytes(node_events, text), refusal_bytes(node_exceptions, text) TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_trim_reports(uuid) TO fairlead_node;

-- What a write keeps of a fleet's size, beside what 0015 lets it write.
GRANT UPDATE (resources, bytes, history_bytes) ON fleet_heads TO fairlead_app;
