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
      'nodes', 'node_status', 'server_settled', 'delivery', 'nack_texts', 'node_exceptions', 'mends', 'node_retries', 'node_events'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY app ON %I TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant())', t);
    EXECUTE format('CREATE POLICY owner ON %I TO fairlead_owner USING (true) WITH CHECK (true)', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['fleet_heads', 'bodies', 'resources', 'fleet_history', 'resource_history', 'node_credentials', 'node_retries'] LOOP
    EXECUTE format('CREATE POLICY node ON %I FOR SELECT TO fairlead_node USING (true)', t);
    EXECUTE format('GRANT SELECT ON %I TO fairlead_node', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['nodes', 'node_status', 'server_settled', 'delivery', 'nack_texts', 'node_exceptions'] LOOP
    EXECUTE format('CREATE POLICY node ON %I TO fairlead_node USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant())', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO fairlead_node', t);
    EXECUTE format('GRANT SELECT, DELETE ON %I TO fairlead_app', t);
  END LOOP;
END $$;
CREATE POLICY node ON mends FOR SELECT TO fairlead_node USING (tenant_id = app_tenant());
GRANT SELECT ON mends TO fairlead_node;
GRANT SELECT, INSERT, DELETE ON mends TO fairlead_app;
CREATE POLICY node ON node_events FOR INSERT TO fairlead_node WITH CHECK (tenant_id = app_tenant());
GRANT INSERT ON node_events TO fairlead_node;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON tenants FOR SELECT TO fairlead_app USING (id = app_tenant() AND deleted_at IS NULL);
CREATE POLICY owner ON tenants TO fairlead_owner USING (true) WITH CHECK (true);
ALTER TABLE tenant_limits ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON tenant_limits FOR SELECT TO fairlead_app USING (tenant_id = app_tenant());
CREATE POLICY owner ON tenant_limits TO fairlead_owner USING (true) WITH CHECK (true);
ALTER TABLE operator_tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON operator_tokens TO fairlead_owner USING (true) WITH CHECK (true);

GRANT SELECT ON schema_migrations, schema_contents TO fairlead_app, fairlead_node;
GRANT SELECT ON tenants, tenant_limits, xds_servers TO fairlead_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON xds_servers TO fairlead_node;

-- What ended stays ended, and what a token may is settled when it is made: the API's role may write no other column than
-- these. One that is added later and that the API is to change needs its grant.
GRANT SELECT, INSERT ON fleets, fleet_heads, api_tokens, node_credentials, audit_events TO fairlead_app;
GRANT UPDATE (revoked_at, parent_id) ON api_tokens TO fairlead_app;
GRANT UPDATE (revoked_at) ON node_credentials TO fairlead_app;
GRANT UPDATE (deleted_at, reference_check, receipt_window, forget_nodes_after, static_clusters, placeholder_values, description) ON fleets TO fairlead_app;
GRANT UPDATE (revision, token, epoch, compacted, changed_at, deleted_at, node_ids, resources, bytes, history_bytes) ON fleet_heads TO fairlead_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON resources, idempotency_keys TO fairlead_app;
GRANT SELECT, INSERT, DELETE ON resource_refs, fleet_history, resource_history, bodies, node_events TO fairlead_app;
GRANT SELECT, INSERT, UPDATE ON node_retries TO fairlead_app;
GRANT UPDATE (resolved_at, resolved_by) ON node_exceptions TO fairlead_app;
-- The collector locks rows before it deletes them, which asks for the right to update some column. Of a row that is
-- named anywhere the key cannot change (foreign keys), and the bytes are not in the grant.
GRANT UPDATE (hash) ON bodies TO fairlead_app;
