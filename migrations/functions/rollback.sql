-- Makes the fleet what it was at revision p_to: a new revision with the old documents and the old versions.
CREATE OR REPLACE FUNCTION fleet_rollback(p_fleet uuid, p_to bigint, p_write jsonb, OUT answer jsonb, OUT replayed boolean)
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
  answer := fleet_check_references(p_fleet, coalesce(v, '{}'), answer);
  PERFORM idempotency_answer(p_write, answer);
END $$;

-- Which resources of the tenant's fleet changed after a revision. A door, though not across tenants: under the policy of
-- the application's role the index by revision cannot be used, as the function that it is made with is not leakproof, and
-- the whole fleet would be read, or all fleets. The words fit that index alone (see resources).
CREATE OR REPLACE FUNCTION fleet_changed_since(p_fleet uuid, p_revision bigint) RETURNS TABLE (type text, name text, variant text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT r.type, r.name, r.variant FROM resources r
   WHERE uuid_hash(r.fleet_id) = uuid_hash(p_fleet) AND r.revision > p_revision
     AND r.tenant_id IS NOT DISTINCT FROM app_tenant() AND r.fleet_id IS NOT DISTINCT FROM p_fleet
$$;
