SET lock_timeout = '5s';

-- The only way in which a fleet's resources change. One call is one revision, whatever the number of resources; a call
-- that changes nothing makes none. The functions run as their caller, under row-level security: the tenant is the
-- transaction's. SQLSTATEs of their own: FL404 not found, FL409 busy, FL412 a precondition failed, FL422 a key reused.
--
-- Their plans live as long as a session and their cost must follow the change, not the fleet: what they look up by key is a
-- lateral subquery behind OFFSET 0, which cannot become a join over the whole fleet.
--
-- Input comes as jsonb, so that a writer of the version before keeps working when a field is added.

-- One change of one resource. Never a column's type: it can be altered at any time.
CREATE TYPE resource_change AS (
  ord            integer, -- its place in the call, from 1
  type           text COLLATE "C",
  name           text COLLATE "C",
  variant        text COLLATE "C",
  delete         boolean,
  if_match       text,    -- '': none, '*': must exist, else the ETag
  if_none_match  boolean, -- must not exist
  selector       text,
  priority       integer,
  ttl_ms         bigint,
  labels         jsonb,
  description    text,
  version        text,
  doc_hash       bytea,
  body_hash      bytea,
  derived        jsonb,
  derive_version smallint,
  summary        jsonb
);

CREATE FUNCTION resource_etag(revision bigint, doc_hash bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT '"' || revision || '-' || left(encode(doc_hash, 'hex'), 8) || '"' $$;

-- Ends the transaction with FL404 unless what it was to change is there.
CREATE FUNCTION must_exist(p_there boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT p_there THEN
    RAISE EXCEPTION 'no such row' USING ERRCODE = 'FL404';
  END IF;
END $$;

-- Claims the write's idempotency key for this transaction. Returns the stored answer of an earlier request with the
-- same key, null when the request is the first (or has no key). Waits for a first one that is still running as long as
-- lock_timeout allows, then FL409.
CREATE FUNCTION idempotency_claim(p_write jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_hash bytea := decode(p_write->>'idempotency_hash', 'hex');
  v_row  idempotency_keys%ROWTYPE;
BEGIN
  IF p_write->>'idempotency_key' IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO idempotency_keys AS i (tenant_id, principal, key, request_hash)
  VALUES (app_tenant(), (p_write->>'credential')::uuid, p_write->>'idempotency_key', v_hash)
  ON CONFLICT (tenant_id, principal, key) DO UPDATE
    SET request_hash = excluded.request_hash, answer = NULL, created_at = clock_timestamp()
    WHERE i.created_at < clock_timestamp() - interval '24 hours';
  IF FOUND THEN
    RETURN NULL;
  END IF;
  SELECT * INTO v_row FROM idempotency_keys i
   WHERE i.tenant_id = app_tenant() AND i.principal = (p_write->>'credential')::uuid AND i.key = p_write->>'idempotency_key';
  IF v_row.request_hash <> v_hash THEN
    RAISE EXCEPTION 'the idempotency key was used for another request' USING ERRCODE = 'FL422';
  END IF;
  IF v_row.answer IS NULL THEN -- swept between the two statements
    RAISE EXCEPTION 'a request with the same idempotency key is in flight' USING ERRCODE = 'FL409';
  END IF;
  RETURN v_row.answer;
EXCEPTION WHEN lock_not_available THEN
  RAISE EXCEPTION 'a request with the same idempotency key is in flight' USING ERRCODE = 'FL409';
END $$;

CREATE FUNCTION idempotency_answer(p_write jsonb, p_answer jsonb) RETURNS void LANGUAGE sql
  AS $$ UPDATE idempotency_keys SET answer = p_answer
         WHERE tenant_id = app_tenant() AND principal = (p_write->>'credential')::uuid AND key = p_write->>'idempotency_key' $$;

-- Locks the head: from here to the commit the fleet has one writer.
CREATE FUNCTION fleet_lock(p_fleet uuid, p_expect bigint) RETURNS fleet_heads LANGUAGE plpgsql AS $$
DECLARE
  h fleet_heads%ROWTYPE;
BEGIN
  SELECT * INTO h FROM fleet_heads f WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet FOR NO KEY UPDATE;
  IF NOT FOUND OR h.deleted_at IS NOT NULL THEN
    RAISE EXCEPTION 'no such fleet' USING ERRCODE = 'FL404';
  END IF;
  IF p_expect <> h.revision THEN
    RAISE EXCEPTION 'the fleet is at revision %, expected %', h.revision, p_expect USING ERRCODE = 'FL412';
  END IF;
  RETURN h;
END $$;

-- Writes what of the changes is effective, under the lock that gave h. p_bodies holds the bytes of change ord at ord;
-- null where they are stored already.
CREATE FUNCTION fleet_commit(h fleet_heads, p_write jsonb, p_changes resource_change[], p_bodies bytea[],
                             OUT o_revision bigint, OUT o_changed integer, OUT o_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  e      resource_change[];
  v_new  bigint := h.revision + 1;
  v_tok  uuid := gen_random_uuid();
  v_who  text := coalesce(p_write->>'actor', '');
  v_cred uuid := (p_write->>'credential')::uuid;
BEGIN
  SELECT coalesce(array_agg(c ORDER BY c.ord), '{}') INTO e
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
           description, version, doc_hash, body_hash, derived, derive_version, summary, created_at, created_by, updated_at, updated_by)
    SELECT h.tenant_id, h.fleet_id, c.type, c.name, c.variant, v_new, c.delete, coalesce(c.selector, ''), coalesce(c.priority, 0),
           coalesce(c.ttl_ms, 0), c.labels, coalesce(c.description, ''), coalesce(c.version, ''), c.doc_hash, c.body_hash, c.derived,
           coalesce(c.derive_version, 0), c.summary, o_at, v_who, o_at, v_who
      FROM unnest(e) c
    ON CONFLICT (tenant_id, fleet_id, type, name, variant) DO UPDATE
       SET revision = excluded.revision, deleted = excluded.deleted, selector = excluded.selector, priority = excluded.priority,
           ttl_ms = excluded.ttl_ms, labels = excluded.labels, description = excluded.description, version = excluded.version,
           doc_hash = excluded.doc_hash, body_hash = excluded.body_hash, derived = excluded.derived,
           derive_version = excluded.derive_version, summary = excluded.summary,
           created_at = CASE WHEN r.deleted THEN excluded.created_at ELSE r.created_at END,
           created_by = CASE WHEN r.deleted THEN excluded.created_by ELSE r.created_by END,
           updated_at = excluded.updated_at, updated_by = excluded.updated_by
    RETURNING r.*)
  INSERT INTO resource_history (tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, labels,
         description, version, doc_hash, body_hash, derived, derive_version, summary)
  SELECT tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, labels,
         description, version, doc_hash, body_hash, derived, derive_version, summary FROM w;

  DELETE FROM resource_refs x USING unnest(e) c
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = c.type AND x.name = c.name AND x.variant = c.variant;
  INSERT INTO resource_refs (tenant_id, fleet_id, type, name, variant, ref_type, ref_name)
  SELECT h.tenant_id, h.fleet_id, c.type, c.name, c.variant, f->>0, f->>1
    FROM unnest(e) c CROSS JOIN LATERAL jsonb_array_elements(c.derived->'refs') f
   WHERE NOT c.delete
  ON CONFLICT DO NOTHING;

  -- A refusal ends with the version that was refused, also where the server that recorded it is gone.
  UPDATE node_exceptions x SET resolved_at = clock_timestamp(), resolved_by = v_new FROM unnest(e) c
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = c.type AND x.name = c.name AND x.resolved_at IS NULL
     AND c.variant = '' AND (c.delete OR x.version <> c.version);

  o_at := clock_timestamp();
  UPDATE fleet_heads SET revision = v_new, token = v_tok, changed_at = o_at WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
  INSERT INTO fleet_history (tenant_id, fleet_id, revision, token, at, kind, message, actor, credential, changes)
  VALUES (h.tenant_id, h.fleet_id, v_new, v_tok, o_at, p_write->>'kind', coalesce(p_write->>'message', ''), v_who, v_cred, o_changed);
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, fleet_id, old_revision, new_revision, detail)
  SELECT h.tenant_id, v_cred, v_who, coalesce(p_write->>'ip', ''), coalesce(p_write->>'request_id', ''),
         'fleet.' || (p_write->>'kind'), 'fleet ' || h.fleet_id, h.fleet_id, h.revision, v_new,
         jsonb_build_object('changed', o_changed, 'message', coalesce(p_write->>'message', ''), 'resources', -- the first hundred
           (SELECT jsonb_agg(jsonb_build_array(CASE WHEN c.delete THEN 'delete' ELSE 'put' END, c.type, c.name, c.variant) ORDER BY c.ord)
              FROM unnest(e[:100]) c));
END $$;

-- Applies the changes of one request. answer: {revision, changed, at, rows: [{revision, created_at, created_by,
-- updated_at, updated_by}]}, one row per change, in order; its revision is 0 where there is nothing and never was.
CREATE FUNCTION fleet_apply(p_fleet uuid, p_write jsonb, p_changes jsonb, p_bodies bytea[], OUT answer jsonb, OUT replayed boolean)
LANGUAGE plpgsql AS $$
DECLARE
  h   fleet_heads%ROWTYPE;
  v   resource_change[];
  bad record;
  res record;
BEGIN
  answer := idempotency_claim(p_write);
  replayed := answer IS NOT NULL;
  IF replayed THEN
    RETURN;
  END IF;
  h := fleet_lock(p_fleet, (p_write->>'expect')::bigint);
  SELECT coalesce(array_agg(c ORDER BY c.ord), '{}') INTO v FROM jsonb_populate_recordset(NULL::resource_change, p_changes) c;

  SELECT c.ord, c.type, c.name, c.variant, r.name IS NOT NULL AS present, resource_etag(r.revision, r.doc_hash) AS etag INTO bad
    FROM unnest(v) c
    LEFT JOIN LATERAL (SELECT * FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                          AND p.type = c.type AND p.name = c.name AND p.variant = c.variant AND NOT p.deleted OFFSET 0) r ON true
   WHERE c.if_none_match AND r.name IS NOT NULL
      OR c.if_match = '*' AND r.name IS NULL
      OR c.if_match NOT IN ('', '*') AND c.if_match IS DISTINCT FROM resource_etag(r.revision, r.doc_hash)
   ORDER BY c.ord LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION '% %: the resource %', bad.type, to_json(bad.name),
          CASE WHEN NOT bad.present THEN 'does not exist' ELSE 'is now ' || bad.etag END
    USING ERRCODE = 'FL412', DETAIL = jsonb_build_object('index', bad.ord - 1, 'etag', coalesce(bad.etag, ''));
  END IF;

  res := fleet_commit(h, p_write, v, p_bodies);
  SELECT jsonb_build_object('revision', res.o_revision, 'changed', res.o_changed, 'at', res.o_at, 'rows',
         coalesce(jsonb_agg(jsonb_build_object('revision', coalesce(r.revision, 0), 'created_at', r.created_at, 'created_by', r.created_by,
                                      'updated_at', r.updated_at, 'updated_by', r.updated_by) ORDER BY c.ord), '[]')) INTO answer
    FROM unnest(v) c
    LEFT JOIN LATERAL (SELECT * FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                          AND p.type = c.type AND p.name = c.name AND p.variant = c.variant OFFSET 0) r ON true;
  PERFORM idempotency_answer(p_write, answer);
END $$;

-- Makes the fleet what it was at revision p_to: a new revision with the old documents and the old versions.
CREATE FUNCTION fleet_rollback(p_fleet uuid, p_to bigint, p_write jsonb, OUT answer jsonb, OUT replayed boolean)
LANGUAGE plpgsql AS $$
DECLARE
  h   fleet_heads%ROWTYPE;
  v   resource_change[];
  res record;
BEGIN
  answer := idempotency_claim(p_write);
  replayed := answer IS NOT NULL;
  IF replayed THEN
    RETURN;
  END IF;
  h := fleet_lock(p_fleet, (p_write->>'expect')::bigint);
  IF NOT EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision = p_to) THEN
    RAISE EXCEPTION 'revision % is not kept', p_to USING ERRCODE = 'FL404';
  END IF;
  SELECT array_agg(d.c) INTO v FROM (
    SELECT ROW(row_number() OVER (), coalesce(s.type, r.type), coalesce(s.name, r.name), coalesce(s.variant, r.variant), s.name IS NULL,
               '', false, s.selector, s.priority, s.ttl_ms, s.labels, s.description, s.version, s.doc_hash, s.body_hash,
               s.derived, s.derive_version, s.summary)::resource_change AS c
      FROM (SELECT * FROM (SELECT DISTINCT ON (type, name, variant) * FROM resource_history x
                            WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision <= p_to
                            ORDER BY type, name, variant, revision DESC) l
             WHERE NOT l.deleted) s
      FULL JOIN (SELECT * FROM resources y WHERE y.tenant_id = h.tenant_id AND y.fleet_id = h.fleet_id AND NOT y.deleted) r
        ON (s.type, s.name, s.variant) = (r.type, r.name, r.variant)
     WHERE s.doc_hash IS DISTINCT FROM r.doc_hash) d;
  res := fleet_commit(h, p_write, coalesce(v, '{}'), '{}');
  answer := jsonb_build_object('revision', res.o_revision, 'changed', res.o_changed, 'at', res.o_at, 'rows', '[]'::jsonb);
  PERFORM idempotency_answer(p_write, answer);
END $$;

-- Forgets what lies below two floors; never changes the revision. Below p_tombstones a reader reloads; below p_history
-- nothing can be restored or shown any more. Of each resource the last row at or below the history's floor stays: it is
-- part of the state at the floor.
CREATE FUNCTION fleet_compact(p_fleet uuid, p_tombstones bigint, p_history bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  h       fleet_heads%ROWTYPE;
  v_floor bigint;
BEGIN
  h := fleet_lock(p_fleet, NULL);
  v_floor := greatest(h.compacted, least(p_tombstones, h.revision));
  IF v_floor > h.compacted THEN
    UPDATE fleet_heads SET compacted = v_floor WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
    DELETE FROM resources WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id AND deleted AND revision <= v_floor;
  END IF;
  v_floor := least(p_history, h.revision);
  DELETE FROM fleet_history WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id AND revision < v_floor;
  DELETE FROM resource_history x
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision <= v_floor
     AND (x.deleted OR EXISTS (
          SELECT FROM resource_history y
           WHERE y.tenant_id = x.tenant_id AND y.fleet_id = x.fleet_id AND y.type = x.type AND y.name = x.name AND y.variant = x.variant
             AND y.revision > x.revision AND y.revision <= v_floor));
END $$;

-- Removes the tenant's bodies that nothing names, at most p_limit; returns how many. Rows are locked first, passing by
-- those that a writer holds, and asked about again with a snapshot taken under the lock: a reference is made under a
-- share lock of the body's row, so what is unnamed then stays unnamed. A writer that relied on a body that goes
-- away at that moment gets a foreign key violation and writes again.
CREATE FUNCTION bodies_collect(p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  t        uuid := app_tenant();
  v_hashes bytea[];
  n        integer;
BEGIN
  SELECT array_agg(l.hash) INTO v_hashes FROM (
    SELECT b.hash FROM bodies b
     WHERE b.tenant_id = t
       AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = t AND r.body_hash = b.hash)
       AND NOT EXISTS (SELECT FROM resource_history r WHERE r.tenant_id = t AND r.body_hash = b.hash)
       AND NOT EXISTS (SELECT FROM node_exceptions r WHERE r.tenant_id = t AND r.good_hash = b.hash)
     LIMIT p_limit FOR UPDATE SKIP LOCKED) l;
  DELETE FROM bodies b
   WHERE b.tenant_id = t AND b.hash = ANY (v_hashes)
     AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = t AND r.body_hash = b.hash)
     AND NOT EXISTS (SELECT FROM resource_history r WHERE r.tenant_id = t AND r.body_hash = b.hash)
     AND NOT EXISTS (SELECT FROM node_exceptions r WHERE r.tenant_id = t AND r.good_hash = b.hash);
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;
GRANT EXECUTE ON FUNCTION app_tenant() TO fairlead_app, fairlead_node;
GRANT EXECUTE ON FUNCTION must_exist(boolean), resource_etag(bigint, bytea), idempotency_claim(jsonb), idempotency_answer(jsonb, jsonb), fleet_lock(uuid, bigint),
  fleet_commit(fleet_heads, jsonb, resource_change[], bytea[]), fleet_apply(uuid, jsonb, jsonb, bytea[]), fleet_rollback(uuid, bigint, jsonb),
  fleet_compact(uuid, bigint, bigint), bodies_collect(integer) TO fairlead_app;
