#!/bin/sh
# Runs once, when the database is made: the two login roles with their passwords. The
# migrations find them and give them their rights.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname="${POSTGRES_DB:-postgres}" \
	--set=app="$FAIRLEAD_APP_PASSWORD" --set=node="$FAIRLEAD_NODE_PASSWORD" <<'SQL'
CREATE ROLE fairlead_app LOGIN PASSWORD :'app' NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
CREATE ROLE fairlead_node LOGIN PASSWORD :'node' NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
SQL
