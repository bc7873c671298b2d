package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// large gives a fleet of its own to the tenant, whose load is some hundred KiB.
func (w *world) large() fleet.Key {
	w.Helper()
	k := fleet.Key{Tenant: w.tenant, Fleet: w.db.Fleet(w.T, w.tenant)}
	body := make([]byte, 20_000)
	var cs []store.ResourceChange
	for i := range 20 {
		body[0] = byte(i)
		cs = append(cs, put(fleet.Cluster, fmt.Sprint("c", i), string(body)))
	}
	_, err := w.app.Apply(w.Context(), k.Tenant, k.Fleet, store.Write{Actor: actor, Changes: cs})
	w.ok(err)
	return k
}

// Loads over a slow way take as many connections as they may; what must not wait has one.
func TestNothingVitalWaitsForLoads(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	known := fleet.Known{Key: w.key(), At: w.load().At}
	w.apply(put(fleet.Cluster, "c", "2"))
	big := w.large()
	p := newProxy(t, w.db.Node, nil)
	lift := p.stalling()
	node := w.db.Open(t, store.Config{URL: p.url}) // as large as in production
	var loads sync.WaitGroup
	defer loads.Wait()
	defer lift()
	for range 12 {
		loads.Go(func() {
			if cs, err := node.CatchUp(t.Context(), []fleet.Known{{Key: big}}); err != nil || len(cs[0].Rows) != 20 {
				t.Error("a load:", err)
			}
		})
	}
	until(t, "six loads are under way", func() bool { return p.stalled.Load() == 6 })

	id := fleet.NewServerID()
	for range 5 {
		term, err := node.Lease(t.Context(), id, "xds-1", 6*time.Second)
		w.ok(err)
		w.ok(node.Report(t.Context(), fleet.Status{Key: w.key(), Server: id, Term: term, Settled: 1, Nodes: []fleet.NodeStatus{on("n")}}))
		moved, err := node.Moved(t.Context(), []fleet.Known{known})
		w.ok(err)
		followed, err := node.CatchUp(t.Context(), []fleet.Known{known})
		w.ok(err)
		last, err := node.LastStreams(t.Context(), w.key(), []fleet.AskedNode{{Node: "n"}})
		w.ok(err)
		if len(moved) != 1 || len(followed) != 1 || followed[0].Reload || !last[0].Live {
			t.Fatalf("%+v, %+v, %+v", moved, followed, last)
		}
	}
	if n := p.stalled.Load(); n != 6 {
		t.Errorf("%d loads are under way, of twelve connections six may be", n)
	}
}

// Reports that take long, because the rows are locked, leave the lease its connection.
func TestTheLeaseDoesNotWaitForReports(t *testing.T) {
	w := setup(t)
	id := fleet.NewServerID()
	term := w.lease(id, "xds-1", time.Minute)
	status := fleet.Status{Key: w.key(), Server: id, Term: term, Settled: 1, Nodes: []fleet.NodeStatus{on("n")}}
	w.ok(w.node.Report(t.Context(), status))
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `SELECT FROM nodes FOR UPDATE`)
	w.ok(err)
	var reports sync.WaitGroup
	for range 8 {
		reports.Go(func() { _ = w.node.Report(t.Context(), status) })
	}
	until(t, "reports wait for the row", func() bool { return w.waitingForLocks() == 2 })
	for range 5 {
		w.lease(id, "xds-1", time.Minute)
	}
	w.ok(tx.Rollback(t.Context()))
	reports.Wait()
}
