package delivery

import (
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
		w.Head(w.key, 1, time.Now())
		s := w.connect("n")
		s.Settled(1)
		time.Sleep(time.Minute)
		w.Head(w.key, 2, time.Now())
		s.Waits(kept("edge", "r"))
		time.Sleep(lagAfter - time.Millisecond)
		if n := w.sink.model(w.key).nodes["n"]; n.Settled != nil || !n.Waits.Empty() {
			t.Errorf("too early: %+v", n)
		}
		time.Sleep(flushEvery + 2*time.Millisecond)
		if n := w.sink.model(w.key).nodes["n"]; n.Settled == nil || *n.Settled != 1 || !n.Waits.Equal(kept("edge", "r")) {
			t.Errorf("after a second: %+v", n)
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
		w.Head(w.key, 1, time.Now())
		var ss []*Stream
		for _, id := range []string{"a", "b"} {
			s := w.connect(id)
			s.Settled(1)
			ss = append(ss, s)
		}
		time.Sleep(time.Minute)
		w.sink.take()
		w.Head(w.key, 2, time.Now())
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
		w.Head(w.key, 1, time.Now())
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
				w.Head(w.key, 1, time.Now())
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
