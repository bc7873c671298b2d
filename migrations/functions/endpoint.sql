-- Endpoints as data: rows, which are written without the lock of the fleet's head, and are built into what is served some times a second. Leases are
-- locked first, then the rows of clusters, in the order of their keys, then endpoints; who has the fleet's head has it before them.

-- What an endpoint counts in fleet_bytes.
CREATE OR REPLACE FUNCTION endpoint_bytes(p_address text, p_region text, p_zone text, p_sub_zone text, p_metadata jsonb) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 64 + octet_length(p_address) + octet_length(p_region) + octet_length(p_zone) + octet_length(p_sub_zone) + coalesce(octet_length(p_metadata::text), 0) $$;

-- Puts and removes endpoints of one cluster: p_set is [{address, region, zone, sub_zone, weight, health, metadata, lease}], none twice, p_remove [{address, region, zone,
-- sub_zone}], where an endpoint is meant in whatever locality if region is null. Returns {set, removed, changed, unasked}: of how many both were, whether that
-- is to be built, and whether endpoints were put that no cluster of the fleet asks for. FL404: no such fleet; FL407: a lease is not there (detail: which);
-- FL413: the cluster has no room.
CREATE OR REPLACE FUNCTION endpoints_write(p_fleet uuid, p_cluster text, p_set jsonb, p_remove jsonb, p_actor jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  h         fleet_heads%ROWTYPE;
  c         endpoint_clusters%ROWTYPE;
  v_all     text[];
  v_was     record;
  v_is      record;
  v_set     integer;
  v_removed integer;
  v_leases  uuid[];
  v_there   uuid[];
  v_lease   uuid;
  v_unasked boolean;
  v_unbuilt record;
BEGIN
  SELECT * INTO h FROM fleet_heads f WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet AND f.deleted_at IS NULL;
  PERFORM must_exist(h.fleet_id IS NOT NULL);
  -- Their leases stay until the commit.
  v_leases := ARRAY(SELECT DISTINCT (s.value->>'lease')::uuid FROM jsonb_array_elements(p_set) s WHERE s.value ? 'lease');
  v_there := ARRAY(SELECT x.id FROM endpoint_leases x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.id = ANY (v_leases) ORDER BY x.id FOR KEY SHARE);
  IF cardinality(v_there) < cardinality(v_leases) THEN
    SELECT l INTO v_lease FROM unnest(v_leases) l WHERE l <> ALL (v_there) LIMIT 1;
    RAISE EXCEPTION 'there is no lease %', v_lease USING ERRCODE = 'FL407', DETAIL = v_lease;
  END IF;
  IF jsonb_array_length(p_set) > 0 THEN
    INSERT INTO endpoint_clusters (tenant_id, fleet_id, cluster, changed, variants)
    SELECT h.tenant_id, p_fleet, p_cluster, 0, 1 + (SELECT count(*) FROM resources r WHERE r.tenant_id = h.tenant_id AND r.fleet_id = p_fleet AND r.type = 'endpoints'
                                                       AND r.name = p_cluster AND r.variant <> '' AND NOT r.deleted)
     WHERE NOT EXISTS (SELECT FROM endpoint_clusters x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.cluster = p_cluster)
    ON CONFLICT DO NOTHING;
  END IF;
  SELECT * INTO c FROM endpoint_clusters x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.cluster = p_cluster FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    IF jsonb_array_length(p_set) > 0 THEN -- it went between the two statements
      RAISE EXCEPTION 'the cluster went meanwhile' USING ERRCODE = '40001';
    END IF;
    RETURN '{"set": 0, "removed": 0, "changed": false}';
  END IF;

  v_all := ARRAY(SELECT s.value->>'address' FROM jsonb_array_elements(p_set || p_remove) s);
  SELECT count(*) AS n, coalesce(sum(e.bytes), 0) AS bytes INTO v_was FROM endpoints e
   WHERE e.tenant_id = h.tenant_id AND e.fleet_id = p_fleet AND e.cluster = p_cluster AND e.address = ANY (v_all);
  DELETE FROM endpoints e USING jsonb_to_recordset(p_remove) r (address text, region text, zone text, sub_zone text)
   WHERE e.tenant_id = h.tenant_id AND e.fleet_id = p_fleet AND e.cluster = p_cluster AND e.address = r.address
     AND (r.region IS NULL OR (e.region, e.zone, e.sub_zone) = (r.region, r.zone, r.sub_zone));
  GET DIAGNOSTICS v_removed = ROW_COUNT;
  INSERT INTO endpoints AS e (tenant_id, fleet_id, cluster, address, region, zone, sub_zone, weight, health, metadata, lease_id, bytes, created_at, updated_at, updated_by)
  SELECT h.tenant_id, p_fleet, p_cluster, s.address, s.region, s.zone, s.sub_zone, s.weight, s.health, s.metadata, s.lease,
         endpoint_bytes(s.address, s.region, s.zone, s.sub_zone, s.metadata), clock_timestamp(), clock_timestamp(), coalesce(p_actor->>'actor', '')
    FROM jsonb_to_recordset(p_set) s (address text, region text, zone text, sub_zone text, weight integer, health text, metadata jsonb, lease uuid)
  ON CONFLICT (tenant_id, fleet_id, cluster, address) DO UPDATE
     SET region = excluded.region, zone = excluded.zone, sub_zone = excluded.sub_zone, weight = excluded.weight, health = excluded.health, metadata = excluded.metadata,
         lease_id = excluded.lease_id, bytes = excluded.bytes, updated_at = excluded.updated_at, updated_by = excluded.updated_by
   WHERE (e.region, e.zone, e.sub_zone, e.weight, e.health, e.metadata, e.lease_id)
         IS DISTINCT FROM (excluded.region, excluded.zone, excluded.sub_zone, excluded.weight, excluded.health, excluded.metadata, excluded.lease_id);
  GET DIAGNOSTICS v_set = ROW_COUNT;
  SELECT count(*) AS n, coalesce(sum(e.bytes), 0) AS bytes INTO v_is FROM endpoints e
   WHERE e.tenant_id = h.tenant_id AND e.fleet_id = p_fleet AND e.cluster = p_cluster AND e.address = ANY (v_all);

  IF v_is.bytes > v_was.bytes THEN
    IF c.bytes + v_is.bytes - v_was.bytes > 1048576 THEN
      RAISE EXCEPTION 'the endpoints of a cluster come to 1048576 bytes at most, these would make it %', c.bytes + v_is.bytes - v_was.bytes USING ERRCODE = 'FL413';
    END IF;
    -- The head counts what is built: what is not counts beside it, or a caller who is faster than builds has no limit. Both are of one snapshot. What others write at this
    -- very moment is not in it: by so much may the limit be passed. Each variant of the document is served with all of them.
    SELECT f.bytes, f.resources, u.bytes AS more_bytes, u.resources AS more_resources INTO v_unbuilt FROM fleet_heads f CROSS JOIN LATERAL (
      SELECT coalesce(sum(greatest(0, x.bytes * x.variants - x.counted)), 0)::bigint AS bytes, count(*) FILTER (WHERE x.bytes > 0 AND x.counted = 0) AS resources
        FROM endpoint_clusters x WHERE x.fleet_id = f.fleet_id AND x.tenant_id = f.tenant_id AND x.changed <> x.built AND x.cluster <> p_cluster) u
     WHERE f.tenant_id = h.tenant_id AND f.fleet_id = p_fleet;
    PERFORM must_be_within('fleet_bytes', v_unbuilt.bytes + v_unbuilt.more_bytes,
                           v_unbuilt.bytes + v_unbuilt.more_bytes + (c.bytes + v_is.bytes - v_was.bytes) * c.variants - c.counted, tenant_limit('fleet_bytes'));
    IF c.counted = 0 THEN
      PERFORM must_be_within('resources', v_unbuilt.resources + v_unbuilt.more_resources, v_unbuilt.resources + v_unbuilt.more_resources + 1, tenant_limit('resources'));
    END IF;
  END IF;
  UPDATE endpoint_clusters x SET changed = x.changed + (v_set + v_removed > 0)::integer, endpoints = x.endpoints + v_is.n - v_was.n, bytes = x.bytes + v_is.bytes - v_was.bytes,
         changed_by = CASE WHEN v_set + v_removed > 0 THEN coalesce(p_actor->>'actor', '') ELSE x.changed_by END
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.cluster = p_cluster;
  -- Who asks over ADS has a reference. Who polls has none, and is found where it asks for its own name. Two look-ups by key, whatever the fleet has.
  v_unasked := jsonb_array_length(p_set) > 0
    AND NOT EXISTS (SELECT FROM resource_refs x WHERE x.ref_name = p_cluster AND x.ref_type = 'endpoints' AND x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet OFFSET 0)
    AND NOT EXISTS (SELECT FROM (SELECT y.derived FROM resources y WHERE y.tenant_id = h.tenant_id AND y.fleet_id = p_fleet AND y.type = 'clusters' AND y.name = p_cluster LIMIT 100) x
                     WHERE x.derived->>'eds' = p_cluster OFFSET 0);
  RETURN jsonb_build_object('set', v_set, 'removed', v_removed, 'changed', v_set + v_removed > 0, 'unasked', v_unasked);
END $$;

-- Makes a lease. FL413: the fleet has no room.
CREATE OR REPLACE FUNCTION endpoint_lease_take(p_fleet uuid, p_id uuid, p_ttl_ms bigint, p_keep_last boolean, p_actor jsonb) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  t     timestamptz := clock_timestamp();
  v_end timestamptz := t + p_ttl_ms * interval '1 ms';
BEGIN
  PERFORM must_exist(EXISTS (SELECT FROM fleet_heads f WHERE f.tenant_id = app_tenant() AND f.fleet_id = p_fleet AND f.deleted_at IS NULL));
  IF (SELECT count(*) FROM endpoint_leases x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet) >= 20000 THEN
    RAISE EXCEPTION 'a fleet has 20000 leases at most' USING ERRCODE = 'FL413';
  END IF;
  INSERT INTO endpoint_leases (tenant_id, fleet_id, id, ttl_ms, expires_at, due_at, keep_last, created_by)
  VALUES (app_tenant(), p_fleet, p_id, p_ttl_ms, v_end, v_end, p_keep_last, coalesce(p_actor->>'actor', ''));
  RETURN v_end;
END $$;

-- Gives leases their whole time again, p_ids[i] of the fleet p_fleets[i], and returns those that are there. It makes no revision, and changes no index but for one that was
-- held. Each is found by its key: a join whose plan was made while there were few reads all leases of the tenant, some hundred times a second.
CREATE OR REPLACE FUNCTION endpoint_leases_renew(p_fleets uuid[], p_ids uuid[])
RETURNS TABLE (o_fleet uuid, o_id uuid, o_ttl_ms bigint, o_keep_last boolean, o_expires_at timestamptz) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. cardinality(p_ids) LOOP
    RETURN QUERY
      UPDATE endpoint_leases x SET expires_at = clock_timestamp() + x.ttl_ms * interval '1 ms', held_since = NULL,
             due_at = CASE WHEN x.held_since IS NULL THEN x.due_at ELSE least(x.due_at, clock_timestamp() + x.ttl_ms * interval '1 ms') END
       WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleets[i] AND x.id = p_ids[i]
      RETURNING x.fleet_id, x.id, x.ttl_ms, x.keep_last, x.expires_at;
  END LOOP;
END $$;

-- Removes endpoints of one cluster, whose row is locked, and marks it.
CREATE OR REPLACE FUNCTION endpoints_remove(p_tenant uuid, p_fleet uuid, p_cluster text, p_leases uuid[], p_by text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_gone  integer;
  v_bytes bigint;
BEGIN
  WITH d AS (
    DELETE FROM endpoints e WHERE e.tenant_id = p_tenant AND e.fleet_id = p_fleet AND e.cluster = p_cluster AND e.lease_id = ANY (p_leases) RETURNING e.bytes)
  SELECT count(*), coalesce(sum(d.bytes), 0) INTO v_gone, v_bytes FROM d;
  IF v_gone > 0 THEN
    UPDATE endpoint_clusters x SET changed = x.changed + 1, endpoints = x.endpoints - v_gone, bytes = x.bytes - v_bytes, changed_by = p_by
     WHERE x.tenant_id = p_tenant AND x.fleet_id = p_fleet AND x.cluster = p_cluster;
  END IF;
  RETURN v_gone;
END $$;

-- Ends a lease with its endpoints. FL404: there is none.
CREATE OR REPLACE FUNCTION endpoint_lease_end(p_fleet uuid, p_id uuid, p_actor jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_cluster text;
  v_gone    integer := 0;
BEGIN
  PERFORM FROM endpoint_leases x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.id = p_id FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no lease %', p_id USING ERRCODE = 'FL404';
  END IF;
  PERFORM FROM endpoint_clusters x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.cluster = ANY (ARRAY(
    SELECT DISTINCT e.cluster FROM endpoints e WHERE e.lease_id = p_id AND e.tenant_id = app_tenant() AND e.fleet_id = p_fleet)) ORDER BY x.cluster FOR NO KEY UPDATE;
  FOR v_cluster IN SELECT DISTINCT e.cluster FROM endpoints e WHERE e.lease_id = p_id AND e.tenant_id = app_tenant() AND e.fleet_id = p_fleet ORDER BY 1 LOOP
    v_gone := v_gone + endpoints_remove(app_tenant(), p_fleet, v_cluster, ARRAY[p_id], coalesce(p_actor->>'actor', ''));
  END LOOP;
  DELETE FROM endpoint_leases x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.id = p_id;
  RETURN v_gone > 0;
END $$;

-- Whose leases are due at a time, those that are held or the others, and how many of each tenant a sweep looks at: all, or if these are more than p_limit, of each tenant as many.
CREATE OR REPLACE FUNCTION endpoint_leases_share(p_at timestamptz, p_held boolean, p_limit integer, OUT o_tenants uuid[], OUT o_each integer) LANGUAGE plpgsql AS $$
DECLARE
  v_due bigint;
BEGIN
  o_each := p_limit;
  IF p_held THEN
    SELECT count(*), array_agg(DISTINCT z.tenant_id) INTO v_due, o_tenants
      FROM (SELECT x.tenant_id FROM endpoint_leases x WHERE x.held_since IS NOT NULL AND x.due_at <= p_at ORDER BY x.due_at LIMIT p_limit + 1) z;
  ELSE
    SELECT count(*), array_agg(DISTINCT z.tenant_id) INTO v_due, o_tenants
      FROM (SELECT x.tenant_id FROM endpoint_leases x WHERE x.held_since IS NULL AND x.due_at <= p_at ORDER BY x.due_at LIMIT p_limit + 1) z;
  END IF;
  o_tenants := ARRAY(SELECT u.tenant FROM unnest(o_tenants) AS u (tenant) WHERE NOT EXISTS (SELECT FROM tenants n WHERE n.id = u.tenant AND n.place <> 'here' OFFSET 0));
  IF v_due <= p_limit THEN
    RETURN;
  END IF;
  o_tenants := ARRAY( -- a look-up by key for each tenant that has leases
    WITH RECURSIVE a (tenant) AS (
      (SELECT x.tenant_id FROM endpoint_leases x ORDER BY x.tenant_id LIMIT 1)
      UNION ALL
      SELECT (SELECT x.tenant_id FROM endpoint_leases x WHERE x.tenant_id > a.tenant ORDER BY x.tenant_id LIMIT 1) FROM a WHERE a.tenant IS NOT NULL)
    SELECT a.tenant FROM a
     WHERE NOT EXISTS (SELECT FROM tenants n WHERE n.id = a.tenant AND n.place <> 'here' OFFSET 0) AND CASE WHEN p_held THEN EXISTS (SELECT FROM endpoint_leases x WHERE x.tenant_id = a.tenant AND x.held_since IS NOT NULL AND x.due_at <= p_at OFFSET 0)
                ELSE EXISTS (SELECT FROM endpoint_leases x WHERE x.tenant_id = a.tenant AND x.held_since IS NULL AND x.due_at <= p_at OFFSET 0) END);
  o_each := greatest(1, p_limit / greatest(1, cardinality(o_tenants)));
END $$;

-- Takes away the endpoints whose leases have expired, of at most p_limit leases and about as many endpoints, and returns the fleets that have something to be built. Any number of processes
-- may call it; two times a second one of them does something.
--
-- The sweep is the clock of expiry: while it could not run, for more than 3 s, no lease could be renewed either, and a lease runs out when its time has passed since it
-- runs again (recovered_at). Of what has run out after all, what a cluster cannot do without stays, and is told as held: of a lease that keeps the last ones, and of
-- the first time after such an outage whatever brings the cluster below its panic_threshold. What is held stays until it is renewed, removed, or not needed.
-- However much ends at once, a sweep works for about a second, tenant by tenant in turn: what is left comes next time. Its own time is no outage, and neither is another
-- server's sweep that began a moment later and went first.
-- It waits for no lock: an apply has that of a cluster for as long as it takes, and all tenants' leases would run on meanwhile. What it has to pass by comes next time.
-- enable_seqscan: it runs without a tenant's transaction, which sets it. What a session planned while the tables were small
-- stays until they have doubled.
CREATE OR REPLACE FUNCTION endpoints_sweep(p_limit integer) RETURNS TABLE (tenant_id uuid, fleet_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  t           timestamptz := clock_timestamp();
  v_recovered timestamptz;
  v_outage    timestamptz;
  v_living    tid[];
  v_rows      tid[];
  v_lapsed    uuid[];
  v_going     uuid[];
  v_busy      uuid[] := '{}';
  v_left      integer;
  v_budget    integer := p_limit; -- endpoints
  v_cut       boolean; -- more has expired than is looked at
  v_late      boolean := false;
  v_one       uuid;
  v_due       record;
  v_held      record;
  c           endpoint_clusters%ROWTYPE;
  k           record;
BEGIN
  IF EXISTS (SELECT FROM endpoint_leases) THEN
    UPDATE endpoint_clock x SET swept_at = t, idle = false, recovered_at = CASE WHEN x.swept_at BETWEEN t - interval '3 s' AND t + interval '3 s' THEN x.recovered_at ELSE t END,
           outage_at = CASE WHEN x.idle OR x.swept_at BETWEEN t - interval '3 s' AND t + interval '3 s' THEN x.outage_at ELSE t END
     WHERE x.one AND (x.idle OR NOT x.swept_at BETWEEN t - interval '400 ms' AND t + interval '3 s') RETURNING x.recovered_at, x.outage_at INTO v_recovered, v_outage;
  ELSE
    UPDATE endpoint_clock x SET idle = true WHERE x.one AND NOT x.idle;
  END IF;
  IF v_recovered IS NOT NULL THEN
    -- What is held has a share of its own: however much of it there is, nothing that expires waits behind it.
    SELECT s.* INTO v_due FROM endpoint_leases_share(t, false, p_limit) s;
    SELECT s.* INTO v_held FROM endpoint_leases_share(t, true, greatest(1, p_limit / 10)) s;
    SELECT array_agg(l.at) FILTER (WHERE l.lives), array_agg(l.at ORDER BY l.turn) FILTER (WHERE NOT l.lives), array_agg(l.id ORDER BY l.turn) FILTER (WHERE NOT l.lives) INTO v_living, v_rows, v_lapsed FROM (
      SELECT u.*, row_number() OVER (PARTITION BY u.tenant_id, u.held ORDER BY u.due_at) AS turn FROM (
        SELECT false AS held, a.* FROM unnest(v_due.o_tenants) n (tenant) CROSS JOIN LATERAL (
          SELECT x.ctid AS at, x.id, x.tenant_id, x.due_at, greatest(x.expires_at, v_recovered + x.ttl_ms * interval '1 ms') > t AS lives FROM endpoint_leases x
           WHERE x.tenant_id = n.tenant AND x.held_since IS NULL AND x.due_at <= t ORDER BY x.due_at LIMIT v_due.o_each FOR UPDATE SKIP LOCKED) a
        UNION ALL
        SELECT true, b.* FROM unnest(v_held.o_tenants) n (tenant) CROSS JOIN LATERAL (
          SELECT x.ctid AS at, x.id, x.tenant_id, x.due_at, greatest(x.expires_at, v_recovered + x.ttl_ms * interval '1 ms') > t AS lives FROM endpoint_leases x
           WHERE x.tenant_id = n.tenant AND x.held_since IS NOT NULL AND x.due_at <= t ORDER BY x.due_at LIMIT v_held.o_each FOR UPDATE SKIP LOCKED) b) u) l;
    -- What was renewed is looked at again when it can have run out.
    UPDATE endpoint_leases x SET due_at = greatest(x.expires_at, v_recovered + x.ttl_ms * interval '1 ms'), held_since = CASE WHEN x.expires_at > t THEN NULL ELSE x.held_since END
     WHERE x.ctid = ANY (v_living);
  END IF;
  IF cardinality(v_lapsed) > 0 THEN
    v_cut := v_due.o_each < p_limit OR v_held.o_each < greatest(1, p_limit / 10);
    FOR i IN 1 .. cardinality(v_lapsed) LOOP
      SELECT v_budget - count(*) INTO v_budget FROM (SELECT FROM endpoints e WHERE e.lease_id = v_lapsed[i] LIMIT v_budget + 1) z;
      IF v_budget < 0 THEN -- this is the last one
        v_cut := true;
        v_lapsed := v_lapsed[:i];
        v_rows := v_rows[:i];
        EXIT;
      END IF;
    END LOOP;
    -- By chance within a tenant: what is held stays, and is not to be looked at first each time.
    FOR k IN SELECT d.*, row_number() OVER (PARTITION BY d.tenant_id ORDER BY random()) AS turn FROM (
               SELECT e.tenant_id, e.fleet_id, e.cluster, array_agg(DISTINCT e.lease_id) AS leases, count(*) AS n
                 FROM endpoints e WHERE e.lease_id = ANY (v_lapsed) GROUP BY 1, 2, 3) d ORDER BY turn LOOP
      v_late := v_late OR clock_timestamp() > t + interval '1 s';
      IF v_late THEN
        FOREACH v_one IN ARRAY k.leases LOOP
          v_busy := array_append(v_busy, v_one);
        END LOOP;
        CONTINUE;
      END IF;
      SELECT * INTO c FROM endpoint_clusters x WHERE x.tenant_id = k.tenant_id AND x.fleet_id = k.fleet_id AND x.cluster = k.cluster FOR NO KEY UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        v_busy := v_busy || k.leases;
        CONTINUE;
      END IF;
      IF v_cut THEN -- what has expired and is looked at later is nothing that the cluster has left
        SELECT count(*) INTO k.n FROM endpoints e WHERE e.tenant_id = k.tenant_id AND e.fleet_id = k.fleet_id AND e.cluster = k.cluster
           AND EXISTS (SELECT FROM endpoint_leases x WHERE x.tenant_id = e.tenant_id AND x.fleet_id = e.fleet_id AND x.id = e.lease_id
                          AND greatest(x.expires_at, v_recovered + x.ttl_ms * interval '1 ms') <= t OFFSET 0);
      END IF;
      v_left := c.endpoints + c.documented - k.n;
      v_going := ARRAY(SELECT x.id FROM endpoint_leases x
                        WHERE x.tenant_id = k.tenant_id AND x.fleet_id = k.fleet_id AND x.id = ANY (k.leases)
                          AND NOT (v_left <= 0 AND (x.keep_last OR x.held_since IS NOT NULL)
                                   OR (x.held_since IS NOT NULL OR t < v_outage + 2 * x.ttl_ms * interval '1 ms')
                                      AND (v_left <= 0 OR v_left * 100 < c.panic_threshold * (c.endpoints + c.documented))));
      PERFORM endpoints_remove(k.tenant_id, k.fleet_id, k.cluster, v_going, 'fairlead');
    END LOOP;
    UPDATE endpoint_leases x SET due_at = t + interval '500 ms' WHERE x.ctid = ANY (v_rows) AND x.id = ANY (v_busy);
    -- What is held is looked at after 1 s, and the longer it is held the later, 10 s at most.
    UPDATE endpoint_leases x SET held_since = coalesce(x.held_since, t), due_at = t + least(interval '10 s', greatest(interval '1 s', (t - x.held_since) / 10))
     WHERE x.ctid = ANY (v_rows) AND EXISTS (SELECT FROM endpoints e WHERE e.lease_id = x.id OFFSET 0);
    DELETE FROM endpoint_leases x WHERE x.ctid = ANY (v_rows); -- what has just been written has another place
  END IF;
  IF v_recovered IS NOT NULL THEN
    UPDATE endpoint_clock x SET swept_at = clock_timestamp() WHERE x.one;
  END IF;
  RETURN QUERY SELECT DISTINCT x.tenant_id, x.fleet_id FROM endpoint_clusters x JOIN fleet_heads h ON h.tenant_id = x.tenant_id AND h.fleet_id = x.fleet_id AND h.deleted_at IS NULL
                 JOIN tenants n ON n.id = x.tenant_id AND n.place = 'here'
                WHERE x.changed <> x.built LIMIT 1000;
END $$;

-- Takes the fleet's turn to be built, of which there are ten a second for all processes together, and returns what is to be built: p_limit clusters at most, one or more whose
-- endpoints come to 8 MiB with all variants, of each its endpoints,
-- and its document's variants side by side. The first row says whether there was a turn (o_cluster null: it is of that alone).
CREATE OR REPLACE FUNCTION endpoints_claim(p_fleet uuid, p_limit integer)
RETURNS TABLE (o_cluster text, o_changed bigint, o_rows jsonb, o_variants text[], o_revisions bigint[], o_ttls bigint[], o_bodies bytea[]) LANGUAGE plpgsql AS $$
DECLARE
  t timestamptz := clock_timestamp();
BEGIN
  INSERT INTO endpoint_builds AS b (tenant_id, fleet_id, next_at) VALUES (app_tenant(), p_fleet, t + interval '100 ms')
  ON CONFLICT (tenant_id, fleet_id) DO UPDATE SET next_at = excluded.next_at WHERE b.next_at <= t OR b.next_at > t + interval '1 s';
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT NULL::text, 0::bigint, NULL::jsonb, NULL::text[], NULL::bigint[], NULL::bigint[], NULL::bytea[];
  RETURN QUERY
    SELECT x.cluster, x.changed,
           (SELECT jsonb_agg(jsonb_build_array(e.address, e.region, e.zone, e.sub_zone, e.weight, e.health, e.metadata) ORDER BY e.address) FROM endpoints e
             WHERE e.tenant_id = x.tenant_id AND e.fleet_id = x.fleet_id AND e.cluster = x.cluster),
           d.variants, d.revisions, d.ttls, d.bodies
      FROM (SELECT z.*, sum(z.bytes * z.variants) OVER (ORDER BY z.cluster) AS upto, row_number() OVER (ORDER BY z.cluster) AS n
              FROM (SELECT * FROM endpoint_clusters y WHERE y.tenant_id = app_tenant() AND y.fleet_id = p_fleet AND y.changed <> y.built ORDER BY y.cluster LIMIT p_limit) z) x
     CROSS JOIN LATERAL (
       SELECT array_agg(r.variant ORDER BY r.variant) AS variants, array_agg(r.revision ORDER BY r.variant) AS revisions, array_agg(r.ttl_ms ORDER BY r.variant) AS ttls,
              array_agg((SELECT b.body FROM bodies b WHERE b.tenant_id = r.tenant_id AND b.hash = r.body_hash) ORDER BY r.variant) AS bodies
         FROM resources r WHERE r.tenant_id = x.tenant_id AND r.fleet_id = x.fleet_id AND r.type = 'endpoints' AND r.name = x.cluster) d
     WHERE x.n = 1 OR x.upto <= 8388608;
END $$;

-- Makes what was built what is served. p_items is [{cluster, changed, variant, revision, version, documented, body}], one for each variant of each cluster that was claimed: revision is
-- that of the document's row when it was read, 0 where there was no row, version null where nothing but the document is served, and body the place in p_bodies.
-- A cluster of which another process has built as much, or whose document is another one by now, is left out, and stays to be built. Returns the new
-- revision, null where what is served has not changed.
CREATE OR REPLACE FUNCTION endpoints_commit(p_fleet uuid, p_items jsonb, p_bodies bytea[], OUT o_revision bigint, OUT o_ended integer) LANGUAGE plpgsql AS $$
DECLARE
  h         fleet_heads%ROWTYPE := fleet_lock(p_fleet, NULL);
  c         endpoint_clusters%ROWTYPE;
  r         resources%ROWTYPE;
  k         record;
  i         record;
  v_new     bigint := h.revision + 1;
  v_tok     uuid := gen_random_uuid();
  v_at      timestamptz := greatest(clock_timestamp(), h.changed_at);
  v_names   text[] := '{}';
  v_by      text[] := '{}';
  v_changes integer := 0;
  v_created integer := 0;
  v_deleted integer := 0;
  v_rows    integer := 0;
  v_bytes   bigint := 0;
  v_counted bigint;
  v_served  integer; -- variants of a cluster
BEGIN
  o_ended := 0;
  FOR k IN SELECT x.cluster, max(x.changed) AS changed, max(x.documented) AS documented, jsonb_object_agg(x.variant, x.revision) AS read
             FROM jsonb_to_recordset(p_items) x (cluster text, changed bigint, documented integer, variant text, revision bigint) GROUP BY 1 ORDER BY x.cluster COLLATE "C" LOOP
    SELECT * INTO c FROM endpoint_clusters x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.cluster = k.cluster FOR NO KEY UPDATE;
    CONTINUE WHEN NOT FOUND OR c.built >= k.changed;
    CONTINUE WHEN EXISTS (SELECT FROM resources x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.type = 'endpoints' AND x.name = k.cluster
                             AND x.revision IS DISTINCT FROM (k.read->>x.variant)::bigint);
    FOR i IN SELECT * FROM jsonb_to_recordset(p_items) x (cluster text, variant text, version text, body integer) WHERE x.cluster = k.cluster LOOP
      SELECT * INTO r FROM resources x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.type = 'endpoints' AND x.name = k.cluster AND x.variant = i.variant;
      CONTINUE WHEN r.served_version IS NOT DISTINCT FROM i.version;
      IF i.version IS NOT NULL THEN
        INSERT INTO resources AS o (tenant_id, fleet_id, type, name, variant, revision, reselected, deleted, created_at, created_by, updated_at, updated_by, served_revision, served_version, served_body)
        VALUES (h.tenant_id, p_fleet, 'endpoints', k.cluster, i.variant, 0, v_new, true, v_at, 'fairlead', v_at, 'fairlead', v_new, i.version, p_bodies[i.body])
        ON CONFLICT (tenant_id, fleet_id, type, name, variant) DO UPDATE
           SET served_revision = excluded.served_revision, served_version = excluded.served_version, served_body = excluded.served_body,
               reselected = CASE WHEN o.deleted AND o.served_version IS NULL THEN v_new ELSE o.reselected END;
        v_created := v_created + (coalesce(r.deleted, true) AND r.served_version IS NULL)::integer;
      ELSE
        UPDATE resources x SET served_revision = v_new, served_version = NULL, served_body = NULL, reselected = CASE WHEN x.deleted THEN v_new ELSE x.reselected END
         WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.type = 'endpoints' AND x.name = k.cluster AND x.variant = i.variant;
        v_deleted := v_deleted + r.deleted::integer;
      END IF;
      v_changes := v_changes + 1;
      v_names := v_names || k.cluster;
      v_by := v_by || c.changed_by;
    END LOOP;
    SELECT greatest(1, count(*) FILTER (WHERE x.version IS NOT NULL)) INTO v_served FROM jsonb_to_recordset(p_items) x (cluster text, version text) WHERE x.cluster = k.cluster;
    v_counted := c.bytes * v_served; -- each is stored, and loaded by every xDS server
    v_rows := v_rows + (c.bytes > 0)::integer - (c.counted > 0)::integer;
    v_bytes := v_bytes + v_counted - c.counted;
    IF c.endpoints = 0 AND c.changed = k.changed THEN
      DELETE FROM endpoint_clusters x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.cluster = k.cluster;
    ELSE
      UPDATE endpoint_clusters x SET built = k.changed, counted = v_counted, variants = v_served, documented = coalesce(k.documented, 0)
       WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.cluster = k.cluster;
    END IF;
  END LOOP;

  IF v_changes = 0 THEN
    IF v_rows <> 0 OR v_bytes <> 0 THEN
      UPDATE fleet_heads SET resources = resources + v_rows, bytes = bytes + v_bytes WHERE tenant_id = h.tenant_id AND fleet_id = p_fleet;
    END IF;
    RETURN;
  END IF;
  o_revision := v_new;
  v_names := ARRAY(SELECT DISTINCT n FROM unnest(v_names) n ORDER BY n);
  v_by := ARRAY(SELECT DISTINCT n FROM unnest(v_by) n);
  o_ended := fleet_note_refusal_ends(h, v_new, array_fill('endpoints'::text, ARRAY[cardinality(v_names)]), v_names);
  UPDATE fleet_heads SET revision = v_new, token = v_tok, changed_at = v_at, resources = resources + v_rows, bytes = bytes + v_bytes
   WHERE tenant_id = h.tenant_id AND fleet_id = p_fleet;
  INSERT INTO fleet_history (tenant_id, fleet_id, revision, token, at, kind, message, actor, changes, created, deleted, types, run_from)
  VALUES (h.tenant_id, p_fleet, v_new, v_tok, v_at, 'endpoints',
          'endpoints of ' || CASE WHEN cardinality(v_names) = 1 THEN left(v_names[1], 200) ELSE cardinality(v_names) || ' clusters' END,
          CASE WHEN cardinality(v_by) = 1 THEN v_by[1] ELSE 'several' END, v_changes, v_created, v_deleted, '{endpoints}',
          coalesce((SELECT x.run_from FROM fleet_history x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.revision = h.revision AND x.kind = 'endpoints'), v_new));
  -- Of a run the newest row says all of it. Readers come from the 6,000 revisions before, ten minutes of ten a second; from an earlier one they load the fleet anew.
  DELETE FROM fleet_history x
   WHERE x.tenant_id = h.tenant_id AND x.fleet_id = p_fleet AND x.revision BETWEEN v_new - 6050 AND v_new - 6000 AND x.kind = 'endpoints'
     AND EXISTS (SELECT FROM fleet_history y WHERE y.tenant_id = x.tenant_id AND y.fleet_id = x.fleet_id AND y.revision = x.revision + 1 AND y.kind = 'endpoints' OFFSET 0);
END $$;
