-- The versions of a resource that some node refuses, each by one look at the index.
CREATE OR REPLACE FUNCTION refused_versions(p_fleet uuid, p_type text, p_name text) RETURNS SETOF text LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  v text := '';
BEGIN
  LOOP
    SELECT e.version INTO v FROM refusals e
     WHERE e.tenant_id = app_tenant() AND e.fleet_id = p_fleet AND e.type = p_type AND e.name = p_name AND e.version > v AND e.resolved_at IS NULL
     ORDER BY e.version LIMIT 1;
    EXIT WHEN NOT FOUND;
    RETURN NEXT v;
  END LOOP;
END $$;

-- Writes into at most p_limit refusals of the tenant's fleet what refusal_ends has of them, with the event of each; o_done is true when
-- nothing is left, null when a report holds all that is. It passes by what a report holds, and any number of processes may do it at once. A refusal of
-- the version that is told after the last step stands until the node's server ends it.
--
-- p_at is where the last step came to, null at first: a row of refusal_ends, and the node up to which it is done. What was ended before is in the index
-- until it is vacuumed, and is not read again. A door, so that no policy offers the planner an index where rows are known by their place;
-- it works in the transaction's tenant alone.
CREATE OR REPLACE FUNCTION fleet_end_refusals(p_fleet uuid, p_at text[], p_limit integer, OUT o_done boolean, OUT o_at text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  m      refusal_ends%ROWTYPE;
  v_at   text[];
  v_node text := '';
  v_last text;
  v_rows tid[];
BEGIN
  SELECT * INTO m FROM refusal_ends x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet ORDER BY x.type, x.name, x.version, x.revision LIMIT 1;
  IF NOT FOUND THEN
    o_done := true;
    RETURN;
  END IF;
  v_at := ARRAY[m.type, m.name, m.version, m.revision::text];
  IF p_at[1:4] = v_at THEN
    v_node := p_at[5];
  END IF;
  SELECT array_agg(l.id), max(l.node_id) INTO v_rows, v_last FROM (
    SELECT e.ctid AS id, e.node_id FROM refusals e
     WHERE e.tenant_id = m.tenant_id AND e.fleet_id = m.fleet_id AND e.type = m.type AND e.name = m.name AND e.version = m.version
       AND e.node_id >= v_node AND e.revision < m.revision AND e.resolved_at IS NULL
     ORDER BY e.node_id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED) l;
  UPDATE refusals d SET resolved_at = m.at, resolved_by = m.revision, ending = 'replaced' WHERE d.ctid = ANY (v_rows);
  o_done := false;
  IF cardinality(v_rows) = p_limit THEN
    o_at := v_at || v_last;
    RETURN;
  END IF;
  o_at := NULL; -- from the first node on again, if something was passed by
  DELETE FROM refusal_ends x
   WHERE (x.tenant_id, x.fleet_id, x.type, x.name, x.version, x.revision) = (m.tenant_id, m.fleet_id, m.type, m.name, m.version, m.revision)
     AND NOT EXISTS (SELECT FROM refusals e
                      WHERE e.tenant_id = m.tenant_id AND e.fleet_id = m.fleet_id AND e.type = m.type AND e.name = m.name AND e.version = m.version
                        AND e.revision < m.revision AND e.resolved_at IS NULL OFFSET 0);
  IF FOUND THEN
    o_done := NOT EXISTS (SELECT FROM refusal_ends x WHERE x.tenant_id = m.tenant_id AND x.fleet_id = m.fleet_id);
  ELSIF v_rows IS NULL AND v_node = '' THEN
    o_done := NULL;
  END IF;
END $$;

-- The first p_limit fleets after the given one that have ends to be written down, in the order of their ids, each by one look at the key.
CREATE OR REPLACE FUNCTION fleets_with_refusal_ends(p_tenant uuid, p_fleet uuid, p_limit integer) RETURNS TABLE (tenant_id uuid, fleet_id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_sort = off AS $$
BEGIN
  fleets_with_refusal_ends.tenant_id := p_tenant;
  fleets_with_refusal_ends.fleet_id := p_fleet;
  FOR i IN 1 .. p_limit LOOP
    SELECT m.tenant_id, m.fleet_id INTO fleets_with_refusal_ends.tenant_id, fleets_with_refusal_ends.fleet_id FROM refusal_ends m
     WHERE (m.tenant_id, m.fleet_id) > (fleets_with_refusal_ends.tenant_id, fleets_with_refusal_ends.fleet_id) ORDER BY m.tenant_id, m.fleet_id LIMIT 1;
    EXIT WHEN NOT FOUND;
    CONTINUE WHEN EXISTS (SELECT FROM tenants n WHERE n.id = fleets_with_refusal_ends.tenant_id AND n.place <> 'here');
    RETURN NEXT;
  END LOOP;
END $$;
