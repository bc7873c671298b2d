package e2e

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

// serve passes one stream of any discovery service on.
func (p *tap) serve(_ any, down grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(down)
	c := &call{p: p, down: down, method: method}
	c.stream, c.conn, c.ended = p.open()
	if strings.HasPrefix(path.Base(method), "Delta") {
		return pass(c, c.askedDelta, c.sentDelta)
	}
	return pass(c, c.askedSotW, c.sentSotW)
}

// call is one stream through the tap.
type call struct {
	p      *tap
	down   grpc.ServerStream
	method string
	stream int
	conn   *grpc.ClientConn
	ended  chan struct{}
}

func (c *call) askedDelta(m *discoveryv3.DeltaDiscoveryRequest) asked {
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	return asked{
		stream: c.stream, method: path.Base(c.method), typ: t, names: m.GetResourceNamesSubscribe(),
		reported: slices.Sorted(maps.Keys(m.GetInitialResourceVersions())),
		nonce:    m.GetResponseNonce(), refusal: m.GetErrorDetail().GetMessage(), size: proto.Size(m),
	}
}

func (c *call) askedSotW(m *discoveryv3.DiscoveryRequest) asked {
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	return asked{
		stream: c.stream, method: path.Base(c.method), typ: t, names: m.GetResourceNames(), version: m.GetVersionInfo(),
		nonce: m.GetResponseNonce(), refusal: m.GetErrorDetail().GetMessage(), size: proto.Size(m),
	}
}

func (c *call) sentDelta(m *discoveryv3.DeltaDiscoveryResponse) sent {
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	s := sent{stream: c.stream, typ: t, nonce: m.GetNonce(), removed: m.GetRemovedResources()}
	for _, r := range m.GetResources() {
		s.add(r)
		s.content = append(s.content, r.GetName()+" at "+r.GetVersion())
	}
	slices.Sort(s.names)
	slices.Sort(s.content)
	return s
}

func (c *call) sentSotW(m *discoveryv3.DiscoveryResponse) sent {
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	s := sent{stream: c.stream, typ: t, nonce: m.GetNonce()}
	for _, a := range m.GetResources() {
		s.content = append(s.content, fmt.Sprintf("%x", sha256.Sum256(a.GetValue())))
		var r discoveryv3.Resource
		if !a.MessageIs(&r) || a.UnmarshalTo(&r) != nil {
			s.names = append(s.names, "")
			continue
		}
		s.wrapped++
		s.add(&r)
	}
	slices.Sort(s.content)
	return s
}

func (s *sent) add(r *discoveryv3.Resource) {
	s.names = append(s.names, r.GetName())
	if r.GetTtl() != nil {
		s.ttls = append(s.ttls, r.GetName())
	}
	// Without a body but with an alias it says that the name resolves to nothing.
	if r.GetResource() == nil && len(r.GetAliases()) == 0 {
		s.beats = append(s.beats, r.GetName())
	}
}

// message is a pointer to a protobuf message.
type message[M any] interface {
	*M
	proto.Message
}

// pass moves messages both ways until one side ends.
func pass[Req, Resp any, PReq message[Req], PResp message[Resp]](c *call, request func(PReq) asked, response func(PResp) sent) error {
	ctx, cancel := context.WithCancel(c.down.Context())
	defer cancel()
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, metadata.MD{"authorization": md.Get("authorization")})
	}
	up, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, c.method)
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() {
		for {
			m := PReq(new(Req))
			if err := c.down.RecvMsg(m); err != nil {
				ended <- err
				return
			}
			c.p.noteAsked(request(m))
			if err := up.SendMsg(m); err != nil {
				return // the receiver learns why
			}
		}
	}()
	go func() { ended <- receive(ctx, c, up, response) }()
	select {
	case err := <-ended:
		return err
	case <-c.ended:
		return status.Error(codes.Unavailable, "ended by the test")
	}
}

// receive passes responses on, each type after its own delay: what is held back holds up
// nothing else.
func receive[Resp any, PResp message[Resp]](ctx context.Context, c *call, up grpc.ClientStream, describe func(PResp) sent) error {
	var mu sync.Mutex // of down.SendMsg
	var held sync.WaitGroup
	defer held.Wait()
	for {
		m := PResp(new(Resp))
		switch err := up.RecvMsg(m); {
		case errors.Is(err, io.EOF):
			return nil // the server ended the stream with OK
		case err != nil:
			return err
		}
		delay := c.p.noteSent(describe(m))
		send := func() {
			mu.Lock()
			defer mu.Unlock()
			_ = c.down.SendMsg(m) // a stream that ended tells the other direction
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
