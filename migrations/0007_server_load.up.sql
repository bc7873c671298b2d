SET lock_timeout = '5s';

-- What an xDS server says of itself whenever it renews its lease; null where it does not. No index has the columns: a renewal stays a
-- HOT update. seen_at is when it said so.
ALTER TABLE xds_servers
  ADD COLUMN seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ADD COLUMN version text NOT NULL DEFAULT '' CHECK (octet_length(version) <= 128),
  ADD COLUMN streams integer,
  ADD COLUMN fleets  integer,          -- that have streams there
  ADD COLUMN behind  double precision; -- how long it had not known, in seconds, whether what it serves is the newest: of the fleet where this is longest
