package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/test/world"
)

// tables is the size of each table of the database, by name.
type tables map[string]tableSize

type tableSize struct {
	rows, heap, indexes int64 // rows that live; bytes, TOAST in heap
}

// tables counts rows, so that no statistics are needed.
func (w *installation) tables() tables {
	w.T.Helper()
	conn, err := pgx.Connect(w.T.Context(), w.DB.Owner)
	world.Must(w.T, err)
	defer conn.Close(w.T.Context())
	rows, err := conn.Query(w.T.Context(), `
SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid),
       (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I', c.relname), false, true, '')))[1]::text::bigint
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'`)
	world.Must(w.T, err)
	defer rows.Close()
	out := tables{}
	for rows.Next() {
		var name string
		var s tableSize
		world.Must(w.T, rows.Scan(&name, &s.heap, &s.indexes, &s.rows))
		out[name] = s
	}
	world.Must(w.T, rows.Err())
	return out
}

// String lists the tables that have rows, the largest first.
func (ts tables) String() string {
	names := make([]string, 0, len(ts))
	for name, s := range ts {
		if s.rows > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return int(ts[b].heap + ts[b].indexes - ts[a].heap - ts[a].indexes) })
	var b strings.Builder
	for _, name := range names {
		s := ts[name]
		b.WriteString(sprintf("\n%-20s %8d rows %9.1f kB, indexes %9.1f kB", name, s.rows, float64(s.heap)/1024, float64(s.indexes)/1024))
	}
	return b.String()
}

// rows counts a table's.
func (w *installation) rows(table string) (n int64) {
	w.T.Helper()
	conn, err := pgx.Connect(w.T.Context(), w.DB.Owner)
	world.Must(w.T, err)
	defer conn.Close(w.T.Context())
	world.Must(w.T, conn.QueryRow(w.T.Context(), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&n))
	return n
}

// written is how many rows of each table were inserted, updated and deleted until about a second ago, by the table's name.
func (w *installation) written() map[string]int64 {
	w.T.Helper()
	conn, err := pgx.Connect(w.T.Context(), w.DB.Owner)
	world.Must(w.T, err)
	defer conn.Close(w.T.Context())
	rows, err := conn.Query(w.T.Context(), "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables")
	world.Must(w.T, err)
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		world.Must(w.T, rows.Scan(&name, &n))
		out[name] = n
	}
	world.Must(w.T, rows.Err())
	return out
}

// full reports whether a soak has its full size, or the one that every run of the tests can bear.
func full() bool { return os.Getenv("FAIRLEAD_SOAK") != "" }

// soakLasts is how long a soak lasts in its full size, as FAIRLEAD_SOAK says; else it is short.
func soakLasts(t testing.TB, short time.Duration) time.Duration {
	t.Helper()
	if !full() {
		return short
	}
	d, err := time.ParseDuration(os.Getenv("FAIRLEAD_SOAK"))
	if err != nil {
		t.Fatalf("FAIRLEAD_SOAK: %v", err)
	}
	return d
}

// text asks the database for one value.
func (w *installation) text(sql string, args ...any) (value string) {
	w.T.Helper()
	conn, err := pgx.Connect(w.T.Context(), w.DB.Owner)
	world.Must(w.T, err)
	defer conn.Close(w.T.Context())
	world.Must(w.T, conn.QueryRow(w.T.Context(), sql, args...).Scan(&value))
	return value
}

// set changes settings of Postgres, such as "autovacuum = off", for connections that are open too.
func (w *installation) set(t testing.TB, settings ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.DB.Owner)
	world.Must(t, err)
	defer conn.Close(t.Context())
	for _, s := range settings {
		_, err := conn.Exec(t.Context(), "ALTER SYSTEM SET "+s)
		world.Must(t, err)
	}
	_, err = conn.Exec(t.Context(), "SELECT pg_reload_conf()")
	world.Must(t, err)
}

// analysed counts the tables of ours that have statistics.
func (w *installation) analysed() (n int) {
	w.T.Helper()
	conn, err := pgx.Connect(w.T.Context(), w.DB.Owner)
	world.Must(w.T, err)
	defer conn.Close(w.T.Context())
	world.Must(w.T, conn.QueryRow(w.T.Context(), "SELECT count(DISTINCT tablename) FROM pg_stats WHERE schemaname = 'public'").Scan(&n))
	return n
}
