package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// tables is the size of each table of the database, by name.
type tables map[string]tableSize

type tableSize struct {
	rows, heap, indexes int64 // rows that live; bytes, TOAST in heap
}

// tables counts rows, so that no statistics are needed.
func (w *world) tables() tables {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.db.owner)
	must(w.t, err)
	defer conn.Close(w.t.Context())
	rows, err := conn.Query(w.t.Context(), `
SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid),
       (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I', c.relname), false, true, '')))[1]::text::bigint
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'`)
	must(w.t, err)
	defer rows.Close()
	out := tables{}
	for rows.Next() {
		var name string
		var s tableSize
		must(w.t, rows.Scan(&name, &s.heap, &s.indexes, &s.rows))
		out[name] = s
	}
	must(w.t, rows.Err())
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
func (w *world) rows(table string) (n int64) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.db.owner)
	must(w.t, err)
	defer conn.Close(w.t.Context())
	must(w.t, conn.QueryRow(w.t.Context(), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&n))
	return n
}

// full reports whether a soak has its full size, or the one that every run of the tests can bear.
func full() bool { return os.Getenv("FAIRLEAD_SOAK") != "" }

// text asks the database for one value.
func (w *world) text(sql string, args ...any) (value string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.db.owner)
	must(w.t, err)
	defer conn.Close(w.t.Context())
	must(w.t, conn.QueryRow(w.t.Context(), sql, args...).Scan(&value))
	return value
}

// set changes settings of Postgres, such as "autovacuum = off", for connections that are open too.
func (w *world) set(t testing.TB, settings ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.db.owner)
	must(t, err)
	defer conn.Close(t.Context())
	for _, s := range settings {
		_, err := conn.Exec(t.Context(), "ALTER SYSTEM SET "+s)
		must(t, err)
	}
	_, err = conn.Exec(t.Context(), "SELECT pg_reload_conf()")
	must(t, err)
}

// analysed counts the tables of ours that have statistics.
func (w *world) analysed() (n int) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.db.owner)
	must(w.t, err)
	defer conn.Close(w.t.Context())
	must(w.t, conn.QueryRow(w.t.Context(), "SELECT count(DISTINCT tablename) FROM pg_stats WHERE schemaname = 'public'").Scan(&n))
	return n
}
