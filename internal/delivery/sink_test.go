package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/refusal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fault is what a sink does with a call.
type fault int

const (
	healthy fault = iota
	refused       // fails, nothing is written
	lost          // is written, but the answer is an error
	hangs         // never answers
)

// model is what readers of the database see of one fleet and server.
type model struct {
	settled   fleet.Revision
	nodes     map[string]fleet.NodeStatus
	delivered map[fleet.Revision]fleet.Delivered
	refusals  map[eventKey]fleet.Refusal
	resolved  map[eventKey]fleet.Revision
}

// refusalOf is the key of a refusal of version v.
func refusalOf(node string, t fleet.Type, name string, rev fleet.Revision) eventKey {
	return keyOf(fleet.Refusal{Node: node, Type: t, Name: name, Version: "v", Revision: rev})
}

func newModel() *model {
	return &model{
		nodes:     map[string]fleet.NodeStatus{},
		delivered: map[fleet.Revision]fleet.Delivered{},
		refusals:  map[eventKey]fleet.Refusal{},
		resolved:  map[eventKey]fleet.Revision{},
	}
}

// apply does what the statement of a report does.
func (m *model) apply(s fleet.Status) {
	if s.Partial {
		m.settled = min(m.settled, s.Settled)
	} else {
		m.settled = s.Settled
	}
	for _, n := range s.Nodes {
		m.nodes[n.Node] = n
	}
	for _, d := range s.Delivered {
		m.delivered[d.Revision] = d
	}
	for _, r := range s.Refusals {
		k := keyOf(r)
		x, known := m.refusals[k]
		if _, over := m.resolved[k]; known && (x.Offer > r.Offer || x.Offer == r.Offer && over) {
			continue
		}
		m.refusals[k] = r
		delete(m.resolved, k)
	}
	for _, r := range s.Resolved {
		for k, x := range m.refusals {
			if k.node != r.Node || !refusal.Ends(r, x) {
				continue
			}
			if _, done := m.resolved[k]; !done {
				m.resolved[k] = r.By
			}
			x.Offer = r.Offer
			m.refusals[k] = x
		}
	}
}

// effective is a node's settled revision as a reader takes it.
func (m *model) effective(id string) fleet.Revision {
	if n := m.nodes[id]; n.Settled != nil {
		return *n.Settled
	}
	return m.settled
}

var errAway = fmt.Errorf("the database is away: %w", fleet.ErrUnavailable)

// sink records reports and applies them.
type sink struct {
	mu       sync.Mutex // guards all below
	fault    fault
	delay    time.Duration
	slow     time.Duration // of a lease
	term     fleet.Term
	until    time.Time // when the lease ends
	models   map[fleet.Key]*model
	reports  []fleet.Status
	at       []time.Time
	leases   int
	released bool
	check    func(fleet.Status, *model) // sees the model after a report that is written
}

func newSink() *sink { return &sink{models: map[fleet.Key]*model{}} }

func (s *sink) Report(ctx context.Context, st fleet.Status) error {
	s.mu.Lock()
	f, delay := s.fault, s.delay
	if st.Term != s.term {
		s.mu.Unlock()
		return fmt.Errorf("a report of term %d in term %d: %w", st.Term, s.term, fleet.ErrPrecondition)
	}
	s.reports = append(s.reports, st)
	s.at = append(s.at, time.Now())
	if f == healthy || f == lost {
		m := s.models[st.Key]
		if m == nil {
			m = newModel()
			s.models[st.Key] = m
		}
		m.apply(st)
		if s.check != nil {
			s.check(st, m)
		}
	}
	s.mu.Unlock()
	return answer(ctx, f, delay)
}

func (s *sink) Lease(ctx context.Context, _ fleet.ServerID, _ string, ttl time.Duration) (fleet.Term, error) {
	s.mu.Lock()
	f, slow := s.fault, s.slow
	s.leases++
	s.mu.Unlock()
	if err := answer(ctx, f, slow); err != nil && f != lost {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().After(s.until) {
		s.term++
	}
	s.until = time.Now().Add(ttl)
	if f == lost {
		return 0, errAway
	}
	return s.term, nil
}

func (s *sink) Release(context.Context, fleet.ServerID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = true
	return nil
}

func answer(ctx context.Context, f fault, delay time.Duration) error {
	if f == hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	if f != healthy {
		return errAway
	}
	return nil
}

// watch has f, or nobody, see the model after each report from now on.
func (s *sink) watch(f func(fleet.Status, *model)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check = f
}

func (s *sink) set(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// take returns the reports since the last take.
func (s *sink) take() []fleet.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.reports
	s.reports, s.at = nil, nil
	return r
}

func (s *sink) model(key fleet.Key) *model {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.models[key]
	if m == nil {
		return newModel()
	}
	c := *m
	c.nodes, c.delivered = maps.Clone(m.nodes), maps.Clone(m.delivered)
	c.refusals, c.resolved = maps.Clone(m.refusals), maps.Clone(m.resolved)
	return &c
}

// world is a recorder that runs.
type world struct {
	*Recorder
	t    *testing.T
	sink *sink
	key  fleet.Key
	stop func()
}

// mark is where a fleet is that has one timeline, but for what restarts say.
func mark(rev fleet.Revision) fleet.Position { return fleet.Position{Revision: rev} }

func setup(t *testing.T) *world {
	t.Helper()
	return setupMeasured(t, nil)
}

func setupMeasured(t *testing.T, m *metrics.Delivery) *world {
	t.Helper()
	s := newSink()
	r, err := New(Config{Server: fleet.NewServerID(), Name: "here", Sink: s, Logger: slog.New(slog.DiscardHandler), Metrics: m})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	stop := sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(stop)
	return &world{Recorder: r, t: t, sink: s, key: fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}, stop: stop}
}

func (w *world) connect(id string) *Stream {
	return w.Connect(w.key, fleet.Node{ID: id, UserAgent: "envoy"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
}

// rows counts what a report writes besides the settled row.
func rows(s fleet.Status) int {
	return len(s.Delivered) + len(s.Nodes) + len(s.Refusals) + len(s.Resolved)
}
