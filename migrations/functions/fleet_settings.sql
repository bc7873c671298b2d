-- Names the settings of a fleet as they are, but for its name; the same again for the same.
CREATE OR REPLACE FUNCTION fleet_etag(f fleets, p_node_ids text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT '"' || left(encode(sha256(convert_to(jsonb_build_array(f.id, f.description, f.reference_check, f.receipt_window, f.forget_nodes_after, p_node_ids,
                                                                f.static_clusters, f.placeholder_values, f.private_clusters, f.local_ports,
                                                                f.load_report_interval, f.load_report_clusters, f.load_report_endpoints)::text, 'UTF8')), 'hex'), 16) || '"'
$$;

-- Ends the transaction, which holds the head's lock, with FL412 and the present one unless the settings are what p_etag names.
CREATE OR REPLACE FUNCTION fleet_settings_must_be(p_fleet uuid, p_etag text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_etag text;
BEGIN
  SELECT fleet_etag(f, h.node_ids) INTO v_etag FROM fleets f JOIN fleet_heads h ON h.tenant_id = f.tenant_id AND h.fleet_id = f.id
   WHERE f.tenant_id = app_tenant() AND f.id = p_fleet;
  IF v_etag IS DISTINCT FROM p_etag THEN
    RAISE EXCEPTION 'the settings of the fleet are now %', v_etag USING ERRCODE = 'FL412', DETAIL = jsonb_build_object('settings', v_etag);
  END IF;
END $$;
