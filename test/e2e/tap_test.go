package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

// tap stands between Envoy and an xDS server. It passes everything on, notes what the
// server sent, and can hold responses back or move the streams to another server.
type tap struct {
	address string

	mu       sync.Mutex // guards what follows
	upstream *grpc.ClientConn
	cut      chan struct{} // closed to end the present streams
	sent     []sent
	hold     func(sent) time.Duration
}

// sent is one response of the server.
type sent struct {
	stream  int
	typ     fleet.Type
	names   []string // delta; in state of the world, where only bodies tell, as many ""
	removed []string
}

func (s sent) String() string {
	out := fmt.Sprintf("%d:%s %s", s.stream, s.typ, strings.Join(s.names, ","))
	if len(s.removed) > 0 {
		out += " -" + strings.Join(s.removed, ",-")
	}
	return out
}

func newTap(t testing.TB, upstream string) *tap {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &tap{address: lis.Addr().String(), cut: make(chan struct{})}
	p.move(t, upstream)
	gs := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(gs, ads{p: p, next: new(counter)})
	served := make(chan error, 1)
	go func() { served <- gs.Serve(lis) }()
	t.Cleanup(func() {
		p.end()
		gs.Stop()
		<-served
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.upstream.Close()
	})
	return p
}

// move sends the streams that open from now on to another server.
func (p *tap) move(t testing.TB, upstream string) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+upstream, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	must(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.upstream != nil {
		_ = p.upstream.Close()
	}
	p.upstream = conn
}

// end ends the present streams, as a lost connection does.
func (p *tap) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.cut)
	p.cut = make(chan struct{})
}

// holdBack makes responses wait for as long as f says.
func (p *tap) holdBack(f func(sent) time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = f
}

// since returns what was sent after the first n responses; len of all of them is the
// next n.
func (p *tap) since(n int) []sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent[n:])
}

func (p *tap) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

func (p *tap) note(s sent) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, s)
	if p.hold == nil {
		return 0
	}
	return p.hold(s)
}

func (p *tap) target() (*grpc.ClientConn, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.upstream, p.cut
}

type counter struct {
	mu sync.Mutex // guards n
	n  int
}

func (c *counter) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

// ads is the service that Envoy sees.
type ads struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	p    *tap
	next *counter
}

func (a ads) DeltaAggregatedResources(down discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	stream := a.next.next()
	describe := func(m *discoveryv3.DeltaDiscoveryResponse) sent {
		t, _ := fleet.TypeFromURL(m.GetTypeUrl())
		s := sent{stream: stream, typ: t, removed: m.GetRemovedResources()}
		for _, r := range m.GetResources() {
			s.names = append(s.names, r.GetName())
		}
		slices.Sort(s.names)
		return s
	}
	return pass[discoveryv3.DeltaDiscoveryRequest, discoveryv3.DeltaDiscoveryResponse](a.p, down, "DeltaAggregatedResources", describe)
}

func (a ads) StreamAggregatedResources(down discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	stream := a.next.next()
	describe := func(m *discoveryv3.DiscoveryResponse) sent {
		t, _ := fleet.TypeFromURL(m.GetTypeUrl())
		return sent{stream: stream, typ: t, names: make([]string, len(m.GetResources()))}
	}
	return pass[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse](a.p, down, "StreamAggregatedResources", describe)
}

// message is a pointer to a protobuf message.
type message[M any] interface {
	*M
	proto.Message
}

// pass moves messages both ways until one side ends.
func pass[Req, Resp any, PReq message[Req], PResp message[Resp]](p *tap, down grpc.ServerStream, method string, describe func(PResp) sent) error {
	conn, cut := p.target()
	ctx, cancel := context.WithCancel(down.Context())
	defer cancel()
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, metadata.MD{"authorization": md.Get("authorization")})
	}
	up, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		"/envoy.service.discovery.v3.AggregatedDiscoveryService/"+method)
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() {
		for {
			m := PReq(new(Req))
			if err := errors.Join(down.RecvMsg(m)); err != nil {
				ended <- err
				return
			}
			if err := up.SendMsg(m); err != nil {
				return // the receiver learns why
			}
		}
	}()
	go func() { ended <- receive(ctx, p, down, up, describe) }()
	select {
	case err := <-ended:
		return err
	case <-cut:
		return status.Error(codes.Unavailable, "cut by the test")
	}
}

// receive passes responses on, each type after its own delay: what is held back holds up
// nothing else.
func receive[Resp any, PResp message[Resp]](ctx context.Context, p *tap, down grpc.ServerStream, up grpc.ClientStream, describe func(PResp) sent) error {
	var mu sync.Mutex // of down.SendMsg
	var held sync.WaitGroup
	defer held.Wait()
	for {
		m := PResp(new(Resp))
		if err := up.RecvMsg(m); err != nil {
			return err
		}
		delay := p.note(describe(m))
		send := func() {
			mu.Lock()
			defer mu.Unlock()
			_ = down.SendMsg(m) // a stream that ended tells the other direction
		}
		if delay == 0 {
			send()
			continue
		}
		held.Go(func() {
			select {
			case <-time.After(delay):
				send()
			case <-ctx.Done():
			}
		})
	}
}
