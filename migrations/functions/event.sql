CREATE OR REPLACE FUNCTION node_event_id(p_what text[]) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT left(encode(sha256(convert_to(to_jsonb(p_what)::text, 'UTF8')), 'hex'), 32)::uuid $$;

-- A refusal that is new, or stands again; what was done about it; its end. It is the same refusal while its time is.
CREATE OR REPLACE FUNCTION node_exceptions_tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_kept  boolean := NEW.good <> '' OR NEW.action IN ('removed', 'frozen');
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
    INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, type, name, version, revision, text_hash, action, beside)
    VALUES (NEW.tenant_id, NEW.fleet_id, node_event_id(v_what || ARRAY['refused']), v_at, 'refused', NEW.node_id, NEW.type, NEW.name, NEW.version, NEW.revision,
            NEW.text_hash, CASE WHEN v_kept THEN 'none' ELSE NEW.action END, NEW.beside AND NOT v_kept)
    ON CONFLICT DO NOTHING;
  END IF;
  IF v_kept AND (v_fresh OR OLD.good <> NEW.good OR OLD.action <> NEW.action OR OLD.beside <> NEW.beside) THEN
    INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, type, name, version, revision, action, beside)
    VALUES (NEW.tenant_id, NEW.fleet_id, node_event_id(v_what || ARRAY['kept_back', NEW.action::text, NEW.beside::text, NEW.good]), v_at + interval '1 microsecond', 'kept_back',
            NEW.node_id, NEW.type, NEW.name, NEW.version, NEW.revision, NEW.action, NEW.beside)
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION node_status_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, note)
  VALUES (NEW.tenant_id, NEW.fleet_id, clock_timestamp(), 'duplicates', NEW.node_id, NEW.duplicates || ' clients have this node id');
  RETURN NULL;
END $$;
