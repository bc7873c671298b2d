package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"fairlead/internal/fleet"
)

// site is where an xDS server runs: a server that takes the place of another has its address.
type site struct{ address atomic.Pointer[string] }

func (s *site) move(address string) { s.address.Store(&address) }

// subscription is what a simulated node asks for of one type: names, or all.
type subscription struct {
	Type  fleet.Type
	Names []string
}

// swarm is simulated nodes of one fleet, with an aggregated delta stream each, light enough for 10,000 of them beside the
// servers on two cores: one goroutine a node (grpc-go adds one that waits), a hundred nodes a connection, no resource decoded.
// They come back after a break as Envoy does, after 0.5 to 1 s at first, with what they have.
type swarm struct {
	nodes   int
	prefix  string // of their ids
	token   string
	asks    []subscription
	sites   []*site
	alone   bool                                // each has a connection of its own, as a proxy has
	within  time.Duration                       // over which they connect at first
	refuses atomic.Pointer[map[handle]struct{}] // names that they refuse
	took    func(version string, at time.Time)  // nil: nobody wants to know of ACKs

	opened, acks, nacks atomic.Int64
	resources           atomic.Int64           // that came
	ended               atomic.Int64           // streams that broke
	sample              atomic.Pointer[string] // why one of them did
}

// home is the site that a node connects to: with two of them half of the nodes to each. When its server has died, a node of the
// first site comes back to it, but one in fifty that goes to the other one.
func (s *swarm) home(node, try int) int {
	if len(s.sites) == 1 || node%2 == 0 && (node/2+try)%50 != 0 {
		return 0
	}
	return 1
}

// start connects the nodes; they leave when end is called.
func (s *swarm) start(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.token))
	var running sync.WaitGroup
	var conns []*grpc.ClientConn
	end = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		for _, c := range conns {
			_ = c.Close()
		}
	})
	var shared []*grpc.ClientConn // by site
	for i := range s.nodes {
		if s.alone || i%perConnection == 0 {
			shared = make([]*grpc.ClientConn, len(s.sites))
			for k, at := range s.sites {
				if shared[k], err = at.dial(); err != nil {
					end()
					return nil, err
				}
				conns = append(conns, shared[k])
			}
		}
		m := member{swarm: s, number: i, id: fmt.Sprint(s.prefix, i), conns: shared, has: make([][]versioned, len(s.asks))}
		running.Go(func() { m.run(ctx) })
	}
	return end, nil
}

// dial makes a connection that follows the site.
func (s *site) dial() (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///xds", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(swarmCodec{})),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 300 * time.Millisecond, Multiplier: 1.6, Jitter: 0.3, MaxDelay: 2 * time.Second},
			MinConnectTimeout: 5 * time.Second, // else it gives up when its turn to back off is over, and begins anew beside the others
		}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", *s.address.Load())
		}))
}

// count is what happened until now.
func (s *swarm) count() swarmCount {
	n := swarmCount{Opened: s.opened.Load(), Ended: s.ended.Load(), Acks: s.acks.Load(), Nacks: s.nacks.Load(), Resources: s.resources.Load(), Reason: "none did"}
	if why := s.sample.Load(); why != nil {
		n.Reason = *why
	}
	return n
}

// refuse has the nodes refuse these names from now on, and no others.
func (s *swarm) refuse(names ...handle) {
	m := make(map[handle]struct{}, len(names))
	for _, n := range names {
		m[n] = struct{}{}
	}
	s.refuses.Store(&m)
}

// member is one node.
type member struct {
	*swarm
	number int
	id     string
	conns  []*grpc.ClientConn
	has    [][]versioned // by the subscription
}

// run keeps a stream until ctx ends.
func (m *member) run(ctx context.Context) {
	wait := rand.N(m.within + 1)
	for try, failed := 0, 0; ; try++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		answered, err := m.stream(ctx, m.conns[m.home(m.number, try)])
		if ctx.Err() != nil {
			return
		}
		if m.ended.Add(1); err != nil {
			why := err.Error()
			m.sample.Store(&why)
		}
		if failed++; answered {
			failed = 0
		}
		const base = 500 * time.Millisecond
		wait = base<<min(failed, 4) + rand.N(base<<min(failed, 4))
	}
}

var deltaADS = &grpc.StreamDesc{StreamName: "DeltaAggregatedResources", ClientStreams: true, ServerStreams: true}

// stream is one stream until it breaks. answered: the server had something to say.
func (m *member) stream(ctx context.Context, conn *grpc.ClientConn) (answered bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, deltaADS, "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources")
	if err != nil {
		return false, err
	}
	node := m.id
	for i, a := range m.asks {
		if err := stream.SendMsg(firstRequest(node, a.Type, a.Names, m.has[i])); err != nil {
			return false, stream.RecvMsg(&delta{})
		}
		node = ""
	}
	m.opened.Add(1)
	var d delta
	for {
		if err := stream.RecvMsg(&d); err != nil {
			return answered, err
		}
		answered = true
		m.resources.Add(int64(len(d.resources)))
		words := m.take(&d)
		if err := stream.SendMsg(answerTo(&d, words)); err != nil {
			continue // the reason comes with RecvMsg
		}
		if words != "" {
			m.nacks.Add(1)
			continue
		}
		m.acks.Add(1)
		if m.took != nil {
			now := time.Now()
			for _, r := range d.resources {
				m.took(r.version.Value(), now)
			}
		}
	}
}

// take has what is in the response, unless it says in which words it refuses it.
func (m *member) take(d *delta) (words string) {
	if refused := m.refuses.Load(); refused != nil && len(*refused) > 0 {
		for _, r := range d.resources {
			if _, no := (*refused)[r.name]; no {
				return "Error adding/updating cluster(s) " + r.name.Value() + ": the proxy cannot use it"
			}
		}
	}
	i := slices.IndexFunc(m.asks, func(a subscription) bool { return a.Type == d.typ })
	if i < 0 {
		return "not asked for"
	}
	has := m.has[i]
	for _, name := range d.removed {
		has = slices.DeleteFunc(has, func(h versioned) bool { return h.name == name })
	}
	for _, r := range d.resources {
		if k := slices.IndexFunc(has, func(h versioned) bool { return h.name == r.name }); k >= 0 {
			has[k] = r
		} else {
			has = append(has, r)
		}
	}
	m.has[i] = has
	return ""
}
