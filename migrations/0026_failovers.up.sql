SET lock_timeout = '5s';

-- On which Postgres a server's lease was taken, as database_instance names it. No index has the column: a renewal stays a HOT update.
ALTER TABLE xds_servers ADD COLUMN instance text NOT NULL DEFAULT '' CHECK (octet_length(instance) <= 64);

-- A standby that was promoted has transactions with numbers that the lost end of the old primary's had. Its timeline has a higher number: with that in front no
-- place is given again, and none is passed over by who follows. events_end says the same of what is to come.
ALTER TABLE node_events ALTER COLUMN xact SET DEFAULT
  ((('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint << 40) + pg_current_xact_id()::text::bigint)::text::xid8;
