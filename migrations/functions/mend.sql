-- The versions of a resource that some node refuses, each by one look at the index.
CREATE OR REPLACE FUNCTION refused_versions(p_fleet uuid, p_type text, p_name text) RETURNS SETOF text LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  v text := '';
BEGIN
  LOOP
    SELECT e.version INTO v FROM node_exceptions e
     WHERE e.tenant_id = app_tenant() AND e.fleet_id = p_fleet AND e.type = p_type AND e.name = p_name AND e.version > v AND e.resolved_at IS NULL
     ORDER BY e.version LIMIT 1;
    EXIT WHEN NOT FOUND;
    RETURN NEXT v;
  END LOOP;
END $$;

-- Writes into at most p_limit refusals of the tenant's fleet what its mends have made of them, with the event of each; true when
-- nothing is left, null when a report holds all that is. It passes by what a report holds, and any number of processes may do it at once. A refusal of
-- the version that is told after the last step stands until the node's server ends it.
CREATE OR REPLACE FUNCTION fleet_mend(p_fleet uuid, p_limit integer) RETURNS boolean LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  m      mends%ROWTYPE;
  v_done integer;
BEGIN
  SELECT * INTO m FROM mends x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet ORDER BY x.type, x.name, x.version, x.revision LIMIT 1;
  IF NOT FOUND THEN
    RETURN true;
  END IF;
  UPDATE node_exceptions d SET resolved_at = m.at, resolved_by = m.revision
   WHERE d.resolved_at IS NULL AND d.ctid = ANY (ARRAY(
         SELECT e.ctid FROM node_exceptions e
          WHERE e.tenant_id = m.tenant_id AND e.fleet_id = m.fleet_id AND e.type = m.type AND e.name = m.name AND e.version = m.version
            AND e.revision < m.revision AND e.resolved_at IS NULL
          LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_done = ROW_COUNT;
  IF v_done = p_limit THEN
    RETURN false; -- to look for what is left is to pass by all that has been done
  END IF;
  DELETE FROM mends x
   WHERE (x.tenant_id, x.fleet_id, x.type, x.name, x.version, x.revision) = (m.tenant_id, m.fleet_id, m.type, m.name, m.version, m.revision)
     AND NOT EXISTS (SELECT FROM node_exceptions e
                      WHERE e.tenant_id = m.tenant_id AND e.fleet_id = m.fleet_id AND e.type = m.type AND e.name = m.name AND e.version = m.version
                        AND e.revision < m.revision AND e.resolved_at IS NULL OFFSET 0);
  IF NOT FOUND AND v_done = 0 THEN
    RETURN NULL;
  END IF;
  RETURN NOT EXISTS (SELECT FROM mends x WHERE x.tenant_id = m.tenant_id AND x.fleet_id = m.fleet_id);
END $$;

-- The fleets that have mends to be written down, at most p_limit.
CREATE OR REPLACE FUNCTION fleets_to_mend(p_limit integer) RETURNS TABLE (tenant_id uuid, fleet_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT DISTINCT m.tenant_id, m.fleet_id FROM mends m LIMIT p_limit
$$;
