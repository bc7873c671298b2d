-- Makes the fleet, or what p_write names in "only", [{type, name, variant}], what it was at revision p_to: a new revision with the old documents and the
-- old versions. Of a plan the answer says why it is to be confirmed; else it is made if the write has seen that (confirmed).
-- What it brings back follows from p_to alone: what was judged of the resources in "only" holds whatever others write meanwhile. With "seen" it is
-- made only where those have not changed since, with "read" only where that by which it was judged has not.
CREATE OR REPLACE FUNCTION fleet_rollback(p_fleet uuid, p_to bigint, p_write jsonb, OUT answer jsonb, OUT replayed boolean)
LANGUAGE plpgsql AS $$
DECLARE
  h   fleet_heads%ROWTYPE;
  v   resource_change[];
  res record;
  why jsonb; -- it is to be confirmed
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
  IF p_write ? 'only' THEN
    SELECT array_agg(c) INTO v FROM fleet_rollback_some(p_fleet, p_to, p_write->'only') c;
  ELSE
    SELECT array_agg(c) INTO v FROM fleet_rollback_changes(p_fleet, p_to) c;
  END IF;
  PERFORM fleet_must_be_as_seen(h, coalesce(v, '{}'), p_write->'seen');
  PERFORM fleet_must_be_as_read(h, p_write->'read');
  why := fleet_rollback_to_confirm(h, p_to, v);
  res := fleet_commit(h, p_write, coalesce(v, '{}'), '{}');
  answer := jsonb_build_object('revision', res.o_revision, 'changed', res.o_changed, 'at', res.o_at, 'ended', res.o_ended, 'rows', '[]'::jsonb);
  PERFORM fleet_check_references(p_fleet, coalesce(v, '{}'), answer);
  IF p_write ? 'planned' THEN
    answer := answer || jsonb_build_object('confirm', why);
    RETURN;
  END IF;
  PERFORM fleet_must_be_confirmed(h, why, p_write->'confirmed');
  PERFORM idempotency_answer(p_write, answer);
END $$;

-- What a rollback of the tenant's fleet to p_to changes. It costs what has changed since then: that is found in the index that the
-- catch-up uses, and what was deleted so long ago that the tombstone is gone in the history's index of deletions.
--
-- A door, though not across tenants: under the policy of the application's role an index that is made with a function which is not
-- leakproof cannot be used, and the whole fleet would be read, or all fleets. The words fit these indexes alone (see resources).
-- enable_bitmapscan: of many indexes that fit a little the two are taken that fit whole.
CREATE OR REPLACE FUNCTION fleet_rollback_changes(p_fleet uuid, p_to bigint) RETURNS SETOF resource_change
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_bitmapscan = off AS $$
  WITH changed AS MATERIALIZED (
    SELECT r.type, r.name, r.variant FROM resources r
     WHERE uuid_hash(r.fleet_id) = uuid_hash(p_fleet) AND r.revision > p_to
       AND r.tenant_id IS NOT DISTINCT FROM app_tenant() AND r.fleet_id IS NOT DISTINCT FROM p_fleet
     UNION
    SELECT x.type, x.name, x.variant FROM resource_history x
     WHERE x.deleted AND uuid_hash(x.fleet_id) = uuid_hash(p_fleet) AND x.revision > p_to
       AND x.revision <= (SELECT h.compacted FROM fleet_heads h WHERE h.tenant_id = app_tenant() AND h.fleet_id = p_fleet)
       AND x.tenant_id IS NOT DISTINCT FROM app_tenant() AND x.fleet_id IS NOT DISTINCT FROM p_fleet)
  SELECT (row_number() OVER ())::integer, c.type, c.name, c.variant, s.name IS NULL, '', false, s.selector, s.priority, s.ttl_ms, s.labels,
         s.description, s.version, s.doc_hash, s.body_hash, s.derived, s.derive_version, s.summary, NULL::bigint, NULL::text
    FROM changed c
    LEFT JOIN LATERAL (SELECT x.* FROM resource_history x
                        WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.type = c.type AND x.name = c.name AND x.variant = c.variant
                          AND x.revision <= p_to ORDER BY x.revision DESC LIMIT 1) s ON NOT s.deleted
    LEFT JOIN LATERAL (SELECT y.doc_hash FROM resources y
                        WHERE y.tenant_id = app_tenant() AND y.fleet_id = p_fleet AND y.type = c.type AND y.name = c.name AND y.variant = c.variant
                          AND NOT y.deleted OFFSET 0) r ON true
   WHERE s.doc_hash IS DISTINCT FROM r.doc_hash
$$;

-- What of it is of the resources that p_only names, each once. It costs what is named.
CREATE OR REPLACE FUNCTION fleet_rollback_some(p_fleet uuid, p_to bigint, p_only jsonb) RETURNS SETOF resource_change
LANGUAGE sql STABLE AS $$
  SELECT (row_number() OVER ())::integer, c.type, c.name, c.variant, s.name IS NULL, '', false, s.selector, s.priority, s.ttl_ms, s.labels,
         s.description, s.version, s.doc_hash, s.body_hash, s.derived, s.derive_version, s.summary, NULL::bigint, NULL::text
    FROM jsonb_to_recordset(p_only) c (type text, name text, variant text)
    LEFT JOIN LATERAL (SELECT x.* FROM resource_history x
                        WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.type = c.type AND x.name = c.name AND x.variant = c.variant
                          AND x.revision <= p_to ORDER BY x.revision DESC LIMIT 1) s ON NOT s.deleted
    LEFT JOIN LATERAL (SELECT y.doc_hash FROM resources y
                        WHERE y.tenant_id = app_tenant() AND y.fleet_id = p_fleet AND y.type = c.type AND y.name = c.name AND y.variant = c.variant
                          AND NOT y.deleted OFFSET 0) r ON true
   WHERE s.doc_hash IS DISTINCT FROM r.doc_hash
$$;
