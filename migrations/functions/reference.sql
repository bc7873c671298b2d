-- Checks the references of what a write has just changed, both ways, under the head's lock: before the transaction two
-- writers would pass each other. p_changes and p_answer are the write's; what the answer comes to has "missing" in it where
-- something is: [{type, name, variant, ref_type, ref_name}], at most 101. FL424 with the same list where the fleet is strict.
-- A cluster that a route names may stand in the bootstrap, and endpoints are answered empty: neither is looked at.
CREATE OR REPLACE FUNCTION fleet_check_references(p_fleet uuid, p_changes resource_change[], p_answer jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t         uuid := app_tenant();
  v_new     bigint := (p_answer->>'revision')::bigint;
  v_missing jsonb;
BEGIN
  IF (p_answer->>'changed')::integer = 0 THEN
    RETURN p_answer;
  END IF;
  WITH e AS (
    SELECT r.* FROM unnest(p_changes) c CROSS JOIN LATERAL (
             SELECT p.type, p.name, p.variant, p.deleted, p.revision FROM resources p
              WHERE p.tenant_id = t AND p.fleet_id = p_fleet AND p.type = c.type AND p.name = c.name AND p.variant = c.variant OFFSET 0) r
     WHERE r.revision = v_new),
  named AS (
    SELECT x.* FROM e CROSS JOIN LATERAL (
             SELECT x.type, x.name, x.variant, x.ref_type, x.ref_name FROM resource_refs x
              WHERE x.tenant_id = t AND x.fleet_id = p_fleet AND x.type = e.type AND x.name = e.name AND x.variant = e.variant OFFSET 0) x
     WHERE NOT e.deleted
     UNION
    SELECT x.* FROM e CROSS JOIN LATERAL (
             SELECT x.type, x.name, x.variant, x.ref_type, x.ref_name FROM resource_refs x
              WHERE x.ref_name = e.name AND x.ref_type = e.type AND x.tenant_id = t AND x.fleet_id = p_fleet OFFSET 0) x
     WHERE e.deleted),
  missing AS (
    SELECT n.* FROM named n
     WHERE (n.type = 'listeners' AND n.ref_type IN ('routes', 'extensions', 'secrets') OR n.type = 'clusters' AND n.ref_type = 'secrets')
       AND NOT EXISTS (SELECT FROM resources d WHERE d.tenant_id = t AND d.fleet_id = p_fleet AND d.type = n.ref_type AND d.name = n.ref_name
                          AND NOT d.deleted OFFSET 0)
     ORDER BY n.type, n.name, n.variant, n.ref_type, n.ref_name LIMIT 101)
  SELECT jsonb_agg(to_jsonb(m)) INTO v_missing FROM missing m;
  IF v_missing IS NULL THEN
    RETURN p_answer;
  END IF;
  IF EXISTS (SELECT FROM fleets f WHERE f.tenant_id = t AND f.id = p_fleet AND f.reference_check = 'strict') THEN
    RAISE EXCEPTION 'something would be without what it names' USING ERRCODE = 'FL424', DETAIL = v_missing;
  END IF;
  RETURN p_answer || jsonb_build_object('missing', v_missing);
END $$;
