SET lock_timeout = '5s';

-- What the node waits for, of one that is behind: {"warming":[[type,name]],"withheld":[[type,name,by_type,by_name]],"more":n}.
ALTER TABLE node_status ADD COLUMN waits jsonb;

-- What becomes of a write that leaves something without what it names: a warning, or no write.
ALTER TABLE fleets ADD COLUMN reference_check text NOT NULL DEFAULT 'warn' CHECK (reference_check IN ('warn', 'strict'));

-- Checks the references of what a write has just changed, both ways, under the head's lock: before the transaction two
-- writers would pass each other. p_changes are the write's, null for all of the revision; p_answer is the write's; what it comes to has "missing" in it where something is:
-- [{type, name, variant, ref_type, ref_name}], at most 101. FL424 with the same list where the fleet is strict.
-- A cluster that a route names may stand in the bootstrap, and endpoints are answered empty: neither is looked at.
CREATE FUNCTION fleet_check_references(p_fleet uuid, p_write jsonb, p_answer jsonb, p_changes jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  t         uuid := app_tenant();
  v_new     bigint := (p_answer->>'revision')::bigint;
  v_missing jsonb;
BEGIN
  IF (p_answer->>'changed')::integer = 0 THEN
    RETURN p_answer;
  END IF;
  WITH e AS (
    SELECT r.* FROM jsonb_to_recordset(p_changes) c (type text, name text, variant text) CROSS JOIN LATERAL (
             SELECT p.type, p.name, p.variant, p.deleted, p.revision FROM resources p
              WHERE p.tenant_id = t AND p.fleet_id = p_fleet AND p.type = c.type AND p.name = c.name AND p.variant = c.variant OFFSET 0) r
     WHERE r.revision = v_new
     UNION ALL
    SELECT r.type, r.name, r.variant, r.deleted, r.revision FROM resources r
     WHERE p_changes IS NULL AND r.tenant_id = t AND r.fleet_id = p_fleet AND r.revision = v_new),
  named AS (
    SELECT x.* FROM e CROSS JOIN LATERAL (
             SELECT x.type, x.name, x.variant, x.ref_type, x.ref_name FROM resource_refs x
              WHERE x.tenant_id = t AND x.fleet_id = p_fleet AND x.type = e.type AND x.name = e.name AND x.variant = e.variant OFFSET 0) x
     WHERE NOT e.deleted
     UNION
    SELECT x.* FROM e CROSS JOIN LATERAL (
             SELECT x.type, x.name, x.variant, x.ref_type, x.ref_name FROM resource_refs x
              WHERE x.ref_name = e.name AND x.ref_type = e.type AND x.tenant_id = t AND x.fleet_id = p_fleet OFFSET 0) x
     WHERE e.deleted),
  missing AS (
    SELECT n.* FROM named n
     WHERE (n.type = 'listeners' AND n.ref_type IN ('routes', 'extensions', 'secrets') OR n.type = 'clusters' AND n.ref_type = 'secrets')
       AND NOT EXISTS (SELECT FROM resources d WHERE d.tenant_id = t AND d.fleet_id = p_fleet AND d.type = n.ref_type AND d.name = n.ref_name
                          AND NOT d.deleted OFFSET 0)
     ORDER BY n.type, n.name, n.variant, n.ref_type, n.ref_name LIMIT 101)
  SELECT jsonb_agg(to_jsonb(m)) INTO v_missing FROM missing m;
  IF v_missing IS NULL THEN
    RETURN p_answer;
  END IF;
  IF EXISTS (SELECT FROM fleets f WHERE f.tenant_id = t AND f.id = p_fleet AND f.reference_check = 'strict') THEN
    RAISE EXCEPTION 'something would be without what it names' USING ERRCODE = 'FL424', DETAIL = v_missing;
  END IF;
  p_answer := p_answer || jsonb_build_object('missing', v_missing);
  PERFORM idempotency_answer(p_write, p_answer);
  RETURN p_answer;
END $$;

-- What happened to nodes, in the order in which it did as far as clocks tell. Rows come by triggers, so that no
-- statement that makes or ends a refusal can leave one out. The id follows from what happened, so that a report that is
-- given again, because its answer was lost, tells nothing twice.
CREATE TABLE node_events (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  at        timestamptz NOT NULL,
  id        uuid NOT NULL DEFAULT gen_random_uuid(), -- no order
  kind      text NOT NULL CHECK (kind IN ('refused', 'kept_back', 'recovered', 'duplicates')),
  node_id   text COLLATE "C" NOT NULL, -- no foreign key: the record outlives the node
  type      text COLLATE "C" NOT NULL DEFAULT '',
  name      text COLLATE "C" NOT NULL DEFAULT '',
  version   text COLLATE "C" NOT NULL DEFAULT '',
  revision  bigint NOT NULL DEFAULT 0,
  text_hash bytea,
  action    text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, fleet_id, id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, fleet_id, text_hash) REFERENCES nack_texts
);
CREATE INDEX node_events_by_time ON node_events (tenant_id, fleet_id, at, id);
CREATE INDEX node_events_by_node ON node_events (node_id, tenant_id, fleet_id, at, id); -- not led by the key's columns, see 0002
CREATE INDEX node_events_by_text ON node_events (text_hash, tenant_id, fleet_id) WHERE text_hash IS NOT NULL;

ALTER TABLE node_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY app ON node_events TO fairlead_app USING (tenant_id = app_tenant()) WITH CHECK (tenant_id = app_tenant());
CREATE POLICY owner ON node_events TO fairlead_owner USING (true) WITH CHECK (true);
CREATE POLICY node ON node_events FOR INSERT TO fairlead_node WITH CHECK (tenant_id = app_tenant());
GRANT SELECT, INSERT, DELETE ON node_events TO fairlead_app;
GRANT INSERT ON node_events TO fairlead_node;

CREATE FUNCTION node_event_id(p_what text[]) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT left(encode(sha256(convert_to(to_jsonb(p_what)::text, 'UTF8')), 'hex'), 32)::uuid $$;

-- A refusal that is new, or stands again; what was done about it; its end. It is the same refusal while its time is.
CREATE FUNCTION node_exceptions_tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_kept  boolean := NEW.good <> '' OR NEW.action LIKE 'removed%' OR NEW.action LIKE 'frozen%';
  v_fresh boolean := TG_OP = 'INSERT' OR OLD.resolved_at IS NOT NULL;
  v_what  text[] := ARRAY[NEW.node_id, NEW.type, NEW.name, NEW.version, NEW.revision::text, extract(epoch FROM NEW.at)::text];
  v_at    timestamptz := CASE WHEN v_fresh THEN least(NEW.at, clock_timestamp()) ELSE clock_timestamp() END;
BEGIN
  IF NEW.resolved_at IS NOT NULL THEN
    IF NOT v_fresh THEN
      INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, type, name, version, revision)
      VALUES (NEW.tenant_id, NEW.fleet_id, node_event_id(v_what || ARRAY['recovered']), NEW.resolved_at, 'recovered', NEW.node_id, NEW.type, NEW.name,
              NEW.version, NEW.resolved_by)
      ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
  END IF;
  IF v_fresh THEN
    INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, type, name, version, revision, text_hash, action)
    VALUES (NEW.tenant_id, NEW.fleet_id, node_event_id(v_what || ARRAY['refused']), v_at, 'refused', NEW.node_id, NEW.type, NEW.name, NEW.version, NEW.revision,
            NEW.text_hash, CASE WHEN v_kept THEN '' ELSE NEW.action END)
    ON CONFLICT DO NOTHING;
  END IF;
  IF v_kept AND (v_fresh OR OLD.good <> NEW.good OR OLD.action <> NEW.action) THEN
    INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, type, name, version, revision, action)
    VALUES (NEW.tenant_id, NEW.fleet_id, node_event_id(v_what || ARRAY['kept_back', NEW.action, NEW.good]), v_at + interval '1 microsecond', 'kept_back',
            NEW.node_id, NEW.type, NEW.name, NEW.version, NEW.revision, NEW.action)
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER node_exceptions_tell AFTER INSERT OR UPDATE ON node_exceptions FOR EACH ROW EXECUTE FUNCTION node_exceptions_tell();

CREATE FUNCTION node_status_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, action)
  VALUES (NEW.tenant_id, NEW.fleet_id, clock_timestamp(), 'duplicates', NEW.node_id, NEW.duplicates || ' clients have this node id');
  RETURN NULL;
END $$;
CREATE TRIGGER node_status_tell AFTER INSERT ON node_status FOR EACH ROW WHEN (NEW.duplicates > 1) EXECUTE FUNCTION node_status_tell();
CREATE TRIGGER node_status_tell_change AFTER UPDATE ON node_status FOR EACH ROW
  WHEN (NEW.duplicates > 1 AND NEW.duplicates <> OLD.duplicates) EXECUTE FUNCTION node_status_tell();

REVOKE EXECUTE ON FUNCTION fleet_check_references(uuid, jsonb, jsonb, jsonb), node_event_id(text[]), node_exceptions_tell(), node_status_tell() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION node_event_id(text[]) TO fairlead_app, fairlead_node;
GRANT EXECUTE ON FUNCTION fleet_check_references(uuid, jsonb, jsonb, jsonb) TO fairlead_app;
