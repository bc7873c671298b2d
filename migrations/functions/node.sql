-- Ends what a node refuses at present and tells the servers to offer it again; returns what that was. FL404 if the fleet
-- has not seen the node, FL410 if it refuses nothing.
CREATE OR REPLACE FUNCTION node_retry(p_fleet uuid, p_node text) RETURNS TABLE (o_type text, o_name text) LANGUAGE plpgsql AS $$
DECLARE
  h       fleet_heads%ROWTYPE := fleet_lock(p_fleet, NULL);
  v_epoch bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM nodes n WHERE n.tenant_id = app_tenant() AND n.fleet_id = p_fleet AND n.node_id = p_node) THEN
    RAISE EXCEPTION 'no such node' USING ERRCODE = 'FL404';
  END IF;
  RETURN QUERY
    WITH u AS (
      UPDATE refusals e SET resolved_at = clock_timestamp(), resolved_by = h.revision, ending = 'offered'
       WHERE e.tenant_id = app_tenant() AND e.fleet_id = p_fleet AND e.node_id = p_node AND e.resolved_at IS NULL
         AND NOT EXISTS (SELECT FROM refusal_ends m WHERE m.tenant_id = e.tenant_id AND m.fleet_id = e.fleet_id AND m.type = e.type AND m.name = e.name
                            AND m.version = e.version AND m.revision > e.revision OFFSET 0) -- over already
      RETURNING e.type, e.name)
    SELECT DISTINCT u.type, u.name FROM u ORDER BY 1, 2;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the node refuses nothing' USING ERRCODE = 'FL410';
  END IF;
  UPDATE fleet_heads f SET epoch = greatest(f.epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
   WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet RETURNING f.epoch INTO v_epoch;
  INSERT INTO node_retries (tenant_id, fleet_id, node_id, epoch) VALUES (app_tenant(), p_fleet, p_node, v_epoch)
  ON CONFLICT (tenant_id, fleet_id, node_id) DO UPDATE SET epoch = excluded.epoch;
END $$;

-- What a receipt asks of a node's waits: the revisions of which something is withheld, or [0] where it waits for nothing but
-- what is withheld of revisions that are not known. Null asks nothing.
CREATE OR REPLACE FUNCTION withheld_of(p_waits jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_waits @? '$.withheld[*][4] ? (@ > 0)' THEN jsonb_path_query_array(p_waits, '$.withheld[*][4] ? (@ > 0)')
              WHEN p_waits ? 'withheld' AND NOT p_waits ? 'warming' THEN '[0]' END
$$;

-- Keeps what nodes says of who serves a node. A trigger, so that no statement can leave it out. Whoever writes a node's status holds the lock of its row in nodes by
-- then, so this statement sees what every other server has said of it. Servers that live count alone. What dead ones said
-- of a node goes when one that lives has it connected since: it is read here anyway, and no other report writes it. What
-- ended later than the connection began, as after a crash, is left to sweep_server: it may be of another client with the id.
CREATE OR REPLACE FUNCTION node_status_served() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  f record;
BEGIN
  -- One by one, by key: joined with what was written, each node of the fleet would be compared with each.
  FOR f IN
    SELECT c.tenant_id, c.fleet_id, c.node_id, CASE s.lives WHEN 1 THEN s.server END AS server, CASE s.lives WHEN 1 THEN s.settled END AS settled,
           CASE s.lives WHEN 1 THEN s.withheld END AS withheld, s.dead
      FROM written c CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE o.live) AS lives, (array_agg(o.server_id) FILTER (WHERE o.live))[1] AS server,
                    max(o.settled) FILTER (WHERE o.live) AS settled, (array_agg(withheld_of(o.waits)) FILTER (WHERE o.live))[1] AS withheld,
                    CASE WHEN bool_or(o.live AND o.server_id = c.server_id)
                         THEN array_agg(o.server_id) FILTER (WHERE NOT o.served AND o.ended <= c.since) END AS dead
               FROM (SELECT x.server_id, x.settled, x.waits, x.lease > clock_timestamp() AS served, x.connected AND x.lease > clock_timestamp() AS live,
                            CASE WHEN x.connected AND x.lease > '-infinity' THEN x.lease ELSE x.since END AS ended
                       FROM (SELECT r.*, server_lease(r.server_id) AS lease FROM node_status r
                              WHERE r.tenant_id = c.tenant_id AND r.fleet_id = c.fleet_id AND r.node_id = c.node_id OFFSET 0) x) o) s
  LOOP
    IF f.dead IS NOT NULL THEN
      DELETE FROM node_status d WHERE d.tenant_id = f.tenant_id AND d.fleet_id = f.fleet_id AND d.node_id = f.node_id AND d.server_id = ANY (f.dead);
    END IF;
    UPDATE nodes n SET served_by = f.server, settled = f.settled, withheld = f.withheld
     WHERE n.tenant_id = f.tenant_id AND n.fleet_id = f.fleet_id AND n.node_id = f.node_id
       AND (n.served_by, n.settled, n.withheld) IS DISTINCT FROM (f.server, f.settled, f.withheld);
  END LOOP;
  RETURN NULL;
END $$;
