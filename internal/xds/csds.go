package xds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
)

// csds is the client status discovery service: what each node was sent, ACKed and NACKed,
// by the streams of this server. A credential sees the nodes of its own fleet for which
// it is good.
type csds struct{ srv *Server }

// maxStatus is the most bytes of one answer: what every client takes.
const maxStatus = 4 << 20

// registerStatus offers both methods: one that answers once, and one that answers every
// request.
func (s *Server) registerStatus(r grpc.ServiceRegistrar) {
	c := csds{srv: s}
	r.RegisterService(&grpc.ServiceDesc{
		ServiceName: "envoy.service.status.v3.ClientStatusDiscoveryService", Metadata: "envoy/service/status/v3/csds.proto",
		Streams: []grpc.StreamDesc{
			{StreamName: "FetchClientStatus", ServerStreams: true, Handler: s.once(c.answer)},
			{StreamName: "StreamClientStatus", ServerStreams: true, ClientStreams: true, Handler: s.converse(func(t *talk) error {
				for {
					if err := c.answer(t); err != nil {
						return err
					}
				}
			})},
		},
	}, nil)
}

// answer answers the next request.
func (c csds) answer(t *talk) error {
	r := new(statusv3.ClientStatusRequest)
	if err := t.RecvMsg(r); err != nil {
		return err
	}
	out, err := c.status(t.Context(), t.id, r)
	if err != nil {
		return err
	}
	return t.SendMsg(out)
}

func (c csds) status(ctx context.Context, id Identity, r *statusv3.ClientStatusRequest) (*statusv3.ClientStatusResponse, error) {
	match, err := nodeMatchers(r.GetNodeMatchers())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, inspectWithin)
	defer cancel()
	streams, err := c.choose(ctx, id, match)
	if err != nil {
		return nil, err
	}
	a := statusAnswer{nodes: map[string]*statusv3.ClientConfig{}}
	for _, st := range streams {
		told, err := st.inspect(ctx, r.GetExcludeResourceContents())
		if err != nil {
			return nil, err
		}
		if err := a.add(st.node.node, told); err != nil {
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

// maxMatching is what the matching of one call may cost at worst, in states for bytes: some
// tenths of a second. A plain expression for 10,000 nodes is far below it.
const maxMatching = 100_000_000

// choose finds the streams that a call asks for and may see. One call at a time does so, as
// long as its client is there: what it costs is the client's choice.
func (c csds) choose(ctx context.Context, id Identity, m matchers) (chosen []*stream, err error) {
	turn := c.srv.streams.turn()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("other calls for the status of clients are answered now: ask again: %w", fleet.ErrUnavailable)
	}
	cost := 0
	for _, st := range c.srv.streams.of(id.Key) {
		node := st.node.node.ID // fixed since before the stream was listed
		if !id.Nodes.Match(node) {
			continue
		}
		if cost += m.cost(node); cost > maxMatching {
			return nil, fmt.Errorf("the node_matchers are too dear for so many nodes: use exact or prefix, or smaller expressions: %w", fleet.ErrLimit)
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("match the node ids: %w: %w", context.Cause(ctx), fleet.ErrUnavailable)
		}
		if m.match(node) {
			chosen = append(chosen, st)
		}
	}
	return chosen, nil
}

// statusAnswer is an answer in the making.
type statusAnswer struct {
	nodes map[string]*statusv3.ClientConfig
	size  int
}

// add puts in what a stream of the node told, without keys, passwords and tokens. Bodies are
// decoded only as far as there is room for them.
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
		if s.Encoded == nil {
			continue
		}
		c.XdsConfig = redact.Encoded(s.Encoded)
		if grown := proto.Size(c.XdsConfig) - len(s.Encoded); grown > 0 { // by what says that a value is missing
			if err := a.take(grown); err != nil {
				return err
			}
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
