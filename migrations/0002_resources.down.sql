SET lock_timeout = '5s';
DROP TABLE resource_history, fleet_history, resource_refs, resources, bodies;
