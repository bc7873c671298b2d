package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// mostBytes may a message have.
const mostBytes = 64 << 20

// via stands between an Envoy and all xDS servers. It chooses a server for each stream, ends streams as a proxy does that moves, and writes down
// for the Envoy which clusters it was given and what it made of them.
type via struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	node
	address string
	wires   []*wire         // to the servers
	roaming context.Context //nolint:containedctx // while it lasts streams are ended by themselves
	stay    time.Duration   // for about that long a stream stays at a server
	h       *history
	running sync.WaitGroup

	mu   sync.Mutex // guards what follows
	rng  *rand.Rand
	life int // of the Envoy: each has streams of its own
	said []string
}

func newVia(t testing.TB, v *via) *via {
	t.Helper()
	lis, err := net.Listen("tcp", world.AnyPort)
	world.Must(t, err)
	v.address = lis.Addr().String()
	gs := grpc.NewServer(grpc.MaxRecvMsgSize(mostBytes), grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true})) // as the servers
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(gs, v)
	v.running.Go(func() { _ = gs.Serve(lis) })
	t.Cleanup(func() {
		gs.Stop()
		v.running.Wait()
		if t.Failed() {
			t.Logf("between %v and its servers:\n%s", v.node, strings.Join(v.said[max(0, len(v.said)-lastSaid):], "\n"))
		}
	})
	return v
}

const (
	lineTime = "04:05.000" // of a log
	lastSaid = 5000
)

// say keeps a line for who reads the log of a test that failed.
func (v *via) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said = append(v.said, time.Now().Format(lineTime)+" "+fmt.Sprintf(format, args...))
}

// forget is of an Envoy that is killed: what its streams still bring is not noted.
func (v *via) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.life++
	v.h.forget(v.node)
}

// note writes something down unless the Envoy whose stream it was is gone.
func (v *via) note(life int, d did, server string, r response) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if life == v.life {
		v.h.note(note{Node: v.node, Did: d, Server: server, Contents: r.contents, Repair: r.repair})
	}
}

// DeltaAggregatedResources is the server's.
func (v *via) DeltaAggregatedResources(down grpc.BidiStreamingServer[discoveryv3.DeltaDiscoveryRequest, discoveryv3.DeltaDiscoveryResponse]) error {
	return v.pass(down.Context(), func(ctx context.Context, ads discoveryv3.AggregatedDiscoveryServiceClient, book *book) error {
		up, err := ads.DeltaAggregatedResources(ctx)
		if err != nil {
			return err
		}
		return relay(&v.running, down, up, func(q *discoveryv3.DeltaDiscoveryRequest) {
			v.say("asks %s of %s %q, has %v, nonce %.8s %s", book.server, q.GetTypeUrl(), q.GetResourceNamesSubscribe(), q.GetInitialResourceVersions(), q.GetResponseNonce(), q.GetErrorDetail().GetMessage())
			book.answered(q.GetTypeUrl(), q.GetResponseNonce(), q.GetErrorDetail() != nil)
		}, func(r *discoveryv3.DeltaDiscoveryResponse) {
			var all []*anypb.Any
			for _, res := range r.GetResources() {
				all = append(all, res.GetResource())
			}
			v.say("%s sends %s, without %q, nonce %.8s", book.server, brought(r.GetTypeUrl(), all), r.GetRemovedResources(), r.GetNonce())
			if r.GetTypeUrl() != fleet.Cluster.URL() {
				return
			}
			var contents []content
			for _, res := range r.GetResources() {
				contents = append(contents, read(res.GetResource().GetValue())...)
			}
			for _, name := range r.GetRemovedResources() {
				contents = append(contents, content{v.Tenant, name, 0})
			}
			book.sent(r.GetNonce(), contents)
		})
	})
}

// StreamAggregatedResources is the server's.
func (v *via) StreamAggregatedResources(down grpc.BidiStreamingServer[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]) error {
	return v.pass(down.Context(), func(ctx context.Context, ads discoveryv3.AggregatedDiscoveryServiceClient, book *book) error {
		up, err := ads.StreamAggregatedResources(ctx)
		if err != nil {
			return err
		}
		return relay(&v.running, down, up, func(q *discoveryv3.DiscoveryRequest) {
			v.say("asks %s of %s %q at %s, nonce %.8s %s", book.server, q.GetTypeUrl(), q.GetResourceNames(), q.GetVersionInfo(), q.GetResponseNonce(), q.GetErrorDetail().GetMessage())
			book.answered(q.GetTypeUrl(), q.GetResponseNonce(), q.GetErrorDetail() != nil)
		}, func(r *discoveryv3.DiscoveryResponse) {
			v.say("%s sends %s at %s, nonce %.8s", book.server, brought(r.GetTypeUrl(), r.GetResources()), r.GetVersionInfo(), r.GetNonce())
			if r.GetTypeUrl() != fleet.Cluster.URL() {
				return
			}
			var contents []content
			for _, res := range r.GetResources() {
				contents = append(contents, read(res.GetValue())...)
			}
			book.sent(r.GetNonce(), v.h.whole(v.node, contents))
		})
	})
}

// brought says what a response has: its resources' names, of endpoints how many there are, and of a route where it goes.
func brought(typeURL string, all []*anypb.Any) string {
	said := []string{typeURL[strings.LastIndexByte(typeURL, '.')+1:] + ":"}
	for _, one := range all {
		m, err := one.UnmarshalNew()
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		switch m := m.(type) {
		case *clusterv3.Cluster:
			said = append(said, m.GetName())
		case *endpointv3.ClusterLoadAssignment:
			said = append(said, fmt.Sprintf("%s (%d)", m.GetClusterName(), len(m.GetEndpoints())))
		case *routev3.RouteConfiguration:
			said = append(said, fmt.Sprintf("%s %v", m.GetName(), m.GetVirtualHosts()))
		default:
			said = append(said, "one")
		}
	}
	return strings.Join(said, " ")
}

// pass has a stream go on at a server until either side, or the time that it stays there, ends.
func (v *via) pass(ctx context.Context, do func(context.Context, discoveryv3.AggregatedDiscoveryServiceClient, *book) error) error {
	v.mu.Lock()
	server, life := v.rng.IntN(len(v.wires)), v.life
	stay := v.stay/10 + time.Duration(v.rng.ExpFloat64()*float64(v.stay))
	v.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	leave := time.AfterFunc(stay, func() {
		if v.roaming.Err() == nil {
			cancel(status.Error(codes.Unavailable, "it goes to another server"))
		}
	})
	defer cancel(nil)
	defer leave.Stop()
	conn, err := grpc.NewClient("passthrough:///"+v.wires[server].address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableServiceConfig(), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostBytes)))
	if err != nil {
		return err
	}
	defer conn.Close()
	if in, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, metadata.MD{"authorization": in.Get("authorization")})
	}
	return do(ctx, discoveryv3.NewAggregatedDiscoveryServiceClient(conn), &book{v: v, life: life, wire: v.wires[server], server: fmt.Sprint("xds ", server), open: map[string]response{}})
}

// relay passes messages on both ways until one of them ends.
func relay[Q, R any](running *sync.WaitGroup, down grpc.BidiStreamingServer[Q, R], up grpc.BidiStreamingClient[Q, R], asked func(*Q), sent func(*R)) error {
	over := make(chan error, 2)
	running.Go(func() { // it ends with the handler
		for {
			q, err := down.Recv()
			if err == nil {
				asked(q)
				err = up.Send(q)
			}
			if err != nil {
				over <- err
				return
			}
		}
	})
	running.Go(func() {
		for {
			r, err := up.Recv()
			if err == nil {
				sent(r)
				err = down.Send(r)
			}
			if err != nil {
				over <- err
				return
			}
		}
	})
	return <-over
}

// book is what one stream brought and what was said to it.
type book struct {
	v      *via
	life   int
	wire   *wire
	server string

	mu   sync.Mutex // guards what follows
	open map[string]response
	last time.Time // when an answer went on to the wire
}

// response is one of clusters.
type response struct {
	contents []content
	repair   bool
}

func (b *book) sent(nonce string, contents []content) {
	b.mu.Lock()
	r := response{contents, len(b.open) > 0 || b.wire.heldSince(b.last)}
	b.open[nonce] = r
	b.mu.Unlock()
	b.v.note(b.life, received, b.server, r)
}

func (b *book) answered(typeURL, nonce string, refused bool) {
	if typeURL != fleet.Cluster.URL() {
		return
	}
	b.mu.Lock()
	r, is := b.open[nonce]
	delete(b.open, nonce)
	if is {
		b.last = time.Now()
	}
	b.mu.Unlock()
	switch {
	case !is: // it subscribes to something
	case refused:
		b.v.note(b.life, nacked, b.server, r)
	default:
		b.v.note(b.life, acked, b.server, r)
	}
}
