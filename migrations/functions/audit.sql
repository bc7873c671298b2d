-- For how long the tenant's audit events are kept.
CREATE OR REPLACE FUNCTION audit_age(p_tenant uuid) RETURNS interval LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN make_interval(days => coalesce((SELECT l.most FROM tenant_limits l WHERE l.tenant_id = p_tenant AND l.name = 'audit_days'), limit_default('audit_days'))::integer);
END $$;

-- Audit events are never changed. They go when they are older than the tenant keeps them, or with their tenant, and never before.
CREATE OR REPLACE FUNCTION audit_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.at < clock_timestamp() - audit_age(OLD.tenant_id)
       OR EXISTS (SELECT FROM tenants t WHERE t.id = OLD.tenant_id AND t.deleted_at < clock_timestamp() - interval '30 days') THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'audit events are never changed, and not removed before their time' USING ERRCODE = 'insufficient_privilege';
END $$;

-- One step of forgetting the tenant's audit events that are too old, the oldest first: true when there are no more. A door, because
-- the application's role may delete none; it works in the transaction's tenant alone, and the trigger looks at each row again.
CREATE OR REPLACE FUNCTION sweep_audit(p_limit integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  v_floor timestamptz := clock_timestamp() - audit_age(app_tenant());
  n       integer;
BEGIN
  DELETE FROM audit_events d WHERE d.ctid = ANY (ARRAY(
    SELECT e.ctid FROM audit_events e WHERE e.tenant_id = app_tenant() AND e.at < v_floor ORDER BY e.at, e.id LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n < p_limit;
END $$;
