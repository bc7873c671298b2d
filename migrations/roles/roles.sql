-- The three roles. None is superuser, none may bypass row-level security.
--   fairlead_owner owns the schema and runs migrations; nobody logs in as it unless the operator says so.
--   fairlead_app   is the REST API: sees one tenant at a time.
--   fairlead_node  is the xDS server: reads what it serves, writes status.
-- Passwords are the operator's business: nothing here sets one.
--
-- Roles belong to the whole cluster, so another database's migration may be creating them at this moment: both
-- outcomes of that race are fine. Settings are written only where they differ, for the same reason.
DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT * FROM (VALUES
      ('fairlead_owner', 'NOLOGIN'),
      ('fairlead_app',   'LOGIN'),
      ('fairlead_node',  'LOGIN')) v(name, login) LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r.name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I %s NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION', r.name, r.login);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END;
    END IF;
  END LOOP;
END $$;

-- What bounds a session, also when it does not come from our own pool (which sets the same). A statement of the app
-- that waits longer than this for a lock is told "unavailable" and may come again.
DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT * FROM (VALUES
      ('fairlead_app',  'statement_timeout', '10s'),
      ('fairlead_app',  'lock_timeout', '1500ms'),
      ('fairlead_app',  'idle_in_transaction_session_timeout', '10s'),
      ('fairlead_app',  'jit', 'off'), -- compiling a statement of milliseconds takes longer than it
      ('fairlead_node', 'statement_timeout', '30s'),
      ('fairlead_node', 'lock_timeout', '1500ms'),
      ('fairlead_node', 'idle_in_transaction_session_timeout', '10s'),
      ('fairlead_node', 'jit', 'off')) v(role, setting, value) LOOP
    IF NOT EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_roles o ON o.oid = s.setrole
                    WHERE o.rolname = r.role AND s.setdatabase = 0 AND s.setconfig::text LIKE '%' || r.setting || '=%') THEN
      BEGIN
        EXECUTE format('ALTER ROLE %I SET %s = %L', r.role, r.setting, r.value);
      EXCEPTION WHEN internal_error OR unique_violation THEN NULL; -- "tuple concurrently updated": the other one wrote the same
      END;
    END IF;
  END LOOP;
END $$;

-- Whoever runs the migrations acts as the owner; a superuser may do so anyway.
DO $$
BEGIN
  IF NOT pg_has_role(current_user, 'fairlead_owner', 'MEMBER') THEN
    EXECUTE format('GRANT fairlead_owner TO %I', current_user);
  END IF;
  IF NOT has_schema_privilege('fairlead_owner', 'public', 'CREATE') THEN
    GRANT USAGE, CREATE ON SCHEMA public TO fairlead_owner;
  END IF;
END $$;
