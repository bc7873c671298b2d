package delivery

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

func TestSeveralStreamsOfANodeAreOneRow(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(3), time.Now())
		a, b := w.connect("a"), w.connect("a")
		other := w.connect("other")
		other.Settled(3)
		a.Settled(3)
		time.Sleep(5 * time.Second)
		m := w.sink.model(w.key)
		if n := m.nodes["a"]; n.Streams != 2 || m.effective("a") != 0 {
			t.Fatalf("with one stream that confirmed nothing: %+v, settled %d", n, m.effective("a"))
		}
		b.Close(true)
		time.Sleep(time.Second)
		if m = w.sink.model(w.key); m.nodes["a"].Streams != 1 || m.effective("a") != 3 {
			t.Fatalf("the least of the others is 3: %+v", m.nodes["a"])
		}
		a.Close(true)
		a.Close(true)
		time.Sleep(time.Second)
		if n := w.sink.model(w.key).nodes["a"]; n.Connected || n.Settled == nil || *n.Settled != 3 {
			t.Errorf("gone: %+v", n)
		}
	})
}

func TestRefusedWaitsForTheRecord(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		time.Sleep(time.Second)
		w.sink.mu.Lock()
		w.sink.delay = 30 * time.Millisecond
		w.sink.mu.Unlock()
		r := fleet.Refusal{Type: fleet.Listener, Name: "l", Version: "v", Revision: 1, Detail: "bad\x00" + strings.Repeat("ä", 4<<10)}
		begun := time.Now()
		s.Refused(t.Context(), []fleet.Refusal{r})
		if d := time.Since(begun); d != 30*time.Millisecond {
			t.Errorf("took %v", d)
		}
		got := w.sink.model(w.key).refusals[refusalOf("a", fleet.Listener, "l", 1)]
		if len(got.Detail) > maxDetail || strings.Contains(got.Detail, "\x00") || got.At.IsZero() {
			t.Errorf("recorded %d bytes at %v", len(got.Detail), got.At)
		}
		w.Resolved(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Listener, Name: "l", Version: "v", By: 2}})
		time.Sleep(time.Second)
		if by := w.sink.model(w.key).resolved[refusalOf("a", fleet.Listener, "l", 1)]; by != 2 {
			t.Errorf("resolved by %d", by)
		}
	})
}

func TestRefusedWaitsASecondAtMostAndIsNotLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		time.Sleep(time.Second)
		w.sink.set(hangs)
		begun := time.Now()
		s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v"}})
		if d := time.Since(begun); d != time.Second {
			t.Errorf("took %v", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.Refused(ctx, []fleet.Refusal{{Type: fleet.Cluster, Name: "d", Version: "v"}})
		if d := time.Since(begun); d != time.Second {
			t.Errorf("with a context that ended: %v", d)
		}
		w.sink.set(healthy)
		time.Sleep(15 * time.Second)
		if got := w.sink.model(w.key).refusals; len(got) != 2 {
			t.Errorf("recorded %v", got)
		}
	})
}

func TestAfterALostLeaseEverythingIsToldAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		for i := range 50 {
			w.connect(fmt.Sprint(i)).Settled(1)
		}
		time.Sleep(5 * time.Second)
		w.sink.set(refused)
		time.Sleep(4 * time.Second) // shorter than the lease
		w.sink.set(healthy)
		w.sink.take()
		time.Sleep(4 * time.Second)
		if got := w.sink.take(); len(got) != 0 {
			t.Fatalf("%d reports after a short outage", len(got))
		}
		w.sink.set(refused)
		time.Sleep(10 * time.Second)
		w.sink.mu.Lock()
		w.sink.models = map[fleet.Key]*model{} // dead servers' rows may be gone
		w.sink.fault = healthy
		w.sink.mu.Unlock()
		time.Sleep(4 * time.Second)
		if m := w.sink.model(w.key); len(m.nodes) != 50 || m.settled != 1 {
			t.Errorf("%d nodes, settled %d", len(m.nodes), m.settled)
		}
	})
}

// A report that was taken before the lease was lost, and of which the answer comes after it was
// taken anew, says nothing of what the database holds by then.
func TestAnAnswerOfAnEarlierLeaseAcksNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		w.connect("a").Settled(1)
		time.Sleep(5 * time.Second)
		w.sink.mu.Lock()
		w.sink.delay = 3 * time.Second
		w.sink.mu.Unlock()
		w.connect("b")
		time.Sleep(time.Second) // it is taken, and not answered
		w.sink.mu.Lock()
		w.sink.delay = 0
		w.sink.until = time.Time{} // as on a machine that was suspended: no time has passed here
		w.sink.models = map[fleet.Key]*model{}
		w.sink.mu.Unlock()
		time.Sleep(10 * time.Second)
		if m := w.sink.model(w.key); len(m.nodes) != 2 || m.settled != 1 {
			t.Errorf("%d nodes, settled %d", len(m.nodes), m.settled)
		}
	})
}

// A renewal that is begun in time and taken too late has lost the lease.
func TestASlowRenewalMayHaveLostTheLease(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		w.connect("a").Settled(1)
		time.Sleep(5 * time.Second)
		for slow, again := range map[time.Duration]bool{leaseTTL - leaseEvery - 1: false, leaseTTL - leaseEvery + 1: true} {
			w.sink.take()
			w.sink.mu.Lock()
			w.sink.slow = slow
			w.sink.mu.Unlock()
			time.Sleep(leaseEvery)
			w.sink.mu.Lock()
			w.sink.slow = 0
			w.sink.mu.Unlock()
			time.Sleep(2 * leaseTTL)
			if got := w.sink.take(); len(got) > 0 != again {
				t.Errorf("a renewal that takes %v: %d reports", slow, len(got))
			}
		}
	})
}

func TestStoppingTellsThatAllAreGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(4), time.Now())
		w.connect("a").Settled(4)
		w.connect("b")
		time.Sleep(3 * time.Second)
		w.stop()
		m := w.sink.model(w.key)
		for id, want := range map[string]fleet.Revision{"a": 4, "b": 0} {
			if n := m.nodes[id]; n.Connected || n.Streams != 0 || n.Settled == nil || *n.Settled != want {
				t.Errorf("%s: %+v", id, n)
			}
		}
		if !w.sink.released {
			t.Error("the lease is not released")
		}
	})
}

func TestStoppingDoesNotWaitForADatabaseThatIsAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(4), time.Now())
		w.connect("a")
		time.Sleep(3 * time.Second)
		w.sink.set(hangs)
		begun := time.Now()
		w.stop()
		if d := time.Since(begun); d > callTimeout {
			t.Errorf("took %v", d)
		}
	})
}

func TestADeletedFleetIsNotReportedForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		f := w.lock(w.key)
		rep := &report{}
		f.finish(rep, fmt.Errorf("report: %w", fleet.ErrNotFound), time.Now())
		failures := f.rhythm.failures
		f.mu.Unlock()
		if failures != 0 {
			t.Error("it is tried again")
		}
	})
}

func TestForgottenFleetsLeaveNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		time.Sleep(time.Second)
		s.Close(true)
		w.Forget(w.key) // the end of a is not told yet
		time.Sleep(time.Second)
		if n := len(w.all()); n != 0 {
			t.Errorf("%d fleets", n)
		}
		if n := w.sink.model(w.key).nodes["a"]; n.Connected {
			t.Error("a is shown as connected")
		}
	})
}

// T14: clients with a fresh id each time leave nothing behind, also when nobody listens.
func TestT14FreshNodeIDsAreBounded(t *testing.T) {
	for _, how := range []fault{healthy, refused} {
		t.Run(fmt.Sprint(how), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(1), time.Now())
				time.Sleep(time.Second)
				w.sink.set(how)
				for i := range 50_000 {
					w.connect(fmt.Sprint("node-", i)).Close(true)
					if i%500 == 0 {
						time.Sleep(50 * time.Millisecond)
					}
				}
				time.Sleep(time.Second)
				f := w.lock(w.key)
				n, g := len(f.roster.nodes), len(f.roster.gone)
				f.mu.Unlock()
				if n > 4*maxGone || g > 4*maxGone {
					t.Errorf("%d nodes, %d ends", n, g)
				}
				w.sink.set(healthy)
			})
		})
	}
}

func TestARefusalAfterItsResolutionStands(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		time.Sleep(time.Second)
		w.sink.set(refused)
		s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Route, Name: "r", Version: "v", Revision: 1}})
		w.Resolved(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Route, Name: "r", Version: "v", By: 2}})
		s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Route, Name: "r", Version: "v", Revision: 3}}) // brought back
		w.sink.set(healthy)
		time.Sleep(10 * time.Second)
		m := w.sink.model(w.key)
		if len(m.refusals) != 2 || len(m.resolved) != 1 || m.resolved[refusalOf("a", fleet.Route, "r", 1)] != 2 {
			t.Errorf("%d refusals, resolved %v", len(m.refusals), m.resolved)
		}
	})
}

// What was offered again, and refused again, before the end of an earlier refusal of that
// version is told.
func TestARefusalThatIsMadeAgainEndsTheEarlierOnes(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		offer := fleet.Offer(1)
		refuse := func(rev fleet.Revision) {
			s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Route, Name: "r", Version: "v", Revision: rev, Offer: offer}})
		}
		resolve := func(by fleet.Revision) {
			w.Resolved(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Route, Name: "r", Version: "v", Offer: offer, By: by}})
			offer++
		}
		refuse(1)
		w.sink.set(refused)
		resolve(2)
		refuse(3) // brought back
		resolve(4)
		refuse(3) // offered again
		w.sink.set(healthy)
		time.Sleep(10 * time.Second)
		m := w.sink.model(w.key)
		if len(m.refusals) != 2 || len(m.resolved) != 1 || m.resolved[refusalOf("a", fleet.Route, "r", 1)] != 4 { // one end is told of both
			t.Errorf("%d refusals, resolved %v, want the first one", len(m.refusals), m.resolved)
		}
	})
}

// What happened after what holds, whatever the clock says in between and in whatever order it is told.
func TestWhatIsOfferedAgainIsLaterThanItsRefusal(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		number := fleet.Offer(1)
		refuse := func() {
			s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Route, Name: "r", Version: "v", Revision: 1, Offer: number}})
		}
		offer := func() {
			w.Resolved(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Route, Name: "r", Version: "v", Offer: number, By: 1}})
			number++
			time.Sleep(time.Second)
		}
		resolved := func() int { return len(w.sink.model(w.key).resolved) }
		w.SetClockOffset(time.Hour)
		refuse()
		w.SetClockOffset(0)
		if offer(); resolved() != 1 {
			t.Error("offered again, it stands")
		}
		refuse()
		if resolved() != 0 {
			t.Error("refused again, it has ended")
		}
		w.sink.mu.Lock()
		m := w.sink.models[w.key]
		for _, st := range w.sink.reports { // late, and once more
			m.apply(fleet.Status{Resolved: st.Resolved})
		}
		w.sink.mu.Unlock()
		if resolved() != 0 {
			t.Error("what was told late ends what was refused since")
		}
		offer()
		w.sink.mu.Lock()
		for _, st := range w.sink.reports {
			m.apply(fleet.Status{Refusals: st.Refusals})
		}
		w.sink.mu.Unlock()
		if resolved() != 1 {
			t.Error("what was told late brings back what has ended")
		}
	})
}

func TestWaitersLeaveWhenTheirTimeIsUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		time.Sleep(time.Second)
		w.sink.set(refused)
		for i := range 30 {
			s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: fmt.Sprint(i), Version: "v"}})
		}
		f := w.lock(w.key)
		waiters, kept := len(f.outbox.waiters), len(f.outbox.events)
		f.mu.Unlock()
		if waiters != 0 || kept != 30 {
			t.Errorf("%d wait, %d refusals are kept", waiters, kept)
		}
		w.sink.set(healthy)
	})
}

// What is told again before the sink has heard of it the first time has the words of then.
func TestARefusalToldAgainInAnOutageHasItsWords(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(2), time.Now())
		s := w.connect("a")
		time.Sleep(time.Second)
		w.sink.set(refused)
		s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 2, Detail: "no"}})
		for _, rev := range []fleet.Revision{4, 6} {
			w.Head(w.key, mark(rev), time.Now())
			w.Refused(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: "v", Revision: rev, Again: rev - 2}})
		}
		w.sink.set(healthy)
		time.Sleep(10 * time.Second)
		m := w.sink.model(w.key)
		for _, rev := range []fleet.Revision{2, 4, 6} {
			if r := m.refusals[refusalOf("a", fleet.Cluster, "c", rev)]; r.Detail != "no" {
				t.Errorf("of revision %d: %+v", rev, r)
			}
		}
	})
}

// Each node that comes back while the sink is away is told what it refused, and what the sink has heard of is kept nowhere.
func TestANodesRefusalsThatAreNotToldYet(t *testing.T) {
	f, streams := large(t, 20)
	flushAll(f)
	refuse(streams)
	for i, s := range streams {
		s.Close(true)
		rs := f.rec.Untold(f.key, fmt.Sprint("n", i))
		if len(rs) != 2 || rs[0].Node != fmt.Sprint("n", i) || rs[1].Node != rs[0].Node {
			t.Errorf("node %d refused %+v, want two of its own", i, rs)
		}
	}
	flushAll(f)
	if len(f.outbox.byNode) != 0 || len(f.outbox.events) != 0 {
		t.Errorf("refusals of %d nodes are kept, %d in all", len(f.outbox.byNode), len(f.outbox.events))
	}
	if rs := f.rec.Untold(f.key, "n1"); len(rs) != 0 {
		t.Errorf("the sink knows of %+v", rs)
	}
}

func refuse(streams []*Stream) {
	for _, s := range streams {
		s.refuse([]fleet.Refusal{
			{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}, {Type: fleet.Listener, Name: "l", Version: "v", Revision: 1},
		}, time.Now())
	}
}

// TestARefusalOfBeforeAfterTheEndStands: a version that came back was refused in new words, and offered again; then it is told that what was refused of before stands: it has not ended, and
// the new words stay.
func TestARefusalOfBeforeAfterTheEndStands(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"", "new words"} {
		o := newOutbox()
		r := fleet.Refusal{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 3, Offer: 1, Detail: words}
		o.refuse("n", []fleet.Refusal{r}, time.Now())
		o.resolve([]fleet.Refusal{{Node: "n", Type: fleet.Cluster, Name: "c", Version: "v", Offer: 1, By: 3}})
		r.Again, r.Offer, r.Detail = 1, 2, ""
		o.refuse("n", []fleet.Refusal{r}, time.Now())
		stand, over := refusal.Fold(o.of("n"))
		if len(stand) != 1 || len(over) > 0 || stand[0].Detail != words {
			t.Errorf("%+v stand, and %+v are over, though it was refused since", stand, over)
		}
	}
}
