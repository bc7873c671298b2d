package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// burst has nodes that have settled revision 1 refuse two names of revision 2 each, all at
// once, and settle it. Nobody waits for the record.
func (w *world) burst(nodes int) (refused map[string]bool) {
	w.Head(w.key, mark(1), time.Now())
	streams := make(map[string]*Stream, nodes)
	for i := range nodes {
		id := fmt.Sprint("n", i)
		streams[id] = w.connect(id)
		streams[id].Settled(1)
	}
	time.Sleep(5 * time.Second)
	w.Head(w.key, mark(2), time.Now())
	done, cancel := context.WithCancel(w.t.Context())
	cancel()
	refused = make(map[string]bool, nodes)
	for id, s := range streams {
		s.Refused(done, []fleet.Refusal{
			{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 2}, {Type: fleet.Cluster, Name: "b", Version: "v", Revision: 2},
		})
		s.Settled(2)
		refused[id] = true
	}
	return refused
}

// A burst is told in parts, nodes first, and at no moment does a node seem to have taken
// what it refuses. A node that comes meanwhile does not wait for the end.
func TestABurstIsToldInParts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const nodes = 3 * reportRows
		var refused map[string]bool
		late := 0
		w.sink.mu.Lock()
		w.sink.delay = 50 * time.Millisecond
		w.sink.check = func(s fleet.Status, m *model) {
			if len(s.Nodes) > reportRows || len(s.Refusals)+len(s.Resolved) > reportRows || len(s.Lasting) > reportRows {
				t.Errorf("a report has %d nodes, %d refusals, %d that last", len(s.Nodes), len(s.Refusals), len(s.Lasting))
			}
			for id := range refused {
				for _, name := range []string{"a", "b"} {
					if _, told := m.refusals[refusalOf(id, fleet.Cluster, name, 2)]; !told && m.effective(id) >= 2 {
						t.Errorf("%s is shown at %d, its refusal is not", id, m.effective(id))
					}
				}
			}
			if m.nodes["late"].Connected && late == 0 {
				late = len(m.refusals)
			}
		}
		w.sink.mu.Unlock()
		told := w.burst(nodes)
		w.sink.mu.Lock()
		refused = told
		w.sink.mu.Unlock()
		time.Sleep(60 * time.Millisecond)
		w.connect("late").Settled(2)
		w.sink.take()
		time.Sleep(600 * time.Millisecond)
		m := w.sink.model(w.key)
		if len(m.refusals) != 2*nodes || m.settled != 2 || late == 0 || late > 4*reportRows {
			t.Errorf("%d refusals are told, the server has settled %d, the late node came after %d", len(m.refusals), m.settled, late)
		}
		rows := 0
		for _, r := range w.sink.take() {
			rows += len(r.Nodes)
		}
		if rows > nodes+10 { // each is described once more with its refusals
			t.Errorf("%d rows of nodes", rows)
		}
		f := w.lock(w.key)
		waiters, order := len(f.outbox.waiters), len(f.outbox.order)
		f.mu.Unlock()
		if waiters+order > 0 {
			t.Errorf("%d wait, %d tickets are left", waiters, order)
		}
	})
}

// Nodes that are behind, more than a report holds, and of which each has come further with every
// report, do not keep the server's settled revision from rising for those that follow it.
func TestManyThatAreAlwaysBehindHoldUpNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Recorder.rows = 2
		const slow, lag = 9, 5
		w.Head(w.key, mark(1), time.Now())
		first := w.connect("first")
		first.Settled(1)
		var streams []*Stream
		for i := range slow {
			streams = append(streams, w.connect(fmt.Sprint("slow", i)))
			streams[i].Settled(1)
		}
		time.Sleep(5 * time.Second)
		w.sink.mu.Lock()
		w.sink.delay = 100 * time.Millisecond
		w.sink.mu.Unlock()
		at := fleet.Revision(1) // guarded by sink.mu
		w.sink.watch(func(_ fleet.Status, m *model) {
			for i := range slow {
				if id := fmt.Sprint("slow", i); m.effective(id) > at {
					t.Errorf("%s is shown at %d and is at %d", id, m.effective(id), at)
				}
			}
		})
		risen := 0
		for rev := fleet.Revision(2); rev < 60; rev++ {
			w.Head(w.key, mark(rev), time.Now())
			first.Settled(rev)
			if rev > lag {
				w.sink.mu.Lock()
				at = rev - lag
				w.sink.mu.Unlock()
				for _, s := range streams {
					s.Settled(rev - lag)
				}
			}
			time.Sleep(300 * time.Millisecond)
			if m := w.sink.model(w.key); m.effective("first") >= rev-lag {
				risen++
			}
		}
		if risen < 50 {
			t.Errorf("who is always at the head is shown near it after %d of 58 revisions", risen)
		}
		w.sink.watch(nil)
		time.Sleep(5 * time.Second)
		for i := range slow {
			if got := w.sink.model(w.key).effective(fmt.Sprint("slow", i)); got != at {
				t.Errorf("in the end one is shown at %d and is at %d", got, at)
			}
		}
	})
}

// Many nodes that are behind get their rows in parts, and the server's settled revision does
// not rise before the last of them has its own.
func TestManyThatAreBehindAreToldInParts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Recorder.rows = 2
		w.Head(w.key, mark(1), time.Now())
		first := w.connect("first")
		first.Settled(1)
		for i := range 9 {
			w.connect(fmt.Sprint("slow", i)).Settled(1)
		}
		time.Sleep(5 * time.Second)
		w.sink.watch(func(s fleet.Status, m *model) {
			for i := range 9 {
				if id := fmt.Sprint("slow", i); m.effective(id) != 1 {
					t.Errorf("%s is shown at %d", id, m.effective(id))
				}
			}
		})
		w.Head(w.key, mark(2), time.Now())
		first.Settled(2)
		time.Sleep(5 * time.Second)
		if m := w.sink.model(w.key); m.settled != 2 || m.effective("first") != 2 {
			t.Errorf("settled %d, the first one at %d", m.settled, m.effective("first"))
		}
	})
}

// What stays in the outbox holds its node at the least revision of it.
func TestWhatIsLeftHoldsAtItsLeastRevision(t *testing.T) {
	t.Parallel()
	for range 20 { // maps have no order
		o := newOutbox()
		for _, rev := range []fleet.Revision{1, 4, 3, 5} {
			o.refuse("n", []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: rev}}, time.Now())
		}
		var s fleet.Status
		_, left, more := o.take(&s, 1)
		n := newNode(fleet.Node{ID: "n"})
		n.settled, n.before = 9, 9
		if at := left.settled(n, 9); len(s.Refusals) != 1 || s.Refusals[0].Revision != 1 || !more || at != 2 {
			t.Fatalf("%d are taken, more %v, the node is held at %d", len(s.Refusals), more, at)
		}
	}
}

// Nodes whose refusals take very long to be told hold up nobody else's receipts for ever.
func TestABurstDoesNotHoldTheFleetBackForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Recorder.rows = 1
		w.sink.mu.Lock()
		w.sink.delay = time.Second
		w.sink.mu.Unlock()
		w.Head(w.key, mark(1), time.Now())
		a, b := w.connect("a"), w.connect("b")
		a.Settled(1)
		b.Settled(1)
		time.Sleep(10 * time.Second)
		w.Head(w.key, mark(2), time.Now())
		done, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 40 {
			a.Refused(done, []fleet.Refusal{{Type: fleet.Cluster, Name: fmt.Sprint(i), Version: "v", Revision: 2}})
		}
		a.Settled(2)
		b.Settled(2)
		time.Sleep(holdMost - time.Second)
		if m := w.sink.model(w.key); m.settled != 1 {
			t.Errorf("the server has settled %d", m.settled)
		}
		time.Sleep(5 * time.Second)
		if m := w.sink.model(w.key); m.settled != 2 || m.effective("a") != 1 || len(m.refusals) == 40 {
			t.Errorf("after %v: settled %d, a at %d, %d refusals", holdMost, m.settled, m.effective("a"), len(m.refusals))
		}
		time.Sleep(time.Minute)
		if m := w.sink.model(w.key); m.effective("a") != 2 || len(m.refusals) != 40 {
			t.Errorf("in the end a is at %d, %d refusals", m.effective("a"), len(m.refusals))
		}
	})
}

// tight is a sink for which larger reports take too long.
type tight struct {
	*sink
	mu   sync.Mutex // guards most
	most int
}

func (s *tight) Report(ctx context.Context, st fleet.Status) error {
	s.mu.Lock()
	most := s.most
	s.mu.Unlock()
	if rows(st) > most {
		return fmt.Errorf("too slow: %w", fleet.ErrUnavailable)
	}
	return s.sink.Report(ctx, st)
}

func TestAReportThatTakesTooLongIsHalved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &tight{sink: newSink(), most: 3 * reportRows}
		r, err := New(Config{Server: fleet.NewServerID(), Name: "here", Sink: s, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = r.Run(ctx) })
		w := &world{Recorder: r, t: t, sink: s.sink, key: fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}}
		w.burst(100)
		s.mu.Lock()
		s.most = 2*leastRows + 2 // revisions are counted beside them
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if m := w.sink.model(w.key); len(m.refusals) != 200 || m.settled != 2 {
			t.Errorf("%d refusals are told, settled %d", len(m.refusals), m.settled)
		}
		cancel()
		wg.Wait()
		for id, n := range w.sink.model(w.key).nodes {
			if n.Connected {
				t.Fatalf("%s is left as connected", id)
			}
		}
	})
}

// The end of a server is told of all its nodes, however many reports that takes.
func TestStoppingIsToldInParts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Recorder.rows = 7
		w.burst(100)
		w.stop()
		m := w.sink.model(w.key)
		for id, n := range m.nodes {
			if n.Connected || n.Settled == nil || *n.Settled != 2 {
				t.Errorf("%s: %+v", id, n)
			}
		}
		if len(m.nodes) != 100 || len(m.refusals) != 200 {
			t.Errorf("%d nodes, %d refusals", len(m.nodes), len(m.refusals))
		}
	})
}

// The sink knows whether a refused version was in force before the revision that the server has
// of it, and that is whose refusal it is: until it is told, a node has not moved at all.
func TestWhoseRefusalIsLeftHasNotMoved(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Recorder.rows = 2
		w.sink.mu.Lock()
		w.sink.delay = 50 * time.Millisecond
		w.sink.mu.Unlock()
		const nodes = 10
		w.Head(w.key, mark(4), time.Now())
		streams := map[string]*Stream{}
		for i := range nodes {
			id := fmt.Sprint("n", i)
			streams[id] = w.connect(id)
			streams[id].Settled(4)
		}
		time.Sleep(5 * time.Second)
		waiting := 0
		w.sink.watch(func(_ fleet.Status, m *model) {
			for id := range streams {
				if _, told := m.refusals[refusalOf(id, fleet.Cluster, "c", 6)]; !told {
					waiting++
					if m.effective(id) != 4 {
						t.Errorf("%s is shown at %d, its refusal is not", id, m.effective(id))
					}
				}
			}
		})
		w.Head(w.key, mark(6), time.Now()) // with what revision 5 brought
		done, cancel := context.WithCancel(t.Context())
		cancel()
		for _, s := range streams {
			s.Refused(done, []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 6}})
			s.Settled(6)
		}
		time.Sleep(5 * time.Second)
		w.sink.watch(nil)
		m := w.sink.model(w.key)
		for id := range streams {
			if m.effective(id) != 6 {
				t.Errorf("in the end %s is at %d", id, m.effective(id))
			}
		}
		if len(m.refusals) != nodes || waiting == 0 {
			t.Errorf("%d refusals are told, %d were waited for", len(m.refusals), waiting)
		}
	})
}
