CREATE OR REPLACE FUNCTION node_event_id(p_what text[]) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT left(encode(sha256(convert_to(to_jsonb(p_what)::text, 'UTF8')), 'hex'), 32)::uuid $$;

-- What happened to refusals: those that are new, or stand again; those of which something else was done; those that have ended. It is
-- the same refusal while its time is. A statement tells of all its rows at once.
CREATE OR REPLACE FUNCTION refusals_tell(p_fresh refusals[], p_other refusals[], p_ended refusals[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, type, name, version, revision, text_hash, action, beside)
  SELECT e.tenant_id, e.fleet_id, node_event_id(ARRAY[e.node_id, e.type, e.name, e.version, e.revision::text, extract(epoch FROM e.at)::text] || v.what),
         v.at, v.kind, e.node_id, e.type, e.name, e.version, v.revision, v.text_hash, v.action, v.beside
    FROM (SELECT f.*, 'fresh' AS told FROM unnest(p_fresh) f
           UNION ALL
          SELECT o.*, 'other' FROM unnest(p_other) o
           UNION ALL
          SELECT x.*, 'ended' FROM unnest(p_ended) x) e
   CROSS JOIN LATERAL (
         SELECT e.good <> '' OR e.action IN ('removed', 'frozen') AS kept,
                CASE WHEN e.told = 'fresh' THEN least(e.at, clock_timestamp()) ELSE clock_timestamp() END AS at) k
   CROSS JOIN LATERAL (
         SELECT ARRAY['refused'] AS what, 'refused' AS kind, k.at, e.revision, e.text_hash,
                CASE WHEN k.kept THEN 'none' ELSE e.action END AS action, e.beside AND NOT k.kept AS beside WHERE e.told = 'fresh'
          UNION ALL
         SELECT ARRAY['kept_back', e.action::text, e.beside::text, e.good], 'kept_back', k.at + interval '1 microsecond', e.revision, NULL, e.action, e.beside WHERE k.kept AND e.told <> 'ended'
          UNION ALL
         SELECT ARRAY['recovered'], CASE WHEN e.ending = 'offered' THEN 'offered' ELSE 'recovered' END, e.resolved_at,
                CASE e.ending WHEN 'offered' THEN e.revision WHEN 'taken' THEN 0 ELSE e.resolved_by END, NULL, 'none', false WHERE e.told = 'ended') v
  ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION refusals_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refusals_tell(array_agg(ROW(n.*)::refusals), NULL, NULL) FROM written n WHERE n.resolved_at IS NULL;
  RETURN NULL;
END $$;

-- A statement's rows are some hundred, of which the planner knows nothing: they are not compared each with each.
CREATE OR REPLACE FUNCTION refusals_changed() RETURNS trigger LANGUAGE plpgsql SET enable_nestloop = off AS $$
BEGIN
  PERFORM refusals_tell(array_agg(ROW(n.*)::refusals) FILTER (WHERE n.resolved_at IS NULL AND o.resolved_at IS NOT NULL),
                        array_agg(ROW(n.*)::refusals) FILTER (WHERE n.resolved_at IS NULL AND o.resolved_at IS NULL AND (o.good, o.action, o.beside) <> (n.good, n.action, n.beside)),
                        array_agg(ROW(n.*)::refusals) FILTER (WHERE n.resolved_at IS NOT NULL AND o.resolved_at IS NULL))
     FROM written n JOIN past o USING (tenant_id, fleet_id, node_id, type, name, version, revision);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION node_status_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, note)
  VALUES (NEW.tenant_id, NEW.fleet_id, clock_timestamp(), 'duplicates', NEW.node_id, NEW.duplicates || ' clients have this node id');
  RETURN NULL;
END $$;

-- The place of a transaction that begins now: its number behind that of the timeline, as in the default of node_events.xact.
CREATE OR REPLACE FUNCTION events_end() RETURNS xid8 LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
  AS $$ SELECT ((('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint << 40) + pg_snapshot_xmax(pg_current_snapshot())::text::bigint)::text::xid8 $$;

-- The place below which all transactions of this database have ended: no event of one below it is written or becomes visible later than this call. Other
-- databases of the server do not count, as they do in pg_snapshot_xmin, where somebody's long import would hold every event up.
CREATE OR REPLACE FUNCTION events_bound() RETURNS xid8 LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  n bigint := events_end()::text::bigint; -- before the look at who is under way
BEGIN
  RETURN (n - coalesce((SELECT max(b.behind) FROM (SELECT mod(mod(n - a.backend_xid::text::bigint, 4294967296) + 4294967296, 4294967296) AS behind
                                                     FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_xid IS NOT NULL) b
                         WHERE b.behind < 2147483648), 0))::text::xid8; -- what is further away began after n was read
END $$;

-- A door across tenants: which of these fleets have events of ended transactions from p_after on, and which are gone. It tells of each no
-- more than that, in two look-ups by key, so that one question is enough for all who listen.
-- enable_seqscan, enable_bitmapscan: it runs without a tenant's transaction, which sets it. What a session planned
-- while the tables were small stays until they have doubled, and a bitmap of a key's first columns reads a whole fleet for one row.
CREATE OR REPLACE FUNCTION events_moved(p_tenants uuid[], p_fleets uuid[], p_after xid8[]) RETURNS TABLE (o_place bigint, o_gone boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  v_bound xid8 := events_bound(); -- before the statement that reads
BEGIN
  RETURN QUERY
    SELECT u.place - 1, f.id IS NULL
      FROM unnest(p_tenants, p_fleets, p_after) WITH ORDINALITY AS u (tenant, fleet, after, place)
      LEFT JOIN LATERAL (SELECT f.id FROM fleets f JOIN tenants n ON n.id = f.tenant_id
                          WHERE f.tenant_id = u.tenant AND f.id = u.fleet AND f.deleted_at IS NULL AND n.deleted_at IS NULL LIMIT 1) f ON true
      LEFT JOIN LATERAL (SELECT true AS news FROM node_events e
                          WHERE e.tenant_id = u.tenant AND e.fleet_id = u.fleet AND e.xact >= u.after AND e.xact < v_bound LIMIT 1) e ON true
     WHERE f.id IS NULL OR e.news;
END $$;

-- A door across tenants for the xDS servers: clients that were not let in, or not given what they asked for, a row for each of a kind. An older
-- server gives no notes. The same again raises its number and
-- its time, and makes it new to who reads on from a place. Of a fleet the newest hundred stay. Rows are locked in the order of the
-- key, and those that another server has at hand are passed by when the oldest go.
-- enable_seqscan, enable_bitmapscan: it runs without a tenant's transaction, which sets it. What a session planned
-- while the tables were small stays until they have doubled, and a bitmap of a key's first columns reads a whole fleet for one row.
CREATE OR REPLACE FUNCTION tell_denied(p_tenants uuid[], p_fleets uuid[], p_reasons text[], p_credentials uuid[], p_nodes text[], p_addresses text[], p_attempts bigint[],
                                       p_since timestamptz[], p_upto timestamptz[], p_notes text[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  INSERT INTO node_events AS e (tenant_id, fleet_id, id, at, kind, node_id, reason, address, credential_id, attempts, first_at, note)
  SELECT f.tenant_id, f.id, node_event_id(ARRAY['denied', u.reason, u.node, u.address, coalesce(u.credential::text, '')] || array_remove(ARRAY[u.note], '')), least(u.upto, clock_timestamp()), 'denied', u.node,
         u.reason::denied_reason, u.address, u.credential, u.attempts, least(u.since, u.upto, clock_timestamp()), u.note
    FROM (SELECT n.*, coalesce(n.given, '') AS note
            FROM unnest(p_tenants, p_fleets, p_reasons, p_credentials, p_nodes, p_addresses, p_attempts, p_since, p_upto, p_notes)
                 AS n (tenant, fleet, reason, credential, node, address, attempts, since, upto, given)) u
   CROSS JOIN LATERAL (SELECT x.tenant_id, x.id FROM fleets x JOIN tenants n ON n.id = x.tenant_id
                        WHERE x.tenant_id = u.tenant AND x.id = u.fleet AND x.deleted_at IS NULL AND n.deleted_at IS NULL OFFSET 0) f
   ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, fleet_id, id) DO UPDATE
     SET at = greatest(e.at, excluded.at), attempts = e.attempts + excluded.attempts, first_at = least(e.first_at, excluded.first_at), xact = excluded.xact;
  DELETE FROM node_events d WHERE d.ctid = ANY (ARRAY(
    SELECT o.ctid FROM (SELECT DISTINCT u.tenant, u.fleet FROM unnest(p_tenants, p_fleets) AS u (tenant, fleet)) f
     CROSS JOIN LATERAL (SELECT e.ctid FROM node_events e WHERE e.tenant_id = f.tenant AND e.fleet_id = f.fleet AND e.kind = 'denied'
                          ORDER BY e.at DESC, e.id DESC OFFSET 100 FOR UPDATE SKIP LOCKED) o));
END $$;
