package replica

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// SEMANTICS 3.8c: that an Envoy is known to ask for no clusters outlives its streams.

// listenersAlone is what an Envoy of static clusters asks for.
func listenersAlone() (s fleet.Subscriptions) {
	s.Types[fleet.Listener] = fleet.AsksAll
	return s
}

// TestWhatAnotherServerKnewIsKept: an Envoy that is known to ask for no clusters comes to a server that has not had it, as all do when
// a server is restarted, and is cut there within some seconds, before what it asks for has lasted. It is the same client, which still asks
// for none: SEMANTICS 3.8c must not take it for stuck from then on. The server that had it before keeps this (it comes back for a moment,
// TestWhoAsksForNoClustersIsRemembered).
func TestWhatAnotherServerKnewIsKept(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("n", fleet.LastStream{Settled: 1, NoClusters: true})
		a := w.resume(id, "n")
		if p := a.LastStream(); !p.NoClusters {
			t.Fatalf("at first: %+v", p)
		}
		a.Subscribes(t.Context(), listenersAlone())
		time.Sleep(time.Second)
		a.Detach(false)
		time.Sleep(time.Second)
		if got := w.resume(id, "n").LastStream(); !got.NoClusters {
			t.Errorf("here: %+v, want that it is known to ask for no clusters", got)
		}
	})
}

// TestWhatAnotherServerKnewIsTold: the same, and what this server tells the database, which is what a third server goes by.
func TestWhatAnotherServerKnewIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("n", fleet.LastStream{Settled: 1, NoClusters: true})
		a := w.resume(id, "n")
		time.Sleep(time.Second)
		if !w.sink.asksForNoClusters("n") {
			t.Error("nothing is told of it while it lives")
		}
		a.Subscribes(t.Context(), listenersAlone())
		time.Sleep(time.Second)
		a.Detach(false)
		time.Sleep(time.Second)
		if got, ok := w.cfg.Recorder.LastStream(id.Key, "n"); !ok || !got.NoClusters {
			t.Errorf("what is told and remembered: %v, %+v", ok, got)
		}
	})
}

// TestBesideAStreamThatHasJustCome: the client's connection broke and it is there again before the server has noticed. Of the stream
// beside it is known that it asks for no clusters, if not yet from what it says here.
func TestBesideAStreamThatHasJustCome(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("n", fleet.LastStream{Settled: 1, NoClusters: true})
		w.resume(id, "n").Subscribes(t.Context(), listenersAlone())
		time.Sleep(time.Second)
		want := xds.LastStream{Known: true, Settled: 1, NoClusters: true}
		if got := w.resume(id, "n").LastStream(); got.NoClusters != want.NoClusters || got.Settled != want.Settled {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// TestAnOutageIsNotForGood: the database does not answer as the client comes, and answers a moment later: what it refused is made good
// then (rememberLate), and that it asks for no clusters has to be too, at its next stream at the latest. Else it is never known again, since nothing is
// told of what a client subscribes to that may be stuck.
func TestAnOutageIsNotForGood(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, NoClusters: true})
		w.attach(id, "first")
		w.feed.set(func(f *feed) { f.hangs = true })
		a := w.resume(id, "n")
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(time.Minute)
		a.Settled(1)
		a.Subscribes(t.Context(), fleet.Subscriptions{}) // what the planner tells of one that may be stuck
		a.Detach(false)                                  // as it says of one that may be stuck
		time.Sleep(time.Second)
		if got := w.resume(id, "n").LastStream(); !got.Clean && !got.NoClusters {
			t.Errorf("%+v: it is taken for stuck for good", got)
		}
	})
}

// TestAnOutageHidesNoStay: the node has asked for clusters here, and comes back while the database does not answer. That it asked for none
// elsewhere, before that, says nothing.
func TestAnOutageHidesNoStay(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, NoClusters: true})
		w.attach(id, "first")
		before := w.resume(id, "n")
		asks := listenersAlone()
		asks.Types[fleet.Cluster] = fleet.AsksAll
		before.Subscribes(t.Context(), asks)
		time.Sleep(time.Second)
		before.Detach(false)
		w.feed.set(func(f *feed) { f.hangs = true })
		a := w.resume(id, "n")
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(time.Minute)
		a.Detach(false)
		if got := w.resume(id, "n").LastStream(); got.NoClusters {
			t.Errorf("%+v: it may be stuck", got)
		}
	})
}
