package filesync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with a fleet in memory, and a folder.
type world struct {
	*xdstest.Source
	t       testing.TB
	address string
	dir     string

	mu     sync.Mutex
	came   map[string]int // how often, by the agent
	behind []string       // files that still held what was refused when the server was told so
	has    fleet.Revision // what a stream was last said to have confirmed
}

// Attach notes as what the node comes.
func (w *world) Attach(ctx context.Context, id xds.Identity, n fleet.Node, info xds.StreamInfo) (xds.Attachment, error) {
	w.mu.Lock()
	w.came[n.UserAgent+" "+n.Version]++
	if info.Resumed {
		w.came[n.UserAgent+" resumed"]++
	}
	w.mu.Unlock()
	a, err := w.Source.Attach(ctx, id, n, info)
	if err != nil {
		return nil, err
	}
	return &attachment{a, w}, nil
}

// attachment looks at the folder when something is refused.
type attachment struct {
	xds.Attachment
	w *world
}

// Settled notes what is left of a stream that has ended.
func (a *attachment) Settled(r fleet.Revision) {
	a.w.mu.Lock()
	a.w.has = r
	a.w.mu.Unlock()
	a.Attachment.Settled(r)
}

func (a *attachment) Refuse(ctx context.Context, r snapshot.Verdict) {
	for file, text := range a.w.files() {
		if strings.Contains(text, "poison") && !strings.Contains(file, "poison") { // a file of its own name is named by none now
			a.w.mu.Lock()
			a.w.behind = append(a.w.behind, file)
			a.w.mu.Unlock()
		}
	}
	a.Attachment.Refuse(ctx, r)
}

// confirmed is what the server was last told, and forgets.
func (w *world) confirmed() fleet.Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	has := w.has
	w.has = 0
	return has
}

func (w *world) streams(agent string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.came[agent]
}

func setup(t testing.TB) *world {
	t.Helper()
	w := &world{Source: xdstest.NewSource(), t: t, dir: filepath.Join(t.TempDir(), "files"), came: map[string]int{}}
	srv, err := xds.New(xds.Config{Authenticator: w, Source: w})
	must(t, err)
	gs := grpc.NewServer(srv.Options()...)
	srv.Register(gs)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { _ = gs.Serve(lis) })
	t.Cleanup(func() {
		srv.Drain()
		gs.Stop()
		serving.Wait()
	})
	w.address = lis.Addr().String()
	return w
}

// sync is a program for the folder, of the node n1.
func (w *world) sync(edit ...func(*Config)) *Sync {
	w.t.Helper()
	c := Config{
		Directory: w.dir, SeenAs: "/xds", Servers: []string{w.address}, Token: func() (string, error) { return "*", nil },
		Node: &core.Node{Id: "n1"}, Version: "1.0", Once: true, Within: time.Minute, Log: func(s string) { w.t.Log(s) },
	}
	for _, e := range edit {
		e(&c)
	}
	s, err := New(c)
	must(w.t, err)
	return s
}

// start runs a program until the test ends, or the function is called.
func (w *world) start(s *Sync) (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			w.t.Errorf("it ended: %v", err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	w.t.Cleanup(stop)
	return stop
}

func always(c *Config) { c.Once = false }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond) // what is waited for is in files
	defer tick.Stop()
	for until := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(until) {
			t.Fatal(what)
		}
	}
}

// put is a resource of JSON, with what it names.
func put(t testing.TB, of fleet.Type, body string) xdstest.Change {
	t.Helper()
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(of.Message()))
	must(t, err)
	m := mt.New().Interface()
	must(t, protojson.Unmarshal([]byte(body), m))
	value, err := proto.Marshal(m)
	must(t, err)
	d, err := resource.Derive(of, value)
	must(t, err)
	var opts []xdstest.Option
	for _, ref := range d.Refs {
		opts = append(opts, xdstest.Needing(ref.Type, ref.Name))
	}
	if d.EDSName != "" {
		opts = append(opts, xdstest.EDSName(d.EDSName))
	}
	var named struct {
		Name    string `json:"name"`
		Cluster string `json:"cluster_name"`
	}
	must(t, json.Unmarshal([]byte(body), &named))
	c := xdstest.Put(of, named.Name+named.Cluster, fmt.Sprintf("%x", value), opts...)
	c.Body = m
	return c
}

func clusterOf(t testing.TB, name, timeout string) xdstest.Change {
	return put(t, fleet.Cluster, fmt.Sprintf(`{"name": %q, "type": "EDS", "connect_timeout": %q, "eds_cluster_config": {"eds_config": {"ads": {}}},
		"transport_socket": {"name": "tls", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
		"common_tls_context": {"validation_context_sds_secret_config": {"name": "ca", "sds_config": {"ads": {}}}}}}}`, name, timeout))
}

func endpointsOf(t testing.TB, cluster, address string) xdstest.Change {
	return put(t, fleet.Endpoint, fmt.Sprintf(`{"cluster_name": %q, "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": %q, "port_value": 80}}}}]}]}`, cluster, address))
}

func routeOf(t testing.TB, name, cluster string) xdstest.Change {
	return put(t, fleet.Route, fmt.Sprintf(`{"name": %q, "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": %q}}]}]}`, name, cluster))
}

func listenerOf(t testing.TB, name, route, stat string) xdstest.Change {
	return put(t, fleet.Listener, fmt.Sprintf(`{"name": %q, "stat_prefix": %q, "filter_chains": [{"filters": [{"name": "hcm", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "s",
		"rds": {"route_config_name": %q, "config_source": {"ads": {}, "resource_api_version": "V3"}},
		"http_filters": [{"name": "ext", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"]}}]}}]}]}`, name, stat, route))
}

// scopedListener is one that cannot come from a file.
func scopedListener(t testing.TB) xdstest.Change {
	return put(t, fleet.Listener, `{"name": "scoped", "filter_chains": [{"filters": [{"name": "hcm", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "s",
		"scoped_routes": {"name": "s", "rds_config_source": {"ads": {}}, "scoped_rds": {"scoped_rds_config_source": {"ads": {}}}}}}]}]}`)
}

func secretOf(t testing.TB, name, text string) xdstest.Change {
	return put(t, fleet.Secret, fmt.Sprintf(`{"name": %q, "generic_secret": {"secret": {"inline_string": %q}}}`, name, text))
}

func extensionOf(t testing.TB, name string) xdstest.Change {
	return put(t, fleet.Extension, fmt.Sprintf(`{"name": %q, "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}`, name))
}

func runtimeOf(t testing.TB, name string) xdstest.Change {
	return put(t, fleet.Runtime, fmt.Sprintf(`{"name": %q, "layer": {"key": "value <&> \u2028"}}`, name))
}

// all is a fleet with a resource of each type that files have.
func all(t testing.TB) []xdstest.Change {
	return []xdstest.Change{
		clusterOf(t, "a", "1s"), endpointsOf(t, "a", "10.0.0.1"), secretOf(t, "ca", "s3cr3t"), listenerOf(t, "l", "r", "s"), routeOf(t, "r", "a"),
		extensionOf(t, "ext"), runtimeOf(t, "layer"),
	}
}

// files are those of the folder, with what is in them.
func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	must(w.t, filepath.WalkDir(w.dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(at) == suffix && !strings.HasPrefix(d.Name(), ".") {
			text, err := os.ReadFile(at)
			if rel, _ := filepath.Rel(w.dir, at); err == nil {
				out[rel] = string(text)
			}
			return gone(err)
		}
		return gone(err)
	}))
	return out
}

// gone is the error, unless a file was removed meanwhile.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (w *world) names() string { return strings.Join(slices.Sorted(maps.Keys(w.files())), " ") }

// whole fails unless an Envoy can run from the folder as it is: each file can be read, no file names one that is missing, and no route
// names a cluster that is missing.
func (w *world) whole(when string) {
	w.t.Helper()
	files := w.files()
	clusters, named, read := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var reads func(file string)
	reads = func(file string) { // what Envoy reads, from cds.json and lds.json on
		var tree any
		if read[file] || json.Unmarshal([]byte(files[file]), &tree) != nil {
			return
		}
		read[file] = true
		eachPath(tree, func(at string) { reads(strings.TrimPrefix(at, "/xds/")) })
	}
	reads("cds.json")
	reads("lds.json")
	for file, text := range files {
		r := &discovery.DiscoveryResponse{}
		if err := protojson.Unmarshal([]byte(text), r); err != nil {
			w.t.Fatalf("%s: %s: %v", when, file, err)
		}
		if _, whole := map[string]bool{"cds.json": true, "lds.json": true}[file]; !whole && len(r.GetResources()) > 1 {
			w.t.Errorf("%s: %s holds %d resources", when, file, len(r.GetResources()))
		}
		for _, x := range r.GetResources() {
			if x.GetTypeUrl() != r.GetTypeUrl() {
				w.t.Errorf("%s: %s of %s holds a %s", when, file, r.GetTypeUrl(), x.GetTypeUrl())
			}
			m, err := x.UnmarshalNew()
			must(w.t, err)
			if file == "cds.json" {
				clusters[m.ProtoReflect().Get(m.ProtoReflect().Descriptor().Fields().ByName("name")).String()] = true
			}
			if rc, is := m.(*route.RouteConfiguration); is && read[file] {
				for _, v := range rc.GetVirtualHosts() {
					for _, x := range v.GetRoutes() {
						named[x.GetRoute().GetCluster()] = true
					}
				}
			}
		}
		var tree any
		must(w.t, json.Unmarshal([]byte(text), &tree))
		eachPath(tree, func(at string) {
			rel, below := strings.CutPrefix(at, "/xds/")
			if _, there := files[rel]; !there || !below {
				w.t.Errorf("%s: %s names %s, which is not there", when, file, at)
			}
		})
	}
	for name := range named {
		if !clusters[name] {
			w.t.Errorf("%s: a route names the cluster %s, which is not there", when, name)
		}
	}
}
