package store_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

func refused(t *testing.T, url string, kind error, words string) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: url})
	if err == nil {
		s.Close()
		t.Fatalf("it opened; want %q", words)
	}
	(&world{T: t}).is(err, kind)
	if !strings.Contains(err.Error(), words) {
		t.Errorf("%v; want %q", err, words)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	db, empty := storetest.New(t), storetest.Empty(t)
	refused(t, db.Owner, fleet.ErrForbidden, "superuser")
	refused(t, empty.App, fleet.ErrUnavailable, "run the migrations")
	refused(t, "postgres://%zz", fleet.ErrInvalid, "URL")
	refused(t, "postgres://fairlead_app:hidden@127.0.0.1:1/x", fleet.ErrUnavailable, "open store")

	db.Exec(t, `UPDATE schema_migrations SET version = 1`)
	refused(t, db.App, fleet.ErrUnavailable, "is at version 1")
	db.Exec(t, `UPDATE schema_migrations SET version = 9999, dirty = true`)
	refused(t, db.App, fleet.ErrUnavailable, "half-way")
}

// TestOpenTellsAMigrationThatRunsFromOneThatFailed: the one that runs has its lock.
func TestOpenTellsAMigrationThatRunsFromOneThatFailed(t *testing.T) {
	t.Parallel()
	db, empty := storetest.New(t), storetest.Empty(t)
	for _, d := range []*storetest.DB{db, empty} {
		conn, err := pgx.Connect(t.Context(), d.Owner)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background()) //nolint:errcheck // it ends with the test
		if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(store.MigrationLock)); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := store.Open(t.Context(), store.Config{URL: db.App}); err != nil {
		t.Errorf("a migration that has nothing to do keeps a server from starting: %v", err)
	} else {
		s.Close()
	}
	refused(t, empty.App, fleet.ErrUnavailable, "a migration is running")
	for _, state := range []string{`version = 3, dirty = true`, `version = 3, dirty = false`} {
		db.Exec(t, `UPDATE schema_migrations SET `+state)
		refused(t, db.App, fleet.ErrUnavailable, "a migration is running: it has come to version 3")
	}
}

// as is a URL with another role, or another setting of the session.
func as(t *testing.T, to, role, setting string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	if role != "" {
		u.User = url.User(role)
	}
	if setting != "" {
		u.RawQuery += "&" + setting
	}
	return u.String()
}

// Roles belong to the cluster that all tests share, so these have names of their own.
func TestOpenRefusesRoles(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	for _, r := range []struct{ name, make, words string }{
		{"test_bypass", "CREATE ROLE test_bypass LOGIN BYPASSRLS IN ROLE fairlead_app", "bypasses"},
		{"test_owner", "CREATE ROLE test_owner LOGIN IN ROLE fairlead_owner, fairlead_app", "owns the tables"},
		{"test_both", "CREATE ROLE test_both LOGIN IN ROLE fairlead_app, fairlead_node", "exactly one"},
		{"test_none", "CREATE ROLE test_none LOGIN IN ROLE pg_read_all_data", "exactly one"},
		{"test_endless", "CREATE ROLE test_endless LOGIN IN ROLE fairlead_app", "statement_timeout"},
	} {
		db.Exec(t, r.make)
		refused(t, as(t, db.App, r.name, ""), fleet.ErrForbidden, r.words)
	}
	refused(t, as(t, db.App, "", "synchronous_commit=off"), fleet.ErrForbidden, "synchronous_commit")
	db.Open(t, store.Config{URL: as(t, db.App, "", "synchronous_commit=off"), AllowUnsafe: true})
	db.Open(t, store.Config{URL: as(t, db.Node, "", "synchronous_commit=off")}) // writes nothing that is acknowledged
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	for role, url := range map[string]string{"app": db.App, "node": db.Node} {
		conn := db.Connect(t, url)
		for _, setting := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
			if v := strings1(t, conn, `SELECT current_setting($1)`, setting)[0]; v == "0" {
				t.Errorf("%s of role %s is off", setting, role)
			}
		}
		_ = conn.Close(t.Context())
	}
}

// Where the database is away writes answer within 2 s, whatever kind of away.
func TestAwayIsUnavailableInTime(t *testing.T) {
	t.Parallel()
	t.Run("SilentConnection", func(t *testing.T) {
		w := setup(t)
		p := newProxy(t, w.db.App, nil)
		s, patient := w.db.Open(t, store.Config{URL: p.url, Patience: 1}), w.db.Open(t, store.Config{URL: p.url})
		write := func(s *store.Store) error {
			_, err := s.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "a", time.Now().String())}})
			return err
		}
		w.ok(write(patient))
		p.darken()
		for what, call := range map[string]func() error{
			"write": func() error { return write(s) }, "ping": func() error { return s.Ping(t.Context()) },
			"create": func() error { _, err := s.CreateFleet(t.Context(), w.tenant, actor, "x", ""); return err },
		} {
			storetest.Within(t, 2500*time.Millisecond, what, func() { w.is(call(), fleet.ErrUnavailable) })
		}
		p.cut() // else closing the store waits for answers
	})
	t.Run("TerminatedConnection", func(t *testing.T) {
		w := setup(t)
		w.apply(put(fleet.Cluster, "a", "A"))
		terminate(t, w.db, "fairlead")
		var err error
		until(t, "writes work again", func() bool {
			if _, err = w.try(put(fleet.Cluster, "a", "B")); err != nil {
				w.is(err, fleet.ErrUnavailable)
			}
			return err == nil
		})
	})
	t.Run("ClosedStore", func(t *testing.T) {
		w := setup(t)
		s, err := store.Open(t.Context(), store.Config{URL: w.db.App})
		w.ok(err)
		s.Close()
		w.is(s.Ping(t.Context()), fleet.ErrUnavailable)
	})
}
