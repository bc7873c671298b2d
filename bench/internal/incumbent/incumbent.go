// Package incumbent runs go-control-plane's SnapshotCache, as kindly as its public interface
// allows: a change gives the changed type alone a new version, types that did not change keep
// their maps, and all nodes share the messages.
package incumbent

import (
	"context"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/xds"
)

// Server implements admin.Backend.
type Server struct {
	cache   cache.SnapshotCache
	keys    []string // each has a snapshot
	last    cache.Snapshot
	version [xds.Kinds]int
}

// New registers a server on g that gives all nodes one snapshot, or each of so many nodes
// one of its own. With partial it answers a client of SotW that does not name everything; without,
// it is what go-control-plane tells users of ADS to take.
func New(nodes int, partial bool, g *grpc.Server) *Server {
	s := &Server{keys: []string{shared}}
	var hash cache.NodeHash = oneKey{}
	if nodes > 0 {
		hash, s.keys = cache.IDHash{}, nil
		for i := range nodes {
			s.keys = append(s.keys, fleet.NodeID(i))
		}
	}
	s.cache = cache.NewSnapshotCache(!partial, hash, nil)
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, server.NewServer(context.Background(), s.cache, nil))
	return s
}

const shared = "all"

// oneKey gives all nodes the same snapshot.
type oneKey struct{}

func (oneKey) ID(*corev3.Node) string { return shared }

var indices = [xds.Kinds]types.ResponseType{types.Cluster, types.Endpoint, types.Listener, types.Route}

// Set implements admin.Backend.
func (s *Server) Set(f *fleet.Fleet) error {
	for k := range xds.Kinds {
		s.renew(f, k)
	}
	return s.publish()
}

// Change implements admin.Backend.
func (s *Server) Change(f *fleet.Fleet, _ int) error {
	s.renew(f, xds.Endpoints)
	return s.publish()
}

// renew gives a kind its next version.
func (s *Server) renew(f *fleet.Fleet, k xds.Kind) {
	s.version[k]++
	s.last.Resources[indices[k]] = cache.NewResources("v"+strconv.Itoa(s.version[k]), resources(f.Resources[k]))
}

func (s *Server) publish() error {
	for _, key := range s.keys {
		// A snapshot keeps what was computed of it, so that each key has its own.
		if err := s.cache.SetSnapshot(context.Background(), key, &cache.Snapshot{Resources: s.last.Resources}); err != nil {
			return err
		}
	}
	return nil
}

func resources(ms []proto.Message) []types.Resource {
	out := make([]types.Resource, len(ms))
	for i, m := range ms {
		out[i] = m
	}
	return out
}
