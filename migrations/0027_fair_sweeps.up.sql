SET lock_timeout = '5s';

-- What is due of one tenant is found by key: where more leases end at once than a sweep looks at, each tenant has its share of it.
CREATE INDEX endpoint_leases_due_of ON endpoint_leases (tenant_id, due_at) WHERE held_since IS NULL;
CREATE INDEX endpoint_leases_held_of ON endpoint_leases (tenant_id, due_at) WHERE held_since IS NOT NULL;
