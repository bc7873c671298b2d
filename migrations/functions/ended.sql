-- What ended stays ended, whoever the grants do not stop.
CREATE OR REPLACE FUNCTION ended_stays_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what is revoked, deleted or handed over stays so' USING ERRCODE = 'insufficient_privilege';
END $$;

-- What is deleted comes back by the doors of the tables' owner alone (restore.sql), and is never deleted at another time.
CREATE OR REPLACE FUNCTION deleted_stays_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.deleted_at IS NULL AND current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = TG_RELID) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'what is deleted stays so' USING ERRCODE = 'insufficient_privilege';
END $$;
