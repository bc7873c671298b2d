SET lock_timeout = '5s';

-- The server that the node follows: set where one server alone has it connected, without a settled revision of its own
-- there and without anything that it waits for. What such a node has of a revision its server's own row says, so that a
-- receipt looks only at the others one by one. Null says nothing. No index has the column: a connect stays a HOT update.
ALTER TABLE nodes ADD COLUMN follows uuid, SET (fillfactor = 70);

UPDATE nodes n SET follows = f.server
  FROM (SELECT s.tenant_id, s.fleet_id, s.node_id, (array_agg(s.server_id))[1] AS server
          FROM node_status s WHERE s.connected GROUP BY s.tenant_id, s.fleet_id, s.node_id
        HAVING count(*) = 1 AND bool_and(s.settled IS NULL AND s.waits IS NULL)) f
 WHERE n.tenant_id = f.tenant_id AND n.fleet_id = f.fleet_id AND n.node_id = f.node_id;

-- A trigger, so that a server of an older version keeps it right as well. Whoever writes a node's status holds the lock of
-- its row in nodes by then, so this statement sees what every other server has said of it. A row of a connected node is
-- deleted with the node alone.
CREATE FUNCTION node_status_follow() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER node_status_follow AFTER INSERT ON node_status REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION node_status_follow();
CREATE TRIGGER node_status_follow_change AFTER UPDATE ON node_status REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION node_status_follow();
REVOKE EXECUTE ON FUNCTION node_status_follow() FROM PUBLIC;

-- For how long before a revision a node must have been seen to count in its receipt, and after how long without a sign of
-- life it is forgotten, both in seconds. Tombstones are kept as long as nodes are remembered.
ALTER TABLE fleets
  ADD COLUMN receipt_window     integer NOT NULL DEFAULT 86400 CHECK (receipt_window BETWEEN 60 AND 30 * 86400),
  ADD COLUMN forget_nodes_after integer NOT NULL DEFAULT 7 * 86400 CHECK (forget_nodes_after BETWEEN 3600 AND 90 * 86400);
