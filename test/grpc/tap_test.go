package grpcclients

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

// tap stands between clients and an xDS server, as a relay does: it adds the token, which
// gRPC clients do not send in the clear. It passes every message on byte by byte and
// notes it.
type tap struct {
	t       testing.TB
	address string
	token   string
	conn    *grpc.ClientConn

	mu       sync.Mutex // guards what follows
	messages []message
	streams  int
}

// message is one request or response of a state-of-the-world stream.
type message struct {
	at       time.Time
	stream   int
	typ      fleet.Type
	request  *discoveryv3.DiscoveryRequest
	response *discoveryv3.DiscoveryResponse
}

func (m message) String() string {
	if r := m.request; r != nil {
		s := fmt.Sprintf("%d <- %s %q version %q nonce %q", m.stream, m.typ, r.GetResourceNames(), r.GetVersionInfo(), r.GetResponseNonce())
		if r.GetNode() != nil {
			s += " node " + r.GetNode().GetId()
		}
		if r.GetErrorDetail() != nil {
			s += " NACK " + r.GetErrorDetail().GetMessage()
		}
		return s
	}
	return fmt.Sprintf("%d -> %s version %q nonce %q: %d resources", m.stream, m.typ, m.response.GetVersionInfo(), m.response.GetNonce(), len(m.response.GetResources()))
}

func newTap(t testing.TB, upstream, token string) *tap {
	t.Helper()
	lis, err := net.Listen("tcp", anyPort)
	must(t, err)
	conn, err := grpc.NewClient("passthrough:///"+upstream, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	p := &tap{t: t, address: lis.Addr().String(), token: token, conn: conn}
	gs := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(p.pass))
	served := make(chan error, 1)
	go func() { served <- gs.Serve(lis) }()
	t.Cleanup(func() {
		gs.Stop()
		<-served
		_ = conn.Close()
		if t.Failed() {
			t.Logf("on the wire:\n%s", p.text())
		}
	})
	return p
}

func (p *tap) text() string {
	var b strings.Builder
	for _, m := range p.since(0) {
		b.WriteString(m.at.UTC().Format("15:04:05.000 ") + m.String() + "\n")
	}
	return b.String()
}

// since returns the messages after the first n.
func (p *tap) since(n int) []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.messages[n:])
}

func (p *tap) note(m message) {
	t, _ := fleet.TypeFromURL(m.request.GetTypeUrl() + m.response.GetTypeUrl()) // one of them is ""
	m.typ, m.at = t, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = append(p.messages, m)
}

// pass moves one stream's messages both ways until the server ends it.
func (p *tap) pass(_ any, down grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(down)
	ctx, cancel := context.WithCancel(down.Context())
	defer cancel()
	if p.token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+p.token)
	}
	up, err := p.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method, grpc.ForceCodecV2(raw{}))
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.streams++
	stream := p.streams
	p.mu.Unlock()
	go p.passRequests(stream, down, up, cancel)
	return p.passResponses(stream, down, up)
}

func (p *tap) passRequests(stream int, down grpc.ServerStream, up grpc.ClientStream, cancel context.CancelFunc) {
	for {
		var b []byte
		err := down.RecvMsg(&b)
		if errors.Is(err, io.EOF) {
			_ = up.CloseSend() // a half-close is one for the server too
			return
		}
		if err != nil {
			cancel()
			return
		}
		m := &discoveryv3.DiscoveryRequest{}
		if proto.Unmarshal(b, m) == nil {
			p.note(message{stream: stream, request: m})
		}
		if up.SendMsg(b) != nil {
			return // the other direction learns why
		}
	}
}

func (p *tap) passResponses(stream int, down grpc.ServerStream, up grpc.ClientStream) error {
	for {
		var b []byte
		err := up.RecvMsg(&b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		m := &discoveryv3.DiscoveryResponse{}
		if proto.Unmarshal(b, m) == nil {
			p.note(message{stream: stream, response: m})
		}
		if err := down.SendMsg(b); err != nil {
			return err
		}
	}
}
