package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/migrations"
)

// fitness is what Open wants to know of a database and of the role that it gets.
type fitness struct {
	role                     string
	super, bypass            bool
	owner, app, node         bool // member of fairlead_...
	syncCommit               string
	statementTimeout, idleTx string
	version                  uint
	dirty                    bool
	migrating                bool   // somebody holds the lock of migrations
	functions                string // their hash
	pooled                   bool
}

const selectFitness = `
SELECT current_user::text, r.rolsuper, r.rolbypassrls,
       coalesce(pg_has_role(current_user, to_regrole('fairlead_owner')::oid, 'MEMBER'), false),
       coalesce(pg_has_role(current_user, to_regrole('fairlead_app')::oid, 'MEMBER'), false),
       coalesce(pg_has_role(current_user, to_regrole('fairlead_node')::oid, 'MEMBER'), false),
       current_setting('synchronous_commit'), current_setting('statement_timeout'),
       current_setting('idle_in_transaction_session_timeout')
  FROM pg_roles r WHERE r.rolname = current_user`

func inspect(ctx context.Context, conf *pgx.ConnConfig, p patience) (f fitness, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.of(readTimeout))
	defer cancel()
	conf = conf.Copy()
	conf.DefaultQueryExecMode = pgx.QueryExecModeExec // it may lead through a pooler
	conn, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return f, err
	}
	defer conn.Close(ctx) //nolint:errcheck // it has only been read from
	return fitnessOf(ctx, conn)
}

func fitnessOf(ctx context.Context, conn *pgx.Conn) (f fitness, err error) {
	err = conn.QueryRow(ctx, selectFitness).Scan(&f.role, &f.super, &f.bypass, &f.owner, &f.app, &f.node,
		&f.syncCommit, &f.statementTimeout, &f.idleTx)
	if err != nil {
		return f, err
	}
	if f.pooled, err = pooled(ctx, conn); err != nil {
		return f, err
	}
	// The lock is looked at on both sides: a migration may end, or begin, in between.
	before, err := migrationRuns(ctx, conn)
	if err != nil {
		return f, err
	}
	if f.version, f.dirty, err = schemaVersion(ctx, conn); err != nil {
		return f, err
	}
	if f.migrating, err = migrationRuns(ctx, conn); err != nil {
		return f, err
	}
	f.migrating = f.migrating || before
	c, err := readContents(ctx, conn)
	f.functions = c.functions
	return f, err
}

// fit says what is wrong, in a sentence that says what to do.
func (f fitness) fit(allowUnsafe bool) error {
	if f.super || f.bypass {
		return unfit(fleet.ErrForbidden, "the role is superuser or bypasses row-level security: use fairlead_app or fairlead_node")
	}
	if err := f.migrated(); err != nil {
		return err
	}
	return f.held(allowUnsafe)
}

// migrated says what is wrong with the schema.
func (f fitness) migrated() error {
	behind := f.version < migrations.Latest() || f.dirty || f.version == migrations.Latest() && f.functions != migrations.FunctionsHash()
	switch {
	case behind && f.migrating && f.version == 0:
		return unfit(fleet.ErrUnavailable, "a migration is running: it has just begun")
	case behind && f.migrating:
		return unfit(fleet.ErrUnavailable, "a migration is running: it has come to version %d, this program needs %d", f.version, migrations.Latest())
	case f.version == 0:
		return unfit(fleet.ErrUnavailable, "the database has no schema yet: run the migrations")
	case f.dirty:
		return unfit(fleet.ErrUnavailable, "migration %d has failed half-way: repair the schema and run the migrations", f.version)
	case f.version < migrations.Latest():
		return unfit(fleet.ErrUnavailable, "the schema is at version %d, this program needs %d: run the migrations", f.version, migrations.Latest())
	case f.version == migrations.Latest() && f.functions != migrations.FunctionsHash():
		// Above that version they are a newer program's, which keeps those that this one calls.
		return unfit(fleet.ErrUnavailable, "the functions of the database are not those of this program: run the migrations")
	}
	return nil
}

// held says what is wrong with a role that is no superuser.
func (f fitness) held(allowUnsafe bool) error {
	switch {
	case f.owner:
		return unfit(fleet.ErrForbidden, "the role owns the tables: use fairlead_app or fairlead_node")
	case f.app == f.node:
		return unfit(fleet.ErrForbidden, "the role must be a member of exactly one of fairlead_app and fairlead_node")
	case allowUnsafe:
		return nil
	case f.app && f.syncCommit == "off":
		return unfit(fleet.ErrForbidden, "synchronous_commit is off for the role: a crash would lose acknowledged writes")
	case f.statementTimeout == "0" || f.idleTx == "0":
		return unfit(fleet.ErrForbidden, "the role has no statement_timeout or no idle_in_transaction_session_timeout: set them with ALTER ROLE")
	}
	return nil
}

// selectMigrating finds the advisory lock that Migrate holds while it works.
const selectMigrating = `
SELECT EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
   AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
   AND l.classid::bigint = $1::bigint >> 32 AND l.objid::bigint = $1::bigint & 4294967295)`

func migrationRuns(ctx context.Context, conn *pgx.Conn) (runs bool, err error) {
	err = conn.QueryRow(ctx, selectMigrating, int64(migrationLock)).Scan(&runs)
	return runs, err
}

// schemaVersion reads what the migrations have left; 0 before the first.
func schemaVersion(ctx context.Context, conn *pgx.Conn) (version uint, dirty bool, err error) {
	var there bool
	if err := conn.QueryRow(ctx, `SELECT to_regclass('public.schema_migrations') IS NOT NULL`).Scan(&there); err != nil || !there {
		return 0, false, err
	}
	var v int64
	rows, err := conn.Query(ctx, `SELECT version, dirty FROM public.schema_migrations`)
	if err != nil {
		return 0, false, err
	}
	_, err = pgx.ForEachRow(rows, []any{&v, &dirty}, func() error { return nil })
	return uint(v), dirty, err //nolint:gosec // versions are small and positive
}
