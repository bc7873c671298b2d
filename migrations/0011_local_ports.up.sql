SET lock_timeout = '5s';

-- Ports of the proxies' own machine to which everybody who writes may send.
ALTER TABLE fleets ADD COLUMN local_ports integer[] NOT NULL DEFAULT '{}' CHECK (cardinality(local_ports) <= 100 AND 1 <= ALL (local_ports) AND 65535 >= ALL (local_ports));

GRANT UPDATE (local_ports) ON fleets TO fairlead_app;
