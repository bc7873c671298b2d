-- For how long the tenant's audit events are kept.
CREATE OR REPLACE FUNCTION audit_age(p_tenant uuid) RETURNS interval LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN make_interval(days => coalesce((SELECT l.most FROM tenant_limits l WHERE l.tenant_id = p_tenant AND l.name = 'audit_days'), limit_default('audit_days'))::integer);
END $$;

-- Whether the tenant was deleted so long ago that all of it goes, or another cell has it.
CREATE OR REPLACE FUNCTION audit_goes(p_tenant uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM tenants t WHERE t.id = p_tenant AND (t.deleted_at < clock_timestamp() - interval '30 days' OR t.place IN ('arriving', 'gone')));
END $$;

-- Audit events are never changed. They go with their tenant, or when they are older than the tenant keeps them: then from the old end of the chain, up
-- to its anchor.
CREATE OR REPLACE FUNCTION audit_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF audit_goes(OLD.tenant_id) OR OLD.at < clock_timestamp() - audit_age(OLD.tenant_id) AND NOT EXISTS (
         SELECT FROM audit_chain c WHERE c.tenant_id = OLD.tenant_id AND c.event_id = OLD.id
            AND c.seq > coalesce((SELECT a.seq FROM audit_anchors a WHERE a.tenant_id = OLD.tenant_id), 0) OFFSET 0) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'audit events are never changed, and not removed before their time' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE OR REPLACE FUNCTION audit_chain_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF audit_goes(OLD.tenant_id) OR OLD.seq <= (SELECT a.seq FROM audit_anchors a WHERE a.tenant_id = OLD.tenant_id) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the chain of the audit is never changed, and not removed before its time' USING ERRCODE = 'insufficient_privilege';
END $$;

-- What is hashed of an event: a fixed number of texts, each as its length in bytes, ':', itself and ','; null is '-,'. internal/audit makes the same: neither is
-- ever changed, but gets another first text. In plpgsql, and of functions of Postgres alone: every event pays for it.
CREATE OR REPLACE FUNCTION audit_canonical(e audit_events, p_seq bigint) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  v text[] := ARRAY[e.tenant_id::text, p_seq::text, e.id::text, (extract(epoch FROM e.at) * 1000000)::bigint::text, e.credential::text, e.actor, e.ip, e.request_id,
                    e.action, e.object, e.fleet_id::text, e.old_revision::text, e.new_revision::text, e.detail::text];
  x text;
  o text := '22:fairlead audit event 1,';
BEGIN
  FOREACH x IN ARRAY v LOOP
    o := o || coalesce(octet_length(x) || ':' || x, '-') || ',';
  END LOOP;
  RETURN convert_to(o, 'UTF8');
END $$;

-- What an event counts: its texts, and as much as the rest of it, its link and their entries in the indexes come to.
CREATE OR REPLACE FUNCTION audit_event_bytes(e audit_events) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT 512 + octet_length(e.actor) + octet_length(e.ip) + octet_length(e.request_id) + octet_length(e.action) + octet_length(e.object)
             + coalesce(octet_length(e.detail::text), 0)::bigint $$;

-- Adds an event to its tenant's chain, when its transaction ends (a deferred trigger): whoever inserts one, and whatever else the transaction locks, the head's
-- lock is the last, so that nothing that has it waits for a lock. What was there before the first one is counted, and is in no chain.
-- Of a transaction's second event on the head is found by its place: by its key all versions that the transaction has made would be read, each time.
-- enable_seqscan: an operator's event comes without a tenant's transaction, which sets it.
CREATE OR REPLACE FUNCTION audit_events_chain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
  v_place tid := nullif(current_setting('fairlead.audit_head', true), '')::tid;
  v_seq   bigint;
  v_hash  bytea;
  v_bytes bigint := audit_event_bytes(NEW);
BEGIN
  IF v_place IS NOT NULL THEN
    UPDATE audit_heads h SET seq = h.seq + 1, bytes = h.bytes + v_bytes, hash = sha256(h.hash || audit_canonical(NEW, h.seq + 1))
     WHERE h.ctid = v_place AND h.tenant_id IS NOT DISTINCT FROM NEW.tenant_id RETURNING h.seq, h.hash, h.ctid INTO v_seq, v_hash, v_place;
  END IF;
  IF v_seq IS NULL THEN
    UPDATE audit_heads h SET seq = h.seq + 1, bytes = h.bytes + v_bytes, hash = sha256(h.hash || audit_canonical(NEW, h.seq + 1)) WHERE h.tenant_id = NEW.tenant_id
    RETURNING h.seq, h.hash, h.ctid INTO v_seq, v_hash, v_place;
  END IF;
  IF v_seq IS NULL THEN
    INSERT INTO audit_heads (tenant_id) VALUES (NEW.tenant_id) ON CONFLICT DO NOTHING;
    IF FOUND THEN
      UPDATE audit_heads h SET (unchained, bytes) = (SELECT count(*), coalesce(sum(audit_event_bytes(e)), 0) FROM audit_events e
                                                      WHERE e.tenant_id = NEW.tenant_id AND e.xmin::text <> pg_current_xact_id()::xid::text)
       WHERE h.tenant_id = NEW.tenant_id;
    END IF;
    UPDATE audit_heads h SET seq = h.seq + 1, bytes = h.bytes + v_bytes, hash = sha256(h.hash || audit_canonical(NEW, h.seq + 1)) WHERE h.tenant_id = NEW.tenant_id
    RETURNING h.seq, h.hash, h.ctid INTO v_seq, v_hash, v_place;
  END IF;
  PERFORM set_config('fairlead.audit_head', v_place::text, true);
  INSERT INTO audit_chain (tenant_id, seq, event_id, hash) VALUES (NEW.tenant_id, v_seq, NEW.id, v_hash);
  RETURN NULL;
END $$;

-- One step of forgetting the tenant's audit events that are too old: true when there are no more. Of the chain the oldest links go with their events,
-- up to the first event that stays, and the anchor says so; of events that are in no chain, those that are too old. A door, because
-- the application's role may delete none; it works in the transaction's tenant alone, and the triggers look at each row again.
-- enable_bitmapscan, enable_sort: it walks an index and stops early, instead of collecting and sorting all that fits.
CREATE OR REPLACE FUNCTION sweep_audit(p_limit integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  t       uuid := app_tenant();
  v_floor timestamptz := clock_timestamp() - audit_age(app_tenant());
  a       audit_anchors%ROWTYPE; -- the new one
  v_from  bigint;
  n       integer;
  m       integer;
  v_gone  bigint := 0;
  v_more  bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('audit of ' || t, 0)); -- one at a time
  v_from := coalesce((SELECT x.seq FROM audit_anchors x WHERE x.tenant_id = t), 0);
  SELECT t, x.seq, x.hash, x.at, clock_timestamp() INTO a
    FROM (SELECT c.seq, c.hash, e.at, bool_and(coalesce(e.at < v_floor, true)) OVER (ORDER BY c.seq) AS goes
            FROM (SELECT l.* FROM audit_chain l WHERE l.tenant_id = t AND l.seq > v_from ORDER BY l.seq LIMIT p_limit) c
            LEFT JOIN LATERAL (SELECT v.at FROM audit_events v WHERE v.tenant_id = t AND v.id = c.event_id OFFSET 0) e ON true) x
   WHERE x.goes AND x.at IS NOT NULL ORDER BY x.seq DESC LIMIT 1; -- a link whose event is gone stays until a later one goes
  n := coalesce(a.seq - v_from, 0);
  IF n > 0 THEN
    INSERT INTO audit_anchors AS o SELECT a.* ON CONFLICT (tenant_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, event_at = excluded.event_at, at = excluded.at;
    WITH gone AS (
      DELETE FROM audit_events d WHERE d.ctid = ANY (ARRAY(
        SELECT e.ctid FROM audit_chain c CROSS JOIN LATERAL (SELECT v.ctid FROM audit_events v WHERE v.tenant_id = t AND v.id = c.event_id OFFSET 0) e
         WHERE c.tenant_id = t AND c.seq <= a.seq)) RETURNING audit_event_bytes(d) AS bytes)
    SELECT coalesce(sum(g.bytes), 0) INTO v_gone FROM gone g;
    DELETE FROM audit_chain d WHERE d.ctid = ANY (ARRAY(SELECT c.ctid FROM audit_chain c WHERE c.tenant_id = t AND c.seq <= a.seq));
    DELETE FROM audit_signatures d WHERE d.ctid = ANY (ARRAY(SELECT s.ctid FROM audit_signatures s WHERE s.tenant_id = t AND s.seq <= a.seq AND s.at < v_floor));
  END IF;
  WITH gone AS (
    DELETE FROM audit_events d WHERE d.ctid = ANY (ARRAY(
      SELECT e.ctid FROM (SELECT v.ctid, v.id FROM audit_events v WHERE v.tenant_id = t AND v.at < v_floor ORDER BY v.at, v.id LIMIT p_limit) e
       WHERE NOT EXISTS (SELECT FROM audit_chain c WHERE c.tenant_id = t AND c.event_id = e.id OFFSET 0))) RETURNING audit_event_bytes(d) AS bytes)
  SELECT count(*), coalesce(sum(g.bytes), 0) INTO m, v_more FROM gone g;
  IF v_gone + v_more > 0 THEN -- the head's lock is the last
    UPDATE audit_heads h SET bytes = greatest(h.bytes - v_gone - v_more, 0) WHERE h.tenant_id = t;
  END IF;
  RETURN n < p_limit AND m < p_limit;
END $$;
