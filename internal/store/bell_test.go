package store_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// run runs a component until the test ends.
func run(t *testing.T, work func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := work(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
}

// ear collects what a listener hears.
type ear struct{ calls chan wake }

type wake struct {
	fleet fleet.ID
	all   bool
}

func listen(t *testing.T, c store.ListenerConfig) ear {
	t.Helper()
	e := ear{make(chan wake, 4096)}
	c.Wake = func(f fleet.ID, all bool) { e.calls <- wake{f, all} }
	run(t, store.NewListener(c).Run)
	return e
}

func (e ear) next(t *testing.T) wake {
	t.Helper()
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case w := <-e.calls:
		return w
	case <-timer.C:
		t.Fatal("nothing was heard")
		return wake{}
	}
}

func (e ear) all(t *testing.T) {
	t.Helper()
	if w := e.next(t); !w.all {
		t.Fatalf("heard %v, want all", w)
	}
}

func TestBellReachesListener(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	n := store.NewNotifier(store.NotifierConfig{URL: db.App})
	run(t, n.Run)
	s := db.Open(t, store.Config{URL: db.App, Bell: n})
	e := listen(t, store.ListenerConfig{URL: db.Node})
	e.all(t)
	tenant := db.Tenant(t)
	f := db.Fleet(t, tenant)
	heard := func(what string) {
		t.Helper()
		if w := e.next(t); w.all || w.fleet != f {
			t.Fatalf("after %s: %+v", what, w)
		}
	}
	ctx := t.Context()
	write := func(c store.ResourceChange) {
		t.Helper()
		if _, err := s.Apply(ctx, tenant, f, store.Write{Changes: []store.ResourceChange{c}}); err != nil {
			t.Fatal(err)
		}
	}
	write(put(fleet.Cluster, "a", "A"))
	heard("a write")
	id := fleet.NewCredentialID()
	if _, err := s.CreateNodeCredential(ctx, tenant, f, actor, store.NodeCredential{ID: id, Nodes: "*"}); err != nil {
		t.Fatal(err)
	}
	heard("a new credential")
	if err := s.RevokeNodeCredential(ctx, tenant, f, actor, id); err != nil {
		t.Fatal(err)
	}
	heard("a revocation")
	leaks, err := s.CreateToken(ctx, tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateNodeCredential(ctx, tenant, f, by(leaks.ID), store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"}); err != nil {
		t.Fatal(err)
	}
	heard("another credential")
	if err := s.RevokeToken(ctx, tenant, actor, leaks.ID, store.Revocation{Within: auth.Roles(), Leaked: true}); err != nil {
		t.Fatal(err)
	}
	heard("what a leaked token made has ended")
	write(put(fleet.Cluster, "a", "A")) // no change: no ring
	write(put(fleet.Cluster, "a", "B"))
	heard("a second write")
	if _, err := s.Rollback(ctx, tenant, f, 1, store.Write{}); err != nil {
		t.Fatal(err)
	}
	heard("a rollback")
	if err := s.DeleteFleet(ctx, tenant, actor, f); err != nil {
		t.Fatal(err)
	}
	heard("the deletion of the fleet")
	if len(e.calls) != 0 {
		t.Errorf("%d rings too many", len(e.calls))
	}
}

func TestNotifierCoalesces(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	conn := db.Connect(t, db.Node)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "LISTEN fairlead"); err != nil {
		t.Fatal(err)
	}
	n := store.NewNotifier(store.NotifierConfig{URL: db.App, Delay: 300 * time.Millisecond})
	run(t, n.Run)
	payload := func() string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err := conn.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return got.Payload
	}
	first := fleet.NewID()
	n.Ring(fleet.Key{Fleet: first})
	if p := payload(); p != first.String() {
		t.Fatalf("the first ring was %q", p)
	}
	start := time.Now()
	ids := map[string]bool{}
	for range 500 { // more than one payload holds
		id := fleet.NewID()
		ids[id.String()] = true
		for range 10 {
			n.Ring(fleet.Key{Fleet: id})
		}
	}
	for rang := 0; len(ids) > 0; rang++ {
		p := payload()
		if rang > 2 || len(p) > 7999 {
			t.Fatalf("notification %d has %d bytes", rang, len(p))
		}
		for id := range strings.SplitSeq(p, ",") {
			delete(ids, id)
		}
	}
	if d := time.Since(start); d < 200*time.Millisecond {
		t.Errorf("the rings after the first went out after %v", d)
	}
}

func TestNotifierRingsBeforeItStops(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	e := listen(t, store.ListenerConfig{URL: db.Node})
	e.all(t)
	n := store.NewNotifier(store.NotifierConfig{URL: db.App, Delay: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = n.Run(ctx) })
	a, b := fleet.NewID(), fleet.NewID()
	n.Ring(fleet.Key{Fleet: a})
	if w := e.next(t); w.fleet != a {
		t.Fatal(w)
	}
	n.Ring(fleet.Key{Fleet: b}) // within the delay
	cancel()
	wg.Wait()
	if w := e.next(t); w.fleet != b {
		t.Fatal(w)
	}
}

// terminate ends the database's connections of one application.
func terminate(t *testing.T, db *storetest.DB, application string) {
	t.Helper()
	db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`, application)
}

func TestListenerComesBack(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	lost := make(chan error, 100)
	e := listen(t, store.ListenerConfig{URL: db.Node, Lost: func(err error) { lost <- err }})
	e.all(t)
	terminate(t, db, "fairlead-listener")
	e.all(t) // what was rung in between is in "all"
	if err := <-lost; err == nil {
		t.Error("it was lost for no reason")
	}
	db.Exec(t, `SELECT pg_notify('fairlead', $1)`, fleet.ID{1}.String())
	if w := e.next(t); w.fleet != (fleet.ID{1}) {
		t.Error(w)
	}
	db.Exec(t, `SELECT pg_notify('fairlead', 'nonsense')`)
	e.all(t)
}

func TestNotifierComesBack(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	e := listen(t, store.ListenerConfig{URL: db.Node})
	e.all(t)
	n := store.NewNotifier(store.NotifierConfig{URL: db.App})
	run(t, n.Run)
	n.Ring(fleet.Key{Fleet: fleet.ID{1}})
	e.next(t)
	terminate(t, db, "fairlead-notifier")
	n.Ring(fleet.Key{Fleet: fleet.ID{2}}) // on a connection that is dead
	if w := e.next(t); w.fleet != (fleet.ID{2}) {
		t.Error(w)
	}
}

// A connection that does not listen any more, for instance because a pooler has given it
// to somebody else, looks healthy: only the ping on it finds out.
func TestListenerFindsThatItIsDeaf(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	e := listen(t, store.ListenerConfig{URL: deafURL(t, db), PingEvery: 20 * time.Millisecond})
	e.all(t)
	e.all(t)
}
