-- Who may call what. It is laid after the functions, anew each time: a right that is taken out here is gone.
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole LOOP
    EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC, fairlead_app, fairlead_node', f);
  END LOOP;
END $$;

-- What runs as its caller, under row-level security.
GRANT EXECUTE ON FUNCTION app_tenant TO fairlead_app, fairlead_node;
GRANT EXECUTE ON FUNCTION bodies_collect TO fairlead_app;
GRANT EXECUTE ON FUNCTION event_bytes TO fairlead_app;
GRANT EXECUTE ON FUNCTION events_bound TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_apply TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_check_references TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_commit TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_delete TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_etag TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_first_since TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_has_moved TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_keys_at TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_lock TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_must_be_as_read TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_must_be_as_seen TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_must_be_confirmed TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_must_fit TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_must_have_room TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_plan TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_rollback TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_rollback_plan TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_rollback_some TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_rollback_to_confirm TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_settings_must_be TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_to_confirm TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_room TO fairlead_app;
GRANT EXECUTE ON FUNCTION history_row_bytes TO fairlead_app;
GRANT EXECUTE ON FUNCTION idempotency_answer TO fairlead_app;
GRANT EXECUTE ON FUNCTION idempotency_claim TO fairlead_app;
GRANT EXECUTE ON FUNCTION limit_default TO fairlead_app;
GRANT EXECUTE ON FUNCTION must_be_within TO fairlead_app;
GRANT EXECUTE ON FUNCTION must_exist TO fairlead_app;
GRANT EXECUTE ON FUNCTION node_event_id TO fairlead_app, fairlead_node;
GRANT EXECUTE ON FUNCTION node_retry TO fairlead_app;
GRANT EXECUTE ON FUNCTION refused_versions TO fairlead_app;
GRANT EXECUTE ON FUNCTION refusal_bytes TO fairlead_app;
GRANT EXECUTE ON FUNCTION refusals_tell TO fairlead_app, fairlead_node;
GRANT EXECUTE ON FUNCTION resource_bytes TO fairlead_app;
GRANT EXECUTE ON FUNCTION resource_etag TO fairlead_app;
GRANT EXECUTE ON FUNCTION server_lease TO fairlead_node;
GRANT EXECUTE ON FUNCTION server_must_hold TO fairlead_node;
GRANT EXECUTE ON FUNCTION server_take_lease TO fairlead_node;
GRANT EXECUTE ON FUNCTION session_idle TO fairlead_app;
GRANT EXECUTE ON FUNCTION session_open TO fairlead_app;
GRANT EXECUTE ON FUNCTION tenant_limit TO fairlead_app;
GRANT EXECUTE ON FUNCTION tenant_must_have_room TO fairlead_app;
GRANT EXECUTE ON FUNCTION to_confirm_nodes TO fairlead_app;
GRANT EXECUTE ON FUNCTION token_hand_over TO fairlead_app;
GRANT EXECUTE ON FUNCTION token_makes TO fairlead_app;
GRANT EXECUTE ON FUNCTION token_revoke TO fairlead_app;
GRANT EXECUTE ON FUNCTION tokens_lock TO fairlead_app;
GRANT EXECUTE ON FUNCTION withheld_of TO fairlead_node;

-- The doors: they run as the owner, past row-level security, with a fixed search path, and each gives one narrow answer.
-- All across tenants are here. A test lists them and fails when there is one more.
GRANT EXECUTE ON FUNCTION audit_due TO fairlead_app;
GRANT EXECUTE ON FUNCTION audit_undelivered TO fairlead_app;
GRANT EXECUTE ON FUNCTION begin_session TO fairlead_app;
GRANT EXECUTE ON FUNCTION delete_tenant TO fairlead_app;
GRANT EXECUTE ON FUNCTION drop_ended_credentials TO fairlead_app;
GRANT EXECUTE ON FUNCTION drop_ended_tokens TO fairlead_app;
GRANT EXECUTE ON FUNCTION end_other_sessions TO fairlead_app;
GRANT EXECUTE ON FUNCTION end_session TO fairlead_app;
GRANT EXECUTE ON FUNCTION events_moved TO fairlead_app;
GRANT EXECUTE ON FUNCTION find_node_credential TO fairlead_node;
GRANT EXECUTE ON FUNCTION find_session TO fairlead_app;
GRANT EXECUTE ON FUNCTION find_token TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_compact TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_differences TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_floors TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_marks TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_mend TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_rollback_changes TO fairlead_app;
GRANT EXECUTE ON FUNCTION fleet_trim_reports TO fairlead_app, fairlead_node;
GRANT EXECUTE ON FUNCTION fleets_to_mend TO fairlead_app;
GRANT EXECUTE ON FUNCTION is_operator TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_create_tenant TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_create_token TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_end_session TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_first_token TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_list_sessions TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_list_tokens TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_revoke_token TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_set_limits TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_tenant_by_slug TO fairlead_app;
GRANT EXECUTE ON FUNCTION operator_tenants TO fairlead_app;
GRANT EXECUTE ON FUNCTION purge_fleet TO fairlead_app;
GRANT EXECUTE ON FUNCTION purge_tenant TO fairlead_app;
GRANT EXECUTE ON FUNCTION restore_fleet TO fairlead_app;
GRANT EXECUTE ON FUNCTION restore_tenant TO fairlead_app;
GRANT EXECUTE ON FUNCTION sweep_audit TO fairlead_app;
GRANT EXECUTE ON FUNCTION sweep_credentials TO fairlead_app;
GRANT EXECUTE ON FUNCTION sweep_server TO fairlead_app;
GRANT EXECUTE ON FUNCTION sweep_sessions TO fairlead_app;
GRANT EXECUTE ON FUNCTION tell_denied TO fairlead_node;
GRANT EXECUTE ON FUNCTION tenant_marks TO fairlead_app;
GRANT EXECUTE ON FUNCTION tenants_to_purge TO fairlead_app;
GRANT EXECUTE ON FUNCTION touch_session TO fairlead_app;
