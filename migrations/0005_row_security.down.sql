SET lock_timeout = '5s';
DO $$
DECLARE
  p record;
BEGIN
  REVOKE ALL ON ALL TABLES IN SCHEMA public FROM fairlead_app, fairlead_node;
  FOR p IN SELECT policyname, tablename FROM pg_policies WHERE schemaname = 'public' LOOP
    EXECUTE format('DROP POLICY %I ON %I', p.policyname, p.tablename);
    EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY', p.tablename);
  END LOOP;
END $$;
