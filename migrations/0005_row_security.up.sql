SET lock_timeout = '5s';

-- Row-level security, forced, on every table. The app sees and writes the rows of the transaction's tenant; the node role
-- reads what it serves of every tenant, and reads and writes status of the transaction's tenant; the owner, who is
-- forced too, has a policy of its own, else a migration of data would silently touch no row.
DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['fleets', 'fleet_heads', 'bodies', 'resources', 'resource_refs', 'fleet_history', 'resource_history',
      'api_tokens', 'node_credentials', 'audit_events', 'idempotency_keys',
      'nodes', 'node_status', 'server_settled', 'delivery', 'nack_texts', 'node_exceptions'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY app ON %I TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant())', t);
    EXECUTE format('CREATE POLICY owner ON %I TO fairlead_owner USING (true) WITH CHECK (true)', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['fleet_heads', 'bodies', 'resources', 'fleet_history', 'resource_history', 'node_credentials'] LOOP
    EXECUTE format('CREATE POLICY node ON %I FOR SELECT TO fairlead_node USING (true)', t);
    EXECUTE format('GRANT SELECT ON %I TO fairlead_node', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['nodes', 'node_status', 'server_settled', 'delivery', 'nack_texts', 'node_exceptions'] LOOP
    EXECUTE format('CREATE POLICY node ON %I TO fairlead_node USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant())', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO fairlead_node', t);
    EXECUTE format('GRANT SELECT, DELETE ON %I TO fairlead_app', t);
  END LOOP;
END $$;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON tenants FOR SELECT TO fairlead_app USING (id = app_tenant());
CREATE POLICY owner ON tenants TO fairlead_owner USING (true) WITH CHECK (true);
ALTER TABLE operator_tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON operator_tokens TO fairlead_owner USING (true) WITH CHECK (true);

GRANT SELECT ON tenants, xds_servers, schema_migrations TO fairlead_app;
GRANT SELECT ON schema_migrations TO fairlead_node;
GRANT SELECT, INSERT, UPDATE, DELETE ON xds_servers TO fairlead_node;

GRANT SELECT, INSERT ON audit_events TO fairlead_app;
GRANT SELECT, INSERT, UPDATE ON fleets, fleet_heads, api_tokens, node_credentials TO fairlead_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON resources, idempotency_keys TO fairlead_app;
GRANT SELECT, INSERT, DELETE ON resource_refs, fleet_history, resource_history, bodies TO fairlead_app;
GRANT UPDATE (resolved_at, resolved_by) ON node_exceptions TO fairlead_app;
-- The collector locks rows before it deletes them, which asks for the right to update some column. Of a row that is
-- named anywhere the key cannot change (foreign keys), and the bytes are not in the grant.
GRANT UPDATE (hash) ON bodies TO fairlead_app;
