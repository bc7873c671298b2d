package replica

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

func poison(n int, version string) []fleet.Row {
	var rows []fleet.Row
	for i := range n {
		rows = append(rows, cluster(fmt.Sprintf("p%03d", i), version))
	}
	return rows
}

// refuseAll is one NACK that names all clusters of a version.
func refuseAll(t *testing.T, a *attachment, version string) {
	t.Helper()
	var cs []snapshot.Exception
	for _, r := range a.Current().Types[fleet.Cluster].Sorted() {
		if r.Version == version {
			cs = append(cs, snapshot.Exception{Type: fleet.Cluster, Refused: r})
		}
	}
	if len(cs) == 0 {
		t.Fatalf("nothing of version %s is in the target", version)
	}
	a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "no", Blame: cs})
}

// SEMANTICS 3.7: above 100 exceptions a type stays as the node had it.
func TestATypeIsFrozenWhereTheNodeHasSettled(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), fleet.Row{Type: fleet.Route, Name: "r", Version: "1"})
		a, other := w.attach(id, "n"), w.attach(id, "other")
		a.Settled(1)
		before := a.Current().Types[fleet.Cluster]
		w.change(key, append(poison(maxExceptions+20, "bad"), cluster("c", "2"))...)
		refuseAll(t, a, "bad")
		if a.Current().Types[fleet.Cluster] != before {
			t.Error("the clusters are not those that it had")
		}
		w.change(key, cluster("c", "3"), fleet.Row{Type: fleet.Route, Name: "r", Version: "2"})
		now := a.Current()
		if inForce(a, fleet.Cluster, "c") != "1" || inForce(a, fleet.Route, "r") != "2" || now.Revision != 3 {
			t.Error("clusters stay, other types go on")
		}
		if inForce(other, fleet.Cluster, "c") != "3" {
			t.Error("the other node is touched")
		}
		refuse(t, a, "c", nil) // what it had, too: never taken away without a reason of its own
		if inForce(a, fleet.Cluster, "c") != "" {
			t.Error("what it refuses of the frozen ones is kept")
		}
		frozen := 0
		for _, r := range w.sink.allRefusals() {
			if r.Action == fleet.ActionFrozen {
				frozen++
			}
		}
		if frozen != 21 {
			t.Errorf("%d refusals say so", frozen)
		}
		w.change(key, poison(maxExceptions, "good")...) // nearly all mended; the last 20 are not
		if inForce(a, fleet.Cluster, "c") != "3" {
			t.Error("it does not thaw when all exceptions have ended")
		}
		time.Sleep(time.Second)
		if n := len(w.sink.allResolved()); n != maxExceptions+21 {
			t.Errorf("%d resolved", n)
		}
	})
}

func TestARetryThaws(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(poison(maxExceptions+1, "bad")...)
		a := w.attach(id, "n")
		refuseAll(t, a, "bad")
		w.change(key, cluster("new", "1"))
		if a.Current().Types[fleet.Cluster].Len() != 0 {
			t.Error("it never settled: what it refuses is kept back, and nothing comes")
		}
		w.retry(key, "n")
		if a.Current().Types[fleet.Cluster].Len() != maxExceptions+2 {
			t.Error("not all of it is offered again")
		}
	})
}

// Another server finds it frozen too.
func TestAFrozenTypeOutlivesTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rows := poison(maxExceptions+5, "bad")
		key, id, _ := w.newFleet(append(rows, cluster("c", "1"))...)
		var past fleet.LastStream
		for _, r := range rows {
			past.Refusals = append(past.Refusals, refused(r, 1, nil))
		}
		w.left("n", past)
		a := w.attach(id, "n")
		if now := a.Current().Types[fleet.Cluster]; now.Len() != 1 || inForce(a, fleet.Cluster, "c") != "1" {
			t.Errorf("it holds %d", now.Len())
		}
		w.change(key, cluster("c", "2"))
		if inForce(a, fleet.Cluster, "c") != "1" {
			t.Error("it is not frozen")
		}
	})
}
