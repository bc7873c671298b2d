-- The doors to the operators' tokens, whose table no other role can read.

-- Whether the credential is an operator's.
CREATE OR REPLACE FUNCTION is_operator(p_id uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM operator_tokens o WHERE o.id = p_id)
$$;

-- Newest first, never the hashes.
CREATE OR REPLACE FUNCTION operator_list_tokens()
RETURNS TABLE (id uuid, name text, created_at timestamptz, created_by text, expires_at timestamptz, revoked_at timestamptz, revoked_by text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT o.id, o.name, o.created_at, o.created_by, o.expires_at, o.revoked_at, o.revoked_by FROM operator_tokens o ORDER BY o.created_at DESC, o.id DESC
$$;

-- FL401 unless the token that makes it is good.
CREATE OR REPLACE FUNCTION operator_create_token(p_id uuid, p_hash bytea, p_name text, p_expires timestamptz, p_maker uuid) RETURNS void
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
CREATE OR REPLACE FUNCTION operator_revoke_token(p_id uuid, p_by text) RETURNS boolean
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

-- The first operator's token alone: false when there is one already.
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
