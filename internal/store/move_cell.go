package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/migrations"
)

const (
	movePoll = 20 * time.Millisecond // of what the source has under way
	// writersPatience is longer than any write of ours may take.
	writersPatience = 2 * mostTimeout
)

// cell is a database that a tenant leaves or comes to, as the owner of its tables.
type cell struct {
	name  string // in words, as "the source eu-1"
	conn  *pgx.Conn
	place string     // of the tenant; "": it has none
	since *time.Time // that its place is so, or when the move began that it is leaving, gone or arriving with
}

func (c *cell) serves() bool { return c.place == "here" || c.place == "leaving" }

func (c *cell) String() string {
	return cmp.Or(map[string]string{"here": "served", "": "not there"}[c.place], c.place)
}

// openCell connects, and refuses a schema that is not this program's: it says which rows there are.
func openCell(ctx context.Context, url string) (*cell, error) {
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL cannot be read", fleet.ErrInvalid)
	}
	writable(&conf.Config)
	for name, value := range map[string]string{
		"application_name": "fairlead-move", "role": ownerRole, "search_path": "pg_catalog, public, pg_temp", "statement_timeout": "0", "lock_timeout": "30s",
		"idle_in_transaction_session_timeout": "0", "synchronous_commit": "on",
		// Both cells write the same values as the same texts.
		"timezone": "UTC", "datestyle": "ISO", "intervalstyle": "postgres", "bytea_output": "hex", "extra_float_digits": "3", "client_encoding": "UTF8",
	} {
		conf.RuntimeParams[name] = value
	}
	conn, err := connect(ctx, conf)
	if err != nil {
		return nil, err
	}
	c := &cell{conn: conn}
	if err := c.fit(ctx); err != nil {
		c.close(ctx)
		return nil, err
	}
	return c, nil
}

func (c *cell) fit(ctx context.Context) error {
	if through, err := pooled(ctx, c.conn); err != nil || through {
		return cmp.Or(err, errPooledMigration)
	}
	is, err := readContents(ctx, c.conn)
	if err != nil {
		return err
	}
	if is.version != migrations.Latest() || is.tables != migrations.TablesHash(is.version) || is.functions != migrations.FunctionsHash() {
		return fmt.Errorf("%w: its schema is not this program's: run the migrations of one release on both cells first", fleet.ErrConflict)
	}
	return nil
}

func (c *cell) close(ctx context.Context) { hangUp(ctx, c.conn) }

// claim keeps other moves of the tenant away until the connection ends. What this one writes is of the tenant's transactions.
func (c *cell) claim(ctx context.Context, t fleet.TenantID) error {
	var mine bool
	err := c.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('move of ' || set_config('app.tenant_id', $1, false), 0))`, t.String()).Scan(&mine)
	if err == nil && !mine {
		err = fmt.Errorf("%w: another process moves the tenant", fleet.ErrConflict)
	}
	return err
}

// reading calls work with one snapshot of the cell.
func (c *cell) reading(ctx context.Context, work func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, c.conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, work)
}

// arriving calls work in a transaction whose rows bring their events and links with them.
func (c *cell) arriving(ctx context.Context, work func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT set_config('fairlead.arriving', 'on', true)`); err != nil {
			return err
		}
		return work(tx)
	})
}

// writersNow are the transactions that hold a table of writes for writing: one that has found the tenant here before it was leaving is among them.
const writersNow = `
SELECT DISTINCT l.virtualtransaction || ' ' || coalesce(l.pid, 0) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
 WHERE l.locktype = 'relation' AND l.granted AND l.mode = 'RowExclusiveLock' AND l.pid IS DISTINCT FROM pg_backend_pid()
   AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
   AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY (tables_of_writes())`

// waitForWriters waits until the transactions have ended that were writing when it was called. Those that come later find the tenant leaving.
func (c *cell) waitForWriters(ctx context.Context) error {
	var writers []string
	if err := c.conn.QueryRow(ctx, `SELECT array_agg(w) FROM (`+writersNow+`) AS x (w)`).Scan(&writers); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writersPatience)
	defer cancel()
	return c.poll(ctx, "wait for writers", `SELECT NOT EXISTS (SELECT FROM (`+writersNow+`) AS x (w) WHERE w = ANY ($1::text[]))`, writers)
}

// drain waits until no server has a stream of the tenant, or has told that it ended, for so long at most. It returns those that are left.
func (c *cell) drain(ctx context.Context, t fleet.TenantID, most time.Duration) ([]OpenStreams, error) {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := c.poll(within, "wait for streams to end", `
		SELECT NOT EXISTS (SELECT FROM node_status s JOIN xds_servers x ON x.server_id = s.server_id AND x.lease_until > clock_timestamp() WHERE s.tenant_id = $1 AND s.connected)`, t.String())
	if err != nil && within.Err() != nil && ctx.Err() == nil && !c.conn.IsClosed() {
		return c.open(ctx, t) // what they have said until now is what is known
	}
	return nil, err
}

// poll asks until the answer is true. Its time is over between two questions: one that is cut off would close the connection.
func (c *cell) poll(ctx context.Context, what, sql string, args ...any) error {
	for {
		var done bool
		if err := c.conn.QueryRow(context.WithoutCancel(ctx), sql, args...).Scan(&done); err != nil || done {
			return err
		}
		wait(ctx, movePoll)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}
