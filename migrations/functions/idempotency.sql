-- Claims the write's idempotency key for this transaction. Returns the stored answer of an earlier request with the
-- same key, null when the request is the first (or has no key). Waits for a first one that is still running as long as the
-- write says and lock_timeout allows, which is longer the more the write may take, then FL409.
CREATE OR REPLACE FUNCTION idempotency_claim(p_write jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_hash bytea := decode(p_write->>'idempotency_hash', 'hex');
  v_row  idempotency_keys%ROWTYPE;
  v_lock text := current_setting('lock_timeout');
  v_wait bigint := (p_write->>'idempotency_wait')::bigint; -- null of an older server
  v_found boolean;
BEGIN
  IF p_write->>'idempotency_key' IS NULL THEN
    RETURN NULL;
  END IF;
  IF v_lock = '0' OR v_wait < extract(epoch FROM v_lock::interval) * 1000 THEN
    PERFORM set_config('lock_timeout', coalesce(v_wait::text, v_lock), true);
  END IF;
  INSERT INTO idempotency_keys AS i (tenant_id, principal, key, request_hash)
  VALUES (app_tenant(), (p_write->>'credential')::uuid, p_write->>'idempotency_key', v_hash)
  ON CONFLICT (tenant_id, principal, key) DO UPDATE
    SET request_hash = excluded.request_hash, answer = NULL, created_at = clock_timestamp()
    WHERE i.created_at < clock_timestamp() - interval '24 hours';
  v_found := FOUND;
  PERFORM set_config('lock_timeout', v_lock, true);
  IF v_found THEN
    PERFORM idempotency_must_have_room();
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

-- Refuses one more kept answer. The sweep brings a tenant below its limit, the oldest first, and runs once an hour: what may come in between is as much
-- again. A request without a key keeps none, and a repeat of one that is kept is answered.
CREATE OR REPLACE FUNCTION idempotency_must_have_room() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_used bigint := (SELECT u.bytes FROM idempotency_use u WHERE u.tenant_id = app_tenant());
BEGIN
  IF v_used > 2 * tenant_limit('idempotency_bytes') THEN
    PERFORM must_be_within('idempotency_bytes', v_used, v_used, tenant_limit('idempotency_bytes'));
  END IF;
END $$;

-- Keeps the answer, and counts it: the last thing that a write does, because it locks what all writes of the tenant with a key lock.
CREATE OR REPLACE FUNCTION idempotency_answer(p_write jsonb, p_answer jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_key text := p_write->>'idempotency_key';
  v_was integer;
  v_is  integer := 256 + octet_length(v_key) + pg_column_size(p_answer);
BEGIN
  IF v_key IS NULL THEN
    RETURN;
  END IF;
  SELECT i.bytes INTO v_was FROM idempotency_keys i WHERE i.tenant_id = app_tenant() AND i.principal = (p_write->>'credential')::uuid AND i.key = v_key;
  UPDATE idempotency_keys SET answer = p_answer, bytes = v_is
   WHERE tenant_id = app_tenant() AND principal = (p_write->>'credential')::uuid AND key = v_key;
  INSERT INTO idempotency_use AS u (tenant_id, bytes) VALUES (app_tenant(), v_is - v_was)
  ON CONFLICT (tenant_id) DO UPDATE SET bytes = u.bytes + excluded.bytes;
END $$;

-- One step of forgetting the tenant's answers, oldest first: true when there are no more to forget. Those of a day ago go; above the tenant's limit
-- those of an hour ago too, until it holds.
-- enable_bitmapscan, enable_sort: it walks an index and stops early, instead of collecting and sorting all that fits.
CREATE OR REPLACE FUNCTION sweep_keys(p_limit integer) RETURNS boolean LANGUAGE plpgsql SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  t       uuid := app_tenant();
  v_floor timestamptz := clock_timestamp() - CASE WHEN (SELECT u.bytes FROM idempotency_use u WHERE u.tenant_id = t) > tenant_limit('idempotency_bytes')
                                                  THEN interval '1 hour' ELSE interval '24 hours' END;
  v_gone  bigint;
  n       integer;
BEGIN
  WITH gone AS (
    DELETE FROM idempotency_keys d WHERE d.ctid = ANY (ARRAY(
      SELECT i.ctid FROM idempotency_keys i
       WHERE uuid_hash(i.tenant_id) = uuid_hash(t) AND i.created_at < v_floor AND i.tenant_id IS NOT DISTINCT FROM t
       ORDER BY i.created_at LIMIT p_limit FOR UPDATE SKIP LOCKED))
    RETURNING d.bytes)
  SELECT count(*), sum(g.bytes) INTO n, v_gone FROM gone g;
  IF v_gone > 0 THEN
    UPDATE idempotency_use u SET bytes = greatest(u.bytes - v_gone, 0) WHERE u.tenant_id = t;
  END IF;
  RETURN n < p_limit;
END $$;
