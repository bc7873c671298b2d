SET lock_timeout = '5s';

-- As in 0011.
CREATE OR REPLACE FUNCTION fleet_commit(h fleet_heads, p_write jsonb, p_changes resource_change[], p_bodies bytea[],
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
           reselected = CASE WHEN (r.selector, r.priority, r.deleted) IS DISTINCT FROM (excluded.selector, excluded.priority, excluded.deleted)
                             THEN excluded.revision ELSE r.reselected END,
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

  -- A refusal ends with the version that was refused, also where the server that recorded it is gone: when no variant of
  -- the name has it any more. Where one still has it the node's server knows whether it is the node's.
  UPDATE node_exceptions x SET resolved_at = clock_timestamp(), resolved_by = v_new FROM unnest(e) c
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = c.type AND x.name = c.name AND x.resolved_at IS NULL
     AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND r.type = x.type AND r.name = x.name
                        AND NOT r.deleted AND r.version = x.version OFFSET 0);

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

-- As in 0006.
CREATE OR REPLACE FUNCTION fleet_compact(p_fleet uuid, p_tombstones bigint, p_history bigint) RETURNS void LANGUAGE plpgsql AS $$
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

DROP FUNCTION fleet_trim_reports(uuid);
DROP FUNCTION event_bytes(node_events, text);
DROP FUNCTION refusal_bytes(node_exceptions, text);
DROP INDEX node_exceptions_by_text;
CREATE INDEX node_exceptions_by_text ON node_exceptions (tenant_id, fleet_id, text_hash);
DELETE FROM node_events WHERE kind = 'dropped';
ALTER TABLE node_events DROP CONSTRAINT node_events_kind_check,
  ADD CONSTRAINT node_events_kind_check CHECK (kind IN ('refused', 'kept_back', 'recovered', 'duplicates'));
DROP FUNCTION fleet_must_fit(fleet_heads, integer, bigint, bigint);
DROP FUNCTION resource_bytes(integer, text, text, text, jsonb, text);
DROP FUNCTION history_row_bytes();
ALTER TABLE fleet_heads DROP COLUMN resources, DROP COLUMN bytes, DROP COLUMN history_bytes;
ALTER TABLE resource_history DROP COLUMN bytes;
ALTER TABLE resources DROP COLUMN bytes;
DROP FUNCTION fleet_must_have_room(uuid);
DROP FUNCTION tenant_must_have_room(text);
DROP FUNCTION must_be_within(text, bigint, bigint, bigint);
DROP FUNCTION operator_set_limits(uuid, jsonb, jsonb);
DROP FUNCTION tenant_limit(text);
DROP TABLE tenant_limits;
DROP FUNCTION limit_default(text);
