SET lock_timeout = '5s';

-- Who made a token, and with which it ends: its maker's, until an owner hands it over. An operator's makes tokens that
-- end with none. A token that is deleted takes those with it that end with it.
ALTER TABLE api_tokens
  ADD COLUMN made_by   uuid, -- a credential, of the tenant or of an operator; no foreign key
  ADD COLUMN parent_id uuid CHECK (parent_id <> id),
  ADD FOREIGN KEY (tenant_id, parent_id) REFERENCES api_tokens (tenant_id, id) ON DELETE CASCADE;
CREATE INDEX api_tokens_by_parent ON api_tokens (tenant_id, parent_id) WHERE parent_id IS NOT NULL;

-- Operators' tokens end too. Those that had no end get the usual one from now on.
UPDATE operator_tokens SET expires_at = clock_timestamp() + interval '90 days' WHERE expires_at IS NULL;
ALTER TABLE operator_tokens
  ALTER COLUMN expires_at SET NOT NULL,
  ADD COLUMN created_by text NOT NULL DEFAULT '',
  ADD COLUMN revoked_by text NOT NULL DEFAULT '';

-- What ended stays ended, and what a token may is settled when it is made: the API's role may write no other column, and
-- a trigger stops whoever the grants do not. A column that is added later and that the API is to change needs its grant.
REVOKE UPDATE ON api_tokens, node_credentials, fleets, fleet_heads FROM fairlead_app;
GRANT UPDATE (revoked_at, parent_id) ON api_tokens TO fairlead_app;
GRANT UPDATE (revoked_at) ON node_credentials TO fairlead_app;
GRANT UPDATE (deleted_at, reference_check, receipt_window, forget_nodes_after) ON fleets TO fairlead_app;
GRANT UPDATE (revision, token, epoch, compacted, changed_at, deleted_at, node_ids) ON fleet_heads TO fairlead_app;

CREATE FUNCTION ended_stays_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what is revoked, deleted or handed over stays so' USING ERRCODE = 'insufficient_privilege';
END $$;
REVOKE EXECUTE ON FUNCTION ended_stays_ended() FROM PUBLIC;
CREATE TRIGGER revoked_stays BEFORE UPDATE OF revoked_at ON api_tokens FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION ended_stays_ended();
CREATE TRIGGER parent_stays BEFORE UPDATE OF parent_id ON api_tokens FOR EACH ROW
  WHEN (NEW.parent_id IS NOT NULL AND NEW.parent_id IS DISTINCT FROM OLD.parent_id) EXECUTE FUNCTION ended_stays_ended();
CREATE TRIGGER revoked_stays BEFORE UPDATE OF revoked_at ON node_credentials FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION ended_stays_ended();
CREATE TRIGGER revoked_stays BEFORE UPDATE OF revoked_at ON operator_tokens FOR EACH ROW
  WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION ended_stays_ended();
CREATE TRIGGER deleted_stays BEFORE UPDATE OF deleted_at ON fleets FOR EACH ROW
  WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS DISTINCT FROM OLD.deleted_at) EXECUTE FUNCTION ended_stays_ended();
CREATE TRIGGER deleted_stays BEFORE UPDATE OF deleted_at ON fleet_heads FOR EACH ROW
  WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS DISTINCT FROM OLD.deleted_at) EXECUTE FUNCTION ended_stays_ended();

-- Who makes a token holds this shared, who ends some holds it alone: no token is made by one that is being ended, at
-- whatever depth, unseen by the statement that ends them.
CREATE FUNCTION tokens_lock(p_alone boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  k bigint := hashtextextended('tokens of ' || app_tenant(), 0);
BEGIN
  IF p_alone THEN
    PERFORM pg_advisory_xact_lock(k);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(k);
  END IF;
END $$;

-- FL401 unless the token can make another now, one that ends at p_expires. It can until the transaction ends.
CREATE FUNCTION token_makes(p_id uuid, p_expires timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tokens_lock(false);
  IF NOT EXISTS (SELECT FROM api_tokens k WHERE k.tenant_id = app_tenant() AND k.id = p_id AND k.revoked_at IS NULL
                    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp() AND k.expires_at >= p_expires)) THEN
    RAISE EXCEPTION 'the token that makes this one ends before it' USING ERRCODE = 'FL401';
  END IF;
END $$;

-- Ends a token and all that end with it. FL404 if there is none, FL403 if it has a role that is not in p_roles. A second
-- call changes nothing and is recorded. The cost grows with what ends.
CREATE FUNCTION token_revoke(p_id uuid, p_roles text[], p_actor jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_role text;
BEGIN
  PERFORM tokens_lock(true);
  SELECT k.role INTO v_role FROM api_tokens k WHERE k.tenant_id = app_tenant() AND k.id = p_id;
  PERFORM must_exist(FOUND);
  IF (v_role = ANY (p_roles)) IS NOT TRUE THEN
    RAISE EXCEPTION 'a token of the role % is above the one that revokes it', v_role USING ERRCODE = 'FL403';
  END IF;
  WITH RECURSIVE below AS (
    SELECT p_id AS id
     UNION
    SELECT k.id FROM below b CROSS JOIN LATERAL (
             SELECT c.id FROM api_tokens c WHERE c.tenant_id = app_tenant() AND c.parent_id = b.id OFFSET 0) k),
  ended AS (
    UPDATE api_tokens k SET revoked_at = clock_timestamp()
     WHERE k.tenant_id = app_tenant() AND k.id = ANY (ARRAY(SELECT b.id FROM below b)) AND k.revoked_at IS NULL RETURNING k.id)
  INSERT INTO audit_events (tenant_id, credential, actor, ip, request_id, action, object, detail)
  SELECT app_tenant(), (p_actor->>'credential')::uuid, coalesce(p_actor->>'actor', ''), coalesce(p_actor->>'ip', ''),
         coalesce(p_actor->>'request_id', ''), 'token.revoke', 'token ' || o.id,
         CASE WHEN o.id <> p_id THEN jsonb_build_object('ended_with', p_id) END
    FROM (SELECT p_id AS id UNION SELECT e.id FROM ended e) o;
END $$;

-- Makes a token stand alone. FL404 if there is none, FL423 if it has ended.
CREATE FUNCTION token_hand_over(p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  k api_tokens%ROWTYPE;
BEGIN
  PERFORM tokens_lock(true);
  SELECT * INTO k FROM api_tokens t WHERE t.tenant_id = app_tenant() AND t.id = p_id;
  PERFORM must_exist(FOUND);
  IF k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp() THEN
    RAISE EXCEPTION 'the token has ended' USING ERRCODE = 'FL423';
  END IF;
  UPDATE api_tokens t SET parent_id = NULL WHERE t.tenant_id = app_tenant() AND t.id = p_id;
END $$;

-- The doors to the operators' tokens, as in 0007.

-- Whether the credential is an operator's.
CREATE FUNCTION is_operator(p_id uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM operator_tokens o WHERE o.id = p_id)
$$;

-- Newest first, never the hashes.
CREATE FUNCTION operator_list_tokens()
RETURNS TABLE (id uuid, name text, created_at timestamptz, created_by text, expires_at timestamptz, revoked_at timestamptz, revoked_by text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT o.id, o.name, o.created_at, o.created_by, o.expires_at, o.revoked_at, o.revoked_by FROM operator_tokens o ORDER BY o.created_at DESC, o.id DESC
$$;

-- FL401 unless the token that makes it is good.
CREATE FUNCTION operator_create_token(p_id uuid, p_hash bytea, p_name text, p_expires timestamptz, p_maker uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  LOCK TABLE operator_tokens IN SHARE ROW EXCLUSIVE MODE;
  INSERT INTO operator_tokens (id, hash, name, expires_at, created_by)
  SELECT p_id, p_hash, p_name, p_expires, m.name FROM operator_tokens m
   WHERE m.id = p_maker AND m.revoked_at IS NULL AND m.expires_at > clock_timestamp();
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the token that makes this one has ended' USING ERRCODE = 'FL401';
  END IF;
END $$;

-- FL404 if there is none. False, and nothing done, for the last one that is good: nobody could make another.
CREATE FUNCTION operator_revoke_token(p_id uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_good uuid[];
BEGIN
  LOCK TABLE operator_tokens IN SHARE ROW EXCLUSIVE MODE;
  PERFORM must_exist(EXISTS (SELECT FROM operator_tokens o WHERE o.id = p_id));
  SELECT array_agg(o.id) INTO v_good FROM operator_tokens o WHERE o.revoked_at IS NULL AND o.expires_at > clock_timestamp();
  IF v_good = ARRAY[p_id] THEN
    RETURN false;
  END IF;
  UPDATE operator_tokens o SET revoked_at = clock_timestamp(), revoked_by = p_by WHERE o.id = p_id AND o.revoked_at IS NULL;
  RETURN true;
END $$;

-- The first operator's token, or one where none is good any more: false when there is one.
CREATE OR REPLACE FUNCTION operator_first_token(p_id uuid, p_hash bytea, p_name text, p_expires timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  LOCK TABLE operator_tokens IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM operator_tokens o WHERE o.revoked_at IS NULL AND o.expires_at > clock_timestamp()) THEN
    RETURN false;
  END IF;
  INSERT INTO operator_tokens (id, hash, name, expires_at) VALUES (p_id, p_hash, p_name, p_expires);
  RETURN true;
END $$;

REVOKE EXECUTE ON FUNCTION tokens_lock(boolean), token_makes(uuid, timestamptz), token_revoke(uuid, text[], jsonb), token_hand_over(uuid),
  is_operator(uuid), operator_list_tokens(), operator_create_token(uuid, bytea, text, timestamptz, uuid), operator_revoke_token(uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tokens_lock(boolean), token_makes(uuid, timestamptz), token_revoke(uuid, text[], jsonb), token_hand_over(uuid),
  is_operator(uuid), operator_list_tokens(), operator_create_token(uuid, bytea, text, timestamptz, uuid), operator_revoke_token(uuid, text) TO fairlead_app;

-- What concerns the tenant as a whole and no fleet: its tokens, and itself.
CREATE INDEX audit_events_of_tenant ON audit_events (tenant_id, at, id) WHERE fleet_id IS NULL;
