-- Analyzes one table of which the planner knows too little: one that was never analyzed, or has twice the pages or four times the rows that it had then. Returns its name, null where
-- there is no such table behind p_after, in the order of names. A table of a few pages is passed over: there every plan will do. A table is analyzed again when it has
-- doubled, so that one that grows for ever is analyzed as many times as its size has digits, in base two.
--
-- What is not committed counts for its pages, and for no rows. The planner of a large write that was analyzed halfway believes in pages without rows, for which it takes
-- the wrong indexes. So nothing is analyzed for its pages while somebody writes it, and what autovacuum has analyzed meanwhile is analyzed again for its rows.
-- Twice the rows prove nothing: a session reports what it wrote up to ten seconds later, and an analysis has counted those rows by then. They count double.
--
-- A door: only a table's owner may analyze it, and the right of Postgres 17 to maintain a table would also be one to lock it for as long as one likes. One table is
-- one transaction: what is known of a table is not lost with the next one. Two servers do not wait for each other, nor for autovacuum.
CREATE OR REPLACE FUNCTION analyze_grown_table(p_after text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_few constant integer := 8; -- pages
  v_rows constant integer := 250; -- of four times as many or fewer any plan will do, too
  v_table name;
BEGIN
  SELECT c.relname INTO v_table
    FROM pg_class c
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relowner = current_user::regrole AND c.relname > p_after
     AND pg_relation_size(c.oid) / current_setting('block_size')::integer > v_few
     AND (pg_stat_get_live_tuples(c.oid) > 4 * greatest(c.reltuples, v_rows)
       OR pg_relation_size(c.oid) / current_setting('block_size')::integer
            > CASE WHEN coalesce(pg_stat_get_last_analyze_time(c.oid), pg_stat_get_last_autoanalyze_time(c.oid)) IS NULL THEN 0 ELSE 2 * c.relpages END
          AND NOT EXISTS (SELECT FROM pg_locks l
                           WHERE l.relation = c.oid AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND l.mode = 'RowExclusiveLock'))
   ORDER BY c.relname LIMIT 1;
  IF FOUND THEN
    EXECUTE format('ANALYZE (SKIP_LOCKED) public.%I', v_table);
  END IF;
  RETURN v_table;
END $$;
