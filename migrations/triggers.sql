-- All triggers. To lay one anew its table is locked against writers, so this is only done when this file has changed, in
-- the order in which a write comes to the tables.

-- A tenant that is leaving, or is not here yet, or any more, is not written (place.sql). The second is of what doors write without a transaction's tenant: after the
-- row, as before it each update would lock it first. Its condition is app_tenant() IS NULL in functions of Postgres alone: a condition is planned for each
-- statement, and one of our functions in it is parsed for that.
DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY tables_of_writes() LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER a_tenant_is_here BEFORE INSERT OR UPDATE OR DELETE ON %I FOR EACH STATEMENT EXECUTE FUNCTION tenant_must_be_here()', t);
    EXECUTE format('CREATE OR REPLACE TRIGGER a_row_is_here AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW
      WHEN (coalesce(current_setting(''app.tenant_id'', true), '''') = '''') EXECUTE FUNCTION row_must_be_here()', t);
  END LOOP;
END $$;

-- What happened to nodes. What comes from another cell has its events with it.
CREATE OR REPLACE TRIGGER refusals_new AFTER INSERT ON refusals REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT WHEN (NOT is_arriving()) EXECUTE FUNCTION refusals_new();
CREATE OR REPLACE TRIGGER refusals_changed AFTER UPDATE ON refusals REFERENCING OLD TABLE AS past NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION refusals_changed();
CREATE OR REPLACE TRIGGER node_status_tell AFTER INSERT ON node_status FOR EACH ROW WHEN (NEW.duplicates > 1 AND NOT is_arriving()) EXECUTE FUNCTION node_status_tell();
CREATE OR REPLACE TRIGGER node_status_tell_change AFTER UPDATE ON node_status FOR EACH ROW
  WHEN (NEW.duplicates > 1 AND NEW.duplicates <> OLD.duplicates) EXECUTE FUNCTION node_status_tell();

-- Who serves a node.
CREATE OR REPLACE TRIGGER node_status_served AFTER INSERT ON node_status REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT WHEN (NOT is_arriving()) EXECUTE FUNCTION node_status_served();
CREATE OR REPLACE TRIGGER node_status_served_change AFTER UPDATE ON node_status REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION node_status_served();

-- What ended stays ended.
CREATE OR REPLACE TRIGGER deleted_stays BEFORE UPDATE OF deleted_at ON fleet_heads FOR EACH ROW
  WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS DISTINCT FROM OLD.deleted_at) EXECUTE FUNCTION deleted_stays_deleted();
CREATE OR REPLACE TRIGGER revoked_stays BEFORE UPDATE OF revoked_at ON api_tokens FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION ended_stays_ended();
CREATE OR REPLACE TRIGGER parent_stays BEFORE UPDATE OF parent_id ON api_tokens FOR EACH ROW
  WHEN (NEW.parent_id IS NOT NULL AND NEW.parent_id IS DISTINCT FROM OLD.parent_id) EXECUTE FUNCTION ended_stays_ended();
CREATE OR REPLACE TRIGGER revoked_stays BEFORE UPDATE OF revoked_at ON node_credentials FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION ended_stays_ended();
CREATE OR REPLACE TRIGGER revoked_stays BEFORE UPDATE OF revoked_at ON operator_tokens FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION ended_stays_ended();
CREATE OR REPLACE TRIGGER ended_stays BEFORE UPDATE OF ended_at ON sessions FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL AND NEW.ended_at IS DISTINCT FROM OLD.ended_at) EXECUTE FUNCTION ended_stays_ended();
CREATE OR REPLACE TRIGGER deleted_stays BEFORE UPDATE OF deleted_at ON fleets FOR EACH ROW
  WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS DISTINCT FROM OLD.deleted_at) EXECUTE FUNCTION deleted_stays_deleted();

-- Audit events stay.
CREATE OR REPLACE TRIGGER audit_events_stay BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION audit_events_stay();
CREATE OR REPLACE TRIGGER audit_events_stay_all BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION audit_events_stay();

-- Each has its link, made when its transaction ends, unless it comes with it from another cell. Constraint triggers cannot be replaced.
CREATE OR REPLACE TRIGGER audit_chain_stays BEFORE UPDATE OR DELETE ON audit_chain FOR EACH ROW EXECUTE FUNCTION audit_chain_stays();
CREATE OR REPLACE TRIGGER audit_chain_stays_all BEFORE TRUNCATE ON audit_chain FOR EACH STATEMENT EXECUTE FUNCTION audit_chain_stays();
DROP TRIGGER IF EXISTS audit_events_chain ON audit_events;
CREATE CONSTRAINT TRIGGER audit_events_chain AFTER INSERT ON audit_events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NOT is_arriving()) EXECUTE FUNCTION audit_events_chain();
