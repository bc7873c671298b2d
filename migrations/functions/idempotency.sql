-- Claims the write's idempotency key for this transaction. Returns the stored answer of an earlier request with the
-- same key, null when the request is the first (or has no key). Waits for a first one that is still running as long as
-- lock_timeout allows, then FL409.
CREATE OR REPLACE FUNCTION idempotency_claim(p_write jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_hash bytea := decode(p_write->>'idempotency_hash', 'hex');
  v_row  idempotency_keys%ROWTYPE;
BEGIN
  IF p_write->>'idempotency_key' IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO idempotency_keys AS i (tenant_id, principal, key, request_hash)
  VALUES (app_tenant(), (p_write->>'credential')::uuid, p_write->>'idempotency_key', v_hash)
  ON CONFLICT (tenant_id, principal, key) DO UPDATE
    SET request_hash = excluded.request_hash, answer = NULL, created_at = clock_timestamp()
    WHERE i.created_at < clock_timestamp() - interval '24 hours';
  IF FOUND THEN
    RETURN NULL;
  END IF;
  SELECT * INTO v_row FROM idempotency_keys i
   WHERE i.tenant_id = app_tenant() AND i.principal = (p_write->>'credential')::uuid AND i.key = p_write->>'idempotency_key';
  IF v_row.request_hash <> v_hash THEN
    RAISE EXCEPTION 'the idempotency key was used for another request' USING ERRCODE = 'FL422';
  END IF;
  IF v_row.answer IS NULL THEN -- swept between the two statements
    RAISE EXCEPTION 'a request with the same idempotency key is in flight' USING ERRCODE = 'FL409';
  END IF;
  RETURN v_row.answer;
EXCEPTION WHEN lock_not_available THEN
  RAISE EXCEPTION 'a request with the same idempotency key is in flight' USING ERRCODE = 'FL409';
END $$;

CREATE OR REPLACE FUNCTION idempotency_answer(p_write jsonb, p_answer jsonb) RETURNS void LANGUAGE sql
  AS $$ UPDATE idempotency_keys SET answer = p_answer
         WHERE tenant_id = app_tenant() AND principal = (p_write->>'credential')::uuid AND key = p_write->>'idempotency_key' $$;
