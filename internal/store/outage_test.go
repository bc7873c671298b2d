package store_test

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// Postgres is killed and comes back: writes are told so in time, acknowledged ones are
// there, and everything heals by itself.
func TestPostgresIsKilled(t *testing.T) {
	t.Parallel()
	db, server := storetest.Alone(t)
	w := &world{T: t, db: db, app: db.Store(t), node: db.NodeStore(t), tenant: db.Tenant(t)}
	w.fleet = db.Fleet(t, w.tenant)
	bell := store.NewNotifier(store.NotifierConfig{URL: db.App})
	run(t, bell.Run)
	e := listen(t, store.ListenerConfig{URL: db.Node})
	e.all(t)
	w.apply(put(fleet.Cluster, "a", "A"))
	app, node := w.hasty(), db.Open(t, store.Config{URL: db.Node, Patience: 1})

	server.Kill()
	for what, call := range map[string]func() error{
		"a write": func() error {
			_, err := app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "a", "B")}})
			return err
		},
		"a read":     func() error { _, _, err := app.Resources(t.Context(), w.tenant, w.fleet, store.Filter{}); return err },
		"a catch-up": func() error { _, err := node.CatchUp(t.Context(), []fleet.Known{{Key: w.key()}}); return err },
		"a lease":    func() error { _, err := node.Lease(t.Context(), fleet.ServerID{1}, "s", time.Second); return err },
		"a report":   func() error { return node.Report(t.Context(), fleet.Status{Key: w.key(), Server: fleet.ServerID{1}}) },
		"an opening": func() error { _, err := store.Open(t.Context(), store.Config{URL: db.App}); return err },
		"a ping":     func() error { return app.Ping(t.Context()) },
	} {
		storetest.Within(t, 2500*time.Millisecond, what, func() { w.is(call(), fleet.ErrUnavailable) })
	}
	w.ok(server.Restart(t.Context()))
	until(t, "writes work again", func() bool { _, err := w.try(put(fleet.Cluster, "b", "B")); return err == nil })
	if docs := w.load().Rows; len(docs) != 2 {
		t.Errorf("%d resources after the crash", len(docs))
	}
	e.all(t) // what was rung meanwhile
	bell.Ring(w.key())
	if heard := e.next(t); heard.fleet != w.fleet {
		t.Error(heard)
	}
}

// Who still works with a store that is closed is told what the caller of a database that is
// away is told.
func TestAClosedStoreIsUnavailable(t *testing.T) {
	w := setup(t)
	s, err := store.Open(t.Context(), store.Config{URL: w.db.App})
	w.ok(err)
	s.Close()
	_, _, err = s.Resources(t.Context(), w.tenant, w.fleet, store.Filter{})
	w.is(err, fleet.ErrUnavailable)
	w.is(s.Ping(t.Context()), fleet.ErrUnavailable)
}
