package store_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/migrations"
)

func migrated(t *testing.T, url string) store.Migrated {
	t.Helper()
	done, err := store.Migrate(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	db := storetest.Empty(t)
	ctx := t.Context()
	if v, err := store.SchemaVersion(ctx, db.Owner); err != nil || v != 0 {
		t.Fatalf("an empty database is at %d, %v", v, err)
	}
	latest := migrations.Latest()
	if d := cmp.Diff(store.Migrated{To: latest, Functions: true}, migrated(t, db.Owner)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(store.Migrated{From: latest, To: latest}, migrated(t, db.Owner)); d != "" {
		t.Error("again:", d)
	}
	if v, err := store.SchemaVersion(ctx, db.App); err != nil || v != latest {
		t.Fatalf("the app sees version %d, %v", v, err)
	}
}

func TestEightMigrateAtOnce(t *testing.T) {
	t.Parallel()
	db := storetest.Empty(t)
	var wg sync.WaitGroup
	var tables, functions atomic.Int64
	for range 8 {
		wg.Go(func() {
			done, err := store.Migrate(t.Context(), db.Owner)
			if err != nil || done.To != migrations.Latest() {
				t.Errorf("%+v: %v", done, err)
			}
			if done.From == 0 {
				tables.Add(1)
			}
			if done.Functions {
				functions.Add(1)
			}
		})
	}
	wg.Wait()
	if tables.Load() != 1 || functions.Load() != 1 {
		t.Errorf("%d made the tables, %d the functions", tables.Load(), functions.Load())
	}
	db.Store(t) // opens
}

// Many databases of one cluster share the roles.
func TestMigrateSeveralDatabasesAtOnce(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 4 {
		db := storetest.Empty(t)
		wg.Go(func() {
			if _, err := store.Migrate(t.Context(), db.Owner); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestMigrateWaitsForTheLockAndGivesUp(t *testing.T) {
	t.Parallel()
	db := storetest.Empty(t)
	conn := db.Connect(t, db.Owner)
	defer conn.Close(context.Background()) //nolint:errcheck // gives the lock back
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(store.MigrationLock)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := store.Migrate(ctx, db.Owner)
	(&world{T: t}).is(err, fleet.ErrUnavailable)
}

// A newer program has been here: its schema serves us, and we leave it alone.
func TestMigrateToleratesANewerSchema(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, `UPDATE schema_migrations SET version = 9999`)
	db.Exec(t, `UPDATE schema_contents SET version = 9999, hash = 'newer'`)
	if d := cmp.Diff(store.Migrated{From: 9999, To: 9999}, migrated(t, db.Owner)); d != "" {
		t.Error(d)
	}
	db.Store(t) // opens
}

// Numbers that ran with other contents, and a database of before contents were kept.
func TestMigrateRefusesOtherMigrations(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"an edited file": `UPDATE schema_contents SET hash = 'other' WHERE what = 'tables'`,
		"an older line":  `DROP TABLE schema_contents`,
	} {
		db := storetest.New(t)
		db.Exec(t, change)
		_, err := store.Migrate(t.Context(), db.Owner)
		if (&world{T: t}).is(err, fleet.ErrConflict); err != nil && !strings.Contains(err.Error(), "make a new one") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A process that died between the tables and the functions: no server starts, and the next
// one goes on.
func TestMigrateGoesOnWhereAnotherStopped(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, `DELETE FROM schema_contents`)
	refused(t, db.App, fleet.ErrUnavailable, "run the migrations")
	if d := cmp.Diff(store.Migrated{From: migrations.Latest(), To: migrations.Latest(), Functions: true}, migrated(t, db.Owner)); d != "" {
		t.Error(d)
	}
	db.Store(t) // opens
}

// A superuser is not needed where the roles exist.
func TestMigrateWithoutSuperuser(t *testing.T) {
	t.Parallel()
	db := storetest.Empty(t)
	storetest.New(t) // the roles exist
	db.Exec(t, `CREATE ROLE test_dba LOGIN`)
	db.Exec(t, `GRANT fairlead_owner TO test_dba`)
	db.Exec(t, `ALTER DATABASE `+db.Name+` OWNER TO test_dba`)
	if done := migrated(t, as(t, db.Owner, "test_dba", "")); done.To != migrations.Latest() {
		t.Fatalf("%+v", done)
	}
	db.Store(t)     // opens
	db.NodeStore(t) // opens
}
