package store_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fairlead/internal/localpg"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// A standby takes over that lacks the last transactions, and gives their numbers again. Who follows from a place among them misses nothing, and is told nothing twice.
func TestAFailoverHidesNoEvents(t *testing.T) {
	t.Parallel()
	bin, err := localpg.Find(t.Context(), localpg.FindConfig{Fetch: true})
	if err != nil {
		t.Fatal(err)
	}
	postgres, err := localpg.Start(t.Context(), localpg.Config{Bin: bin, Ephemeral: true, Settings: map[string]string{"synchronous_commit": "on", "wal_level": "replica", "restore_command": "false"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = postgres.Stop(t.Context()) })
	db := &storetest.DB{App: postgres.URL("postgres", "fairlead_app"), Node: postgres.URL("postgres", "fairlead_node"), Owner: postgres.URL("postgres", localpg.Superuser)}
	if _, err := store.Migrate(t.Context(), db.Owner); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, db: db, app: db.Store(t), tenant: db.Tenant(t)}
	w.fleet = db.Fleet(t, w.tenant)
	event := func(node string) {
		t.Helper()
		conn := db.Connect(t, db.Owner)
		defer conn.Close(t.Context()) //nolint:errcheck // nothing is pending
		_, err := conn.Exec(t.Context(), insertEvent, w.tenant.String(), w.fleet.String(), node, 0)
		w.ok(err)
	}
	data, standby := filepath.Join(postgres.DataDir(), "data"), filepath.Join(postgres.DataDir(), "standby")
	copies := func(from, to string) {
		t.Helper()
		postgres.Kill()
		w.ok(os.RemoveAll(to))
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("copy the data: %v: %s", err, out)
		}
	}
	restart := func() {
		t.Helper()
		w.ok(postgres.Restart(t.Context()))
		until(t, "the database takes writes", func() bool {
			conn := db.Connect(t, db.Owner)
			defer conn.Close(t.Context()) //nolint:errcheck // it has only been read from
			var recovers bool
			w.ok(conn.QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&recovers))
			return !recovers && w.app.Ping(t.Context()) == nil
		})
	}
	event("before")
	copies(data, standby)
	restart()
	for range 50 {
		event("lost")
	}
	_, p := w.tail(store.EventPosition{})
	now, err := w.app.EventsSince(t.Context(), w.tenant, w.fleet, time.Time{})
	w.ok(err)

	w.ok(os.WriteFile(filepath.Join(standby, "recovery.signal"), nil, 0o644)) //nolint:gosec // Postgres's user reads it
	copies(standby, data)
	restart()
	event("after")
	for what, place := range map[string]store.EventPosition{"what was lost": p, "now": now} {
		if got, _ := w.tail(place); !slices.Equal(got, []string{"after"}) {
			t.Errorf("from %s on there is %v", what, got)
		}
	}
	if got, _ := w.tail(store.EventPosition{}); !slices.Equal(got, []string{"before", "after"}) {
		t.Errorf("in all there is %v", got)
	}
}
