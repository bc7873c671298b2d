package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// weights are those of a cluster's endpoints, by address.
type weights map[string]int

// weightChange is an endpoint's new weight, on its way to all nodes.
type weightChange struct {
	cluster, address string
	weight           int
	at               time.Time // before it was written
	counts           bool      // its time does
	had              []bool    // by node
	missing          int       // nodes that do not have it
}

// watchers are nodes that are served the endpoints of some clusters. Each version of what is served is decoded once for all of them.
type watchers struct {
	t      testing.TB
	nodes  int
	errors atomic.Int64

	mu      sync.Mutex                          // guards what follows
	decoded map[string]map[string]weights       // by cluster and version: some of the last ones
	has     []map[string]weights                // by node and cluster
	pending map[string]map[string]*weightChange // by cluster and address
	waiting int                                 // changes in pending
	least   map[string]int                      // endpoints of a cluster: fewer are an error
	took    []time.Duration                     // from a change to the last node
}

// mostDecoded is how many versions of a cluster are remembered; a node that is given an older one has it decoded again.
const mostDecoded = 16

// errorf is Errorf for what goes wrong many times if it does: the first 20 are told.
func (ws *watchers) errorf(format string, args ...any) {
	ws.t.Helper()
	if ws.errors.Add(1) <= 20 {
		ws.t.Errorf(format, args...)
	}
}

// more tells how many errors there were beyond those that were told.
func (ws *watchers) more() {
	ws.t.Helper()
	if n := ws.errors.Load(); n > 20 {
		ws.t.Errorf("%d more of these", n-20)
	}
}

// watching connects nodes, each with a stream of its own, to the servers in turn. They leave with the test.
func (e *estate) watching(nodes int, clusters []string, servers ...*world.XDS) *watchers {
	e.T.Helper()
	ws := &watchers{t: e.Whole, nodes: nodes, decoded: map[string]map[string]weights{}, pending: map[string]map[string]*weightChange{}, least: map[string]int{}}
	var of []discoveryv3.AggregatedDiscoveryServiceClient
	for i := range nodes {
		ws.has = append(ws.has, map[string]weights{})
		of = append(of, discoveryv3.NewAggregatedDiscoveryServiceClient(e.Dial(servers[i%len(servers)].Address)))
	}
	ctx, cancel := context.WithCancel(world.WithToken(context.Background(), e.nodeToken))
	var running sync.WaitGroup
	e.Whole.Cleanup(func() { cancel(); running.Wait() }) // before the connections are closed
	for i := range nodes {
		running.Go(func() {
			if err := ws.follow(ctx, of[i], i, clusters); ctx.Err() == nil {
				ws.t.Errorf("the stream of node %d ended: %v", i, err)
			}
		})
	}
	return ws
}

// follow acknowledges all that comes until the stream ends.
func (ws *watchers) follow(ctx context.Context, of discoveryv3.AggregatedDiscoveryServiceClient, node int, clusters []string) error {
	stream, err := of.DeltaAggregatedResources(ctx)
	if err != nil {
		return err
	}
	next := &discoveryv3.DeltaDiscoveryRequest{
		Node: &corev3.Node{Id: fmt.Sprint("watcher-", node), UserAgentName: "envoy"}, TypeUrl: fleet.Endpoint.URL(), ResourceNamesSubscribe: clusters,
	}
	for {
		if err := stream.Send(next); err != nil {
			_, err = stream.Recv() // which tells why
			return err
		}
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, x := range r.GetResources() {
			if err := ws.take(node, x); err != nil {
				return err
			}
		}
		next = &discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()}
	}
}

// take notes what a node is served of one cluster. It grows with the changes of the cluster that are on their way; a version that is new, with its endpoints.
func (ws *watchers) take(node int, r *discoveryv3.Resource) error {
	now := time.Now()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	served, err := ws.decode(r)
	if err != nil {
		return err
	}
	name := r.GetName()
	ws.has[node][name] = served
	if len(served) < ws.least[name] {
		ws.errorf("node %d was served %d endpoints of %s, of which there are %d", node, len(served), name, ws.least[name])
	}
	for address, c := range ws.pending[name] {
		if c.had[node] || served[address] != c.weight {
			continue
		}
		c.had[node] = true
		if c.missing--; c.missing > 0 {
			continue
		}
		ws.remove(c)
		if c.counts {
			ws.took = append(ws.took, now.Sub(c.at))
		}
	}
	return nil
}

// decode is called with mu held.
func (ws *watchers) decode(r *discoveryv3.Resource) (weights, error) {
	known := ws.decoded[r.GetName()]
	if served, ok := known[r.GetVersion()]; ok {
		return served, nil
	}
	var message endpointv3.ClusterLoadAssignment
	if err := proto.Unmarshal(r.GetResource().GetValue(), &message); err != nil {
		return nil, fmt.Errorf("the endpoints of %s: %w", r.GetName(), err)
	}
	served := weights{}
	for _, l := range message.GetEndpoints() {
		for _, e := range l.GetLbEndpoints() {
			at := e.GetEndpoint().GetAddress().GetSocketAddress()
			served[fmt.Sprintf("%s:%d", at.GetAddress(), at.GetPortValue())] = int(e.GetLoadBalancingWeight().GetValue())
		}
	}
	if known == nil || len(known) >= mostDecoded {
		known = map[string]weights{}
		ws.decoded[r.GetName()] = known
	}
	known[r.GetVersion()] = served
	return served, nil
}

// remove is called with mu held.
func (ws *watchers) remove(c *weightChange) {
	delete(ws.pending[c.cluster], c.address)
	ws.waiting--
}

// expect notes a change that is about to be written; false: one of that endpoint is on its way.
func (ws *watchers) expect(cluster, address string, weight int, counts bool) (*weightChange, bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.pending[cluster][address] != nil {
		return nil, false
	}
	if ws.pending[cluster] == nil {
		ws.pending[cluster] = map[string]*weightChange{}
	}
	c := &weightChange{cluster: cluster, address: address, weight: weight, at: time.Now(), counts: counts, had: make([]bool, ws.nodes), missing: ws.nodes}
	ws.pending[cluster][address] = c
	ws.waiting++
	return c, true
}

// forget is for a change that was not made.
func (ws *watchers) forget(c *weightChange) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.remove(c)
}

// discount has the times of what is on its way not count.
func (ws *watchers) discount() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, of := range ws.pending {
		for _, c := range of {
			c.counts = false
		}
	}
}

// onTheirWay is how many changes some nodes do not have.
func (ws *watchers) onTheirWay() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.waiting
}

// all reports whether every node is served so many endpoints of the cluster.
func (ws *watchers) all(cluster string, n int) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, of := range ws.has {
		if len(of[cluster]) != n {
			return false
		}
	}
	return true
}

// keep has fewer endpoints of the cluster than these be an error.
func (ws *watchers) keep(cluster string, n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.least[cluster] = n
}

// served is what each node has of a cluster.
func (ws *watchers) served(cluster string) (all []weights) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, of := range ws.has {
		all = append(all, of[cluster])
	}
	return all
}

// since is how long changes took that all nodes have by now, and that were not told before.
func (ws *watchers) since() (took []time.Duration) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	took, ws.took = ws.took, nil
	return took
}
