-- A door across tenants: what tells whether a fleet has changed, as texts that are other than before where it has. One question for
-- all fleets that somebody looks at, and of each a few look-ups by key: it does not grow with nodes, resources or events. The servers
-- of a fleet count, a row each, which every report writes. A fleet that is gone has no row. Events are those of ended transactions:
-- below the bound none comes later, so the newest one of them moves with each.
-- enable_seqscan: it runs without a tenant's transaction, which sets it, and events_bound too, which looks up databases.
CREATE OR REPLACE FUNCTION fleet_marks(p_tenants uuid[], p_fleets uuid[])
RETURNS TABLE (o_place bigint, o_revision text, o_settings text, o_nodes text, o_events text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
  v_bound xid8 := events_bound(); -- before the statement that reads
BEGIN
  RETURN QUERY
    SELECT u.place - 1, h.revision || ' ' || h.token, f.written || ' ' || h.node_ids || ' ' || h.epoch, coalesce(s.told, '') || ' ' || h.epoch, coalesce(e.xact::text, '')
      FROM unnest(p_tenants, p_fleets) WITH ORDINALITY AS u (tenant, fleet, place)
     CROSS JOIN LATERAL (SELECT x.xmin::text AS written FROM fleets x JOIN tenants n ON n.id = x.tenant_id
                          WHERE x.tenant_id = u.tenant AND x.id = u.fleet AND x.deleted_at IS NULL AND n.deleted_at IS NULL LIMIT 1) f
     CROSS JOIN LATERAL (SELECT x.revision, x.token, x.epoch, x.node_ids FROM fleet_heads x WHERE x.tenant_id = u.tenant AND x.fleet_id = u.fleet LIMIT 1) h
      LEFT JOIN LATERAL (SELECT string_agg(concat_ws(' ', v.server_id, v.settled, v.at, l.alive), ',' ORDER BY v.server_id) AS told
                           FROM server_settled v
                           LEFT JOIN LATERAL (SELECT x.lease_until > clock_timestamp() AS alive FROM xds_servers x WHERE x.server_id = v.server_id OFFSET 0) l ON true
                          WHERE v.tenant_id = u.tenant AND v.fleet_id = u.fleet) s ON true
      LEFT JOIN LATERAL (SELECT x.xact FROM node_events x WHERE x.tenant_id = u.tenant AND x.fleet_id = u.fleet AND x.xact < v_bound
                          ORDER BY x.xact DESC LIMIT 1) e ON true;
END $$;

-- A door across tenants: the marks of all fleets that are there of each of the tenants, or of the one fleet that stands beside it, with
-- their names. One question for all who follow all of their fleets. It grows with the fleets, by the look-ups of fleet_marks.
CREATE OR REPLACE FUNCTION tenant_marks(p_tenants uuid[], p_fleets uuid[])
RETURNS TABLE (o_place bigint, o_fleet uuid, o_name text, o_revision text, o_settings text, o_nodes text, o_events text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_places  bigint[];
  v_tenants uuid[];
  v_fleets  uuid[];
  v_names   text[];
BEGIN
  SELECT array_agg(u.place), array_agg(u.tenant), array_agg(f.id), array_agg(f.name) INTO v_places, v_tenants, v_fleets, v_names
    FROM unnest(p_tenants, p_fleets) WITH ORDINALITY AS u (tenant, fleet, place)
   CROSS JOIN LATERAL (SELECT x.id, x.name FROM fleets x WHERE x.tenant_id = u.tenant AND x.deleted_at IS NULL
                          AND x.id BETWEEN coalesce(u.fleet, '00000000-0000-0000-0000-000000000000') AND coalesce(u.fleet, 'ffffffff-ffff-ffff-ffff-ffffffffffff') OFFSET 0) f;
  RETURN QUERY
    SELECT v_places[m.o_place + 1] - 1, v_fleets[m.o_place + 1], v_names[m.o_place + 1], m.o_revision, m.o_settings, m.o_nodes, m.o_events
      FROM fleet_marks(v_tenants, v_fleets) m;
END $$;
