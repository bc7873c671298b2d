package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/delta/v3"
	restserver "github.com/envoyproxy/go-control-plane/pkg/server/rest/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/conformance"
	"fairlead/internal/xds/xdstest"
)

// snapshotCache is go-control-plane's SnapshotCache, set up as its documentation says:
// the ADS flag for ADS, nodes told apart by their ids, heartbeats within the TTLs of the
// checks. Versions are the caller's: each type gets one that is its content, the best
// that a caller can do.
type snapshotCache struct {
	*xdstest.Line
	t         testing.TB
	cache     cache.SnapshotCache
	resources map[string]map[string]types.ResourceWithTTL // by type URL and name
}

func startSnapshotCache(t testing.TB, v xdstest.Protocol, _ func(*xds.Config)) conformance.Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c := cache.NewSnapshotCacheWithHeartbeating(ctx, !v.PerType, cache.IDHash{}, nil, 3*time.Second)
	return &snapshotCache{Line: serve(ctx, t, c), t: t, cache: c, resources: map[string]map[string]types.ResourceWithTTL{}}
}

// REST is go-control-plane's server of REST behind its HTTPGateway, whose few lines these are: its package would need one more module.
func (s *snapshotCache) REST() http.Handler {
	fetch := restserver.NewServer(s.cache, nil)
	urls := map[string]string{
		resource.FetchEndpoints: resource.EndpointType, resource.FetchClusters: resource.ClusterType, resource.FetchListeners: resource.ListenerType,
		resource.FetchRoutes: resource.RouteType, resource.FetchScopedRoutes: resource.ScopedRouteType, resource.FetchSecrets: resource.SecretType,
		resource.FetchRuntimes: resource.RuntimeType, resource.FetchExtensionConfigs: resource.ExtensionConfigType,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url := urls[path.Clean(r.URL.Path)]
		body, err := io.ReadAll(r.Body)
		var request discoveryv3.DiscoveryRequest
		switch {
		case url == "":
			http.Error(w, "no endpoint", http.StatusNotFound)
			return
		case err != nil || protojson.Unmarshal(body, &request) != nil:
			http.Error(w, "cannot parse JSON body", http.StatusBadRequest)
			return
		}
		request.TypeUrl = url
		response, err := fetch.Fetch(r.Context(), &request)
		var skip *types.SkipFetchError
		switch {
		case errors.As(err, &skip):
			w.WriteHeader(http.StatusNotModified)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		b, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(response)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(b)
	})
}

// Publish sets one snapshot for all nodes of the checks.
func (s *snapshotCache) Publish(changes ...xdstest.Change) {
	for _, c := range changes {
		url := c.Type.URL()
		if s.resources[url] == nil {
			s.resources[url] = map[string]types.ResourceWithTTL{}
		}
		delete(s.resources[url], c.Name)
		if c.Body == nil {
			continue
		}
		r := types.ResourceWithTTL{Resource: c.Body}
		if c.TTL > 0 {
			r.TTL = &c.TTL
		}
		s.resources[url][c.Name] = r
	}
	for _, node := range []string{conformance.Node, conformance.OtherNode} {
		if err := s.cache.SetSnapshot(context.Background(), node, s.snapshot()); err != nil {
			s.t.Logf("set the snapshot: %v", err)
		}
	}
}

func (s *snapshotCache) snapshot() *cache.Snapshot {
	out := &cache.Snapshot{}
	for _, t := range fleet.Types() { // a type that is empty has a version as well
		url := t.URL()
		resources := s.resources[url]
		list := make([]types.ResourceWithTTL, 0, len(resources))
		for _, r := range resources {
			list = append(list, r)
		}
		out.Resources[cache.GetResponseType(url)] = cache.NewResourcesWithTTL(contentOf(resources), list)
	}
	return out
}

// contentOf is a version that is the content of a type.
func contentOf(resources map[string]types.ResourceWithTTL) string {
	all := map[string]string{}
	for name, r := range resources {
		value, err := cache.MarshalResource(r.Resource)
		if err != nil {
			panic(err) // a message of xdstest's own making
		}
		ttl := time.Duration(0)
		if r.TTL != nil {
			ttl = *r.TTL
		}
		all[name] = cache.HashResource(value) + ttl.String()
	}
	return cache.HashResource(fmt.Append(nil, all)) // a map is printed in the order of its keys
}

// linearCache is a LinearCache for each type, joined by their type URLs as its
// documentation says.
type linearCache struct {
	*xdstest.Line
	t      testing.TB
	caches map[string]*cache.LinearCache
}

func startLinearCache(t testing.TB, _ xdstest.Protocol, _ func(*xds.Config)) conformance.Server {
	t.Helper()
	l := &linearCache{t: t, caches: map[string]*cache.LinearCache{}}
	mux := &cache.MuxCache{
		Classify:      func(r *cache.Request) string { return r.GetTypeUrl() },
		ClassifyDelta: func(r *cache.DeltaRequest) string { return r.GetTypeUrl() },
		Caches:        map[string]cache.Cache{},
	}
	for _, typ := range fleet.Types() {
		c := cache.NewLinearCache(typ.URL())
		l.caches[typ.URL()], mux.Caches[typ.URL()] = c, c
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	l.Line = serve(ctx, t, mux)
	return l
}

// Publish changes each type at once.
func (l *linearCache) Publish(changes ...xdstest.Change) {
	for url, c := range l.caches {
		put, gone := map[string]types.Resource{}, []string(nil)
		for _, x := range changes {
			switch {
			case x.Type.URL() != url:
			case x.Body == nil:
				gone = append(gone, x.Name)
			default:
				put[x.Name] = x.Body
			}
		}
		if len(put)+len(gone) == 0 {
			continue
		}
		if err := c.UpdateResources(put, gone); err != nil {
			l.t.Logf("update %s: %v", url, err)
		}
	}
}

// serve offers a cache with ordered ADS, and without legacy wildcards for the types that
// have none: at its best.
func serve(ctx context.Context, t testing.TB, c cache.Cache) *xdstest.Line {
	t.Helper()
	var named, namedSotW []string
	for _, typ := range fleet.Types() {
		if !typ.LegacyWildcard(true) {
			named = append(named, typ.URL())
		}
		if !typ.LegacyWildcard(false) {
			namedSotW = append(namedSotW, typ.URL())
		}
	}
	s := sotw.NewServer(ctx, c, nil, sotw.WithOrderedADS(), sotw.DeactivateLegacyWildcardForTypes(namedSotW))
	d := delta.NewServer(ctx, c, nil, delta.DeactivateLegacyWildcardForTypes(named))
	return xdstest.Serve(t, func(r grpc.ServiceRegistrar) {
		xdstest.Register(r, func(ss grpc.ServerStream, v xdstest.Protocol, typ fleet.Type) error {
			url := ""
			if v.PerType {
				url = typ.URL()
			}
			if v.Delta {
				return d.DeltaStreamHandler(&grpc.GenericServerStream[discoveryv3.DeltaDiscoveryRequest, discoveryv3.DeltaDiscoveryResponse]{ServerStream: ss}, url)
			}
			return s.StreamHandler(&grpc.GenericServerStream[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]{ServerStream: ss}, url)
		})
	}, grpc.StreamInterceptor(contained), grpc.MaxRecvMsgSize(64<<20))
}

// contained makes of a panic in a stream its end.
func contained(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = status.Errorf(codes.Internal, "panic: %v", p)
		}
	}()
	return next(srv, ss)
}
