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

// What a node had but for what was withheld from it outlives the server that it came to next: the database is told of it until the node
// has settled anew. What is told of where the node has settled, and of what it waits for, is as of any other.
func TestWhatANodeHadIsToldUntilItSettlesAnew(t *testing.T) {
	t.Parallel()
	m := fleet.Ref{Type: fleet.Listener, Name: "m"}
	gap := fleet.Held{At: 2, Without: []fleet.Ref{m}}
	for name, c := range map[string]struct {
		resumed bool
		before  fleet.Revision
		held    fleet.Held
		want    fleet.Held
	}{
		"all but what was withheld": {true, 1, gap, gap},
		"nothing before that":       {true, 0, gap, gap},
		"all of it":                 {true, 2, fleet.Held{At: 2}, fleet.Held{At: 2}},
		"it is not known":           {true, 1, fleet.Held{}, fleet.Held{At: 1}},
		"a client without anything": {false, 1, gap, fleet.Held{}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(3), time.Now())
				connect := func() *Stream {
					return w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: "delta ADS", Resumed: c.resumed, Before: c.before, Held: c.held})
				}
				told := func(when string, connected bool, want fleet.Held) {
					t.Helper()
					time.Sleep(3 * time.Second)
					model := w.sink.model(w.key)
					n, settled := model.nodes["n"], model.effective("n")
					if got := n.Held(settled); n.Connected != connected || !got.Equal(want) {
						t.Errorf("%s: connected %v, had %+v, want %+v", when, n.Connected, got, want)
					}
					if connected && !n.Waits.Empty() {
						t.Errorf("%s: it waits for %+v", when, n.Waits)
					}
				}
				s := connect()
				told("while it lives", true, c.want)
				if got, want := w.sink.model(w.key).effective("n"), s.settled; got != want {
					t.Errorf("settled at %d, want %d", got, want)
				}
				s.Close(false)
				told("when it is gone", false, c.want)
				s = connect()
				s.Settled(3)
				told("when it has settled", true, fleet.Held{At: 3})
				w.sink.take()
				w.Head(w.key, mark(4), time.Now())
				s.Settled(4)
				time.Sleep(3 * time.Second)
				for _, r := range w.sink.take() {
					if len(r.Nodes) > 0 {
						t.Errorf("then it follows its server, and is told of: %+v", r.Nodes)
					}
				}
				s.Close(true)
			})
		})
	}
}

// TestWhatANodeHasOfAServerThatIsBehind: what a node confirms on a server that is behind takes the place of what it had.
func TestWhatANodeHasOfAServerThatIsBehind(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		gap := fleet.Held{At: 3, Without: []fleet.Ref{{Type: fleet.Listener, Name: "m"}}}
		w.Head(w.key, mark(1), time.Now())
		s := w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: "delta ADS", Resumed: true, Before: 1, Held: gap})
		for _, want := range []fleet.Held{gap, {At: 1}} {
			time.Sleep(3 * time.Second)
			m := w.sink.model(w.key)
			_, known := s.Confirmed()
			if got := m.nodes["n"].Held(m.effective("n")); !got.Equal(want) || !known.Equal(want) {
				t.Errorf("it is told to have %+v, and known to have %+v, want %+v", got, known, want)
			}
			s.Settled(1)
		}
		s.Close(true)
	})
}

// TestWhatANodeHadIsToldOnce: who comes back in the midst of something costs no more rows where something was withheld from it.
func TestWhatANodeHadIsToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(3), time.Now())
		connect := func(id string, held fleet.Held) *Stream {
			return w.Connect(w.key, fleet.Node{ID: id}, StreamInfo{Protocol: "delta ADS", Resumed: true, Before: 1, Held: held})
		}
		streams := []*Stream{
			w.connect("live"), connect("all", fleet.Held{At: 1}), connect("gap", fleet.Held{At: 2, Without: []fleet.Ref{{Type: fleet.Listener, Name: "m"}}}),
		}
		streams[0].Settled(3)
		for rev := range fleet.Revision(3) {
			time.Sleep(3 * time.Second)
			w.Head(w.key, mark(4+rev), time.Now())
		}
		for _, s := range streams {
			s.Settled(6)
		}
		time.Sleep(3 * time.Second)
		rows := make(map[string]int)
		for _, r := range w.sink.take() {
			for _, n := range r.Nodes {
				rows[n.Node]++
			}
		}
		if rows["gap"] != rows["all"] || rows["all"] == 0 {
			t.Errorf("rows of nodes: %v", rows)
		}
		for _, s := range streams {
			s.Close(true)
		}
	})
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
