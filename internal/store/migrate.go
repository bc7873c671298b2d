package store

import (
	"context"
	"errors"
	"fmt"
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

// Migrate brings the database to the newest schema and returns the versions before and
// after. The URL is of a superuser, or of a role that may create roles and owns the
// database, or of a member of fairlead_owner where the roles exist. It creates missing
// roles and sets no passwords. Any number of processes may call it at once: one works,
// the others wait and find nothing to do.
func Migrate(ctx context.Context, ownerURL string) (from, to uint, err error) {
	err = withMigrator(ctx, ownerURL, func(m *migrate.Migrate) error {
		if from, err = versionOf(m); err != nil {
			return err
		}
		if from > migrations.Latest() { // a newer program was here: schemas only expand, so it serves us
			to = from
			return nil
		}
		if err := m.Up(); err != nil && !errors.Is(err, migrate.ErrNoChange) {
			return err
		}
		if to, err = versionOf(m); err == nil && to < migrations.Latest() {
			err = context.Cause(ctx) // stopped between two migrations
		}
		return err
	})
	if err != nil {
		return from, to, fmt.Errorf("migrate the database: %w", kind(err))
	}
	return from, to, nil
}

// withMigrator calls work while this process alone may migrate the database.
func withMigrator(ctx context.Context, url string, work func(*migrate.Migrate) error) error {
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("%w: the URL cannot be read", fleet.ErrInvalid)
	}
	conn, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // closing gives the lock back
	if err := lockMigrations(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, migrations.Roles); err != nil {
		return fmt.Errorf("create the roles: %w", err)
	}
	m, err := newMigrator(conf.Copy())
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { m.GracefulStop <- true })
	err = work(m)
	stop()
	source, database := m.Close()
	return errors.Join(err, source, database)
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
