-- A door across tenants for the xDS servers: adds what proxies did to what is there. An age is how long ago the middle of the minute was, so that no
-- server's clock counts. Sums stay below 2^53, whatever was reported. Rows are locked in the order of the key: two servers wait for each other, and not in a circle.
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

-- Removes at most p_limit rows that are older than an hour, the oldest first, of all tenants; returns how many. It passes by what another process removes.
CREATE OR REPLACE FUNCTION load_sweep(p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  n integer;
BEGIN
  DELETE FROM load_minutes d WHERE d.ctid = ANY (ARRAY(
    SELECT x.ctid FROM load_minutes x WHERE x.minute < clock_timestamp() - interval '61 minutes' ORDER BY x.minute LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;
