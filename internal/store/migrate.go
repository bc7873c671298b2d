package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/golang-migrate/migrate/v4"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"fairlead/internal/fleet"
	"fairlead/migrations"
)

const (
	ownerRole = "fairlead_owner"
	// migrationLock is our own advisory lock, taken before the library's: the library
	// waits without end for its own, and a waiter that is abandoned may keep it.
	migrationLock = 0x666c6565746d6967 // "fleetmig"
	lockPoll      = 50 * time.Millisecond
	lockPatience  = 2 * time.Minute
)

// Migrated is what Migrate did.
type Migrated struct {
	From, To  uint // the version of the tables
	Functions bool // functions, triggers and the rights to them were laid anew
	// Events is how many of a restored dump had places in the order of another Postgres' transactions.
	Events int64
}

// Migrate brings the database to the newest schema. The URL is of a superuser, or of a
// role that may create roles and owns the database, or of a member of fairlead_owner where
// the roles exist. It creates missing roles and sets no passwords. Any number of processes
// may call it at once: one works, the others wait and find nothing to do. A database that a
// newer program has migrated is left as it is; one that was made from other migrations than
// this program's is fleet.ErrConflict.
func Migrate(ctx context.Context, ownerURL string) (done Migrated, err error) {
	err = withMigrator(ctx, ownerURL, func(conn *pgx.Conn, m *migrate.Migrate) error {
		done, err = bringUp(ctx, conn, m)
		return err
	})
	if err != nil {
		return done, fmt.Errorf("migrate the database: %w", kind(err))
	}
	return done, nil
}

// MakeRoles makes the roles that are missing, which belong to the cluster, and nothing else: a dump is restored into a database that
// has nothing yet, on a cluster that has them. The URL is as that of Migrate.
func MakeRoles(ctx context.Context, ownerURL string) error {
	if err := asOwner(ctx, ownerURL, func(*pgx.Conn, *pgx.ConnConfig) error { return nil }); err != nil {
		return fmt.Errorf("make the roles: %w", kind(err))
	}
	return nil
}

func bringUp(ctx context.Context, conn *pgx.Conn, m *migrate.Migrate) (done Migrated, err error) {
	if done.From, err = versionOf(m); err != nil {
		return done, err
	}
	done.To = done.From
	if err := ours(ctx, conn, done.From); err != nil {
		return done, err
	}
	if done.From > migrations.Latest() { // a newer program was here: schemas only expand, so it serves us
		return done, nil
	}
	if err := m.Up(); err != nil && !errors.Is(err, migrate.ErrNoChange) {
		return done, err
	}
	if done.To, err = versionOf(m); err != nil {
		return done, err
	}
	if done.To < migrations.Latest() {
		return done, context.Cause(ctx) // stopped between two migrations
	}
	if done.Functions, err = layFunctions(ctx, conn); err != nil {
		return done, err
	}
	done.Events, err = placeEvents(ctx, conn)
	return done, err
}

// firstTransaction is of no event that a Postgres wrote: those of its installation have it and the next ones.
const firstTransaction = 3

// placeEvents puts events of transactions that this Postgres has not begun before all others: pg_restore writes them as they were
// in the one that was dumped. Those who follow would not see them until this Postgres has come that far, and then as new ones. It costs one
// look-up by key for each fleet.
func placeEvents(ctx context.Context, conn *pgx.Conn) (int64, error) {
	done, err := conn.Exec(ctx, `
		WITH restored AS MATERIALIZED (
		  SELECT f.tenant_id, f.id FROM public.fleets f, LATERAL (
		    SELECT e.xact FROM public.node_events e WHERE e.tenant_id = f.tenant_id AND e.fleet_id = f.id ORDER BY e.xact DESC LIMIT 1) newest
		   WHERE newest.xact >= public.events_end())
		UPDATE public.node_events e SET xact = $1::text::xid8 FROM restored f
		 WHERE e.tenant_id = f.tenant_id AND e.fleet_id = f.id AND e.xact >= public.events_end()`, strconv.Itoa(firstTransaction))
	if err != nil {
		return 0, fmt.Errorf("place the events of a restored dump: %w", err)
	}
	return done.RowsAffected(), nil
}

// ours refuses a database at version from, of which the migrations that ran are not those
// that this program has under their numbers.
func ours(ctx context.Context, conn *pgx.Conn, from uint) error {
	if from == 0 {
		return nil
	}
	c, err := readContents(ctx, conn)
	if err != nil {
		return err
	}
	if !c.there || c.version != 0 && c.version <= migrations.Latest() && c.tables != migrations.TablesHash(c.version) {
		return fmt.Errorf("%w: it was made from other migrations than those of this program: make a new one", fleet.ErrConflict)
	}
	return nil
}

// errPooledMigration: a pooler would keep the lock, or the role, for whoever comes next.
var errPooledMigration = fmt.Errorf("the URL leads through a connection pooler: migrations need a direct way to Postgres: %w", fleet.ErrInvalid)

// withMigrator calls work while this process alone may migrate the database, which the
// connection sees to. Both act as the owner of the schema.
func withMigrator(ctx context.Context, url string, work func(*pgx.Conn, *migrate.Migrate) error) error {
	return asOwner(ctx, url, func(conn *pgx.Conn, conf *pgx.ConnConfig) error {
		m, err := newMigrator(conf.Copy())
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { m.GracefulStop <- true })
		err = work(conn, m)
		stop()
		source, database := m.Close()
		return errors.Join(err, source, database)
	})
}

// asOwner makes the roles and calls work as the owner of the schema, while this process alone may do so.
func asOwner(ctx context.Context, url string, work func(*pgx.Conn, *pgx.ConnConfig) error) error {
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("%w: the URL cannot be read", fleet.ErrInvalid)
	}
	writable(&conf.Config)
	conn, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // closing gives the lock back
	if through, err := pooled(ctx, conn); err != nil || through {
		return cmp.Or(err, errPooledMigration)
	}
	if err := lockMigrations(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, migrations.Roles); err != nil {
		return fmt.Errorf("create the roles: %w: %w", errOwner, kind(err))
	}
	if _, err := conn.Exec(ctx, "SET ROLE "+ownerRole); err != nil {
		return fmt.Errorf("%w: %w", errOwner, kind(err))
	}
	return work(conn, conf)
}

func lockMigrations(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		var mine bool
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, int64(migrationLock)).Scan(&mine); err != nil {
			return fmt.Errorf("wait for another migration: %w", err)
		}
		if mine {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another migration: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// newMigrator acts as the owner of the schema, whoever logs in, so that every table
// belongs to one role.
func newMigrator(conf *pgx.ConnConfig) (*migrate.Migrate, error) {
	conf.RuntimeParams["role"] = ownerRole
	db := stdlib.OpenDB(*conf)
	driver, err := migratepgx.WithInstance(db, &migratepgx.Config{SchemaName: "public"})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	m, err := migrate.NewWithInstance("iofs", files, "pgx5", driver)
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	return m, nil
}

func versionOf(m *migrate.Migrate) (uint, error) {
	v, dirty, err := m.Version()
	if errors.Is(err, migrate.ErrNilVersion) {
		return 0, nil
	}
	if err == nil && dirty {
		err = fmt.Errorf("%w: migration %d has failed half-way: repair the schema, then set the version", fleet.ErrConflict, v)
	}
	return v, err
}
