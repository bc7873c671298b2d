package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/migrations"
)

const (
	layAttempts = 20
	layPause    = 250 * time.Millisecond // between two attempts: those who waited behind the first get their turn
)

// contents is what the database says that it was made from. It is zero before the first
// migration, and all but there between the first migration and the first functions.
type contents struct {
	there                       bool
	version                     uint   // of the tables, when the functions were laid
	tables, functions, triggers string // hashes
}

func readContents(ctx context.Context, conn *pgx.Conn) (c contents, err error) {
	err = conn.QueryRow(ctx, `SELECT to_regclass('public.schema_contents') IS NOT NULL`).Scan(&c.there)
	if err != nil || !c.there {
		return c, err
	}
	var version int64
	err = conn.QueryRow(ctx, `
		SELECT coalesce(max(version), 0), coalesce(max(hash) FILTER (WHERE what = 'tables'), ''),
		       coalesce(max(hash) FILTER (WHERE what = 'functions'), ''), coalesce(max(hash) FILTER (WHERE what = 'triggers'), '')
		  FROM public.schema_contents`).Scan(&version, &c.tables, &c.functions, &c.triggers)
	c.version = uint(version) //nolint:gosec // versions are small and positive
	return c, err
}

// layFunctions replaces all functions and the rights to them, and the triggers, if the
// database has others than this program's or had them laid upon older tables, and tells
// whether. Only triggers lock tables; it waits for these in short turns, because behind one
// that waits every writer waits.
func layFunctions(ctx context.Context, conn *pgx.Conn) (bool, error) {
	c, err := readContents(ctx, conn)
	if err != nil || c.version == migrations.Latest() && c.functions == migrations.FunctionsHash() {
		return false, err
	}
	l := layer{triggers: c.version != migrations.Latest() || c.triggers != migrations.TriggersHash()}
	for attempt := 1; ; attempt++ {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return l.lay(ctx, tx) })
		var pg *pgconn.PgError
		switch {
		case err == nil:
			return true, nil
		case !errors.As(err, &pg) || attempt == layAttempts:
			return false, err
		case pg.Code == "42P13" && !l.clear: // one has other results, or other names for its parameters
			l = layer{triggers: true, clear: true}
			continue
		case pg.Code != "55P03" && pg.Code != "40P01": // a lock, a deadlock
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(layPause):
		}
	}
}

// layer lays functions in place, so that no call in another session misses one, and drops
// what the files do not define any more.
type layer struct {
	triggers bool // these too
	clear    bool // drop all that there are first, for those that cannot be replaced
}

func (l layer) lay(ctx context.Context, tx pgx.Tx) error {
	// Functions name each other across files, so their bodies are not looked at until they run.
	files := []migrations.File{{Name: "settings", SQL: `SET LOCAL lock_timeout = '500ms'; SET LOCAL check_function_bodies = off`}}
	if l.clear {
		files = append(files, migrations.File{Name: "all", SQL: dropTriggers}, migrations.File{Name: "all", SQL: dropFunctions})
	}
	files = append(files, migrations.Functions()...)
	if l.triggers {
		files = append(files, migrations.File{Name: "triggers", SQL: migrations.Triggers}, migrations.File{Name: "old triggers", SQL: dropTriggers})
	}
	files = append(files, migrations.File{Name: "old functions", SQL: dropFunctions}, migrations.File{Name: "rights", SQL: migrations.Rights})
	for _, f := range files {
		if _, err := tx.Exec(ctx, f.SQL); err != nil {
			return fmt.Errorf("lay %s: %w", f.Name, err)
		}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO schema_contents (what, version, hash) VALUES ('tables', $1, $2), ('functions', $1, $3), ('triggers', $1, $4)
		ON CONFLICT (what) DO UPDATE SET version = excluded.version, hash = excluded.hash`,
		int64(migrations.Latest()), migrations.TablesHash(migrations.Latest()), migrations.FunctionsHash(), migrations.TriggersHash()) //nolint:gosec // small
	return err
}

// dropTriggers and dropFunctions drop what of the owner's this transaction has neither
// created nor replaced: its rows in the catalogue are of an older one. Functions that a
// table depends upon stay, as its migration declares them, and those of extensions.
const (
	dropTriggers = `
DO $$
DECLARE
  v_drop text;
BEGIN
  FOR v_drop IN
    SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relowner = current_user::regrole AND NOT t.tgisinternal
       AND t.xmin <> pg_current_xact_id()::xid
  LOOP
    EXECUTE v_drop;
  END LOOP;
END $$`
	dropFunctions = `
DO $$
DECLARE
  v_drop text;
BEGIN
  FOR v_drop IN
    SELECT format('DROP ROUTINE %s', p.oid::regprocedure) FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole AND p.xmin <> pg_current_xact_id()::xid
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid
                          AND d.classid NOT IN ('pg_proc'::regclass, 'pg_trigger'::regclass))
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE v_drop;
  END LOOP;
END $$`
)
