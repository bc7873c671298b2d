package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// world is a database with one tenant and one fleet, a store of either role, and the
// superuser's connection for looking behind their backs.
type world struct {
	*testing.T
	db     *storetest.DB
	app    *store.Store
	node   *store.Store
	tenant fleet.TenantID
	fleet  fleet.ID
	super  *pgx.Conn

	mostNodes int  // of the stores of planned; 0: the default
	explained bool // the database tells the plans of new sessions
}

func setup(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return another(t)
}

// another is setup for a test that needs several worlds.
func another(t *testing.T) *world {
	t.Helper()
	return in(t, storetest.New(t))
}

// alone is another on a Postgres of its own. For tests that count rows: what is dead stays in the way of readers
// for as long as a transaction of any database of the same Postgres is older.
func alone(t *testing.T) *world {
	t.Helper()
	db, _ := storetest.Alone(t)
	return in(t, db)
}

func in(t *testing.T, db *storetest.DB) *world {
	t.Helper()
	w := &world{T: t, db: db, app: db.Store(t), node: db.NodeStore(t), super: db.Connect(t, db.Owner)}
	t.Cleanup(func() { _ = w.super.Close(context.Background()) })
	w.tenant, w.fleet = db.TenantWithFleetBy(t, w.app)
	return w
}

// hasty is a store whose calls end when those of a server do.
func (w *world) hasty() *store.Store {
	w.Helper()
	return w.db.Open(w.T, store.Config{URL: w.db.App, Patience: 1})
}

func (w *world) key() fleet.Key { return fleet.Key{Tenant: w.tenant, Fleet: w.fleet} }

// put is a change whose version and hashes follow from its body.
func put(typ fleet.Type, name, body string) store.ResourceChange {
	return fill(store.ResourceChange{Type: typ, Name: name, Body: []byte(body)})
}

// fill computes what the resource package would.
func fill(c store.ResourceChange) store.ResourceChange {
	c.BodyHash = sha256.Sum256(c.Body)
	v := sha256.Sum256(fmt.Appendf(nil, "%s %d", c.Body, c.TTL))
	c.Version = hex.EncodeToString(v[:8])
	c.DocHash = sha256.Sum256(fmt.Appendf(nil, "%s %q %q %d %v %q", c.Version, c.Variant, c.Selector, c.Priority, c.Labels, c.Description))
	return c
}

func del(typ fleet.Type, name string) store.ResourceChange {
	return store.ResourceChange{Type: typ, Name: name, Delete: true}
}

var actor = store.Actor{Credential: fleet.CredentialID{1}, Name: "ada", RequestID: "r1", IP: "127.0.0.1"}

func (w *world) try(cs ...store.ResourceChange) (store.Result, error) {
	return w.app.Apply(w.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: cs})
}

func (w *world) apply(cs ...store.ResourceChange) store.Result {
	w.Helper()
	r, err := w.try(cs...)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *world) catchUp(known ...fleet.Known) []fleet.Change {
	w.Helper()
	cs, err := w.node.CatchUp(w.Context(), known)
	if err != nil {
		w.Fatal(err)
	}
	return cs
}

// load reads the fleet from nothing.
func (w *world) load() fleet.Change {
	w.Helper()
	cs := w.catchUp(fleet.Known{Key: w.key()})
	if len(cs) != 1 || !cs[0].Reload {
		w.Fatalf("a first load gave %+v", cs)
	}
	return cs[0]
}

// count reads one number as the superuser.
func (w *world) count(sql string, args ...any) (n int) {
	w.Helper()
	if err := w.super.QueryRow(w.Context(), sql, args...).Scan(&n); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	if _, err := w.super.Exec(w.Context(), sql, args...); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) is(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Fatalf("the error is %v, want %v", err, want)
	}
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// until waits for an event that has no channel; it fails after a while.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(time.Minute) // much longer than any of it takes where the processors are others'
	defer limit.Stop()
	for !done() {
		select {
		case <-limit.C:
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

func isStale(err error) bool { return errors.Is(err, fleet.ErrPrecondition) }
