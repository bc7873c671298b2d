SET lock_timeout = '5s';

-- Nodes that are to be offered again what they refused: since which epoch of the fleet's head. The catch-up brings those of
-- an epoch that the reader does not know yet.
CREATE TABLE node_retries (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  node_id   text COLLATE "C" NOT NULL,
  epoch     bigint NOT NULL,
  PRIMARY KEY (tenant_id, fleet_id, node_id),
  FOREIGN KEY (tenant_id, fleet_id, node_id) REFERENCES nodes ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX node_retries_by_epoch ON node_retries (tenant_id, fleet_id, epoch);

ALTER TABLE node_retries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON node_retries TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant());
CREATE POLICY owner ON node_retries TO fairlead_owner USING (true) WITH CHECK (true);
CREATE POLICY node ON node_retries FOR SELECT TO fairlead_node USING (true);
GRANT SELECT, INSERT, UPDATE ON node_retries TO fairlead_app;
GRANT SELECT ON node_retries TO fairlead_node;

-- Ends what a node refuses at present and tells the servers to offer it again; returns what that was. FL404 if the fleet
-- has not seen the node, FL410 if it refuses nothing.
CREATE FUNCTION node_retry(p_fleet uuid, p_node text) RETURNS TABLE (o_type text, o_name text) LANGUAGE plpgsql AS $$
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
REVOKE EXECUTE ON FUNCTION node_retry(uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION node_retry(uuid, text) TO fairlead_app;
