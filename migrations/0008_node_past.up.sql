SET lock_timeout = '5s';

-- How the node's last stream on that server ended: with nothing refused and nothing unanswered. It means nothing while
-- the node is connected there; where the server died the row still says so, and that is no clean end.
ALTER TABLE node_status ADD COLUMN clean boolean NOT NULL DEFAULT false;

-- What stands in for a refused version outlives the history: beside its bytes what was read out of them, its TTL and the
-- revision that brought it.
ALTER TABLE node_exceptions
  ADD COLUMN good_revision bigint,
  ADD COLUMN good_ttl_ms   bigint,
  ADD COLUMN good_derived  jsonb;

UPDATE node_exceptions e SET good_revision = h.revision, good_ttl_ms = h.ttl_ms, good_derived = h.derived
  FROM resource_history h
 WHERE e.good_hash IS NOT NULL AND e.resolved_at IS NULL
   AND h.tenant_id = e.tenant_id AND h.fleet_id = e.fleet_id AND h.type = e.type AND h.name = e.name AND h.version = e.good
   AND h.body_hash = e.good_hash AND NOT h.deleted;
