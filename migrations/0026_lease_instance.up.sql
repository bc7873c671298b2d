SET lock_timeout = '5s';

-- On which Postgres a server's lease was taken, as database_instance names it. No index has the column: a renewal stays a HOT update.
ALTER TABLE xds_servers ADD COLUMN instance text NOT NULL DEFAULT '' CHECK (octet_length(instance) <= 64);
