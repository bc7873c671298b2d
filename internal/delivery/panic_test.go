package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// fragile is a sink that panics when it is told to.
type fragile struct {
	*sink
	reports    atomic.Pointer[fleet.Key] // of which fleet
	leases     atomic.Bool
	asked      atomic.Int64 // reports of that fleet
	afterwards atomic.Bool  // once it has written
}

func (f *fragile) Report(ctx context.Context, st fleet.Status) error {
	if k := f.reports.Load(); k != nil && *k == st.Key {
		f.asked.Add(1)
		if f.afterwards.Load() {
			_ = f.sink.Report(ctx, st)
		}
		panic("scripted")
	}
	return f.sink.Report(ctx, st)
}

func (f *fragile) Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) (fleet.Term, error) {
	if f.leases.Load() {
		panic("scripted")
	}
	return f.sink.Lease(ctx, id, name, ttl)
}

func brittle(t *testing.T, f func(t *testing.T, w *world, s *fragile)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &fragile{sink: newSink()}
		r, err := New(Config{Server: fleet.NewServerID(), Name: "here", Sink: s, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		f(t, &world{Recorder: r, t: t, sink: s.sink, key: fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}}, s)
		cancel()
		wg.Wait()
	})
}

func TestT36_AReportThatPanicsIsGivenAgain(t *testing.T) {
	for _, afterwards := range []bool{false, true} {
		t.Run(fmt.Sprint("afterwards ", afterwards), func(t *testing.T) {
			brittle(t, func(t *testing.T, w *world, s *fragile) {
				other := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
				for _, k := range []fleet.Key{w.key, other} {
					w.Head(k, mark(1), time.Now())
				}
				s.reports.Store(&w.key)
				s.afterwards.Store(afterwards)
				a := w.connect("a")
				b := w.Connect(other, fleet.Node{ID: "b"}, StreamInfo{Resumed: true})
				for _, k := range []fleet.Key{w.key, other} {
					w.Head(k, mark(2), time.Now())
				}
				a.Settled(2)
				b.Settled(2)
				for i := range 60 { // a second each, as nobody records it
					a.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: fmt.Sprint(i), Version: "v", Revision: 1}})
				}
				if m := w.sink.model(other); !m.nodes["b"].Connected || m.delivered[2].Acked != 1 {
					t.Errorf("the other fleet: %+v", m)
				}
				if n := s.asked.Load(); n < 5 || n > 40 {
					t.Errorf("%d reports in a minute", n)
				}
				s.reports.Store(nil)
				time.Sleep(2 * retryMost)
				if m := w.sink.model(w.key); !m.nodes["a"].Connected || m.delivered[2].Acked != 1 || len(m.refusals) != 60 {
					t.Errorf("of the fleet are told: %+v, %d ACKs, %d refusals", m.nodes["a"], m.delivered[2].Acked, len(m.refusals))
				}
			})
		})
	}
}

// A panic while a report is made up: what was taken out is put back, and no lock is held.
func TestT36_AFleetStatusThatPanicsKeepsWhatItHad(t *testing.T) {
	brittle(t, func(t *testing.T, w *world, _ *fragile) {
		w.Head(w.key, mark(1), time.Now())
		time.Sleep(2 * time.Second)
		f := w.lock(w.key)
		poison := make([]*node, 50)
		for i := range poison { // before it and after it, in whatever order
			poison[i] = &node{streams: map[*Stream]struct{}{nil: {}, {kind: "delta ADS"}: {}}}
			f.roster.checks.add(poison[i])
		}
		f.mu.Unlock()
		as := make([]*Stream, 50)
		for i := range as {
			as[i] = w.connect(fmt.Sprint(i))
		}
		w.Head(w.key, mark(2), time.Now())
		for _, s := range as {
			s.Settled(2)
		}
		w.Resolved(w.key, []fleet.Refusal{{Node: "0", Type: fleet.Route, Name: "r", Version: "v", By: 1}})
		time.Sleep(20 * time.Second)
		if n := len(w.sink.model(w.key).nodes); n != 0 {
			t.Fatalf("%d nodes are told: the test is blind", n)
		}
		f = w.lock(w.key)
		for i := range 50 {
			f.roster.checks.drop(poison[i])
		}
		f.mu.Unlock()
		time.Sleep(2 * retryMost)
		if m := w.sink.model(w.key); len(m.nodes) != 50 || m.delivered[2].Acked != 50 || m.settled != 2 {
			t.Errorf("%d nodes, %d ACKs, settled %d", len(m.nodes), m.delivered[2].Acked, m.settled)
		}
	})
}

func TestT36_ALeaseThatPanicsIsRenewed(t *testing.T) {
	brittle(t, func(t *testing.T, w *world, s *fragile) {
		s.leases.Store(true)
		time.Sleep(10 * time.Second) // the first one too
		s.leases.Store(false)
		w.Head(w.key, mark(1), time.Now())
		a := w.connect("a")
		w.Head(w.key, mark(2), time.Now())
		a.Settled(2)
		time.Sleep(5 * time.Second)
		if !w.sink.model(w.key).nodes["a"].Connected {
			t.Error("nothing is told")
		}
		s.leases.Store(true)
		time.Sleep(2 * leaseTTL)
		w.sink.mu.Lock()
		w.sink.models = map[fleet.Key]*model{} // a dead server's rows may be gone
		w.sink.mu.Unlock()
		s.leases.Store(false)
		time.Sleep(5 * time.Second)
		if m := w.sink.model(w.key); !m.nodes["a"].Connected || m.delivered[2].Acked != 1 {
			t.Error("it is not told again after the lease was lost")
		}
	})
}
