SET lock_timeout = '5s';
DROP FUNCTION fleet_changed_since(uuid, bigint);
