-- A door across tenants for the xDS servers: adds what proxies did to what is there. An age is how long ago the middle of the minute was, so that no
-- server's clock counts. Sums stay below 2^53, whatever was reported. Rows are locked in the order of the key: two servers wait for each other, and not in a circle.
-- enable_seqscan, enable_bitmapscan: it runs without a tenant's transaction, which sets it. What a session planned
-- while the tables were small stays until they have doubled, and a bitmap of a key's first columns reads a whole fleet for one row.
CREATE OR REPLACE FUNCTION load_add(p_tenants uuid[], p_fleets uuid[], p_ages double precision[], p_clusters text[], p_kinds text[], p_names text[], p_regions text[], p_zones text[], p_sub_zones text[],
                                    p_issued bigint[], p_succeeded bigint[], p_failed bigint[], p_in_progress double precision[], p_counts bigint[], p_totals double precision[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_most bigint := 9007199254740992;
BEGIN
  INSERT INTO load_minutes AS l (tenant_id, fleet_id, cluster, minute, kind, name, region, zone, sub_zone, issued, succeeded, failed, in_progress, count, total)
  SELECT f.tenant_id, f.id, u.cluster, date_trunc('minute', v_now - make_interval(secs => u.age)), u.kind, u.name, u.region, u.zone, u.sub_zone,
         least(sum(u.issued), v_most), least(sum(u.succeeded), v_most), least(sum(u.failed), v_most), least(sum(u.in_progress), v_most), least(sum(u.n), v_most),
         greatest(least(sum(u.total), v_most), -v_most)
    FROM unnest(p_tenants, p_fleets, p_ages, p_clusters, p_kinds, p_names, p_regions, p_zones, p_sub_zones, p_issued, p_succeeded, p_failed, p_in_progress, p_counts, p_totals)
         AS u (tenant, fleet, age, cluster, kind, name, region, zone, sub_zone, issued, succeeded, failed, in_progress, n, total)
   CROSS JOIN LATERAL (SELECT x.tenant_id, x.id FROM fleets x JOIN tenants n ON n.id = x.tenant_id
                        WHERE x.tenant_id = u.tenant AND x.id = u.fleet AND x.deleted_at IS NULL AND n.deleted_at IS NULL OFFSET 0) f
   GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
   ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
  ON CONFLICT (tenant_id, fleet_id, cluster, minute, kind, name, region, zone, sub_zone) DO UPDATE
     SET issued = least(l.issued + excluded.issued, v_most), succeeded = least(l.succeeded + excluded.succeeded, v_most),
         failed = least(l.failed + excluded.failed, v_most), count = least(l.count + excluded.count, v_most),
         in_progress = least(l.in_progress + excluded.in_progress, v_most), total = greatest(least(l.total + excluded.total, v_most), -v_most);
END $$;

-- A door across tenants for the xDS servers: which clusters proxies report, which of them they called since that was told last, and which nodes report all that
-- they have. A fleet has a row for each of its own clusters alone, and for '', of which it is told that reports were left out; a row that is some minutes
-- old is left as it is. Rows are locked in the order of the key.
-- enable_seqscan, enable_bitmapscan: it runs without a tenant's transaction, which sets it. What a session planned
-- while the tables were small stays until they have doubled, and a bitmap of a key's first columns reads a whole fleet for one row.
CREATE OR REPLACE FUNCTION load_note(p_tenants uuid[], p_fleets uuid[], p_clusters text[], p_called boolean[],
                                     p_node_tenants uuid[], p_node_fleets uuid[], p_nodes text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v_now timestamptz := clock_timestamp();
BEGIN
  INSERT INTO load_clusters AS c (tenant_id, fleet_id, cluster, reported_since, reported_at, called_at)
  SELECT f.tenant_id, f.id, u.cluster, v_now, v_now, CASE WHEN bool_or(u.called) THEN v_now END
    FROM unnest(p_tenants, p_fleets, p_clusters, p_called) AS u (tenant, fleet, cluster, called)
   CROSS JOIN LATERAL (SELECT x.tenant_id, x.id FROM fleets x JOIN tenants n ON n.id = x.tenant_id
                        WHERE x.tenant_id = u.tenant AND x.id = u.fleet AND x.deleted_at IS NULL AND n.deleted_at IS NULL OFFSET 0) f
   WHERE u.cluster = '' OR EXISTS (SELECT FROM resources x WHERE x.tenant_id = u.tenant AND x.fleet_id = u.fleet AND x.type = 'clusters' AND x.name = u.cluster AND NOT x.deleted OFFSET 0)
   GROUP BY 1, 2, 3
   ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, fleet_id, cluster) DO UPDATE
     SET reported_since = CASE WHEN c.reported_at < v_now - interval '30 minutes' THEN v_now ELSE c.reported_since END, reported_at = v_now,
         called_at = coalesce(excluded.called_at, c.called_at)
   WHERE c.reported_at < v_now - interval '4 minutes' OR excluded.called_at IS NOT NULL AND coalesce(c.called_at < v_now - interval '4 minutes', true);
  INSERT INTO load_nodes AS r (tenant_id, fleet_id, node_id, reported_since, reported_at)
  SELECT DISTINCT n.tenant_id, n.fleet_id, n.node_id, v_now, v_now
    FROM unnest(p_node_tenants, p_node_fleets, p_nodes) AS u (tenant, fleet, node)
   CROSS JOIN LATERAL (SELECT x.tenant_id, x.fleet_id, x.node_id FROM nodes x WHERE x.tenant_id = u.tenant AND x.fleet_id = u.fleet AND x.node_id = u.node OFFSET 0) n
   ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, fleet_id, node_id) DO UPDATE SET reported_at = v_now WHERE r.reported_at < v_now - interval '4 minutes';
END $$;

-- A door across tenants for the xDS servers: what fleets say of their proxies' load reports, of those whose epoch is another one than the server knows.
-- enable_seqscan: it runs without a tenant's transaction, which sets it. What a session planned while the tables were small
-- stays until they have doubled.
CREATE OR REPLACE FUNCTION load_settings(p_tenants uuid[], p_fleets uuid[], p_epochs bigint[])
RETURNS TABLE (o_tenant uuid, o_fleet uuid, o_epoch bigint, o_interval integer, o_clusters text[], o_endpoints boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
  SELECT f.tenant_id, f.id, h.epoch, f.load_report_interval, f.load_report_clusters, f.load_report_endpoints
    FROM unnest(p_tenants, p_fleets, p_epochs) AS u (tenant, fleet, epoch)
   CROSS JOIN LATERAL (SELECT x.epoch FROM fleet_heads x WHERE x.tenant_id = u.tenant AND x.fleet_id = u.fleet AND x.epoch <> u.epoch OFFSET 0) h
   CROSS JOIN LATERAL (SELECT x.* FROM fleets x WHERE x.tenant_id = u.tenant AND x.id = u.fleet AND x.deleted_at IS NULL OFFSET 0) f
$$;

-- Removes at most p_limit sums that are older than an hour, and as many clusters that nobody has reported for two hours, the oldest first, of all tenants; returns how
-- many. That reports were left out is known for eight days. It passes by what another process removes. The times are variables: an index does not find what is compared with a clock.
-- enable_seqscan, enable_bitmapscan: it runs without a tenant's transaction, which sets it. What a session planned
-- while the tables were small stays until they have doubled, and a bitmap of a key's first columns reads a whole fleet for one row.
CREATE OR REPLACE FUNCTION load_sweep(p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v_hour  timestamptz := clock_timestamp() - interval '61 minutes';
  v_hours timestamptz := clock_timestamp() - interval '2 hours';
  v_days  timestamptz := clock_timestamp() - interval '8 days';
  n       integer;
  m       integer;
BEGIN
  DELETE FROM load_minutes d WHERE d.ctid = ANY (ARRAY(
    SELECT x.ctid FROM load_minutes x WHERE x.minute < v_hour ORDER BY x.minute LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS n = ROW_COUNT;
  DELETE FROM load_clusters d WHERE d.ctid = ANY (ARRAY(
    SELECT x.ctid FROM load_clusters x WHERE x.reported_at < v_hours AND (x.cluster <> '' OR x.reported_at < v_days)
     ORDER BY x.reported_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS m = ROW_COUNT;
  RETURN n + m;
END $$;
