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
      UPDATE node_exceptions e SET resolved_at = clock_timestamp(), resolved_by = h.revision
       WHERE e.tenant_id = app_tenant() AND e.fleet_id = p_fleet AND e.node_id = p_node AND e.resolved_at IS NULL
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

-- A trigger, so that a server of an older version keeps it right as well. Whoever writes a node's status holds the lock of
-- its row in nodes by then, so this statement sees what every other server has said of it. A row of a connected node is
-- deleted with the node alone.
CREATE OR REPLACE FUNCTION node_status_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE nodes n SET follows = f.server
    FROM (SELECT c.tenant_id, c.fleet_id, c.node_id, s.server
            FROM written c CROSS JOIN LATERAL (
                   SELECT CASE WHEN count(*) = 1 AND bool_and(o.settled IS NULL AND o.waits IS NULL) THEN (array_agg(o.server_id))[1] END AS server
                     FROM node_status o
                    WHERE o.tenant_id = c.tenant_id AND o.fleet_id = c.fleet_id AND o.node_id = c.node_id AND o.connected) s) f
   WHERE n.tenant_id = f.tenant_id AND n.fleet_id = f.fleet_id AND n.node_id = f.node_id AND n.follows IS DISTINCT FROM f.server;
  RETURN NULL;
END $$;
