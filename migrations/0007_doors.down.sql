SET lock_timeout = '5s';
DROP FUNCTION operator_first_token(uuid, bytea, text, timestamptz), operator_create_tenant(uuid, text, text, jsonb),
  operator_tenant_by_slug(text), operator_tenants(text, integer), find_node_credential(uuid), find_token(uuid);
