-- In whose name a node's last state stands when the server that told of it is dead for a day.
CREATE OR REPLACE FUNCTION no_server() RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid $$;

-- When a server's lease ends or has ended; '-infinity' of one that nobody knows.
CREATE OR REPLACE FUNCTION server_lease(p_server uuid) RETURNS timestamptz LANGUAGE sql STABLE
  AS $$ SELECT coalesce((SELECT x.lease_until FROM xds_servers x WHERE x.server_id = p_server), '-infinity') $$;

-- Names the postmaster that answers, and its database. It is another one after a failover, a restart or a restore: commits that were
-- acknowledged before may be lost by then, as those of asynchronous standbys.
CREATE OR REPLACE FUNCTION database_instance() RETURNS text LANGUAGE sql STABLE
  AS $$ SELECT extract(epoch FROM pg_postmaster_start_time()) || ' ' || (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) $$;

-- Renews a server's lease or, where it has ended, takes another one; returns its term. It has ended with the Postgres that it was taken on,
-- too: what the server reported there may be lost, and it tells all again in another term. No two terms of a server are equal, also
-- where its row had been deleted. p_load is what the server says of itself; null of one that does not.
CREATE OR REPLACE FUNCTION server_take_lease(p_server uuid, p_name text, p_ttl double precision, p_load jsonb DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_term bigint;
BEGIN
  UPDATE xds_servers x SET name = p_name, lease_until = clock_timestamp() + make_interval(secs => p_ttl), swept = false, seen_at = clock_timestamp(),
         version = coalesce(p_load->>'version', ''), streams = (p_load->>'streams')::integer, fleets = (p_load->>'fleets')::integer, behind = (p_load->>'behind')::double precision,
         seal_key = coalesce(p_load->>'seal_key', '')
   WHERE x.server_id = p_server AND x.lease_until > clock_timestamp() AND x.instance = database_instance() RETURNING x.term INTO v_term;
  IF NOT FOUND THEN
    v_term := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    INSERT INTO xds_servers AS x (server_id, name, lease_until, term, instance, version, streams, fleets, behind, seal_key)
    VALUES (p_server, p_name, clock_timestamp() + make_interval(secs => p_ttl), v_term, database_instance(),
            coalesce(p_load->>'version', ''), (p_load->>'streams')::integer, (p_load->>'fleets')::integer, (p_load->>'behind')::double precision,
            coalesce(p_load->>'seal_key', ''))
    ON CONFLICT (server_id) DO UPDATE SET name = excluded.name, lease_until = excluded.lease_until, swept = false, term = greatest(x.term + 1, excluded.term), instance = excluded.instance,
      seen_at = excluded.seen_at, version = excluded.version, streams = excluded.streams, fleets = excluded.fleets, behind = excluded.behind,
      seal_key = excluded.seal_key
    RETURNING x.term INTO v_term;
  END IF;
  -- The clock has gone back since these were seen: who died under such a lease would count as alive until the clock comes to its end.
  UPDATE xds_servers x SET lease_until = clock_timestamp() + (x.lease_until - x.seen_at), seen_at = clock_timestamp()
   WHERE x.server_id IN (SELECT o.server_id FROM xds_servers o WHERE o.seen_at > clock_timestamp() AND o.server_id <> p_server FOR NO KEY UPDATE SKIP LOCKED);
  RETURN v_term;
END $$;

-- Refuses a report of an earlier term than the server's present one, of one that was taken on another Postgres, or of a server that is
-- forgotten. Until the report's end neither another term begins nor is the server forgotten.
CREATE OR REPLACE FUNCTION server_must_hold(p_server uuid, p_term bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM xds_servers x WHERE x.server_id = p_server AND x.term = p_term AND x.instance = database_instance() FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the lease that the report was made under has ended' USING ERRCODE = 'FL408';
  END IF;
END $$;

-- Refuses a report of a server that knows the fleet at a place which its history does not have: a database that was restored, or has failed over, has lost
-- the revision, and another one gets its number. Until the server has seen that, nodes would seem to have confirmed the other one. Revisions of which
-- nothing is kept any more are let pass: whoever is that far behind says nothing of later ones.
CREATE OR REPLACE FUNCTION fleet_must_have(p_fleet uuid, p_revision bigint, p_token uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM fleet_heads h WHERE h.tenant_id = app_tenant() AND h.fleet_id = p_fleet
     AND (h.revision < p_revision
          OR h.revision = p_revision AND h.token <> p_token
          OR EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.revision = p_revision AND x.token <> p_token));
  IF FOUND THEN
    RAISE EXCEPTION 'the fleet''s history does not have the revision that the report was made at' USING ERRCODE = 'FL411';
  END IF;
END $$;

-- Looks through p_limit nodes of which a server that is dead for a minute has a row, those after the given one. A row goes
-- when the node has a newer one: where it lives, or where it ended later. After a day all go; of a node that was
-- nowhere since the row stays under no_server(), with all that a receipt and a returning client need. Who serves
-- the nodes is put right. Returns the last of them, and how many were passed by because a report holds them; no row when there is none
-- left, and then the server is forgotten, or while it has rows marked (p_whole: none was passed by). It waits for no
-- lock, and locks no more than that many nodes.
-- enable_seqscan: it runs without a tenant's transaction, which sets it. What a session planned while the tables were small
-- stays until they have doubled.
CREATE OR REPLACE FUNCTION sweep_server(p_server uuid, p_tenant uuid, p_fleet uuid, p_node text, p_whole boolean, p_limit integer)
RETURNS TABLE (o_tenant uuid, o_fleet uuid, o_node text, o_passed integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
  v_ended   timestamptz;
  v_day     boolean;
  v_tenants uuid[];
  v_fleets  uuid[];
  v_nodes   text[];
  n         integer;
  d         record;
BEGIN
  SELECT x.lease_until, x.lease_until < clock_timestamp() - interval '1 day' INTO v_ended, v_day
    FROM xds_servers x WHERE x.server_id = p_server AND x.lease_until < clock_timestamp() - interval '1 minute';
  IF NOT FOUND THEN
    RETURN; -- it lives again, or another process was faster
  END IF;
  SELECT array_agg(p.tenant_id), array_agg(p.fleet_id), array_agg(p.node_id), count(*) INTO v_tenants, v_fleets, v_nodes, n
    FROM (SELECT s.tenant_id, s.fleet_id, s.node_id FROM node_status s
           WHERE s.server_id = p_server AND (s.tenant_id, s.fleet_id, s.node_id) > (p_tenant, p_fleet, p_node)
           ORDER BY s.tenant_id, s.fleet_id, s.node_id LIMIT p_limit) p;
  IF n = 0 THEN
    PERFORM FROM xds_servers x WHERE x.server_id = p_server AND x.lease_until = v_ended FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN; -- a report of it is under way
    END IF;
    -- Another statement, so that it sees what that has said.
    DELETE FROM xds_servers x WHERE x.server_id = p_server AND NOT EXISTS (SELECT FROM node_status s WHERE s.server_id = p_server);
    UPDATE xds_servers x SET swept = true WHERE x.server_id = p_server AND x.lease_until = v_ended AND p_whole AND NOT v_day;
    RETURN;
  END IF;
  o_tenant := v_tenants[n];
  o_fleet := v_fleets[n];
  o_node := v_nodes[n];
  SELECT array_agg(l.tenant_id), array_agg(l.fleet_id), array_agg(l.node_id), n - count(*) INTO v_tenants, v_fleets, v_nodes, o_passed
    FROM unnest(v_tenants, v_fleets, v_nodes) u (tenant, fleet, node) CROSS JOIN LATERAL (
           SELECT k.tenant_id, k.fleet_id, k.node_id FROM nodes k WHERE k.tenant_id = u.tenant AND k.fleet_id = u.fleet AND k.node_id = u.node
              FOR NO KEY UPDATE SKIP LOCKED) l;
  -- Another statement, so that it sees what those have said that held the locks before. A server that lives again by now may be
  -- one of them; one that does so later has to wait for the locks before it tells of these nodes. What it finds is written one by
  -- one, by key: joined with what was found, each node of the fleet would be compared with each.
  FOR d IN
    SELECT s.*, CASE WHEN s.connected THEN v_ended ELSE s.since END AS ended, CASE o.lives WHEN 1 THEN o.server END AS server,
           CASE o.lives WHEN 1 THEN o.settled END AS own, CASE o.lives WHEN 1 THEN o.withheld END AS withheld, o.newer
      FROM unnest(v_tenants, v_fleets, v_nodes) u (tenant, fleet, node)
     CROSS JOIN LATERAL (
           SELECT * FROM node_status y WHERE y.tenant_id = u.tenant AND y.fleet_id = u.fleet AND y.node_id = u.node AND y.server_id = p_server OFFSET 0) s
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE r.live) AS lives, (array_agg(r.server_id) FILTER (WHERE r.live))[1] AS server,
                  max(r.settled) FILTER (WHERE r.live) AS settled, (array_agg(withheld_of(r.waits)) FILTER (WHERE r.live))[1] AS withheld,
                  coalesce(bool_or(r.live OR (r.ended, r.server_id) > (CASE WHEN s.connected THEN v_ended ELSE s.since END, p_server)), false) AS newer
             FROM (SELECT x.server_id, x.settled, x.waits, x.connected AND x.lease > clock_timestamp() AS live,
                          CASE WHEN x.connected AND x.lease > '-infinity' THEN x.lease ELSE x.since END AS ended
                     FROM (SELECT y.*, server_lease(y.server_id) AS lease FROM node_status y
                            WHERE y.tenant_id = u.tenant AND y.fleet_id = u.fleet AND y.node_id = u.node AND y.server_id <> p_server OFFSET 0) x) r) o
     WHERE EXISTS (SELECT FROM xds_servers l WHERE l.server_id = p_server AND l.lease_until = v_ended)
  LOOP
    IF v_day OR d.newer THEN
      DELETE FROM node_status s WHERE s.tenant_id = d.tenant_id AND s.fleet_id = d.fleet_id AND s.node_id = d.node_id AND s.server_id = p_server;
    END IF;
    IF v_day AND NOT d.newer THEN
      INSERT INTO node_status AS k (tenant_id, fleet_id, node_id, server_id, connected, settled, since, protocol, remote_addr, credential_id, clean, view, waits)
      VALUES (d.tenant_id, d.fleet_id, d.node_id, no_server(), false,
              coalesce(d.settled, (SELECT v.settled FROM server_settled v WHERE v.tenant_id = d.tenant_id AND v.fleet_id = d.fleet_id AND v.server_id = p_server), 0),
              d.ended, d.protocol, d.remote_addr, d.credential_id, d.clean AND NOT d.connected, d.view, d.waits)
      ON CONFLICT (tenant_id, fleet_id, node_id, server_id) DO UPDATE SET settled = excluded.settled, since = excluded.since, protocol = excluded.protocol,
        remote_addr = excluded.remote_addr, credential_id = excluded.credential_id, clean = excluded.clean, view = excluded.view, waits = excluded.waits;
    END IF;
    UPDATE nodes k SET served_by = d.server, settled = d.own, withheld = d.withheld, last_seen = greatest(k.last_seen, CASE WHEN d.connected THEN d.ended END)
     WHERE k.tenant_id = d.tenant_id AND k.fleet_id = d.fleet_id AND k.node_id = d.node_id
       AND ((k.served_by, k.settled, k.withheld) IS DISTINCT FROM (d.server, d.own, d.withheld) OR d.connected AND k.last_seen < d.ended);
  END LOOP;
  RETURN NEXT;
END $$;
