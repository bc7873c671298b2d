package store_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// both is one URL of two databases, each on a Postgres of its own.
func both(t *testing.T, first, second string) string {
	t.Helper()
	a, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := url.Parse(second)
	if err != nil {
		t.Fatal(err)
	}
	q := a.Query()
	for _, key := range []string{"host", "port"} {
		q.Set(key, q.Get(key)+","+b.Query().Get(key))
	}
	a.RawQuery = q.Encode()
	return a.String()
}

// takesWrites makes a Postgres refuse writes, or take them, also of sessions that are open.
func takesWrites(t *testing.T, db *storetest.DB, on bool) {
	t.Helper()
	if on {
		db.Exec(t, `ALTER SYSTEM SET default_transaction_read_only = off`)
	} else {
		db.Exec(t, `ALTER SYSTEM SET default_transaction_read_only = on`)
	}
	db.Exec(t, `SELECT pg_reload_conf()`)
}

// Of several hosts the one that takes writes is used, wherever it stands, and after a
// failover the other.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	one, _ := storetest.Alone(t)
	two, _ := storetest.Alone(t)
	takesWrites(t, one, false)
	until(t, "the first refuses writes", func() bool {
		conn := one.Connect(t, one.App)
		defer conn.Close(t.Context()) //nolint:errcheck // only read from
		return strings1(t, conn, `SELECT current_setting('default_transaction_read_only')`)[0] == "on"
	})
	app := one.Open(t, store.Config{URL: both(t, one.App, two.App)})
	node := one.Open(t, store.Config{URL: both(t, two.Node, one.Node)})
	w := &world{T: t}
	for i := range 5 {
		_, err := app.CreateTenant(t.Context(), actor, fmt.Sprint("before-", i), "")
		w.ok(err)
		_, err = node.Lease(t.Context(), fleet.NewServerID(), "xds-1", time.Minute)
		w.ok(err)
	}
	bell := store.NewNotifier(store.NotifierConfig{URL: both(t, one.App, two.App)})
	run(t, bell.Run)
	e := listen(t, store.ListenerConfig{URL: both(t, one.Node, two.Node)})
	e.all(t)
	bell.Ring(fleet.Key{Fleet: fleet.NewID()})
	e.next(t)

	takesWrites(t, two, false)
	takesWrites(t, one, true)
	until(t, "writes go to the other", func() bool {
		_, err := app.CreateTenant(t.Context(), actor, "after", "")
		if err != nil {
			w.is(err, fleet.ErrUnavailable)
		}
		return err == nil
	})
	until(t, "so does the lease", func() bool {
		_, err := node.Lease(t.Context(), fleet.NewServerID(), "xds-1", time.Minute)
		return err == nil
	})
	if _, err := one.Store(t).TenantBySlug(t.Context(), "after"); err != nil {
		t.Error(err)
	}
}

// A host that neither answers nor refuses, as after a power cut, does not use up the time for
// the others: the doorbell is heard, and no call fails.
func TestAHostThatHangsIsPassedBy(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	hangs := func(to string) string {
		p := newProxy(t, to, nil)
		p.darken()
		return p.url
	}
	w := &world{T: t}
	app := db.Open(t, store.Config{URL: both(t, hangs(db.App), db.App), Patience: 4}) // it waits for the first host for as long as for the second
	_, err := app.CreateTenant(t.Context(), actor, "acme", "")
	w.ok(err)
	bell := store.NewNotifier(store.NotifierConfig{URL: both(t, hangs(db.App), db.App)})
	run(t, bell.Run)
	e := listen(t, store.ListenerConfig{URL: both(t, hangs(db.Node), db.Node)})
	e.all(t)
	bell.Ring(fleet.Key{Fleet: fleet.NewID()})
	e.next(t)
}
