package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// movedTable is a table of tenants, as a move copies it.
type movedTable struct {
	name    string
	columns []string
	writes  bool // what it has is written by the tenant's API alone: see tables_of_writes
	whole   bool // its rows name each other, and come in one statement
}

// notMoved are the tables whose rows stay: what they say is of the source's servers alone, and node_status has it with it.
var notMoved = []string{"server_settled"}

// movedFrom is what a table's rows t are joined with and movedAs what its columns are in the target, where they are not what they are in the source. What a server
// of the source said of a node stands there as what one said that is no more (no_server), as sweep_server leaves it.
var (
	movedFrom = map[string]string{"node_status": `
  LEFT JOIN server_settled v ON v.tenant_id = t.tenant_id AND v.fleet_id = t.fleet_id AND v.server_id = t.server_id
  LEFT JOIN xds_servers x ON x.server_id = t.server_id`}
	movedAs = map[string]map[string]string{
		"nodes": {"served_by": `NULL::uuid`, "settled": `NULL::bigint`, "withheld": `NULL::jsonb`},
		"node_status": {"server_id": `no_server()`, "connected": `false`, "settled": `coalesce(t.settled, v.settled, 0)`, "since": endedAt,
			"streams": `0`, "clean": `t.clean AND NOT t.connected`, "duplicates": `0`},
	}
	movedOnce = map[string]string{"node_status": `DISTINCT ON (t.tenant_id, t.fleet_id, t.node_id) `}
	movedBy   = map[string]string{"node_status": `t.tenant_id, t.fleet_id, t.node_id, ` + endedAt + ` DESC, t.clean AND NOT t.connected, coalesce(t.settled, v.settled, 0)`}
)

const endedAt = `CASE WHEN t.connected THEN coalesce(least(x.lease_until, now()), t.since) ELSE t.since END`

// notCompared are columns that the target gives values of its own.
var notCompared = map[string]string{"node_events": "xact"}

// selectTables are the tables of tenants, with the columns that are stored and the other tables that theirs name.
const selectTables = `
SELECT c.relname::text, c.relname = ANY (tables_of_writes()),
       ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum),
       ARRAY(SELECT DISTINCT k.confrelid::regclass::text FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f')
  FROM pg_class c
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
   AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
 ORDER BY 1`

// tablesToMove are those that the catalogue has, each behind those that it names.
func tablesToMove(ctx context.Context, conn *pgx.Conn) ([]movedTable, error) {
	type found struct {
		movedTable
		names []string
	}
	rows, err := conn.Query(ctx, selectTables)
	if err != nil {
		return nil, err
	}
	left, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
		err = row.Scan(&f.name, &f.writes, &f.columns, &f.names)
		f.whole = slices.Contains(f.names, f.name)
		return f, err
	})
	if err != nil {
		return nil, err
	}
	var out []movedTable
	for len(left) > 0 {
		waits := func(f found) bool {
			return slices.ContainsFunc(left, func(o found) bool { return o.name != f.name && slices.Contains(f.names, o.name) })
		}
		next := slices.IndexFunc(left, func(f found) bool { return !waits(f) })
		if next < 0 {
			return nil, fmt.Errorf("%w: tables name each other in a circle", fleet.ErrInvalid)
		}
		if f := left[next]; !slices.Contains(notMoved, f.name) {
			out = append(out, f.movedTable)
		}
		left = slices.Delete(left, next, next+1)
	}
	return out, nil
}

// list is the columns' names.
func (t movedTable) list() string {
	quoted := make([]string, len(t.columns))
	for i, c := range t.columns {
		quoted[i] = pgx.Identifier{c}.Sanitize()
	}
	return strings.Join(quoted, ", ")
}

// source is the statement that reads the tenant's rows as they are to be in the target. COPY takes no parameters.
func (t movedTable) source(id fleet.TenantID) string {
	values := make([]string, len(t.columns))
	for i, c := range t.columns {
		values[i] = "t." + pgx.Identifier{c}.Sanitize()
		if as, other := movedAs[t.name][c]; other {
			values[i] = as + " AS " + pgx.Identifier{c}.Sanitize()
		}
	}
	sql := fmt.Sprintf(`SELECT %s%s FROM %s t %s WHERE t.tenant_id = '%s'`, movedOnce[t.name], strings.Join(values, ", "), pgx.Identifier{t.name}.Sanitize(), movedFrom[t.name], id)
	if by := movedBy[t.name]; by != "" {
		sql += ` ORDER BY ` + by
	}
	return sql
}

// digest counts rows and sums their hashes, in whatever order they come.
func (t movedTable) digest(rows string) string {
	var compared []string
	for _, c := range t.columns {
		if c != notCompared[t.name] {
			compared = append(compared, "r."+pgx.Identifier{c}.Sanitize())
		}
	}
	return fmt.Sprintf(`SELECT count(*), coalesce(sum(('x' || left(encode(sha256(convert_to(ROW(%s)::text, 'UTF8')), 'hex'), 15))::bit(60)::bigint::numeric), 0)::text FROM (%s) r`,
		strings.Join(compared, ", "), rows)
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// compare is fleet.ErrConflict where a table's rows in the target are not those of the source.
func (v *mover) compare(ctx context.Context, from, to querier, writes bool) error {
	for _, t := range v.tables {
		if t.writes != writes {
			continue
		}
		type sum struct {
			rows int64
			hash string
		}
		var is, want sum
		if err := from.QueryRow(ctx, t.digest(t.source(v.tenant))).Scan(&want.rows, &want.hash); err != nil {
			return fmt.Errorf("compare table %s: %w", t.name, err)
		}
		rows := fmt.Sprintf(`SELECT t.* FROM %s t WHERE t.tenant_id = '%s'`, pgx.Identifier{t.name}.Sanitize(), v.tenant)
		if err := to.QueryRow(ctx, t.digest(rows)).Scan(&is.rows, &is.hash); err != nil {
			return fmt.Errorf("compare table %s: %w", t.name, err)
		}
		if is != want {
			return fmt.Errorf("%w: table %s has %d rows in the target that are not the %d of the source", fleet.ErrConflict, t.name, is.rows, want.rows)
		}
	}
	return nil
}

// copyTables copies the tables of writes, or all others.
func (v *mover) copyTables(ctx context.Context, from, to pgx.Tx, writes bool) error {
	for _, t := range v.tables {
		if t.writes != writes {
			continue
		}
		l := &loader{ctx: ctx, to: to, table: t}
		if err := l.prepare(); err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, err)
		}
		_, err := from.Conn().PgConn().CopyTo(ctx, l, `COPY (`+t.source(v.tenant)+`) TO STDOUT`)
		if err == nil {
			err = l.flush(l.rows.Len())
		}
		if err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, err)
		}
		v.rows += l.done
	}
	return nil
}

// copyAtOnce is how many bytes of rows a statement inserts.
const copyAtOnce = 8 << 20

// loader inserts rows in COPY's text form as they come. They go by a table of the session's own: COPY itself does not write to a table with row-level security.
type loader struct {
	ctx   context.Context //nolint:containedctx // of one copy: Write has none
	to    pgx.Tx
	table movedTable
	rows  bytes.Buffer
	done  int64
}

func (l *loader) staged() string {
	return pgx.Identifier{"pg_temp", "arriving_" + l.table.name}.Sanitize()
}

func (l *loader) prepare() error {
	_, err := l.to.Exec(l.ctx, fmt.Sprintf(`CREATE TEMP TABLE %s (LIKE %s) ON COMMIT DROP`, pgx.Identifier{"arriving_" + l.table.name}.Sanitize(), pgx.Identifier{"public", l.table.name}.Sanitize()))
	return err
}

// Write takes rows: each ends with a line feed, and has no other.
func (l *loader) Write(p []byte) (int, error) {
	l.rows.Write(p)
	if l.table.whole || l.rows.Len() < copyAtOnce {
		return len(p), nil
	}
	return len(p), l.flush(bytes.LastIndexByte(l.rows.Bytes(), '\n') + 1)
}

// flush inserts the first n bytes.
func (l *loader) flush(n int) error {
	if n == 0 {
		return nil
	}
	if _, err := l.to.Exec(l.ctx, `TRUNCATE `+l.staged()); err != nil {
		return err
	}
	if _, err := l.to.Conn().PgConn().CopyFrom(l.ctx, bytes.NewReader(l.rows.Next(n)), fmt.Sprintf(`COPY %s (%s) FROM STDIN`, l.staged(), l.table.list())); err != nil {
		return err
	}
	done, err := l.to.Exec(l.ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM %s`, pgx.Identifier{"public", l.table.name}.Sanitize(), l.table.list(), l.table.list(), l.staged()))
	l.done += done.RowsAffected()
	return err
}
