package delivery

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
)

func TestANodeIsAffectedByWhatSomethingWasSentToItFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(5), time.Now())
		touched, untouched, late := w.connect("touched"), w.connect("untouched"), w.connect("late")
		for _, s := range []*Stream{touched, untouched, late} {
			s.Sent(5, Planning{})
			s.Settled(5)
		}
		time.Sleep(time.Second)
		check := func(rev fleet.Revision, affected, acked int) {
			t.Helper()
			time.Sleep(time.Second)
			if d := w.sink.model(w.key).delivered[rev]; d.Affected != affected || d.Acked != acked {
				t.Errorf("revision %d: affected %d, acked %d; want %d, %d", rev, d.Affected, d.Acked, affected, acked)
			}
		}

		w.Head(w.key, mark(6), time.Now())
		touched.Sent(6, Planning{})
		touched.Sent(6, Planning{}) // another type of the same target
		touched.Sent(9, Planning{}) // of a history that was cut since
		touched.Settled(6)
		untouched.Settled(6)
		late.Sent(6, Planning{})
		check(6, 1, 2)
		late.Settled(6)
		check(6, 2, 3)

		w.Head(w.key, mark(8), time.Now()) // two revisions at once, of which it gets one response
		touched.Sent(8, Planning{})
		w.Head(w.key, mark(9), time.Now()) // and this one changes nothing for it
		for _, s := range []*Stream{touched, untouched, late} {
			s.Settled(9)
		}
		check(7, 1, 3)
		check(8, 1, 3)
		check(9, 0, 3)
	})
}

// What was made before a node came here counts if the node came from elsewhere and was
// sent something for it: nobody else has its ACK. One that was in step has confirmed it
// elsewhere, and one that is new was not there to confirm it.
func TestANodeThatComesMovesOnlyWhatItWasSent(t *testing.T) {
	for name, c := range map[string]struct {
		resumed, sent bool
		acked         int
	}{
		"in step":       {true, false, 0},
		"had missed it": {true, true, 1},
		"new":           {false, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(1), time.Now())
				w.connect("a").Settled(1)
				time.Sleep(time.Second)
				w.Head(w.key, mark(2), time.Now())
				b := w.Connect(w.key, fleet.Node{ID: "b"}, StreamInfo{Resumed: c.resumed})
				if c.sent {
					b.Sent(2, Planning{})
				}
				b.Settled(2)
				time.Sleep(time.Second)
				if d := w.sink.model(w.key).delivered[2]; d.Acked != c.acked || d.Affected != c.acked || d.FirstAck.IsZero() == (c.acked > 0) {
					t.Errorf("%+v", d)
				}
				w.Head(w.key, mark(3), time.Now()) // from now on it is one of them
				b.Sent(3, Planning{})
				b.Settled(3)
				time.Sleep(time.Second)
				if d := w.sink.model(w.key).delivered[3]; d.Acked != 1 || d.Affected != 1 {
					t.Errorf("%+v", d)
				}
			})
		})
	}
}
