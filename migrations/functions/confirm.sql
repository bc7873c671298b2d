-- What somebody is to see before it is done. A reason is {code, type, count, of, nodes}, of these what it has; what was seen is a list of keys:
-- the code, of most_of_type with /type behind it.

-- Why an apply is to be confirmed: of a type more than half goes, and three at least. Who deletes less reads nothing; of the others
-- only as many rows are counted as tell that there are more.
CREATE OR REPLACE FUNCTION fleet_to_confirm(h fleet_heads, p_changes resource_change[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_reasons jsonb := '[]';
  g record;
  n bigint;
BEGIN
  FOR g IN
    SELECT c.type, count(*) AS gone
      FROM unnest(p_changes) c
      JOIN LATERAL (SELECT FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id
                       AND p.type = c.type AND p.name = c.name AND p.variant = c.variant AND NOT p.deleted OFFSET 0) r ON true
     WHERE c.delete GROUP BY c.type HAVING count(*) >= 3 ORDER BY c.type
  LOOP
    SELECT count(*) INTO n FROM (SELECT FROM resources p WHERE p.tenant_id = h.tenant_id AND p.fleet_id = h.fleet_id AND p.type = g.type
                                    AND NOT p.deleted LIMIT 2 * g.gone) r;
    IF n < 2 * g.gone THEN
      v_reasons := v_reasons || jsonb_build_object('code', 'most_of_type', 'type', g.type, 'count', g.gone, 'of', n);
    END IF;
  END LOOP;
  RETURN v_reasons;
END $$;

-- Why a rollback is. A refusal belongs to the revision that brought the refused version, which the labels beside it may have outlived: so
-- the last twenty rows of each resource are looked at. One that names nobody is of all that its revision brought of the type. The refusals
-- of a revision are read once, however many resources it brought.
-- enable_nestloop: it joins what it has just collected, of which there are no statistics.
CREATE OR REPLACE FUNCTION fleet_rollback_to_confirm(h fleet_heads, p_to bigint, p_changes resource_change[]) RETURNS jsonb LANGUAGE plpgsql
SET enable_nestloop = off AS $$
DECLARE
  v_reasons jsonb := fleet_to_confirm(h, p_changes);
  v_gone    bigint := (SELECT count(*) FROM unnest(p_changes) c WHERE c.delete);
  v_refused bigint;
  v_nodes   bigint;
BEGIN
  IF v_gone > 10 THEN
    v_reasons := v_reasons || jsonb_build_object('code', 'removes_many', 'count', v_gone);
  END IF;
  WITH back AS MATERIALIZED (
    SELECT c.ord, c.type, c.name, c.version, x.revision
      FROM unnest(p_changes) c
     CROSS JOIN LATERAL (SELECT x.revision, x.version FROM resource_history x
                          WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = c.type AND x.name = c.name AND x.variant = c.variant
                            AND x.revision <= p_to ORDER BY x.revision DESC LIMIT 20) x
     WHERE NOT c.delete AND x.version = c.version),
  refused AS MATERIALIZED (
    SELECT e.* FROM (SELECT DISTINCT b.revision FROM back b) b
     CROSS JOIN LATERAL (SELECT e.node_id, e.type, e.name, e.version, e.revision FROM refusals e
                          WHERE e.revision = b.revision AND e.tenant_id = h.tenant_id AND e.fleet_id = h.fleet_id OFFSET 0) e)
  SELECT count(DISTINCT r.ord), count(DISTINCT r.node_id) INTO v_refused, v_nodes FROM (
    SELECT b.ord, e.node_id FROM back b JOIN refused e ON e.revision = b.revision AND e.type = b.type AND e.name = b.name AND e.version = b.version
     UNION ALL
    SELECT b.ord, e.node_id FROM back b JOIN refused e ON e.revision = b.revision AND e.type = b.type AND e.name = '') r;
  IF v_refused > 0 THEN
    v_reasons := v_reasons || jsonb_build_object('code', 'refused_version', 'count', v_refused, 'nodes', v_nodes);
  END IF;
  RETURN v_reasons;
END $$;

-- Why the deletion of fleets is.
CREATE OR REPLACE FUNCTION to_confirm_nodes(p_tenant uuid, p_fleets uuid[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN n > 0 THEN jsonb_build_array(jsonb_build_object('code', 'live_nodes', 'count', n)) ELSE '[]' END
    FROM (SELECT count(DISTINCT (s.fleet_id, s.node_id)) AS n FROM node_status s JOIN xds_servers x ON x.server_id = s.server_id AND x.lease_until > clock_timestamp()
           WHERE s.tenant_id = p_tenant AND s.fleet_id = ANY (p_fleets) AND s.connected) live
$$;

-- Ends the transaction with FL428, the reasons and the head that they were found at, unless all of them were seen. null: the caller is not asked.
CREATE OR REPLACE FUNCTION fleet_must_be_confirmed(h fleet_heads, p_reasons jsonb, p_seen jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_seen IS NOT NULL AND EXISTS (SELECT FROM jsonb_array_elements(p_reasons) r
                                     WHERE NOT p_seen ? concat_ws('/', r->>'code', r->>'type')) THEN
    RAISE EXCEPTION 'this is to be confirmed'
    USING ERRCODE = 'FL428', DETAIL = jsonb_build_object('reasons', p_reasons, 'revision', h.revision, 'token', h.token);
  END IF;
END $$;

-- Deletes a fleet. p_confirm is {revision, token, seen}: seen counts at that head alone; null: the caller is not asked.
CREATE OR REPLACE FUNCTION fleet_delete(p_fleet uuid, p_confirm jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  h    fleet_heads%ROWTYPE := fleet_lock(p_fleet, NULL);
  v_at timestamptz := clock_timestamp();
BEGIN
  IF p_confirm IS NOT NULL THEN
    PERFORM fleet_must_be_confirmed(h, to_confirm_nodes(h.tenant_id, ARRAY[h.fleet_id]), CASE
      WHEN (p_confirm->>'revision')::bigint = h.revision AND (p_confirm->>'token')::uuid = h.token THEN p_confirm->'seen' ELSE '[]' END);
  END IF;
  UPDATE fleet_heads f SET deleted_at = v_at WHERE f.tenant_id = h.tenant_id AND f.fleet_id = h.fleet_id;
  UPDATE fleets f SET deleted_at = v_at WHERE f.tenant_id = h.tenant_id AND f.id = h.fleet_id;
END $$;
