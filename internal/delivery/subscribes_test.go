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
		w.Head(w.key, 1, time.Now())
		streams := make([]*Stream, nodes)
		for i := range streams {
			streams[i] = w.Connect(w.key, fleet.Node{ID: fmt.Sprint("n", i), UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS"})
			streams[i].Subscribes(t.Context(), asksFor(fleet.Cluster))
		}
		time.Sleep(100 * time.Millisecond)
		for _, s := range streams {
			s.Subscribes(t.Context(), asksFor(fleet.Cluster, fleet.Listener))
			s.Settled(1)
		}
		time.Sleep(time.Minute)
		if rows := w.told(); rows != nodes {
			t.Errorf("%d rows of %d nodes", rows, nodes)
		}
		streams[0].Subscribes(t.Context(), asksFor(fleet.Cluster, fleet.Listener, fleet.Runtime))
		time.Sleep(time.Minute)
		if rows := w.told(); rows != 1 || !w.sink.model(w.key).nodes["n0"].Subscribes.Equal(asksFor(fleet.Cluster, fleet.Listener, fleet.Runtime)) {
			t.Errorf("%d rows of one that subscribes to more", rows)
		}
		streams[0].Subscribes(t.Context(), asksFor(fleet.Cluster, fleet.Listener))
		time.Sleep(time.Minute)
		if rows := w.told(); rows != 1 || w.sink.model(w.key).nodes["n0"].Subscribes.Known() {
			t.Errorf("%d rows of one that is as the others again", rows)
		}
	})
}

// What is not what most subscribe to is told when it has lasted, and what comes and goes is not.
func TestSubscriptionsAreToldWhenTheyHaveLasted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, 1, time.Now())
		s := w.connect("n")
		s.Subscribes(t.Context(), asksFor(fleet.Cluster))
		s.Settled(1)
		time.Sleep(time.Minute)
		subscribes := func() fleet.Subscriptions { return w.sink.model(w.key).nodes["n"].Subscribes }
		if got := subscribes(); !got.Equal(asksFor(fleet.Cluster)) {
			t.Fatalf("at first %+v", got)
		}
		w.told()
		for range 20 {
			s.Subscribes(t.Context(), asksFor(fleet.Cluster, fleet.Runtime))
			time.Sleep(time.Second)
			s.Subscribes(t.Context(), asksFor(fleet.Cluster))
			time.Sleep(time.Second)
		}
		if rows := w.told(); rows > 0 {
			t.Errorf("%d rows of what comes and goes", rows)
		}
		time.Sleep(time.Minute)
		s.Subscribes(t.Context(), asksFor(fleet.Cluster, fleet.Runtime))
		time.Sleep(subscribedAfter - time.Millisecond)
		if rows := w.told(); rows > 0 {
			t.Errorf("%d rows too early", rows)
		}
		time.Sleep(lookEvery + flushEvery)
		if got, rows := subscribes(), w.told(); !got.Equal(asksFor(fleet.Cluster, fleet.Runtime)) || rows != 1 {
			t.Errorf("%d rows, it subscribes to %+v", rows, got)
		}
		s.Subscribes(t.Context(), asksFor(fleet.Cluster, fleet.Runtime))
		time.Sleep(time.Minute)
		if rows := w.told(); rows > 0 {
			t.Errorf("%d rows when nothing has changed", rows)
		}
	})
}

// Streams of one type each make up what the node subscribes to; who leaves subscribes to nothing.
func TestSubscriptionsOfSeveralStreams(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, 1, time.Now())
		one := func(kind string, subs fleet.Subscriptions) *Stream {
			s := w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: kind, Resumed: true})
			s.Subscribes(t.Context(), subs)
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
		lds.Subscribes(t.Context(), byName) // its last words come late
		time.Sleep(time.Minute)
		if got := w.sink.model(w.key).nodes["n"].Subscribes; !got.Equal(asksFor(fleet.Cluster)) {
			t.Errorf("none of them: %+v, want what there was at last", got)
		}
	})
}

// Whether a node asked for no clusters is known of its last stream, however short that was, and of one that comes back before it has said
// anything. It is forgotten at once when it asks for some, or comes with nothing and says nothing, as another client may.
func TestWhoAsksForNoClustersIsRemembered(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, 1, time.Now())
		stream := func(resumed bool, subs fleet.Subscriptions, lasts time.Duration) {
			t.Helper()
			past, _ := w.LastStream(w.key, "n")
			s := w.Connect(w.key, fleet.Node{ID: "n", UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: resumed, NoClusters: past.NoClusters})
			s.Subscribes(t.Context(), subs)
			time.Sleep(lasts)
			s.Close(false)
			time.Sleep(time.Second)
		}
		listeners, usual := asksFor(fleet.Listener), asksFor(fleet.Cluster, fleet.Listener)
		for _, c := range []struct {
			about   string
			resumed bool
			subs    fleet.Subscriptions
			lasts   time.Duration
			want    bool
		}{
			{"at first, for a moment", false, listeners, time.Second, true},
			{"it lasts", true, listeners, time.Minute, true},
			{"it comes back for a moment", true, fleet.Subscriptions{}, time.Second, true},
			{"it asks for clusters, for a moment", true, usual, time.Second, false},
			{"it lasts again", true, listeners, time.Minute, true},
			{"another client comes", false, fleet.Subscriptions{}, time.Minute, false},
			{"which asks as most do", true, usual, time.Minute, false},
		} {
			stream(c.resumed, c.subs, c.lasts)
			past, remembered := w.LastStream(w.key, "n")
			if told := w.sink.model(w.key).nodes["n"].Subscribes.NoClusters(); !remembered || past.NoClusters != c.want || told != c.want {
				t.Errorf("%s: it is remembered %v as %v, and told as %v, want %v", c.about, remembered, past.NoClusters, told, c.want)
			}
		}
	})
}

// A server that lost its lease tells again what nodes subscribe to, and one that stops takes nothing back.
func TestSubscriptionsAreToldAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, 1, time.Now())
		s := w.connect("n")
		s.Subscribes(t.Context(), asksFor(fleet.Cluster))
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

// What the database says late of a node's last stream elsewhere counts only where the node has not been here since, as far as that is remembered.
func TestAskedForNoClustersBeforeItWasHere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about  string
		forget func(*world)
		since  time.Duration // from the end of its stream here to that of the one elsewhere
		want   bool
	}{
		{about: "nobody is forgotten", forget: func(*world) {}, since: -time.Second, want: true},
		{about: "it was here since", forget: (*world).forgetNode, since: -time.Second},
		{about: "it was here before", forget: (*world).forgetNode, since: time.Second, want: true},
		{about: "it was here since, and its fleet is forgotten", forget: func(w *world) { w.Forget(w.key) }, since: -time.Second},
	} {
		t.Run(c.about, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, 1, time.Now())
				s := w.connect("n")
				s.Subscribes(t.Context(), asksFor(fleet.Cluster))
				time.Sleep(time.Minute)
				s.Close(false)
				elsewhere := time.Now().Add(c.since)
				time.Sleep(2 * time.Second)
				c.forget(w)
				w.Head(w.key, 1, time.Now())
				s = w.Connect(w.key, fleet.Node{ID: "n", UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
				s.AskedForNoClusters(elsewhere)
				time.Sleep(time.Second)
				if told := w.sink.model(w.key).nodes["n"].Subscribes.NoClusters(); told != c.want || s.NoClusters() != c.want {
					t.Errorf("it is known %v, and told %v, want %v", s.NoClusters(), told, c.want)
				}
			})
		})
	}
}

// forgetNode lets the time pass after which nodes that are gone are forgotten.
func (w *world) forgetNode() {
	time.Sleep(2 * rememberFor)
	w.connect("another")
	time.Sleep(time.Second)
}

// TestWhoAsksForClustersIsToldBeforeItGetsAny: an Envoy that was told to ask for no clusters asks for some. The database knows that when it may be
// sent one, on which it may stick, and its server may die; without a database it waits for no more than a second.
func TestWhoAsksForClustersIsToldBeforeItGetsAny(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, 1, time.Now())
		for _, away := range []bool{false, true} {
			s := w.Connect(w.key, fleet.Node{ID: "n", UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
			s.Subscribes(t.Context(), asksFor(fleet.Listener))
			time.Sleep(time.Minute)
			if !w.sink.model(w.key).nodes["n"].Subscribes.NoClusters() {
				t.Fatal("it is not told")
			}
			if away {
				w.sink.set(hangs)
			}
			begun := time.Now()
			s.Subscribes(t.Context(), asksFor(fleet.Cluster, fleet.Listener))
			switch took := time.Since(begun); {
			case away && took != recordWait:
				t.Errorf("without a database it took %s", took)
			case !away && (took > 100*time.Millisecond || w.sink.model(w.key).nodes["n"].Subscribes.NoClusters()):
				t.Errorf("after %s the database has %+v", took, w.sink.model(w.key).nodes["n"].Subscribes)
			}
			s.Close(true)
		}
	})
}

// TestOfSeveralStreamsItIsKnownOfAll: fleet.LastStream.NoClusters says "of several streams that live it is known of all". Of the
// second one nothing is known: it may be stuck on clusters.
func TestOfSeveralStreamsItIsKnownOfAll(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, 1, time.Now())
		s := w.Connect(w.key, fleet.Node{ID: "n", UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
		unknown := w.Connect(w.key, fleet.Node{ID: "n", UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
		for _, subs := range []fleet.Subscriptions{asksFor(fleet.Cluster), asksFor(fleet.Listener)} {
			s.Subscribes(t.Context(), subs)
			time.Sleep(time.Minute)
			if got := w.sink.model(w.key).nodes["n"].Subscribes; got.Known() {
				t.Errorf("of both is told %+v, and nothing is known of one", got)
			}
		}
		s.Close(true)
		time.Sleep(time.Minute)
		unknown.Close(false)
		if past, ok := w.LastStream(w.key, "n"); !ok || past.NoClusters {
			t.Errorf("%v, no clusters %v: of the stream that ended last nothing was known", ok, past.NoClusters)
		}
	})
}

// TestNothingIsToldOfOneThatMayBeStuck: SEMANTICS 3.8c, "nothing is told of what it subscribes to, until it asks for clusters": of one
// that came back, and of which nothing is known for a minute, the database has what there was before.
func TestNothingIsToldOfOneThatMayBeStuck(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, 1, time.Now())
		connect := func() *Stream {
			return w.Connect(w.key, fleet.Node{ID: "n", UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
		}
		s := connect()
		by := fleet.Subscriptions{}
		by.Types[fleet.Cluster], by.Types[fleet.Listener] = fleet.AsksNames, fleet.AsksAll
		s.Subscribes(t.Context(), by)
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
