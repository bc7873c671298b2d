package storetest

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/localpg"
	"fairlead/internal/store"
)

// DB is one test's database. It is thrown away with the process's cluster.
type DB struct {
	// App and Node are URLs of the two roles, Owner of the superuser, for what neither may
	// do: migrations, and looking behind the store's back.
	App, Node, Owner string
	// Name is the database's, in the process's cluster.
	Name string

	fixtures atomic.Int64
}

// New returns a migrated database without data.
func New(t testing.TB) *DB { return open(t, template()) }

// Empty returns a database without even a schema.
func Empty(t testing.TB) *DB { return open(t, "") }

// Alone returns a migrated database on a Postgres of its own, for tests that kill it. It
// stops with the test.
func Alone(t testing.TB) (*DB, *localpg.Server) {
	t.Helper()
	return AloneAs(t, localpg.Config{})
}

// AloneAs is Alone with a Postgres of this kind.
func AloneAs(t testing.TB, c localpg.Config) (*DB, *localpg.Server) {
	t.Helper()
	s, err := start(t.Context(), c)
	if s != nil {
		t.Cleanup(func() {
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatalf("a Postgres for the test: %v", err)
	}
	return onServer(s, template()), s
}

func open(t testing.TB, from string) *DB {
	t.Helper()
	s, name, err := clone(t.Context(), from)
	if err != nil {
		t.Fatalf("a database for the test: %v", err)
	}
	return onServer(s, name)
}

func onServer(s server, name string) *DB {
	return &DB{App: s.URL(name, "fairlead_app"), Node: s.URL(name, "fairlead_node"), Owner: s.URL(name, localpg.Superuser), Name: name}
}

// Store opens a store of the role app, closed with the test.
func (db *DB) Store(t testing.TB) *store.Store {
	return db.Open(t, store.Config{URL: db.App})
}

// NodeStore opens a store of the role node, closed with the test.
func (db *DB) NodeStore(t testing.TB) *store.Store {
	return db.Open(t, store.Config{URL: db.Node})
}

// Patience is by how much longer the calls of a store may take that a test opens, unless it says otherwise: the processors may be
// others' for seconds, and few tests are about that. A test of a limit says 1.
const Patience = 15

// Open opens a store, closed with the test.
func (db *DB) Open(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	c.Patience = cmp.Or(c.Patience, Patience)
	s, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Tenant makes a tenant.
func (db *DB) Tenant(t testing.TB) fleet.TenantID {
	t.Helper()
	s := db.opened(t)
	defer s.Close()
	return db.tenantBy(t, s)
}

// Fleet makes an empty fleet of the tenant.
func (db *DB) Fleet(t testing.TB, tenant fleet.TenantID) fleet.ID {
	t.Helper()
	s := db.opened(t)
	defer s.Close()
	return db.fleetBy(t, s, tenant)
}

// TenantWithFleet makes a tenant with an empty fleet.
func (db *DB) TenantWithFleet(t testing.TB) (fleet.TenantID, fleet.ID) {
	t.Helper()
	s := db.opened(t)
	defer s.Close()
	return db.TenantWithFleetBy(t, s)
}

// TenantWithFleetBy makes them by a store that is open: another one costs more than they do.
func (db *DB) TenantWithFleetBy(t testing.TB, s *store.Store) (fleet.TenantID, fleet.ID) {
	t.Helper()
	tenant := db.tenantBy(t, s)
	return tenant, db.fleetBy(t, s, tenant)
}

func (db *DB) tenantBy(t testing.TB, s *store.Store) fleet.TenantID {
	t.Helper()
	v, err := s.CreateTenant(t.Context(), store.Actor{Name: "test"}, fmt.Sprintf("tenant-%d", db.fixtures.Add(1)), "")
	if err != nil {
		t.Fatal(err)
	}
	return v.ID
}

func (db *DB) fleetBy(t testing.TB, s *store.Store, tenant fleet.TenantID) fleet.ID {
	t.Helper()
	f, err := s.CreateFleet(t.Context(), tenant, store.Actor{Name: "test"}, fmt.Sprintf("fleet-%d", db.fixtures.Add(1)), "")
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

func (db *DB) opened(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: db.App, MaxConns: 1, Patience: Patience})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Exec runs statements as the superuser, behind the store's back.
func (db *DB) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	conn := db.Connect(t, db.Owner)
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is pending
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Connect opens a plain connection; the test closes it.
func (db *DB) Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
