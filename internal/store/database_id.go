package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// selectDatabaseID is the same by whatever way a database is reached, and for whichever role. Postgres's system identifier is not among it: a copy of a machine or of
// a disk has the same, and the right to read it may be taken away.
const selectDatabaseID = `SELECT d.oid || ' ' || extract(epoch FROM pg_postmaster_start_time()) FROM pg_database d WHERE d.datname = current_database()`

// DatabaseID tells databases apart that are up now. It is another one when Postgres has started again.
func DatabaseID(ctx context.Context, url string) (id string, err error) {
	conf, err := parseURLOf(url, 1, writable)
	if err == nil {
		id, err = askDatabaseID(ctx, conf.ConnConfig)
	}
	if err != nil {
		return "", fmt.Errorf("ask which database it is: %w", kind(err))
	}
	return id, nil
}

func askDatabaseID(ctx context.Context, conf *pgx.ConnConfig) (id string, err error) {
	conn, err := connect(ctx, conf)
	if err != nil {
		return "", err
	}
	defer hangUp(ctx, conn)
	err = conn.QueryRow(ctx, selectDatabaseID, pgx.QueryExecModeSimpleProtocol).Scan(&id)
	return id, err
}
