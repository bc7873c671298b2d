package xds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// csds is the client status discovery service: what each node was sent, ACKed and NACKed,
// by the streams of this server. A credential sees the nodes of its own fleet for which
// it is good.
type csds struct {
	statusv3.UnimplementedClientStatusDiscoveryServiceServer
	srv *Server
}

// maxStatus is the most bytes of one answer: what every client takes.
const maxStatus = 4 << 20

// FetchClientStatus answers once.
func (c csds) FetchClientStatus(ctx context.Context, r *statusv3.ClientStatusRequest) (out *statusv3.ClientStatusResponse, err error) {
	defer c.contain(&err)
	id, ok := identityOf(ctx)
	if !ok {
		return nil, statusOf(errNoIdentity)
	}
	leave, err := c.srv.streams.ask(id)
	if err != nil {
		return nil, statusOf(err)
	}
	defer leave()
	out, err = c.status(ctx, id, r)
	return out, statusOf(err)
}

type statusStream = grpc.BidiStreamingServer[statusv3.ClientStatusRequest, statusv3.ClientStatusResponse]

// StreamClientStatus answers every request. The goroutine of converse receives and sends;
// the handler's return frees it.
func (c csds) StreamClientStatus(ss statusStream) (err error) {
	defer c.contain(&err)
	id, ok := identityOf(ss.Context())
	if !ok {
		return statusOf(errNoIdentity)
	}
	leave, err := c.srv.streams.ask(id)
	if err != nil {
		return statusOf(err)
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ss.Context())
	defer cancel(nil)
	end := make(chan error, 1)
	go func() { end <- c.converse(ctx, cancel, ss) }()
	select {
	case err := <-end:
		return statusOf(err)
	case <-ctx.Done():
		return statusOf(context.Cause(ctx))
	case <-c.srv.leaves(ctx):
		return nil
	case <-c.srv.drain:
		return nil
	}
}

// converse answers one request after the other, each for whom its credential is good by
// then. It cancels the stream while the client does not read.
func (c csds) converse(ctx context.Context, cancel context.CancelCauseFunc, ss statusStream) (err error) {
	defer c.contain(&err)
	limits := c.srv.cfg.Limits
	pace := rate.NewLimiter(rate.Limit(limits.Requests), limits.Burst)
	for pace.Wait(ctx) == nil {
		r, err := ss.Recv()
		if err != nil {
			return ended(err)
		}
		id, err := c.srv.identify(ctx)
		if err != nil {
			return err
		}
		out, err := c.status(ctx, id, r)
		if err != nil {
			return err
		}
		stuck := time.AfterFunc(limits.Write, func() {
			cancel(status.Errorf(codes.ResourceExhausted, "the client read nothing for %s", limits.Write))
		})
		err = ss.Send(out)
		stuck.Stop()
		if err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// contain makes of a panic the end of one call alone.
func (c csds) contain(err *error) {
	if p := recover(); p != nil { //nolint:revive // contain is what is deferred
		*err = statusOf(lifecycle.Contained(c.srv.log, "the client status service", p))
	}
}

func (c csds) status(ctx context.Context, id Identity, r *statusv3.ClientStatusRequest) (*statusv3.ClientStatusResponse, error) {
	match, err := nodeMatcher(r.GetNodeMatchers())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, inspectWithin)
	defer cancel()
	a := statusAnswer{nodes: map[string]*statusv3.ClientConfig{}}
	for _, st := range c.srv.streams.of(id.Key) {
		node := st.node.node // fixed since before the stream was listed
		if !id.Nodes.Match(node.ID) || !match(node.ID) {
			continue
		}
		told, err := st.inspect(ctx, r.GetExcludeResourceContents())
		if err != nil {
			return nil, err
		}
		if err := a.add(node, told); err != nil {
			return nil, err
		}
	}
	out := &statusv3.ClientStatusResponse{}
	for _, n := range a.nodes {
		out.Config = append(out.Config, n)
	}
	slices.SortFunc(out.Config, func(a, b *statusv3.ClientConfig) int {
		return strings.Compare(a.GetNode().GetId(), b.GetNode().GetId())
	})
	return out, nil
}

// statusAnswer is an answer in the making.
type statusAnswer struct {
	nodes map[string]*statusv3.ClientConfig
	size  int
}

// add puts in what a stream of the node told. Bodies are decoded only as far as there is
// room for them.
func (a *statusAnswer) add(node fleet.Node, told []standing) error {
	n := a.nodes[node.ID]
	if n == nil {
		n = &statusv3.ClientConfig{Node: publicNode(node)}
		a.nodes[node.ID] = n
		if err := a.take(proto.Size(n)); err != nil {
			return err
		}
	}
	for _, s := range told {
		c := s.config()
		if err := a.take(proto.Size(c) + len(s.Encoded)); err != nil {
			return err
		}
		n.GenericXdsConfigs = append(n.GenericXdsConfigs, c)
		if body := new(anypb.Any); s.Encoded != nil && proto.Unmarshal(s.Encoded, body) == nil {
			c.XdsConfig = body
		}
	}
	return nil
}

// framing is the most that a message takes around it, and around a body in it.
const framing = 12

func (a *statusAnswer) take(size int) error {
	if a.size += size + framing; a.size > maxStatus {
		return fmt.Errorf("the status takes more than %d bytes, the limit: set node_matchers, or exclude_resource_contents: %w", maxStatus, fleet.ErrLimit)
	}
	return nil
}

func publicNode(n fleet.Node) *corev3.Node {
	return &corev3.Node{
		Id: n.ID, Cluster: n.Cluster, UserAgentName: n.UserAgent,
		UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: n.Version},
		Locality:             &corev3.Locality{Region: n.Region, Zone: n.Zone, SubZone: n.SubZone},
	}
}
