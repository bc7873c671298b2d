SET lock_timeout = '5s';
DROP FUNCTION bodies_collect(integer), fleet_compact(uuid, bigint, bigint), fleet_rollback(uuid, bigint, jsonb), fleet_apply(uuid, jsonb, jsonb, bytea[]),
  fleet_commit(fleet_heads, jsonb, resource_change[], bytea[]), fleet_lock(uuid, bigint), idempotency_answer(jsonb, jsonb), idempotency_claim(jsonb),
  must_exist(boolean), resource_etag(bigint, bytea);
DROP TYPE resource_change;
