SET lock_timeout = '5s';
-- The roles stay: they belong to the cluster, and other databases may use them.
DROP TABLE fleet_heads, fleets, tenants;
DROP FUNCTION app_tenant();
