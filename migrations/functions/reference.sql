-- Refuses what a write has just changed where the fleet is strict and something would be without what it names, both ways, under the
-- head's lock: before the transaction two writers would pass each other. p_changes and p_answer are the write's. FL424 with
-- [{type, name, variant, ref_type, ref_name}], at most 101. Clusters may stand in the proxies' bootstrap: those that the fleet lists in either
-- list, and the one that leads here, are there. Endpoints are answered empty and are not looked at, nor are listeners, which the bootstrap may have. What is asked for on streams or by polls of its own is not looked at either. A fleet that is not strict reads nothing here.
CREATE OR REPLACE FUNCTION fleet_check_references(p_fleet uuid, p_changes resource_change[], p_answer jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t         uuid := app_tenant();
  v_new     bigint := (p_answer->>'revision')::bigint;
  v_static  text[];
  v_missing jsonb;
BEGIN
  IF (p_answer->>'changed')::integer = 0 THEN
    RETURN;
  END IF;
  SELECT f.static_clusters || f.private_clusters || 'fairlead_xds'::text INTO v_static FROM fleets f WHERE f.tenant_id = t AND f.id = p_fleet AND f.reference_check = 'strict';
  IF NOT FOUND THEN
    RETURN;
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
     WHERE n.ref_type NOT IN ('endpoints', 'listeners') AND NOT starts_with(n.ref_type, 'polled:') AND NOT (n.ref_type = 'clusters' AND n.ref_name = ANY (v_static))
       AND NOT EXISTS (SELECT FROM resources d WHERE d.tenant_id = t AND d.fleet_id = p_fleet AND d.type = n.ref_type AND d.name = n.ref_name
                          AND NOT d.deleted OFFSET 0)
     ORDER BY n.type, n.name, n.variant, n.ref_type, n.ref_name LIMIT 101)
  SELECT jsonb_agg(to_jsonb(m)) INTO v_missing FROM missing m;
  IF v_missing IS NOT NULL THEN
    RAISE EXCEPTION 'something would be without what it names' USING ERRCODE = 'FL424', DETAIL = v_missing;
  END IF;
END $$;
