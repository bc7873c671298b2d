-- Forgets what lies below two floors; never changes the revision. Below p_tombstones a reader reloads; below p_history
-- nothing can be restored or shown any more. Of each resource the last row at or below the history's floor stays: it is
-- part of the state at the floor.
CREATE OR REPLACE FUNCTION fleet_compact(p_fleet uuid, p_tombstones bigint, p_history bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  h       fleet_heads%ROWTYPE;
  v_floor bigint;
  v_gone  bigint;
BEGIN
  h := fleet_lock(p_fleet, NULL);
  v_floor := greatest(h.compacted, least(p_tombstones, h.revision));
  IF v_floor > h.compacted THEN
    UPDATE fleet_heads SET compacted = v_floor WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
    DELETE FROM resources WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id AND deleted AND revision <= v_floor;
  END IF;
  v_floor := least(p_history, h.revision);
  DELETE FROM fleet_history WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id AND revision < v_floor;
  WITH d AS (
    DELETE FROM resource_history x
     WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision <= v_floor
       AND (x.deleted OR EXISTS (
            SELECT FROM resource_history y
             WHERE y.tenant_id = x.tenant_id AND y.fleet_id = x.fleet_id AND y.type = x.type AND y.name = x.name AND y.variant = x.variant
               AND y.revision > x.revision AND y.revision <= v_floor))
    RETURNING x.bytes)
  SELECT sum(d.bytes + history_row_bytes()) INTO v_gone FROM d;
  IF v_gone > 0 THEN
    UPDATE fleet_heads SET history_bytes = history_bytes - v_gone WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
  END IF;
END $$;

-- Removes the tenant's bodies that nothing names, at most p_limit; returns how many. Rows are locked first, passing by
-- those that a writer holds, and asked about again with a snapshot taken under the lock: a reference is made under a
-- share lock of the body's row, so what is unnamed then stays unnamed. A writer that relied on a body that goes
-- away at that moment gets a foreign key violation and writes again.
CREATE OR REPLACE FUNCTION bodies_collect(p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  t        uuid := app_tenant();
  v_hashes bytea[];
  n        integer;
BEGIN
  SELECT array_agg(l.hash) INTO v_hashes FROM (
    SELECT b.hash FROM bodies b
     WHERE b.tenant_id = t
       AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = t AND r.body_hash = b.hash)
       AND NOT EXISTS (SELECT FROM resource_history r WHERE r.tenant_id = t AND r.body_hash = b.hash)
       AND NOT EXISTS (SELECT FROM node_exceptions r WHERE r.tenant_id = t AND r.good_hash = b.hash)
     LIMIT p_limit FOR UPDATE SKIP LOCKED) l;
  DELETE FROM bodies b
   WHERE b.tenant_id = t AND b.hash = ANY (v_hashes)
     AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = t AND r.body_hash = b.hash)
     AND NOT EXISTS (SELECT FROM resource_history r WHERE r.tenant_id = t AND r.body_hash = b.hash)
     AND NOT EXISTS (SELECT FROM node_exceptions r WHERE r.tenant_id = t AND r.good_hash = b.hash);
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;
