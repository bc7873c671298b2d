package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// fromService is the source of what comes over a type's own service.
func fromService(delta bool) string {
	return sprintf(`{resource_api_version: V3, api_config_source: {api_type: %s, transport_api_version: V3,
    set_node_on_first_message_only: true, grpc_services: [{envoy_grpc: {cluster_name: fairlead_xds, skip_envoy_headers: true, retry_policy: {retry_back_off: {base_interval: 0.5s, max_interval: 30s}}}}]}}`,
		map[bool]string{true: "DELTA_GRPC", false: "GRPC"}[delta])
}

// withoutADS has Envoy take clusters and listeners from their own services.
func withoutADS(source string) func(string) string {
	return func(bootstrap string) string {
		before, rest, _ := strings.Cut(bootstrap, "dynamic_resources:\n")
		_, after, _ := strings.Cut(rest, "static_resources:\n")
		return before + sprintf("dynamic_resources:\n  cds_config: %s\n  lds_config: %s\nstatic_resources:\n", source, source) + after
	}
}

// TestPerTypeServices: the same without ADS, where nothing can be ordered. Envoy opens a
// stream for each set of endpoints, route and secret.
func TestPerTypeServices(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		source := fromService(delta)
		w := setup(t)
		r := &routed{installation: w, xds: w.XDS()}
		r.tap = world.NewTap(t, r.xds.Address)
		address, secured := world.FreePort(t), world.FreePort(t)
		r.proxy = "http://" + address
		cert, key := world.Certificate(t)
		w.Apply(world.Together(
			world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", source)}.Resource(), world.Route("r", "a"),
			world.EDSCluster("a", "1s", source), world.Endpoints("a", world.Backend(t, "a")), layer("layer", "e2e.key", 7),
			world.HTTPListener{Name: "tls", Address: secured, Routes: world.RDS("r", source), TLS: presents("server", source)}.Resource(), secret("server", cert, key),
		))
		r.envoy = w.Launch("n1", r.tap.Address, delta, withoutADS(source), runtimeLayer("layer", source))
		promptly(t, "LIVE", func() bool { return live(t, r.envoy) })
		w.AwaitLive("n1")

		w.Step("a route, a runtime, a secret", func() {
			promptly(w.T, "routed", func() bool { _, body := world.Get(r.proxy); return body == "a" })
			promptly(w.T, "in the runtime", func() bool { return runtimeValue(w.T, r.envoy, "e2e.key") == "7" })
			promptly(w.T, "routed over TLS", func() bool { _, err := request(secured); return err == nil })
		})
		w.Step("each type by its own service", func() { r.wantOwnServices(delta) })
		w.Step("a changed cluster", func() { r.awaitChanged("2s", r.Put(world.EDSCluster("a", "2s", source))) })
		w.Step("a cluster without endpoints", func() {
			r.Put(world.EDSCluster("b", "1s", source))
			promptly(w.T, "active", func() bool { return activeClusters(w.T, r.envoy)["b"] == "1s" })
		})
		w.Step("a changed route, to a new cluster", func() {
			r.Put(world.EDSCluster("c", "1s", source), world.Endpoints("c", world.Backend(r.Whole, "c")))
			r.AwaitState(r.Put(world.Route("r", "c")), "delivered")
			promptly(w.T, "routed", func() bool { _, body := world.Get(r.proxy); return body == "c" })
		})
		w.Step("a poison is recorded and taken back", func() {
			revision := r.Put(world.HTTPListener{Name: "poison", Address: address, Routes: world.RDS("r", source)}.Resource()) // the address of l
			got := r.Receipt(revision)
			if got.State != "rejected" || got.Counts.Nacked != 1 || !strings.Contains(*got.Nodes[0].Detail, "duplicate address") {
				w.T.Fatalf("receipt %+v, want rejected by 1, in Envoy's words", got)
			}
			r.AwaitState(r.Apply("delete: [{type: listeners, name: poison}]\n"), "delivered")
		})
		w.Step("a cut", func() {
			before := r.tap.Cut()
			last := r.Put(world.Endpoints("c", world.Backend(r.Whole, "d")))
			promptly(w.T, "routed", func() bool { _, body := world.Get(r.proxy); return body == "d" })
			r.awaitBack(before)
			r.AwaitACKed(last, 1)
		})
	})
}

// services are the methods by which Envoy asks for each type, without their first word.
var services = map[fleet.Type]string{
	fleet.Cluster: "Clusters", fleet.Endpoint: "Endpoints", fleet.Secret: "Secrets",
	fleet.Listener: "Listeners", fleet.Route: "Routes", fleet.Runtime: "Runtime",
}

func (r *routed) wantOwnServices(delta bool) {
	word := map[bool]string{true: "Delta", false: "Stream"}[delta]
	seen := map[fleet.Type]bool{}
	for _, a := range r.tap.Requests(0) {
		if a.Method != word+services[a.Type] {
			r.T.Errorf("Envoy asked for %s by %s, want %s", a.Type, a.Method, word+services[a.Type])
		}
		seen[a.Type] = true
	}
	if len(seen) != len(services) {
		r.T.Errorf("Envoy asked for %v, want %v", seen, services)
	}
}

// awaitBack waits until Envoy asked for every type on the streams after those before.
func (r *routed) awaitBack(before int) {
	r.T.Helper()
	for typ := range services {
		world.Eventually(r.T, world.Soon, "Envoy did not ask for "+typ.Slug()+" again", func() bool { return r.tap.Sees(before, typ) })
	}
	if code, _ := world.Get(r.proxy); code != http.StatusOK {
		r.T.Errorf("it answers %d", code)
	}
}

// TestAnUnansweredStreamThatEnds: of a client with a stream for each type, the one for listeners does not answer, and ends: by itself, or with its
// connection. Nobody confirmed what it was sent, and when it is back nothing is pending that was acked.
func TestAnUnansweredStreamThatEnds(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"by itself": true, "with its connection": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			first := w.Apply(world.Together(world.Cluster("a", "1s"), world.Listener("l", world.FreePort(t), "r"), world.Route("r", "a")))
			server := w.XDS().Address
			ctx, cancel := context.WithTimeout(world.WithToken(t.Context(), w.NodeToken), 6*world.Soon)
			var acks sync.WaitGroup
			t.Cleanup(func() { cancel(); acks.Wait() })
			node := &corev3.Node{Id: "n1"}
			clusters, err := clusterv3.NewClusterDiscoveryServiceClient(w.Dial(server)).StreamClusters(ctx)
			world.Must(t, err, clusters.Send(&discoveryv3.DiscoveryRequest{Node: node, TypeUrl: fleet.Cluster.URL()}))
			acks.Go(func() {
				for r, err := clusters.Recv(); err == nil; r, err = clusters.Recv() {
					_ = clusters.Send(&discoveryv3.DiscoveryRequest{TypeUrl: fleet.Cluster.URL(), VersionInfo: r.GetVersionInfo(), ResponseNonce: r.GetNonce()})
				}
			})
			listeners := func(version string) (s listenerv3.ListenerDiscoveryService_StreamListenersClient, end func()) {
				conn := w.Dial(server)
				inner, cancel := context.WithCancel(ctx)
				s, err := listenerv3.NewListenerDiscoveryServiceClient(conn).StreamListeners(inner)
				world.Must(t, err, s.Send(&discoveryv3.DiscoveryRequest{Node: node, TypeUrl: fleet.Listener.URL(), VersionInfo: version}))
				if alone {
					return s, cancel
				}
				t.Cleanup(cancel)
				return s, func() { _ = conn.Close() }
			}
			ack := func(s listenerv3.ListenerDiscoveryService_StreamListenersClient) (version string) {
				r, err := s.Recv()
				world.Must(t, err, s.Send(&discoveryv3.DiscoveryRequest{TypeUrl: fleet.Listener.URL(), VersionInfo: r.GetVersionInfo(), ResponseNonce: r.GetNonce()}))
				return r.GetVersionInfo()
			}
			s, end := listeners("")
			version := ack(s)
			w.AwaitLive("n1")
			world.Eventually(t, world.Soon, "nothing settled", func() bool { n := w.Node("n1"); return n.Settled == first })
			acked := w.Put(world.Cluster("a", "2s"))
			w.AwaitDelivered(acked, 1)
			last := w.Put(world.Listener("l", world.FreePort(t), "r"))
			_, err = s.Recv()
			world.Must(t, err)
			end()
			world.Eventually(t, world.Soon, "the stream did not end", func() bool { n := w.Node("n1"); return n.Streams != nil && *n.Streams == 1 })
			if got := w.Receipt(last); got.Counts.Acked != 0 || got.State == client.ReceiptStateDelivered {
				t.Errorf("the receipt is %s, and nobody confirmed the listener", world.AsJSON(got))
			}
			s, _ = listeners(version)
			world.Eventually(t, world.Soon, "it is not back", func() bool { n := w.Node("n1"); return n.Streams != nil && *n.Streams == 2 })
			w.AwaitDelivered(acked, 1)
			ack(s)
			w.AwaitDelivered(last, 1)
		})
	}
}
