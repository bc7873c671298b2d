package delivery

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// typed opens the streams of a client that has one for each of several types.
func (w *world) typed(id string, info StreamInfo, kinds ...string) (all []*Stream) {
	for _, kind := range kinds {
		info.Protocol = kind
		all = append(all, w.Connect(w.key, fleet.Node{ID: id, UserAgent: "envoy"}, info))
	}
	return all
}

// wantAt fails unless a node is shown at a revision, after all is told.
func (w *world) wantAt(t *testing.T, when, id string, want fleet.Revision) {
	t.Helper()
	time.Sleep(1200 * time.Millisecond)
	if got := w.sink.model(w.key).effective(id); got != want {
		t.Errorf("%s: %s is shown at %d, want %d", when, id, got, want)
	}
}

func settle(rev fleet.Revision, all ...*Stream) {
	for _, s := range all {
		s.Settled(rev)
	}
}

// bubbles is bubble as a test of its own.
func bubbles(t *testing.T, name string, test func(*testing.T, *world)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { bubble(t, test) })
}

// TestAStreamThatEndsConfirmsNothing: of a client with a stream for each type, one that did not answer ends. Nobody has confirmed what
// it was sent; when it is back nothing is pending that was acked.
func TestAStreamThatEndsConfirmsNothing(t *testing.T) {
	for _, kind := range []string{"delta CDS", "delta LDS", "delta RTDS", "delta EDS", "SotW RDS", "SotW SDS", "delta ECDS", "delta SRDS", "delta VHDS"} {
		for _, resumed := range []bool{true, false} {
			bubbles(t, kind, func(t *testing.T, w *world) {
				w.Head(w.key, mark(1), time.Now())
				all := w.typed("a", StreamInfo{}, "delta other", kind)
				settle(1, all...)
				w.wantAt(t, "at first", "a", 1)
				for rev := fleet.Revision(2); rev < 5; rev++ {
					w.Head(w.key, mark(rev), time.Now())
					settle(rev, all...)
				}
				w.Head(w.key, mark(5), time.Now())
				all[0].Settled(5)
				w.wantAt(t, "unanswered", "a", 4)
				all[1].Close(false)
				w.wantAt(t, "ended", "a", 4)
				time.Sleep(30 * time.Second)
				w.wantAt(t, "away", "a", 4)
				all[1] = w.typed("a", StreamInfo{Resumed: resumed}, kind)[0]
				w.wantAt(t, "back", "a", 4)
				w.Head(w.key, mark(6), time.Now())
				settle(6, all...)
				w.wantAt(t, "answered", "a", 6)
			})
		}
	}
}

// TestAStreamThatIsNotWantedAnyMore holds nothing up: a client ends it, or does not bring it back. Of what a client always has it is
// waited for.
func TestAStreamThatIsNotWantedAnyMore(t *testing.T) {
	for _, c := range []struct {
		kind   string
		gaveUp bool
		within time.Duration // 0: never
	}{
		{"delta EDS", true, gaveUpWithin}, {"delta RDS", true, gaveUpWithin}, {"delta EDS", false, comesBackWithin}, {"SotW SDS", false, comesBackWithin},
		{"delta CDS", true, 0}, {"delta LDS", false, 0},
	} {
		bubbles(t, c.kind, func(t *testing.T, w *world) {
			w.Head(w.key, mark(1), time.Now())
			all := w.typed("a", StreamInfo{}, "delta other", c.kind)
			settle(1, all...)
			w.Head(w.key, mark(2), time.Now())
			all[0].Settled(2)
			w.wantAt(t, "unanswered", "a", 1)
			if c.gaveUp {
				all[1].GaveUp()
			}
			all[1].Close(!c.gaveUp)
			if c.within == 0 {
				time.Sleep(time.Hour)
				w.wantAt(t, "after an hour", "a", 1)
				return
			}
			time.Sleep(c.within - 2*time.Second)
			w.wantAt(t, "waited for", "a", 1)
			time.Sleep(time.Second)
			w.wantAt(t, "not waited for", "a", 2)
		})
	}
}

// TestAStreamThatWasInStepHoldsNothingUp: its client ended it, as it needs no more what it asked for. If all end with it, as those of a connection
// that a proxy on the way has lost, it is waited for when they come back.
func TestAStreamThatWasInStepHoldsNothingUp(t *testing.T) {
	for _, lost := range []bool{false, true} {
		bubbles(t, map[bool]string{false: "it alone", true: "all of them"}[lost], func(t *testing.T, w *world) {
			w.Head(w.key, mark(1), time.Now())
			all := w.typed("a", StreamInfo{}, "delta CDS", "delta EDS")
			settle(1, all...)
			all[1].GaveUp()
			all[1].Close(true)
			if lost {
				all[0].GaveUp()
				all[0].Close(true)
			}
			w.Head(w.key, mark(2), time.Now())
			if !lost {
				all[0].Settled(2)
				w.wantAt(t, "the others", "a", 2)
				return
			}
			w.typed("a", StreamInfo{Resumed: true, Before: 1}, "delta CDS")[0].Settled(2)
			w.wantAt(t, "the first is back", "a", 1)
			w.typed("a", StreamInfo{Resumed: true, Before: 1}, "delta EDS")[0].Settled(2)
			w.wantAt(t, "both are back", "a", 2)
		})
	}
}

// TestAllStreamsAreBackInAnyOrder: the first one that is back says nothing of the others, whichever ended first.
func TestAllStreamsAreBackInAnyOrder(t *testing.T) {
	kinds := []string{"delta CDS", "delta EDS", "delta EDS", "delta LDS", "delta RDS"}
	for first := range kinds {
		bubbles(t, kinds[first], func(t *testing.T, w *world) {
			w.Head(w.key, mark(1), time.Now())
			all := w.typed("a", StreamInfo{}, kinds...)
			settle(1, all...)
			w.Head(w.key, mark(2), time.Now())
			settle(2, all[:2]...) // the second of the endpoints is behind, and what comes after it
			w.wantAt(t, "unanswered", "a", 1)
			for i := range all {
				all[(first+i)%len(all)].Close(false)
			}
			w.wantAt(t, "away", "a", 1)
			for i := range all {
				at := (first + i) % len(all)
				all[at] = w.typed("a", StreamInfo{Resumed: true, Before: 1}, kinds[at])[0]
				all[at].Settled(2)
				if away := (at + 1) % len(all); i < len(all)-1 && away != 0 { // the clusters had settled
					w.wantAt(t, "some are back", "a", 1)
				}
			}
			w.wantAt(t, "all are back", "a", 2)
		})
	}
}

// TestAStreamThatIsReplaced: an Envoy opens a stream for a changed cluster's endpoints before it ends the old one, and one whose
// connection broke comes back before that is noticed.
func TestAStreamThatIsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		all := w.typed("a", StreamInfo{}, "delta CDS", "delta EDS")
		settle(1, all...)
		time.Sleep(startsWithin + time.Second)
		for rev := fleet.Revision(2); rev < 5; rev++ {
			w.Head(w.key, mark(rev), time.Now())
			settle(rev, all...)
			next := w.typed("a", StreamInfo{}, "delta EDS")[0]
			w.wantAt(t, "beside it", "a", rev-1)
			all[1].Close(false)
			w.wantAt(t, "replaced", "a", rev-1)
			all[1] = next
			next.Settled(rev)
			w.wantAt(t, "answered", "a", rev)
		}
	})
}

// TestAnotherProcessOwesNothing: what the one before it had lost is not waited for.
func TestAnotherProcessOwesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		for _, s := range w.typed("a", StreamInfo{}, "delta CDS", "delta LDS", "delta RTDS") {
			s.Close(false)
		}
		settle(1, w.typed("a", StreamInfo{}, "delta CDS", "delta LDS")...)
		w.wantAt(t, "another process", "a", 1)
	})
}

// TestALostStreamIsOfItsHistory: after a cut it has confirmed nothing.
func TestALostStreamIsOfItsHistory(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(5), time.Now())
		all := w.typed("a", StreamInfo{}, "delta CDS", "delta LDS")
		settle(5, all...)
		all[1].Close(false)
		w.Restart(w.key, mark(3), time.Now())
		all[0].Settled(3)
		w.wantAt(t, "cut", "a", 0)
		w.typed("a", StreamInfo{Resumed: true}, "delta LDS")[0].Settled(3)
		w.wantAt(t, "back", "a", 3)
	})
}
