-- What a write would come to: the write itself, by the same function, undone before anybody can see it. answer is that of fleet_apply,
-- without rows, with the revision and the token of the head that it was planned on, and why it is to be
-- confirmed, and what the fleet would have of its limits. The head stays locked until the transaction's end: what is read after it in the same transaction is what was planned on.
CREATE OR REPLACE FUNCTION fleet_plan(p_fleet uuid, p_write jsonb, p_changes jsonb, p_bodies bytea[], OUT answer jsonb) LANGUAGE plpgsql AS $$
DECLARE
  h fleet_heads%ROWTYPE := fleet_lock(p_fleet, NULL);
  v_room jsonb;
BEGIN
  BEGIN
    SELECT a.answer - 'rows' INTO answer FROM fleet_apply(p_fleet, p_write || '{"planned": true}', p_changes, p_bodies) a;
    v_room := fleet_room(p_fleet);
    RAISE EXCEPTION 'planned' USING ERRCODE = 'FL200';
  EXCEPTION WHEN SQLSTATE 'FL200' THEN -- undone; a variable keeps its value
  END;
  answer := answer || jsonb_build_object('revision', h.revision, 'token', h.token, 'limits', v_room);
END $$;

-- The same of a rollback.
CREATE OR REPLACE FUNCTION fleet_rollback_plan(p_fleet uuid, p_to bigint, p_write jsonb, OUT answer jsonb) LANGUAGE plpgsql AS $$
DECLARE
  h fleet_heads%ROWTYPE := fleet_lock(p_fleet, NULL);
  v_room jsonb;
BEGIN
  BEGIN
    SELECT a.answer - 'rows' INTO answer FROM fleet_rollback(p_fleet, p_to, p_write || '{"planned": true}') a;
    v_room := fleet_room(p_fleet);
    RAISE EXCEPTION 'planned' USING ERRCODE = 'FL200';
  EXCEPTION WHEN SQLSTATE 'FL200' THEN -- undone; a variable keeps its value
  END;
  answer := answer || jsonb_build_object('revision', h.revision, 'token', h.token, 'limits', v_room);
END $$;

-- Refuses changes of resources that are not what they were when the caller saw the fleet: at p_seen, {revision, token}. FL412 with
-- the first hundred: [{index, etag, revision, actor, at}]. null: nothing was seen. Of what was deleted the tombstone tells; a revision that is
-- older than these are kept, or that is of a history that was lost, is refused as the whole fleet's.
CREATE OR REPLACE FUNCTION fleet_must_be_as_seen(h fleet_heads, p_changes resource_change[], p_seen jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_seen    bigint := (p_seen->>'revision')::bigint;
  v_changed jsonb;
BEGIN
  IF v_seen IS NULL THEN
    RETURN;
  END IF;
  IF v_seen < h.compacted OR v_seen > h.revision
     OR v_seen > 0 AND NOT EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision = v_seen
                                      AND x.token = (p_seen->>'token')::uuid) THEN
    PERFORM fleet_has_moved(h, format('revision %s, which was seen, is not known any more', v_seen));
  END IF;
  SELECT jsonb_agg(to_jsonb(x)) INTO v_changed FROM (
    SELECT c.ord - 1 AS index, CASE WHEN r.deleted THEN '' ELSE resource_etag(r.revision, r.doc_hash) END AS etag, r.revision, r.updated_by AS actor, r.updated_at AS at
      FROM unnest(p_changes) c
     CROSS JOIN LATERAL (SELECT * FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                            AND p.type = c.type AND p.name = c.name AND p.variant = c.variant OFFSET 0) r
     WHERE r.revision > v_seen ORDER BY c.ord LIMIT 100) x;
  IF v_changed IS NOT NULL THEN
    RAISE EXCEPTION '% resources have changed since revision %', jsonb_array_length(v_changed), v_seen
    USING ERRCODE = 'FL412', DETAIL = jsonb_build_object('changed', v_changed);
  END IF;
END $$;

-- Ends the transaction with FL412 and who made the fleet's newest revision; there is none at revision 0.
CREATE OR REPLACE FUNCTION fleet_has_moved(h fleet_heads, p_message text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_newest jsonb;
BEGIN
  SELECT jsonb_build_object('revision', x.revision, 'at', x.at, 'kind', x.kind, 'message', x.message, 'actor', x.actor, 'changes', x.changes, 'created', x.created,
                            'deleted', x.deleted) INTO v_newest
    FROM fleet_history x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision = h.revision;
  RAISE EXCEPTION '%', p_message
  USING ERRCODE = 'FL412', DETAIL = jsonb_build_object('newest', coalesce(v_newest, jsonb_build_object('revision', h.revision)));
END $$;

-- Refuses a write whose caller was judged by resources that are others now, of whatever variant: p_read is [{type, name, revision}], the
-- revision that changed any of the name last, 0 where nothing of it is known. FL412 with "read" in the detail: judge it again.
CREATE OR REPLACE FUNCTION fleet_must_be_as_read(h fleet_heads, p_read jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM jsonb_to_recordset(p_read) c (type text, name text, revision bigint)
              WHERE c.revision IS DISTINCT FROM coalesce((SELECT max(p.revision) FROM resources p
                      WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id AND p.type = c.type AND p.name = c.name OFFSET 0), 0)) THEN
    RAISE EXCEPTION 'what the write was judged by has changed' USING ERRCODE = 'FL412', DETAIL = '{"read": true}';
  END IF;
END $$;
