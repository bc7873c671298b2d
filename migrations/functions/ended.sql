-- What ended stays ended, whoever the grants do not stop.
CREATE OR REPLACE FUNCTION ended_stays_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what is revoked, deleted or handed over stays so' USING ERRCODE = 'insufficient_privilege';
END $$;
