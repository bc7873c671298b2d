package delivery

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// bubble runs f with a clock that jumps when nothing else is to be done.
func bubble(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		f(t, w)
		w.stop()
	})
}

func TestNewRefusesAnIncompleteConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {Sink: newSink()}, {Sink: newSink(), Name: "x"}, {Sink: newSink(), Server: fleet.NewServerID()}} {
		if _, err := New(c); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestOneHealthyRevisionOfTenThousandNodesIsThreeRows(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const n = 10_000
		w.Head(w.key, mark(1), time.Now())
		streams := make([]*Stream, n)
		for i := range streams {
			streams[i] = w.connect(fmt.Sprint("node-", i))
			streams[i].Settled(1)
		}
		time.Sleep(15 * time.Second) // what they subscribe to has lasted, which is looked at after 10 s
		if m := w.sink.model(w.key); len(m.nodes) != n || m.settled != 1 {
			t.Fatalf("after connecting: %d nodes, settled %d", len(m.nodes), m.settled)
		}
		w.sink.take()

		w.Head(w.key, mark(2), time.Now())
		for _, s := range streams {
			s.Sent(2, Planning{})
			s.Settled(2)
		}
		time.Sleep(10 * time.Second)
		total := 0
		for _, r := range w.sink.take() {
			total += 1 + rows(r)
		}
		if total > 3 {
			t.Errorf("%d rows", total)
		}
		m := w.sink.model(w.key)
		if m.settled != 2 {
			t.Errorf("settled %d", m.settled)
		}
		if d := m.delivered[2]; d.Affected != n || d.Acked != n || d.FirstAck.IsZero() {
			t.Errorf("delivered %+v", d)
		}
	})
}

func TestAQuietFleetIsReportedWithin10Milliseconds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		time.Sleep(time.Second)
		for rev := fleet.Revision(2); rev < 52; rev++ { // a person's changes, one after the other
			w.Head(w.key, mark(rev), time.Now())
			s.Settled(rev)
			time.Sleep(firstFlush)
			synctest.Wait()
			if m := w.sink.model(w.key); m.effective("a") != rev {
				t.Fatalf("revision %d: settled %d", rev, m.effective("a"))
			}
			time.Sleep(30 * time.Millisecond)
		}
	})
}

func TestWhileThingsGoOnReportsComeEvery250Milliseconds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		fast, slow := w.connect("fast"), w.connect("slow")
		fast.Settled(1)
		slow.Settled(1)
		time.Sleep(5 * time.Second)
		w.sink.take()
		for rev := fleet.Revision(2); rev < 1002; rev++ { // 100 revisions a second for 10 s
			w.Head(w.key, mark(rev), time.Now())
			fast.Settled(rev)
			slow.Settled(rev - 5)
			time.Sleep(10 * time.Millisecond)
		}
		got := len(w.sink.take())
		if got < 20 || got > 45 {
			t.Errorf("%d reports in 10 s", got)
		}
	})
}

func TestAnEndlessRhythmUsesUpTheQuickReports(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		for rev := fleet.Revision(2); rev < 1002; rev++ { // 20 s
			w.Head(w.key, mark(rev), time.Now())
			s.Settled(rev)
			time.Sleep(20 * time.Millisecond)
		}
		if got := len(w.sink.take()); got > quickFlush+2*80+10 {
			t.Errorf("%d reports in 20 s", got)
		}
	})
}

func TestANodeBehindForASecondGetsARowOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		a, b := w.connect("a"), w.connect("b")
		a.Settled(1)
		b.Settled(1)
		time.Sleep(5 * time.Second)

		w.Head(w.key, mark(2), time.Now())
		a.Settled(2)
		time.Sleep(900 * time.Millisecond)
		if m := w.sink.model(w.key); m.settled != 1 || m.nodes["b"].Settled != nil {
			t.Fatalf("too early: settled %d, b %+v", m.settled, m.nodes["b"])
		}
		time.Sleep(200 * time.Millisecond)
		m := w.sink.model(w.key)
		if m.settled != 2 || m.nodes["b"].Settled == nil || *m.nodes["b"].Settled != 1 {
			t.Fatalf("settled %d, b %+v", m.settled, m.nodes["b"])
		}
		b.Settled(2)
		time.Sleep(time.Second)
		if m := w.sink.model(w.key); m.nodes["b"].Settled != nil {
			t.Errorf("caught up, and still %+v", m.nodes["b"])
		}
	})
}

func TestAllBehindNeedNoRows(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		for i := range 100 {
			w.connect(fmt.Sprint(i)).Settled(1)
		}
		time.Sleep(5 * time.Second)
		w.sink.take()
		w.Head(w.key, mark(2), time.Now())
		time.Sleep(5 * time.Second)
		if got := w.sink.take(); len(got) != 0 {
			t.Errorf("%d reports, the first with %d rows", len(got), rows(got[0]))
		}
	})
}

func TestAConfirmationCountsForAllRevisionsThatItPasses(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(6), time.Now())
		s := w.connect("a")
		s.Settled(6)
		time.Sleep(time.Second)
		w.SetClockOffset(-time.Hour) // the database's clock is behind: times must not be before the commit
		committed := time.Now().Add(-time.Hour)
		w.Head(w.key, mark(9), committed.Add(3*time.Second))
		s.Sent(9, Planning{})
		s.Settled(9)
		time.Sleep(time.Second)
		m := w.sink.model(w.key)
		for rev := fleet.Revision(7); rev <= 9; rev++ {
			d := m.delivered[rev]
			if d.Affected != 1 || d.Acked != 1 || !d.FirstAck.Equal(committed.Add(3*time.Second)) {
				t.Errorf("revision %d: %+v", rev, d)
			}
		}
	})
}

func TestAProxyThatComesBackMovesNoOldTimes(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(7), time.Now().Add(-time.Hour)) // this server has just loaded the fleet
		w.connect("moved here").Settled(7)
		time.Sleep(time.Second)
		if d, ok := w.sink.model(w.key).delivered[7]; ok {
			t.Errorf("an old revision is counted again: %+v", d)
		}
		w.Head(w.key, mark(8), time.Now())
		s := w.connect("b") // was away when 8 was made
		s.Sent(8, Planning{})
		s.Settled(8)
		time.Sleep(time.Second)
		s.Close(true)
		s = w.connect("b")
		s.Settled(8)
		time.Sleep(time.Second)
		if d := w.sink.model(w.key).delivered[8]; d.Affected != 1 || d.Acked != 1 {
			t.Errorf("revision 8: %+v", d)
		}
	})
}

func TestOnlyTheNewest200RevisionsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		s.Settled(1)
		w.Head(w.key, mark(1000), time.Now())
		s.Settled(1000)
		time.Sleep(time.Second)
		m := w.sink.model(w.key)
		if len(m.delivered) != 200 || m.delivered[801].Acked != 1 {
			t.Errorf("%d revisions", len(m.delivered))
		}
	})
}

func TestACutHistoryCountsNothingFromBefore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(9), time.Now())
		a, b := w.connect("a"), w.connect("b")
		a.Settled(9)
		b.Settled(9)
		time.Sleep(5 * time.Second)
		w.sink.take()
		w.Restart(w.key, mark(5), time.Now())
		a.Settled(9) // late, of the old history
		time.Sleep(500 * time.Millisecond)
		if m := w.sink.model(w.key); m.effective("a") != 0 || m.effective("b") != 0 {
			t.Fatalf("a %d, b %d", m.effective("a"), m.effective("b"))
		}
		a.Settled(5)
		b.Settled(5)
		time.Sleep(time.Second)
		m := w.sink.model(w.key)
		if m.settled != 5 || m.effective("a") != 5 || m.delivered[5].Acked != 2 {
			t.Errorf("settled %d, %+v", m.settled, m.delivered[5])
		}
		total := 0
		for _, r := range w.sink.take() {
			total += len(r.Nodes)
		}
		if total != 0 {
			t.Errorf("%d rows of nodes", total)
		}
	})
}

func TestANewNodeDoesNotPullTheOthersBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(3), time.Now())
		w.connect("a").Settled(3)
		time.Sleep(100 * time.Millisecond) // revision 3 is younger than a second
		w.sink.mu.Lock()
		w.sink.check = func(s fleet.Status, m *model) {
			if m.effective("a") != 3 {
				t.Errorf("a is shown at %d", m.effective("a"))
			}
		}
		w.sink.mu.Unlock()
		w.connect("b")
		w.connect("a").Settled(3)
		time.Sleep(3 * time.Second)
		if m := w.sink.model(w.key); len(m.nodes) != 2 || m.effective("b") != 0 {
			t.Errorf("b is shown at %d", m.effective("b"))
		}
	})
}
