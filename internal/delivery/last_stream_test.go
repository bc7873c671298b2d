package delivery

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// SEMANTICS 3.4: whether the next server may believe the client.
func TestHowAStreamEndedIsRecorded(t *testing.T) {
	t.Parallel()
	type end struct {
		kind  string
		clean bool
	}
	for name, c := range map[string]struct {
		doubtful bool
		ends     []end
		want     bool
	}{
		"clean":                                  {ends: []end{{"delta ADS", true}}, want: true},
		"not clean":                              {ends: []end{{"delta ADS", false}}},
		"fixed by a later stream":                {ends: []end{{"delta ADS", false}, {"SotW ADS", true}}, want: true},
		"one type of two":                        {ends: []end{{"delta CDS", false}, {"delta LDS", true}}},
		"that type fixed":                        {ends: []end{{"delta CDS", false}, {"delta LDS", true}, {"delta CDS", true}}, want: true},
		"doubtful before, fixed":                 {doubtful: true, ends: []end{{"delta ADS", true}}, want: true},
		"doubtful before, one type says nothing": {doubtful: true, ends: []end{{"delta CDS", true}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(1), time.Now())
				var last *Stream
				for i, e := range c.ends {
					s := w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: e.kind, Doubtful: c.doubtful && i == 0})
					s.Settled(1)
					if last != nil {
						last.Close(c.ends[i-1].clean)
					}
					last = s
				}
				time.Sleep(time.Second)
				if w.sink.model(w.key).nodes["n"].Clean {
					t.Error("clean before its end")
				}
				if _, ok := w.LastStream(w.key, "n"); ok {
					t.Error("a node that lives has a past")
				}
				last.Close(c.ends[len(c.ends)-1].clean)
				if p, ok := w.LastStream(w.key, "n"); !ok || p.Clean != c.want || p.Settled != 1 || p.At.IsZero() {
					t.Errorf("remembered %+v, %v", p, ok)
				}
				time.Sleep(time.Second)
				if n := w.sink.model(w.key).nodes["n"]; n.Connected || n.Clean != c.want {
					t.Errorf("recorded %+v", n)
				}
			})
		})
	}
}

// A server that stops in the midst of a stream did not end it clean.
func TestAStreamThatEndsWithItsServerIsNotClean(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		w.connect("open")
		w.connect("closed").Close(true)
		time.Sleep(time.Second)
		w.stop()
		m := w.sink.model(w.key)
		if m.nodes["open"].Clean || m.nodes["open"].Connected || !m.nodes["closed"].Clean {
			t.Errorf("%+v", m.nodes)
		}
	})
}

// A refusal that comes again before its end is told has not ended; one that ended before
// has.
func TestRefusedAgainBeforeTheEndIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("n")
		time.Sleep(time.Second)
		r := fleet.Refusal{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, Offer: 1}
		s.Refused(t.Context(), []fleet.Refusal{r})
		w.sink.set(refused)
		w.Resolved(w.key, []fleet.Refusal{{Node: "n", Type: fleet.Cluster, Name: "c", Version: "v", Offer: 1, By: 1}})
		r.Offer++
		s.Refused(t.Context(), []fleet.Refusal{r})
		w.sink.set(healthy)
		time.Sleep(10 * time.Second)
		if m := w.sink.model(w.key); len(m.refusals) != 1 || len(m.resolved) != 0 {
			t.Errorf("resolved %+v", m.resolved)
		}
	})
}

// SEMANTICS 5.4: the database knows of a node before anything is sent to it.
func TestAnnounceWaitsForTheNodesRow(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		time.Sleep(time.Second)
		w.sink.mu.Lock()
		w.sink.delay = 50 * time.Millisecond
		w.sink.mu.Unlock()
		for range 3 { // the second comes while the first is told
			s := w.connect("n")
			begun := time.Now()
			s.Announce(t.Context())
			if !w.sink.model(w.key).nodes["n"].Connected {
				t.Error("it is not known yet")
			}
			if took := time.Since(begun); took > 100*time.Millisecond {
				t.Errorf("took %s", took)
			}
			begun = time.Now()
			s.Announce(t.Context()) // known already
			if took := time.Since(begun); took > 0 {
				t.Errorf("once more: %s", took)
			}
		}
		w.sink.set(hangs)
		begun := time.Now()
		s := w.connect("another")
		s.Announce(t.Context())
		if took := time.Since(begun); took != recordWait {
			t.Errorf("without a database: %s", took)
		}
	})
}

// Nodes that are new come in crowds: one report is about all that come within gatherEvery, be there one that has the head beside them or not.
func TestNewNodesShareReports(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprint(served), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(1), time.Now())
				if served {
					live := w.connect("live")
					live.Announce(t.Context())
					live.Settled(1)
				}
				time.Sleep(time.Minute)
				w.sink.take()
				begun := time.Now()
				const nodes, every = 500, time.Millisecond
				var told sync.WaitGroup
				for i := range nodes {
					s := w.connect(fmt.Sprint("n", i))
					told.Go(func() {
						begun := time.Now()
						if s.Announce(t.Context()); time.Since(begun) > gatherEvery {
							t.Errorf("it is told after %s, want %s at most", time.Since(begun), gatherEvery)
						}
					})
					time.Sleep(every)
				}
				told.Wait()
				if n, most := len(w.sink.take()), int(time.Since(begun)/gatherEvery)+1; n > most {
					t.Errorf("%d reports of %d nodes that came in %s, want %d", n, nodes, time.Since(begun), most)
				}
			})
		})
	}
}

// What a node confirmed before its stream began stays confirmed, unless it comes with
// nothing: then it is a new client under the old name.
func TestWhatWasConfirmedBeforeTheStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resumed bool
		want    fleet.Revision
	}{"resumed": {true, 2}, "anew": {false, 0}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(3), time.Now())
				s := w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: "delta ADS", Resumed: c.resumed, Before: 2})
				defer s.Close(true)
				time.Sleep(2 * time.Second)
				if got := w.sink.model(w.key).effective("n"); got != c.want {
					t.Errorf("settled at %d, want %d", got, c.want)
				}
				if got, _ := s.Confirmed(); got != 2 {
					t.Errorf("%d is believed, want 2", got)
				}
			})
		})
	}
}

// What a node refused is known to its next stream here before the database has heard of it.
func TestRefusalsThatAreNotToldYetAreRemembered(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(4), time.Now())
		s := w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: "delta ADS"})
		other := w.Connect(w.key, fleet.Node{ID: "other"}, StreamInfo{Protocol: "delta ADS"})
		time.Sleep(time.Second)
		w.sink.set(refused)
		r := fleet.Refusal{Type: fleet.Cluster, Name: "c", Version: "bad", Revision: 2, Detail: "no", Action: fleet.ActionRemoved}
		s.Refused(t.Context(), []fleet.Refusal{r})
		other.Refused(t.Context(), []fleet.Refusal{r})
		w.Resolved(w.key, []fleet.Refusal{{Node: "n", Type: fleet.Cluster, Name: "c", Version: "bad", By: 4}})
		s.Close(false)
		told := r
		told.At = time.Now().Add(-time.Minute)
		for _, name := range []string{"n", "other"} {
			for _, known := range [][]fleet.Refusal{nil, {told}} {
				stand, over := refusal.Fold(known, w.Untold(w.key, name))
				if (len(stand) == 0) != (name == "n") || len(stand)+len(over) != 1 {
					t.Errorf("of %s, of which the database knows %v, stand %+v and are over %+v", name, known, stand, over)
				}
				if len(over) == 1 && (over[0].Name != "c" || over[0].By != 4 || !over[0].Stood(3) || over[0].Stood(4)) {
					t.Errorf("over is %+v", over)
				}
			}
		}
		w.sink.set(healthy)
		time.Sleep(time.Minute)
		if rs := w.Untold(w.key, "n"); len(rs) > 0 {
			t.Errorf("acked, and still untold: %+v", rs)
		}
		other.Close(true)
	})
}
