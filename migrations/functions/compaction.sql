-- The lowest revision of the fleet's history that is not older than p_since; null where all are. Revisions are made in the order of
-- their times (fleet_commit), so it is found by halving.
CREATE OR REPLACE FUNCTION fleet_first_since(p_fleet uuid, p_since timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  h      fleet_heads%ROWTYPE;
  v_low  bigint; -- lower revisions are older
  v_high bigint; -- from here on none is
  v_mid  bigint;
  x      record;
BEGIN
  SELECT * INTO h FROM fleet_heads f WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet;
  v_low := h.history_from;
  v_high := h.revision + 1;
  WHILE v_low < v_high LOOP
    v_mid := v_low + (v_high - v_low) / 2;
    SELECT f.revision, f.at INTO x FROM fleet_history f
     WHERE f.tenant_id = h.tenant_id AND f.fleet_id = h.fleet_id AND f.revision >= v_mid AND f.revision < v_high ORDER BY f.revision LIMIT 1;
    IF x.at < p_since THEN
      v_low := x.revision + 1;
    ELSE
      v_high := v_mid;
    END IF;
  END LOOP;
  RETURN nullif(v_low, h.revision + 1);
END $$;

-- What the fleet may forget: o_tombstones and o_history are the floors of fleet_compact, 0 where nothing lies below; o_bytes is what
-- its history may come to, null where it comes to no more. p_age is the age of history in seconds, p_keep how many revisions are kept
-- however old they are. Tombstones are kept as long as nodes are remembered. It reads a row for each halving of the history. A door for
-- the reason that fleet_rollback_changes is one.
-- enable_bitmapscan: it looks for one row of an index at a time.
CREATE OR REPLACE FUNCTION fleet_floors(p_fleet uuid, p_age double precision, p_keep bigint, OUT o_tombstones bigint, OUT o_history bigint, OUT o_bytes bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_bitmapscan = off AS $$
DECLARE
  h        fleet_heads%ROWTYPE;
  v_memory interval;
BEGIN
  SELECT * INTO h FROM fleet_heads f WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet AND f.deleted_at IS NULL;
  SELECT make_interval(secs => f.forget_nodes_after) INTO v_memory FROM fleets f WHERE f.tenant_id = app_tenant() AND f.id = p_fleet;
  IF h.fleet_id IS NULL THEN
    RAISE EXCEPTION 'no such fleet' USING ERRCODE = 'FL404';
  END IF;
  o_tombstones := coalesce(fleet_first_since(p_fleet, clock_timestamp() - v_memory) - 1, h.revision);
  IF NOT EXISTS (SELECT FROM resources r WHERE r.deleted AND r.served_version IS NULL AND uuid_hash(r.fleet_id) = uuid_hash(p_fleet) AND r.revision <= o_tombstones AND r.served_revision <= o_tombstones
                    AND r.tenant_id IS NOT DISTINCT FROM h.tenant_id AND r.fleet_id IS NOT DISTINCT FROM h.fleet_id) THEN
    o_tombstones := 0;
  END IF;
  o_history := least(coalesce(fleet_first_since(p_fleet, clock_timestamp() - make_interval(secs => p_age)), h.revision), h.revision - p_keep + 1);
  IF NOT EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id
                    AND x.revision >= h.history_from AND x.revision < o_history) THEN
    o_history := 0;
  END IF;
  o_bytes := tenant_limit('history_bytes');
  IF h.history_bytes <= o_bytes OR h.history_from = h.revision THEN
    o_bytes := NULL;
  END IF;
END $$;

-- One step of forgetting what lies below two floors; true when all is done, or another process is at it. It never changes the
-- revision. Below p_tombstones a reader reloads; below p_history nothing can be restored or shown any more, nor where the history comes
-- to more than p_bytes, from the oldest revision on, until it fits. Of each resource the last row at or below the history's floor
-- stays: it is part of the state at the floor.
--
-- A step comes to p_limit rows, or to the one revision that has more. The head is locked by the step's last statement alone, so a
-- writer waits for no more than its commit; and a rollback, which has the head, sees the history before the step or after it.
-- A door for the reason that fleet_rollback_changes is one; it works in the transaction's tenant alone.
-- enable_bitmapscan, enable_sort: it walks an index and stops early, instead of collecting and sorting all that fits.
CREATE OR REPLACE FUNCTION fleet_compact(p_fleet uuid, p_tombstones bigint, p_history bigint, p_bytes bigint, p_limit integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  h       fleet_heads%ROWTYPE;
  v_hash  integer := uuid_hash(p_fleet);
  v_floor bigint;
  v_upto  bigint; -- the floor after this step
  v_rows  tid[];
  v_gone  bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('fleet_compact ' || p_fleet, 0)) THEN
    RETURN true;
  END IF;
  -- Under the lock: of before the last step of another process the history would come to more than it does.
  SELECT * INTO h FROM fleet_heads f WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet AND f.deleted_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such fleet' USING ERRCODE = 'FL404';
  END IF;
  v_floor := least(p_tombstones, h.revision);
  IF v_floor > h.compacted THEN
    UPDATE fleet_heads SET compacted = v_floor WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id AND compacted < v_floor;
    RETURN false;
  END IF;
  DELETE FROM resources d WHERE d.deleted AND d.ctid = ANY (ARRAY(
    SELECT r.ctid FROM resources r
     WHERE r.deleted AND r.served_version IS NULL AND uuid_hash(r.fleet_id) = v_hash AND r.revision <= h.compacted AND r.served_revision <= h.compacted
       AND r.tenant_id IS NOT DISTINCT FROM h.tenant_id AND r.fleet_id IS NOT DISTINCT FROM h.fleet_id LIMIT p_limit));
  IF FOUND THEN
    RETURN false; -- a writer that brings one of them back has the head and waits for this step, which must not wait for the head
  END IF;

  v_floor := CASE WHEN h.history_bytes > p_bytes THEN h.revision ELSE least(p_history, h.revision) END;
  IF v_floor <= h.history_from THEN
    RETURN true;
  END IF;
  v_upto := least(v_floor, h.history_from + p_limit, (
    SELECT x.revision FROM resource_history x
     WHERE uuid_hash(x.fleet_id) = v_hash AND x.revision > h.history_from AND x.revision <= h.history_from + p_limit
       AND x.tenant_id IS NOT DISTINCT FROM h.tenant_id AND x.fleet_id IS NOT DISTINCT FROM h.fleet_id
     ORDER BY x.revision OFFSET p_limit - 1 LIMIT 1));
  -- Each row goes with the one that came after it, or by itself if it says that there is nothing any more.
  WITH y AS MATERIALIZED (
    SELECT x.ctid AS id, x.type, x.name, x.variant, x.revision, x.deleted, x.bytes FROM resource_history x
     WHERE uuid_hash(x.fleet_id) = v_hash AND x.revision > h.history_from AND x.revision <= v_upto
       AND x.tenant_id IS NOT DISTINCT FROM h.tenant_id AND x.fleet_id IS NOT DISTINCT FROM h.fleet_id),
  due AS (
    SELECT y.revision, p.id, p.bytes FROM y CROSS JOIN LATERAL (
           SELECT x.ctid AS id, x.bytes, x.deleted FROM resource_history x
            WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.type = y.type AND x.name = y.name AND x.variant = y.variant
              AND x.revision < y.revision ORDER BY x.revision DESC LIMIT 1) p
     WHERE NOT p.deleted
     UNION ALL
    SELECT y.revision, y.id, y.bytes FROM y WHERE y.deleted),
  sums AS (SELECT due.*, sum(due.bytes + history_row_bytes()) OVER (ORDER BY due.revision) AS upto FROM due),
  cut AS (
    SELECT greatest(least(p_history, v_upto), coalesce(min(s.revision) FILTER (WHERE h.history_bytes - s.upto <= p_bytes), v_upto)) AS revision FROM sums s)
  SELECT cut.revision, (SELECT array_agg(s.id) FROM sums s WHERE s.revision <= cut.revision),
         (SELECT max(s.upto) FROM sums s WHERE s.revision <= cut.revision) INTO v_upto, v_rows, v_gone FROM cut;
  DELETE FROM resource_history d WHERE d.ctid = ANY (v_rows);
  DELETE FROM fleet_history d WHERE d.tenant_id = h.tenant_id AND d.fleet_id = h.fleet_id AND d.revision >= h.history_from AND d.revision < v_upto;
  UPDATE fleet_heads SET history_from = v_upto, history_bytes = history_bytes - coalesce(v_gone, 0) WHERE tenant_id = h.tenant_id AND fleet_id = h.fleet_id;
  RETURN false;
END $$;

-- Removes of p_limit bodies of the tenant, in the order of hashes after p_after, those that nothing names; returns the last hash that was
-- looked at, null when there are no more. Rows are locked first, passing by
-- those that a writer holds, and asked about again with a snapshot taken under the lock: a reference is made under a
-- share lock of the body's row, so what is unnamed then stays unnamed. A writer that relied on a body that goes
-- away at that moment gets a foreign key violation and writes again.
-- enable_bitmapscan, enable_sort: it walks an index and stops early, instead of collecting and sorting all that fits.
CREATE OR REPLACE FUNCTION bodies_collect(p_after bytea, p_limit integer) RETURNS bytea LANGUAGE plpgsql SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  t        uuid := app_tenant();
  v_page   bytea[];
  v_hashes bytea[];
BEGIN
  v_page := ARRAY(SELECT b.hash FROM bodies b WHERE b.tenant_id = t AND b.hash > p_after ORDER BY b.hash LIMIT p_limit);
  v_hashes := ARRAY(
    SELECT b.hash FROM bodies b
     WHERE b.tenant_id = t AND b.hash = ANY (v_page)
       AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = t AND r.body_hash = b.hash OFFSET 0)
       AND NOT EXISTS (SELECT FROM resource_history r WHERE r.tenant_id = t AND r.body_hash = b.hash OFFSET 0)
       AND NOT EXISTS (SELECT FROM refusals r WHERE r.tenant_id = t AND r.good_hash = b.hash OFFSET 0)
       FOR UPDATE SKIP LOCKED);
  DELETE FROM bodies b
   WHERE b.tenant_id = t AND b.hash = ANY (v_hashes)
     AND NOT EXISTS (SELECT FROM resources r WHERE r.tenant_id = t AND r.body_hash = b.hash OFFSET 0)
     AND NOT EXISTS (SELECT FROM resource_history r WHERE r.tenant_id = t AND r.body_hash = b.hash OFFSET 0)
     AND NOT EXISTS (SELECT FROM refusals r WHERE r.tenant_id = t AND r.good_hash = b.hash OFFSET 0);
  RETURN CASE WHEN cardinality(v_page) = p_limit THEN v_page[p_limit] END;
END $$;
