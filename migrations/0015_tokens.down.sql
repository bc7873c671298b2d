SET lock_timeout = '5s';
DROP INDEX audit_events_of_tenant;
CREATE OR REPLACE FUNCTION operator_first_token(p_id uuid, p_hash bytea, p_name text, p_expires timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  LOCK TABLE operator_tokens IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM operator_tokens) THEN
    RETURN false;
  END IF;
  INSERT INTO operator_tokens (id, hash, name, expires_at) VALUES (p_id, p_hash, p_name, p_expires);
  RETURN true;
END $$;
DROP FUNCTION operator_revoke_token(uuid, text), operator_create_token(uuid, bytea, text, timestamptz, uuid), operator_list_tokens(),
  is_operator(uuid), token_hand_over(uuid), token_revoke(uuid, text[], jsonb), token_makes(uuid, timestamptz), tokens_lock(boolean);
DROP TRIGGER deleted_stays ON fleet_heads;
DROP TRIGGER deleted_stays ON fleets;
DROP TRIGGER revoked_stays ON operator_tokens;
DROP TRIGGER revoked_stays ON node_credentials;
DROP TRIGGER parent_stays ON api_tokens;
DROP TRIGGER revoked_stays ON api_tokens;
DROP FUNCTION ended_stays_ended();
GRANT UPDATE ON api_tokens, node_credentials, fleets, fleet_heads TO fairlead_app;
ALTER TABLE operator_tokens DROP COLUMN revoked_by, DROP COLUMN created_by, ALTER COLUMN expires_at DROP NOT NULL;
DROP INDEX api_tokens_by_parent;
ALTER TABLE api_tokens DROP COLUMN parent_id, DROP COLUMN made_by;
