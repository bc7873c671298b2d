package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// asksFor is a subscription to all of these types.
func asksFor(types ...fleet.Type) (s fleet.Subscriptions) {
	for _, t := range types {
		s.Types[t] = fleet.AsksAll
	}
	return s
}

// told is how many rows of nodes were reported since the last take.
func (w *world) told() (rows int) {
	for _, r := range w.sink.take() {
		rows += len(r.Nodes)
	}
	return rows
}

// SEMANTICS 6.1: a crowd of Envoys that connects, asks for one type after the other and settles costs no row more for what it subscribes to.
func TestACrowdThatSubscribesCostsNoMoreRows(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const nodes = 2_000
		w.Head(w.key, mark(1), time.Now())
		streams := make([]*Stream, nodes)
		for i := range streams {
			streams[i] = w.Connect(w.key, fleet.Node{ID: fmt.Sprint("n", i), UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS"})
			streams[i].Subscribes(asksFor(fleet.Cluster))
		}
		time.Sleep(100 * time.Millisecond)
		for _, s := range streams {
			s.Subscribes(asksFor(fleet.Cluster, fleet.Listener))
			s.Settled(1)
		}
		time.Sleep(time.Minute)
		if rows := w.told(); rows != nodes {
			t.Errorf("%d rows of %d nodes", rows, nodes)
		}
		streams[0].Subscribes(asksFor(fleet.Cluster, fleet.Listener, fleet.Runtime))
		time.Sleep(time.Minute)
		if rows := w.told(); rows != 1 || !w.sink.model(w.key).nodes["n0"].Subscribes.Equal(asksFor(fleet.Cluster, fleet.Listener, fleet.Runtime)) {
			t.Errorf("%d rows of one that subscribes to more", rows)
		}
		streams[0].Subscribes(asksFor(fleet.Cluster, fleet.Listener))
		time.Sleep(time.Minute)
		if rows := w.told(); rows != 1 || w.sink.model(w.key).nodes["n0"].Subscribes.Known() {
			t.Errorf("%d rows of one that is as the others again", rows)
		}
	})
}

// What is not what most subscribe to is told when it has lasted, and what comes and goes is not.
func TestSubscriptionsAreToldWhenTheyHaveLasted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("n")
		s.Subscribes(asksFor(fleet.Cluster))
		s.Settled(1)
		time.Sleep(time.Minute)
		subscribes := func() fleet.Subscriptions { return w.sink.model(w.key).nodes["n"].Subscribes }
		if got := subscribes(); !got.Equal(asksFor(fleet.Cluster)) {
			t.Fatalf("at first %+v", got)
		}
		w.told()
		for range 20 {
			s.Subscribes(asksFor(fleet.Cluster, fleet.Runtime))
			time.Sleep(time.Second)
			s.Subscribes(asksFor(fleet.Cluster))
			time.Sleep(time.Second)
		}
		if rows := w.told(); rows > 0 {
			t.Errorf("%d rows of what comes and goes", rows)
		}
		time.Sleep(time.Minute)
		s.Subscribes(asksFor(fleet.Cluster, fleet.Runtime))
		time.Sleep(subscribedAfter - time.Millisecond)
		if rows := w.told(); rows > 0 {
			t.Errorf("%d rows too early", rows)
		}
		time.Sleep(lookEvery + flushEvery)
		if got, rows := subscribes(), w.told(); !got.Equal(asksFor(fleet.Cluster, fleet.Runtime)) || rows != 1 {
			t.Errorf("%d rows, it subscribes to %+v", rows, got)
		}
		s.Subscribes(asksFor(fleet.Cluster, fleet.Runtime))
		time.Sleep(time.Minute)
		if rows := w.told(); rows > 0 {
			t.Errorf("%d rows when nothing has changed", rows)
		}
	})
}

// Streams of one type each make up what the node subscribes to; who leaves subscribes to nothing.
func TestSubscriptionsOfSeveralStreams(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		one := func(kind string, subs fleet.Subscriptions) *Stream {
			s := w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: kind, Resumed: true})
			s.Subscribes(subs)
			s.Settled(1)
			return s
		}
		long := strings.Repeat("x", maxNodeText+1)
		byName := fleet.Subscriptions{Listeners: []string{"a\x00", long}}
		byName.Types[fleet.Listener] = fleet.AsksNames
		cds, lds := one("delta CDS", asksFor(fleet.Cluster)), one("delta LDS", byName)
		time.Sleep(time.Minute)
		got := w.sink.model(w.key).nodes["n"].Subscribes
		if got.Types[fleet.Cluster] != fleet.AsksAll || got.Types[fleet.Listener] != fleet.AsksNames || len(got.Listeners) != 2 ||
			got.Listeners[0] != "a\uFFFD" || got.Listeners[1] != long[1:] {
			t.Errorf("both: %+v", got)
		}
		lds.Close(true)
		time.Sleep(time.Minute)
		if got := w.sink.model(w.key).nodes["n"].Subscribes; !got.Equal(asksFor(fleet.Cluster)) {
			t.Errorf("one of them: %+v", got)
		}
		cds.Close(true)
		lds.Subscribes(byName) // its last words come late
		time.Sleep(time.Minute)
		if got := w.sink.model(w.key).nodes["n"].Subscribes; !got.Equal(asksFor(fleet.Cluster)) {
			t.Errorf("none of them: %+v, want what there was at last", got)
		}
	})
}

// A server that lost its lease tells again what nodes subscribe to, and one that stops takes nothing back.
func TestSubscriptionsAreToldAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("n")
		s.Subscribes(asksFor(fleet.Cluster))
		s.Settled(1)
		time.Sleep(time.Minute)
		w.sink.set(hangs)
		time.Sleep(2 * leaseTTL)
		w.sink.mu.Lock()
		w.sink.models = map[fleet.Key]*model{}
		w.sink.mu.Unlock()
		w.sink.set(healthy)
		time.Sleep(time.Minute)
		if got := w.sink.model(w.key).nodes["n"].Subscribes; !got.Equal(asksFor(fleet.Cluster)) {
			t.Errorf("%+v", got)
		}
	})
}

// TestNothingIsToldOfOneThatMayBeStuck: nothing is told of what it subscribes to (SEMANTICS 3.8c): of one
// that came back, and of which nothing is known for a minute, the database has what there was before.
func TestNothingIsToldOfOneThatMayBeStuck(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		connect := func() *Stream {
			return w.Connect(w.key, fleet.Node{ID: "n", UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
		}
		s := connect()
		by := fleet.Subscriptions{}
		by.Types[fleet.Cluster], by.Types[fleet.Listener] = fleet.AsksNames, fleet.AsksAll
		s.Subscribes(by)
		time.Sleep(time.Minute)
		s.Close(false)
		time.Sleep(time.Second)
		connect()
		time.Sleep(time.Minute)
		if got := w.sink.model(w.key).nodes["n"]; !got.Connected || got.Subscribes.Known() {
			t.Errorf("connected %v, told %+v", got.Connected, got.Subscribes)
		}
	})
}
