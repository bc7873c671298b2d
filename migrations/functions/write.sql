-- The only way in which a fleet's resources change. One call is one revision, whatever the number of resources; a call
-- that changes nothing makes none. The functions run as their caller, under row-level security: the tenant is the
-- transaction's. SQLSTATEs of their own: FL404 not found, FL409 busy, FL412 a precondition failed, FL422 a key reused,
-- FL424 a reference missing, FL428 to be confirmed, FL429 no room.
--
-- Their plans live as long as a session and their cost must follow the change, not the fleet: what they look up by key is a
-- lateral subquery behind OFFSET 0, which cannot become a join over the whole fleet. Arrays of one length are read side by side, by
-- unnest of both in one select list: a join of them may compare each element with each.
--
-- Input comes as jsonb, so that a writer of the version before keeps working when a field is added.

-- In plpgsql, which keeps its plan: every write asks for it, and Postgres cannot inline it.
CREATE OR REPLACE FUNCTION resource_etag(revision bigint, doc_hash bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN '"' || revision || '-' || left(encode(doc_hash, 'hex'), 8) || '"';
END $$;

-- Locks the head: from here to the commit the fleet has one writer.
CREATE OR REPLACE FUNCTION fleet_lock(p_fleet uuid, p_expect bigint) RETURNS fleet_heads LANGUAGE plpgsql AS $$
DECLARE
  h fleet_heads%ROWTYPE;
BEGIN
  SELECT * INTO h FROM fleet_heads f WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet FOR NO KEY UPDATE;
  IF NOT FOUND OR h.deleted_at IS NOT NULL THEN
    RAISE EXCEPTION 'no such fleet' USING ERRCODE = 'FL404';
  END IF;
  IF p_expect NOT BETWEEN h.written_revision AND h.revision THEN -- revisions of endpoints alone are nobody's writes
    PERFORM fleet_has_moved(h, format('the fleet is at revision %s, expected %s', h.revision, p_expect));
  END IF;
  RETURN h;
END $$;

-- Whether a secret of the same content comes sealed with another key than what is stored: nobody may be able to open that. Of what was stored
-- before the key was noted the sealed bytes tell, which begin with a byte of format and the key's id.
CREATE OR REPLACE FUNCTION secret_is_sealed_again(p_tenant uuid, p_summary jsonb, p_body_hash bytea, p_change resource_change) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(p_change.type = 'secrets' AND p_change.summary->>'sealed_for' <> coalesce(p_summary->>'sealed_for',
           (SELECT encode(substring(b.body FROM 2 FOR 8), 'hex') FROM bodies b WHERE b.tenant_id = p_tenant AND b.hash = p_body_hash)), false)
$$;

-- A refusal ends with the version that was refused, also where the server that recorded it is gone: when no variant of
-- the name has it any more. Where one still has it the node's server knows whether it is the node's. However many nodes
-- refuse it, one row says so (refusal_ends). The names are those that revision p_revision changed; returns how many rows.
CREATE OR REPLACE FUNCTION fleet_note_refusal_ends(h fleet_heads, p_revision bigint, p_types text[], p_names text[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  n integer;
BEGIN
  INSERT INTO refusal_ends (tenant_id, fleet_id, type, name, version, revision, at)
  SELECT h.tenant_id, h.fleet_id, c.type, c.name, v.version, p_revision, clock_timestamp()
    FROM (SELECT DISTINCT c.type, c.name FROM (SELECT unnest(p_types) AS type, unnest(p_names) AS name) c
           WHERE EXISTS (SELECT FROM refusals x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = c.type
                            AND x.name = c.name AND x.resolved_at IS NULL OFFSET 0) OFFSET 0) c
   CROSS JOIN LATERAL refused_versions(h.fleet_id, c.type, c.name) v (version)
   WHERE NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND r.type = c.type AND r.name = c.name
                        AND (NOT r.deleted OR r.served_version IS NOT NULL) AND coalesce(r.served_version, r.version) = v.version OFFSET 0);
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;

-- Writes what of the changes is effective, under the lock that gave h. p_changes is in the order of ord; p_bodies holds the bytes
-- of change ord at ord; null where they are stored already.
CREATE OR REPLACE FUNCTION fleet_commit(h fleet_heads, p_write jsonb, p_changes resource_change[], p_bodies bytea[],
                             OUT o_revision bigint, OUT o_changed integer, OUT o_at timestamptz, OUT o_ended integer)
LANGUAGE plpgsql AS $$
DECLARE
  e      resource_change[];
  v_new  bigint := h.revision + 1;
  v_tok  uuid := gen_random_uuid();
  v_who  text := coalesce(p_write->>'actor', '');
  v_cred uuid := (p_write->>'credential')::uuid;
  v_one  resource_change;
  v_linked resource_change[]; -- of e, those that may name something else than before
  v_told jsonb; -- the first hundred, as far as their names are short
  v_endpoints resource_change[] := '{}'; -- of e
  v_bodies bytea[]; -- of e, in its order
  v_size integer[]; -- likewise; 0 of a deletion
  v_created integer;
  v_deleted integer;
  v_rows integer;   -- what the fleet has more than before
  v_more bigint;    -- bytes that it has more
  v_had  endpoint_clusters%ROWTYPE;
  v_all  bigint;    -- bytes that are put
BEGIN
  SELECT coalesce(array_agg(z.c), '{}'), array_agg(z.body), count(*) FILTER (WHERE r.name IS NULL), count(*) FILTER (WHERE (z.c).delete),
         -coalesce(sum(r.bytes), 0),
         coalesce(array_agg(z.c) FILTER (WHERE (z.c).delete OR r.name IS NULL OR r.derived->'refs' IS DISTINCT FROM (z.c).derived->'refs'
                                            OR r.derived->'polled' IS DISTINCT FROM (z.c).derived->'polled'), '{}')
         INTO e, v_bodies, v_created, v_deleted, v_more, v_linked
    FROM (SELECT unnest(p_changes) AS c, unnest(p_bodies) AS body) z
    LEFT JOIN LATERAL (SELECT * FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                          AND p.type = (z.c).type AND p.name = (z.c).name AND p.variant = (z.c).variant AND NOT p.deleted OFFSET 0) r ON true
   WHERE CASE WHEN (z.c).delete THEN r.name IS NOT NULL ELSE r.doc_hash IS DISTINCT FROM (z.c).doc_hash OR secret_is_sealed_again(r.tenant_id, r.summary, r.body_hash, z.c) END;
  o_changed := cardinality(e);
  IF o_changed = 0 THEN
    o_revision := h.revision;
    o_at := h.changed_at;
    o_ended := 0;
    RETURN;
  END IF;

  -- The sizes of what is sent, and of bodies that are stored already (of a rollback), which are not read for it. Before
  -- anything is written: what is refused is to leave nothing behind.
  SELECT array_agg(s.bytes ORDER BY s.n), sum(s.bytes) INTO v_size, v_all
    FROM (SELECT z.n, CASE WHEN (z.c).delete THEN 0 ELSE resource_bytes(
                 coalesce(octet_length(z.body), (SELECT octet_length(x.body) FROM bodies x WHERE x.tenant_id = h.tenant_id AND x.hash = (z.c).body_hash))
                   + coalesce(octet_length((z.c).summary::text), 0),
                 (z.c).name, (z.c).variant, (z.c).selector, (z.c).labels, (z.c).description) END AS bytes
            FROM (SELECT generate_series(1, o_changed) AS n, unnest(e) AS c, unnest(v_bodies) AS body) z) s;
  v_rows := v_created - v_deleted;
  v_more := v_more + v_all;
  PERFORM fleet_must_fit(h, v_rows, v_more, v_all);
  PERFORM audit_must_have_room(h.tenant_id, CASE WHEN v_all > 0 THEN 1 ELSE 2 END);
  o_revision := v_new;
  o_at := clock_timestamp();

  -- In the order of the hash: two fleets that add the same bodies cannot wait for each other in a circle.
  INSERT INTO bodies (tenant_id, hash, body)
  SELECT DISTINCT ON ((z.c).body_hash) h.tenant_id, (z.c).body_hash, z.body
    FROM (SELECT unnest(e) AS c, unnest(v_bodies) AS body) z
   WHERE NOT (z.c).delete AND z.body IS NOT NULL
   ORDER BY (z.c).body_hash
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
         description, version, doc_hash, body_hash, derived, derive_version, summary, bytes, created_at, created_by, updated_at, updated_by)
  SELECT tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, labels,
         description, version, doc_hash, body_hash, derived, derive_version, summary, bytes, created_at, created_by, updated_at, updated_by FROM w;

  FOREACH v_one IN ARRAY e LOOP
    IF v_one.type = 'endpoints' THEN
      v_endpoints := v_endpoints || v_one;
    END IF;
  END LOOP;
  FOREACH v_one IN ARRAY v_linked LOOP
    DELETE FROM resource_refs x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = v_one.type AND x.name = v_one.name AND x.variant = v_one.variant;
  END LOOP;
  IF v_linked <> '{}' THEN
    INSERT INTO resource_refs (tenant_id, fleet_id, type, name, variant, ref_type, ref_name)
    SELECT h.tenant_id, h.fleet_id, c.type, c.name, c.variant, f->>0, f->>1
      FROM unnest(v_linked) c CROSS JOIN LATERAL jsonb_array_elements(c.derived->'refs') f
     WHERE NOT c.delete
     UNION ALL -- what is asked for apart stands under a type of its own: who deletes it is told, and all else passes over it
    SELECT h.tenant_id, h.fleet_id, c.type, c.name, c.variant, 'polled:' || (f->>0), f->>1
      FROM unnest(v_linked) c CROSS JOIN LATERAL jsonb_array_elements(c.derived->'polled') f
     WHERE NOT c.delete
    ON CONFLICT DO NOTHING;
  END IF;

  o_ended := fleet_note_refusal_ends(h, v_new, ARRAY(SELECT c.type FROM unnest(e) c), ARRAY(SELECT c.name FROM unnest(e) c));

  -- What is served of a cluster that has endpoints as data is built anew, and until then is what it was (endpoints_commit). Of a new variant that is what the
  -- default one serves; a deleted one ends at once.
  FOR v_one IN SELECT c.* FROM unnest(v_endpoints) c ORDER BY c.name, c.variant LOOP
    UPDATE endpoint_clusters x SET changed = x.changed + 1, changed_by = v_who WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.cluster = v_one.name
    RETURNING x.* INTO v_had;
    CONTINUE WHEN NOT FOUND OR v_one.variant = '';
    UPDATE resources r SET served_revision = v_new, (served_version, served_body) = (
             SELECT d.served_version, d.served_body FROM resources d
              WHERE NOT v_one.delete AND d.tenant_id = h.tenant_id AND d.fleet_id = h.fleet_id AND d.type = 'endpoints' AND d.name = v_one.name AND d.variant = '')
     WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND r.type = 'endpoints' AND r.name = v_one.name AND r.variant = v_one.variant
       AND (v_one.delete OR r.served_version IS NULL);
    IF FOUND AND NOT v_one.delete THEN -- it is served with all of the endpoints, and counts so; those that are not built yet are counted with the build
      UPDATE endpoint_clusters x SET counted = x.counted + CASE WHEN x.counted > 0 THEN x.bytes ELSE 0 END, variants = x.variants + 1
       WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.cluster = v_one.name;
      v_more := v_more + CASE WHEN v_had.counted > 0 THEN v_had.bytes ELSE 0 END;
      PERFORM must_be_within('fleet_bytes', h.bytes, h.bytes + v_more + CASE WHEN v_had.counted > 0 THEN 0 ELSE v_had.bytes * (v_had.variants + 1) END, tenant_limit('fleet_bytes'));
    END IF;
  END LOOP;

  o_at := greatest(clock_timestamp(), h.changed_at); -- of a clock that was set back too, what came later is later
  UPDATE fleet_heads SET revision = v_new, written_revision = v_new, token = v_tok, changed_at = o_at, resources = resources + v_rows, bytes = bytes + v_more,
         history_bytes = history_bytes + v_all + o_changed * history_row_bytes()
   WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
  INSERT INTO fleet_history (tenant_id, fleet_id, revision, token, at, kind, message, actor, credential, changes, created, deleted, types)
  VALUES (h.tenant_id, h.fleet_id, v_new, v_tok, o_at, p_write->>'kind', coalesce(p_write->>'message', ''), v_who, v_cred, o_changed, v_created, v_deleted,
          ARRAY(SELECT DISTINCT c.type FROM unnest(e) c));
  v_one := e[1];
  IF o_changed = 1 AND octet_length(v_one.name) + octet_length(v_one.variant) <= 2048 THEN
    v_told := jsonb_build_array(jsonb_build_array(CASE WHEN v_one.delete THEN 'delete' ELSE 'put' END, v_one.type, v_one.name, v_one.variant));
  ELSE
    SELECT jsonb_agg(jsonb_build_array(CASE WHEN c.delete THEN 'delete' ELSE 'put' END, c.type, c.name, c.variant) ORDER BY c.ord) INTO v_told
      FROM (SELECT x.*, sum(octet_length(x.name) + octet_length(x.variant)) OVER (ORDER BY x.ord) AS upto FROM unnest(e[:100]) x) c
     WHERE c.upto <= 2048;
  END IF;
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, fleet_id, old_revision, new_revision, detail)
  VALUES (h.tenant_id, v_cred, v_who, coalesce(p_write->>'ip', ''), coalesce(p_write->>'request_id', ''),
         'resources.' || (p_write->>'kind'), 'fleet ' || h.fleet_id, h.fleet_id, h.revision, v_new,
         jsonb_build_object('changed', o_changed, 'message', coalesce(p_write->>'message', ''), 'resources', v_told));
END $$;

-- Applies the changes of one request. answer: {revision, changed, at, ended, rows: [{revision, created_at, created_by,
-- updated_at, updated_by}]}, one row per change, in order; its revision is 0 where there is nothing and never was. Of a plan
-- it says why it is to be confirmed; else it is made if the write has seen that (confirmed).
CREATE OR REPLACE FUNCTION fleet_apply(p_fleet uuid, p_write jsonb, p_changes jsonb, p_bodies bytea[], OUT answer jsonb, OUT replayed boolean)
LANGUAGE plpgsql AS $$
DECLARE
  h   fleet_heads%ROWTYPE;
  v   resource_change[];
  bad record;
  res record;
  why jsonb; -- it is to be confirmed
BEGIN
  IF jsonb_array_length(p_changes) <= 50 THEN
    -- Where there are arrays Postgres plans for the values of each write. That costs a third of a small one, and pays off for a large one.
    PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
  END IF;
  answer := idempotency_claim(p_write);
  replayed := answer IS NOT NULL;
  IF replayed THEN
    RETURN;
  END IF;
  h := fleet_lock(p_fleet, (p_write->>'expect')::bigint);
  SELECT coalesce(array_agg(c ORDER BY c.ord), '{}') INTO v FROM jsonb_populate_recordset(NULL::resource_change, p_changes) c;

  IF p_write ? 'seen' THEN
    PERFORM fleet_must_be_as_seen(h, v, p_write->'seen');
  END IF;
  IF p_write ? 'read' THEN
    PERFORM fleet_must_be_as_read(h, p_write->'read');
  END IF;

  SELECT c.ord, c.type, c.name, c.variant, r.* INTO bad
    FROM unnest(v) c
    LEFT JOIN LATERAL (SELECT NOT p.deleted AS present, CASE WHEN NOT p.deleted THEN resource_etag(p.revision, p.doc_hash) END AS etag, p.revision, p.updated_by, p.updated_at,
                              p.doc_hash IS NOT DISTINCT FROM c.doc_hash AS same
                         FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                          AND p.type = c.type AND p.name = c.name AND p.variant = c.variant OFFSET 0) r ON true
   WHERE c.if_none_match AND r.present
      OR c.if_match = '*' AND r.present IS NOT TRUE
      OR c.if_match NOT IN ('', '*') AND c.if_match IS DISTINCT FROM r.etag
      -- Read at 0 says that it was not there, and a tombstone is not there, whatever its revision is.
      OR (c.read_at <> coalesce(r.revision, 0) AND NOT (c.read_at = 0 AND r.present IS NOT TRUE) OR c.read_tag <> coalesce(r.etag, '')) AND r.same IS NOT TRUE
   ORDER BY c.ord LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION '% %: the resource %', bad.type, to_json(bad.name), CASE WHEN bad.present THEN 'is now ' || bad.etag ELSE 'does not exist' END
    USING ERRCODE = 'FL412', DETAIL = jsonb_build_object('changed', jsonb_build_array(jsonb_build_object('index', bad.ord - 1, 'etag', coalesce(bad.etag, ''),
          'revision', coalesce(bad.revision, 0), 'actor', coalesce(bad.updated_by, ''), 'at', bad.updated_at)));
  END IF;

  why := fleet_to_confirm(h, v);
  res := fleet_commit(h, p_write, v, p_bodies);
  SELECT jsonb_build_object('revision', res.o_revision, 'changed', res.o_changed, 'at', res.o_at, 'ended', res.o_ended, 'rows',
         coalesce(jsonb_agg(jsonb_build_object('revision', coalesce(r.revision, 0), 'created_at', r.created_at, 'created_by', r.created_by,
                                      'updated_at', r.updated_at, 'updated_by', r.updated_by) ORDER BY c.ord), '[]')) INTO answer
    FROM unnest(v) c
    LEFT JOIN LATERAL (SELECT * FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                          AND p.type = c.type AND p.name = c.name AND p.variant = c.variant OFFSET 0) r ON true;
  IF NOT (p_write ? 'planned' AND p_write ? 'references_told') THEN
    PERFORM fleet_check_references(p_fleet, v, answer);
  END IF;
  IF p_write ? 'planned' THEN
    answer := answer || jsonb_build_object('confirm', why);
    RETURN;
  END IF;
  IF p_write ? 'confirmed' THEN
    PERFORM fleet_must_be_confirmed(h, why, p_write->'confirmed');
  END IF;
  PERFORM idempotency_answer(p_write, answer);
END $$;
