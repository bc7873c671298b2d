-- Audit events are never changed. They go with their tenant and never before.
CREATE OR REPLACE FUNCTION audit_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM tenants t WHERE t.id = OLD.tenant_id AND t.deleted_at < clock_timestamp() - interval '30 days') THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'audit events are never changed or removed' USING ERRCODE = 'insufficient_privilege';
END $$;
