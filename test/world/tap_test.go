package world

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a server that answers each request with a response of its type, whose version is
// the token and whose nonce is the server's name, until the client has no more to say.
func echo(t *testing.T, name string, got func([]byte)) (address string) {
	t.Helper()
	lis, err := net.Listen("tcp", AnyPort)
	Must(t, err)
	gs := grpc.NewServer(grpc.ForceServerCodecV2(Raw{}), grpc.UnknownServiceHandler(func(_ any, ss grpc.ServerStream) error {
		md, _ := metadata.FromIncomingContext(ss.Context())
		for {
			var b []byte
			if err := ss.RecvMsg(&b); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			got(b)
			var r discoveryv3.DiscoveryRequest
			if err := proto.Unmarshal(b, &r); err != nil {
				return err
			}
			answer, err := proto.Marshal(&discoveryv3.DiscoveryResponse{TypeUrl: r.GetTypeUrl(), Nonce: name, VersionInfo: md.Get("authorization")[0]})
			if err != nil {
				return err
			}
			if err := ss.SendMsg(answer); err != nil {
				return err
			}
		}
	}))
	served := make(chan error, 1)
	go func() { served <- gs.Serve(lis) }()
	t.Cleanup(func() { gs.Stop(); <-served })
	return lis.Addr().String()
}

// through opens streams through a tap by a connection of its own.
func through(t *testing.T, p *Tap, token string) func() grpc.ClientStream {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+p.Address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(Raw{})))
	Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return func() grpc.ClientStream {
		ctx, cancel := context.WithTimeout(WithToken(t.Context(), token), Soon)
		t.Cleanup(cancel)
		s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources")
		Must(t, err)
		return s
	}
}

func request(t *testing.T, typ fleet.Type) []byte {
	t.Helper()
	b, err := proto.Marshal(&discoveryv3.DiscoveryRequest{TypeUrl: typ.URL(), Node: &corev3.Node{Id: "n1"}})
	Must(t, err)
	return b
}

// next is the next response on a stream.
func next(t *testing.T, s grpc.ClientStream) *discoveryv3.DiscoveryResponse {
	t.Helper()
	var b []byte
	var r discoveryv3.DiscoveryResponse
	Must(t, s.RecvMsg(&b), proto.Unmarshal(b, &r))
	return &r
}

// TestTapPassesOn: bytes as they are, what it does not know too, the client's token or the
// one that it adds, and a half-close.
func TestTapPassesOn(t *testing.T) {
	t.Parallel()
	got := make(chan []byte, 10)
	p := NewTap(t, echo(t, "first", func(b []byte) { got <- b }))
	open := through(t, p, "own")
	s := open()
	sent := append(request(t, fleet.Cluster), 0xfa, 0x7f, 1, 'x') // field 2047
	Must(t, s.SendMsg(sent))
	if r := next(t, s); r.GetVersionInfo() != "Bearer own" || r.GetTypeUrl() != fleet.Cluster.URL() {
		t.Errorf("answered by %v", r)
	}
	if b := <-got; !bytes.Equal(b, sent) {
		t.Errorf("the server got %x, want %x", b, sent)
	}
	Must(t, s.CloseSend())
	if err := s.RecvMsg(&sent); !errors.Is(err, io.EOF) {
		t.Errorf("half-closed, the stream ended with %v, want OK", err)
	}
	p.AddToken("added")
	s = open()
	Must(t, s.SendMsg(request(t, fleet.Route)))
	if r := next(t, s); r.GetVersionInfo() != "Bearer added" {
		t.Errorf("with a token added, answered by %v", r)
	}
	asked, answered := p.Requests(0), p.Since(1)
	if len(asked) != 2 || asked[0].Type != fleet.Cluster || asked[0].Size != len(request(t, fleet.Cluster))+4 || asked[1].Stream != 2 || asked[1].Node.GetId() != "n1" || asked[1].Method != "StreamAggregatedResources" {
		t.Errorf("it noted the requests %v", asked)
	}
	if len(answered) != 1 || answered[0].Type != fleet.Route || answered[0].Stream != 2 || answered[0].Nonce != "first" {
		t.Errorf("it noted the responses %v", answered)
	}
}

// TestTapHoldsBack a type, and nothing else.
func TestTapHoldsBack(t *testing.T) {
	t.Parallel()
	p := NewTap(t, echo(t, "first", func([]byte) {}))
	p.HoldBack(func(s Sent) time.Duration {
		if s.Type == fleet.Cluster {
			return time.Hour
		}
		return 0
	})
	s := through(t, p, "own")()
	Must(t, s.SendMsg(request(t, fleet.Cluster)), s.SendMsg(request(t, fleet.Route)))
	if r := next(t, s); r.GetTypeUrl() != fleet.Route.URL() {
		t.Errorf("answered by %v first, want what is not held back", r)
	}
	if !slices.EqualFunc(p.Since(0), []fleet.Type{fleet.Cluster, fleet.Route}, func(s Sent, typ fleet.Type) bool { return s.Type == typ }) {
		t.Errorf("it noted %v, want both", p.Since(0))
	}
}

// TestTapEndsCutsAndMoves: the next stream goes where the tap leads then.
func TestTapEndsCutsAndMoves(t *testing.T) {
	t.Parallel()
	p := NewTap(t, echo(t, "first", func([]byte) {}))
	second := echo(t, "second", func([]byte) {})
	open := through(t, p, "own")
	for want, end := range map[string]func(){"ended by the test": p.End, "": func() { p.Cut() }} {
		p.Move(t, second)
		s := open()
		Must(t, s.SendMsg(request(t, fleet.Cluster)))
		if r := next(t, s); r.GetNonce() != "second" {
			t.Errorf("answered by %v, want the second server", r)
		}
		end()
		var b []byte
		if err := s.RecvMsg(&b); status.Code(err) != codes.Unavailable || want != "" && status.Convert(err).Message() != want {
			t.Errorf("the stream ended with %v, want Unavailable %s", err, want)
		}
	}
	if p.Opened() != 2 || !p.Sees(1, fleet.Cluster) || p.Sees(2, fleet.Cluster) {
		t.Errorf("it noted %d streams: %v", p.Opened(), p.Requests(0))
	}
}
