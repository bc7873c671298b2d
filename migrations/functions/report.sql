-- Keeps of what the servers report about a fleet the newest, within its limits: events, and refusals, of these first the
-- open ones. Of the words of clients what nothing names any more goes too. What is dropped is told, once an hour at most. One at a
-- time: who finds another at it leaves it to that one. A report that relied on a text that goes away at that moment gets a foreign
-- key violation and writes again. It reads all that is reported of the fleet, once: each statement keeps the planner from a join, for
-- which it would take any index that fits a little (see resources), and a row that changes meanwhile is passed by. It is the owner's,
-- because a server may add events and not remove them; it works in the transaction's tenant alone.
CREATE OR REPLACE FUNCTION fleet_trim_reports(p_fleet uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  t          uuid := app_tenant();
  v_events   bigint := tenant_limit('event_bytes'); -- first what may be, then what went
  v_refusals bigint := tenant_limit('refusal_bytes');
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('fleet_trim_reports ' || p_fleet, 0)) THEN
    RETURN 0;
  END IF;
  DELETE FROM node_events d WHERE d.ctid = ANY (ARRAY(
    SELECT l.ctid FROM (
      SELECT e.ctid, sum(event_bytes(e, x.text)) OVER (ORDER BY e.at DESC, e.id DESC) AS upto
        FROM node_events e
        LEFT JOIN LATERAL (SELECT n.text FROM nack_texts n WHERE n.tenant_id = t AND n.fleet_id = p_fleet AND n.hash = e.text_hash OFFSET 0) x ON true
       WHERE e.tenant_id = t AND e.fleet_id = p_fleet) l WHERE l.upto > v_events));
  GET DIAGNOSTICS v_events = ROW_COUNT;
  DELETE FROM refusals d WHERE d.ctid = ANY (ARRAY(
    SELECT l.ctid FROM (
      SELECT e.ctid, sum(refusal_bytes(e, x.text)) OVER (ORDER BY e.resolved_at IS NULL DESC, e.at DESC, e.ctid) AS upto
        FROM refusals e
        LEFT JOIN LATERAL (SELECT n.text FROM nack_texts n WHERE n.tenant_id = t AND n.fleet_id = p_fleet AND n.hash = e.text_hash OFFSET 0) x ON true
       WHERE e.tenant_id = t AND e.fleet_id = p_fleet) l WHERE l.upto > v_refusals));
  GET DIAGNOSTICS v_refusals = ROW_COUNT;
  DELETE FROM nack_texts x
   WHERE x.tenant_id = t AND x.fleet_id = p_fleet AND x.hash NOT IN (
         SELECT e.text_hash FROM refusals e WHERE e.tenant_id = t AND e.fleet_id = p_fleet
          UNION ALL
         SELECT e.text_hash FROM node_events e WHERE e.tenant_id = t AND e.fleet_id = p_fleet AND e.text_hash IS NOT NULL);
  IF v_events + v_refusals > 0 THEN
    INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, note)
    VALUES (t, p_fleet, node_event_id(ARRAY['dropped', p_fleet::text, date_trunc('hour', clock_timestamp(), 'UTC')::text]), clock_timestamp(), 'dropped', '',
            'the fleet is at its limit: the ' || concat_ws(' and the ', CASE WHEN v_events > 0 THEN v_events || ' oldest events' END,
                                                                       CASE WHEN v_refusals > 0 THEN v_refusals || ' oldest refusals' END) || ' were dropped')
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN v_events + v_refusals;
END $$;

-- What a row counts: its texts, and as much as the rest of it and its entries in the indexes come to. Stable, as what they call: only so
-- they become part of the statement, which asks for 100,000 rows.
CREATE OR REPLACE FUNCTION event_bytes(e node_events, p_text text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT 256 + octet_length(e.node_id) * 2 + octet_length(e.name) + octet_length(e.note) + coalesce(octet_length(p_text), 0)::bigint $$;

CREATE OR REPLACE FUNCTION refusal_bytes(e refusals, p_text text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT 512 + octet_length(e.node_id) + octet_length(e.name) * 2 + coalesce(pg_column_size(e.good_derived), 0)
             + coalesce(octet_length(p_text), 0)::bigint $$;
