package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/migrations"
)

func TestMigrateUpDownUp(t *testing.T) {
	t.Parallel()
	db := storetest.Empty(t)
	ctx := t.Context()
	for range 2 {
		if v, err := store.SchemaVersion(ctx, db.Owner); err != nil || v != 0 {
			t.Fatalf("an empty database is at %d, %v", v, err)
		}
		if from, to, err := store.Migrate(ctx, db.Owner); err != nil || from != 0 || to != migrations.Latest() {
			t.Fatalf("migrated from %d to %d, %v", from, to, err)
		}
		if from, to, err := store.Migrate(ctx, db.Owner); err != nil || from != to {
			t.Fatalf("migrated again from %d to %d, %v", from, to, err)
		}
		if v, err := store.SchemaVersion(ctx, db.App); err != nil || v != migrations.Latest() {
			t.Fatalf("the app sees version %d, %v", v, err)
		}
		if err := store.MigrateDown(ctx, db.Owner); err != nil {
			t.Fatal(err)
		}
		conn := db.Connect(t, db.Owner)
		left := strings1(t, conn, `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'schema_migrations'
			UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace`)
		_ = conn.Close(ctx)
		if len(left) > 0 {
			t.Fatalf("down leaves %v", left)
		}
	}
}

func TestEightMigrateAtOnce(t *testing.T) {
	t.Parallel()
	db := storetest.Empty(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	worked := 0
	for range 8 {
		wg.Go(func() {
			from, to, err := store.Migrate(t.Context(), db.Owner)
			if err != nil || to != migrations.Latest() {
				t.Errorf("from %d to %d: %v", from, to, err)
			}
			if from == 0 {
				mu.Lock()
				worked++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if worked != 1 {
		t.Errorf("%d did the work", worked)
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
			if _, _, err := store.Migrate(t.Context(), db.Owner); err != nil {
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
	_, _, err := store.Migrate(ctx, db.Owner)
	(&world{T: t}).is(err, fleet.ErrUnavailable)
}

// A newer program has been here: its schema serves us.
func TestMigrateToleratesANewerSchema(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, `UPDATE schema_migrations SET version = 9999`)
	if from, to, err := store.Migrate(t.Context(), db.Owner); err != nil || from != 9999 || to != 9999 {
		t.Errorf("from %d to %d: %v", from, to, err)
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
	if _, to, err := store.Migrate(t.Context(), as(t, db.Owner, "test_dba", "")); err != nil || to != migrations.Latest() {
		t.Fatalf("to %d: %v", to, err)
	}
	db.Store(t)     // opens
	db.NodeStore(t) // opens
}
