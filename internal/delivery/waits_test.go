package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

func kept(name, by string) fleet.Waits {
	return fleet.Waits{Withheld: []fleet.Withheld{{Ref: fleet.Ref{Type: fleet.Listener, Name: name}, By: fleet.Ref{Type: fleet.Route, Name: by}}}}
}

func warming(names ...string) (w fleet.Waits) {
	for _, name := range names {
		w.Warming = append(w.Warming, fleet.Ref{Type: fleet.Cluster, Name: name})
	}
	return w
}

// SEMANTICS 5.3: a node that waits is told with what it waits for, also where it is the
// only one and would follow its server.
func TestWaitsAreToldWithTheNodesOwnRow(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("n")
		s.Settled(1)
		time.Sleep(time.Minute)
		w.Head(w.key, mark(2), time.Now())
		s.Waits(kept("edge", "r"))
		time.Sleep(lagAfter - time.Millisecond)
		if n := w.sink.model(w.key).nodes["n"]; n.Settled != nil || !n.Waits.Empty() {
			t.Errorf("too early: %+v", n)
		}
		time.Sleep(flushEvery + 2*time.Millisecond)
		if m := w.sink.model(w.key); m.effective("n") != 1 || !m.nodes["n"].Waits.Equal(kept("edge", "r")) {
			t.Errorf("after a second: %+v", m.nodes["n"])
		}
		s.Waits(kept("edge", "r").With(warming("c")))
		time.Sleep(flushEvery)
		if n := w.sink.model(w.key).nodes["n"]; len(n.Waits.Warming) != 1 || len(n.Waits.Withheld) != 1 {
			t.Errorf("a change is not told: %+v", n)
		}
		s.Settled(2)
		s.Waits(fleet.Waits{})
		time.Sleep(flushEvery)
		if n := w.sink.model(w.key).nodes["n"]; n.Settled != nil || !n.Waits.Empty() {
			t.Errorf("when it is over: %+v", n)
		}
	})
}

// SEMANTICS 6.1: what comes and goes within a second writes nothing.
func TestWaitsThatFlapWriteNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		var ss []*Stream
		for _, id := range []string{"a", "b"} {
			s := w.connect(id)
			s.Settled(1)
			ss = append(ss, s)
		}
		time.Sleep(time.Minute)
		w.sink.take()
		w.Head(w.key, mark(2), time.Now())
		for range 9 {
			for _, s := range ss {
				s.Waits(warming("c"))
				s.Waits(warming("c", "d"))
			}
			time.Sleep(lagAfter / 10)
			for _, s := range ss {
				s.Waits(fleet.Waits{})
			}
		}
		for _, s := range ss {
			s.Settled(2)
		}
		time.Sleep(time.Minute)
		written := 0
		for _, r := range w.sink.take() {
			written += rows(r)
		}
		if written != 1 { // the revision's own
			t.Errorf("%d rows", written)
		}
	})
}

func TestWaitsOfSeveralStreamsAreJoined(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		a, b := w.connect("n"), w.connect("n")
		a.Waits(warming("x"))
		b.Waits(kept(strings.Repeat("é", 4096), "r\x00"))
		time.Sleep(2 * lagAfter)
		n := w.sink.model(w.key).nodes["n"]
		if len(n.Waits.Warming) != 1 || len(n.Waits.Withheld) != 1 {
			t.Fatalf("%+v", n.Waits)
		}
		if h := n.Waits.Withheld[0]; len(h.Ref.Name) > maxNodeText || h.By.Name != "r�" {
			t.Errorf("names of %d bytes, %q", len(h.Ref.Name), h.By.Name)
		}
		b.Close(true)
		time.Sleep(flushEvery)
		if n := w.sink.model(w.key).nodes["n"]; !n.Waits.Equal(warming("x")) {
			t.Errorf("after one ended: %+v", n.Waits)
		}
		b.Waits(warming("late"))
		a.Close(true)
		time.Sleep(flushEvery)
		if n := w.sink.model(w.key).nodes["n"]; !n.Waits.Empty() {
			t.Errorf("gone, and waits: %+v", n.Waits)
		}
	})
}

// What begins long after the revision is told as well, whatever else is reported meanwhile;
// a node that has all of the newest revision waits for nothing.
func TestWaitsThatBeginLate(t *testing.T) {
	for name, meanwhile := range map[string]bool{"quiet": false, "others come": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(1), time.Now())
				s, done := w.connect("n"), w.connect("done")
				done.Settled(1)
				time.Sleep(time.Minute)
				s.Waits(warming("c"))
				done.Waits(warming("d"))
				time.Sleep(lagAfter / 2)
				if meanwhile {
					w.connect("other").Settled(1)
				}
				time.Sleep(lagAfter/2 + flushEvery)
				m := w.sink.model(w.key)
				if n := m.nodes["n"]; !n.Waits.Equal(warming("c")) {
					t.Errorf("%+v", n)
				}
				if n := m.nodes["done"]; n.Settled != nil || !n.Waits.Empty() {
					t.Errorf("at the head, and waits: %+v", n)
				}
			})
		})
	}
}

// of is what kept says, of a revision that is known.
func of(rev fleet.Revision) fleet.Waits {
	w := kept("edge", "r")
	w.Withheld[0].Revision = rev
	return w
}

// SEMANTICS 5.3: who settles past what is withheld is never seen to have it, not for a
// moment, and is counted as having it once it is there.
func TestWhatIsPassedOverIsToldWithTheSettledRevision(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s, other := w.connect("n"), w.connect("other")
		s.Settled(1)
		other.Settled(1)
		time.Sleep(time.Minute)
		seen := 0
		look := func(_ fleet.Status, m *model) {
			if m.effective("n") >= 2 {
				if seen++; !m.nodes["n"].Waits.Withholds(2) {
					t.Errorf("it seems to have revision 2: %+v", m.nodes["n"])
				}
			}
		}
		w.sink.watch(look)
		counts := func(rev fleet.Revision, acked, affected int) {
			t.Helper()
			time.Sleep(flushEvery + firstFlush)
			if d := w.sink.model(w.key).delivered[rev]; d.Acked != acked || d.Affected != affected {
				t.Errorf("revision %d: acked %d, affected %d; want %d, %d", rev, d.Acked, d.Affected, acked, affected)
			}
		}
		for rev := fleet.Revision(2); rev <= 4; rev++ { // the later ones are harmless
			w.Head(w.key, mark(rev), time.Now())
			for _, s := range []*Stream{s, other} {
				s.Sent(rev, Planning{})
			}
			other.Settled(rev)
			s.Waits(of(2))
			s.Settled(rev)
			time.Sleep(firstFlush + time.Millisecond) // long before lagAfter
			if m := w.sink.model(w.key); m.effective("n") != rev || !m.nodes["n"].Waits.Equal(of(2)) {
				t.Errorf("at revision %d: %+v", rev, m.nodes["n"])
			}
			counts(2, 1, 1)
		}
		counts(3, 2, 2)
		counts(4, 2, 2)
		first := w.sink.model(w.key).delivered[2]
		time.Sleep(time.Minute)
		w.sink.watch(nil)
		if seen == 0 {
			t.Fatal("nothing was seen")
		}
		s.Waits(fleet.Waits{})
		counts(2, 2, 2)
		if d := w.sink.model(w.key).delivered[2]; !d.FirstAck.Equal(first.FirstAck) || d.LastAck.Before(first.LastAck.Add(time.Minute)) {
			t.Errorf("%+v, before that %+v", d, first)
		}
		if n := w.sink.model(w.key).nodes["n"]; n.Settled != nil || !n.Waits.Empty() {
			t.Errorf("when it is over: %+v", n)
		}
		s.Waits(of(2))
		s.Waits(fleet.Waits{})
		counts(2, 2, 2)
	})
}

// What is withheld for hours is no reason to tell at once what warms.
func TestWarmingIsPatientBesideWhatIsWithheld(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("n")
		s.Waits(of(1))
		s.Settled(1)
		time.Sleep(time.Hour)
		w.Head(w.key, mark(2), time.Now())
		s.Waits(of(1).With(warming("c")))
		time.Sleep(lagAfter / 2)
		if n := w.sink.model(w.key).nodes["n"]; !n.Waits.Equal(of(1)) {
			t.Errorf("too early: %+v", n)
		}
		time.Sleep(lagAfter)
		if n := w.sink.model(w.key).nodes["n"]; !n.Waits.Equal(of(1).With(warming("c"))) {
			t.Errorf("after a second: %+v", n)
		}
	})
}

// A node that leaves has not got what was withheld from it, and has it to confirm when it
// is back; also where its server stops.
func TestWhatIsWithheldOutlivesTheStream(t *testing.T) {
	for name, end := range map[string]func(w *world, s *Stream){
		"stream": func(_ *world, s *Stream) { s.Close(true) },
		"server": func(w *world, _ *Stream) { w.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(3), time.Now())
				s := w.connect("n")
				s.Waits(of(2).With(warming("c")))
				s.Settled(2)
				time.Sleep(2 * lagAfter)
				if n := w.sink.model(w.key).nodes["n"]; len(n.Waits.Warming) != 1 {
					t.Errorf("%+v", n)
				}
				if got, _ := s.Confirmed(); got != 1 {
					t.Errorf("confirmed %d", got)
				}
				time.Sleep(time.Second)
				end(w, s)
				time.Sleep(time.Second)
				n := w.sink.model(w.key).nodes["n"]
				if n.Connected || n.Settled == nil || *n.Settled != 2 || !n.Waits.Equal(of(2)) {
					t.Errorf("%+v", n)
				}
				if past, ok := w.LastStream(w.key, "n"); name == "stream" && (!ok || past.Settled != 1) {
					t.Errorf("%+v", past)
				}
			})
		})
	}
}

// Of more revisions than a row can name the node has settled what is before the first that
// is not named.
func TestTooManyRevisionsWithheld(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(300), time.Now())
		s := w.connect("n")
		var many fleet.Waits
		for rev := fleet.Revision(100); rev < 250; rev++ {
			many.Withheld = append(many.Withheld, fleet.Withheld{Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}, Revision: rev})
		}
		s.Waits(many)
		s.Settled(300)
		time.Sleep(time.Second)
		n := w.sink.model(w.key).nodes["n"]
		if n.Settled == nil || *n.Settled != 199 || len(n.Waits.Withheld) != fleet.MaxWithheld || n.Waits.More != 50 {
			t.Errorf("%+v", n)
		}
	})
}

// SEMANTICS 6.1: one dangling reference does not make every revision cost a row of each node.
func TestWhatIsWithheldCostsNoRowsPerRevision(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		var all []*Stream
		for i := range 1000 {
			s := w.connect(fmt.Sprint("n", i))
			s.Waits(of(1))
			s.Settled(1)
			all = append(all, s)
		}
		time.Sleep(time.Minute)
		rows := 0
		w.sink.watch(func(st fleet.Status, _ *model) { rows += len(st.Nodes) })
		for rev := fleet.Revision(2); rev < 12; rev++ {
			w.Head(w.key, mark(rev), time.Now())
			for _, s := range all {
				s.Settled(rev)
			}
			time.Sleep(time.Second)
		}
		w.sink.watch(nil)
		if rows > 100 {
			t.Errorf("%d rows of nodes for 10 revisions", rows)
		}
	})
}

// What must stand in the database before the server's settled revision rises, of a node with a
// row of its own there, at 5.
func TestWhatIsToldEarly(t *testing.T) {
	at := func(rev fleet.Revision) claim { return claim{own: true, settled: rev} }
	withheld := func(rev fleet.Revision) fleet.Waits {
		return fleet.Waits{Withheld: []fleet.Withheld{{Revision: rev}}}
	}
	for name, c := range map[string]struct {
		node node
		row  row
		want bool
	}{
		"it has come further":                 {node{record: record{acked: true, written: at(5)}}, row{claim: at(6)}, false},
		"it has less than it says":            {node{record: record{acked: true, written: at(5)}}, row{claim: at(4)}, true},
		"it followed":                         {node{record: record{acked: true}}, row{claim: at(6)}, true},
		"nobody knows":                        {node{record: record{written: at(5)}}, row{claim: at(6)}, true},
		"it follows":                          {node{record: record{acked: true, written: at(5)}}, row{}, false},
		"something later is withheld":         {node{record: record{acked: true, written: at(5)}}, row{claim: at(6), waits: withheld(6)}, false},
		"something of before is withheld now": {node{record: record{acked: true, written: at(5)}}, row{claim: at(6), waits: withheld(4)}, true},
		"something was withheld":              {node{record: record{acked: true, written: at(5), writtenWaits: withheld(4)}}, row{claim: at(6), waits: withheld(4)}, false},
		"it follows but for what is withheld": {node{record: record{acked: true}}, row{waits: withheld(6)}, true},
	} {
		c.row.node = &c.node
		if got := c.row.early(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
