SET lock_timeout = '5s';

-- The id of the key with which an xDS server opens secrets, as it tells with its lease; '' where it does not.
ALTER TABLE xds_servers ADD COLUMN seal_key text NOT NULL DEFAULT '' CHECK (octet_length(seal_key) <= 64);
