package e2e

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/fleet"
)

// fromService is the source of what comes over a type's own service.
func fromService(delta bool) string {
	return sprintf(`{resource_api_version: V3, api_config_source: {api_type: %s, transport_api_version: V3,
    set_node_on_first_message_only: true, grpc_services: [{envoy_grpc: {cluster_name: fairlead_xds, retry_policy: {retry_back_off: {base_interval: 0.5s, max_interval: 30s}}}}]}}`,
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
		r := &routed{world: w, xds: w.xds()}
		r.tap = newTap(t, r.xds.address)
		address, secured := freePort(t), freePort(t)
		r.proxy = "http://" + address
		cert, key := certificate(t)
		w.apply(together(
			httpListener{name: "l", address: address, routes: rds("r", source)}.res(), route("r", "a"),
			edsCluster("a", "1s", source), endpoints("a", backend(t, "a")), layer("layer", "e2e.key", 7),
			httpListener{name: "tls", address: secured, routes: rds("r", source), tls: presents("server", source)}.res(), secret("server", cert, key),
		))
		r.envoy = w.launch("n1", r.tap.address, delta, withoutADS(source), runtimeLayer("layer", source))
		promptly(t, "LIVE", func() bool { return live(t, r.envoy) })
		w.awaitLive("n1")

		w.step("a route, a runtime, a secret", func() {
			promptly(w.t, "routed", func() bool { _, body := get(r.proxy); return body == "a" })
			promptly(w.t, "in the runtime", func() bool { return runtimeValue(w.t, r.envoy, "e2e.key") == "7" })
			promptly(w.t, "routed over TLS", func() bool { _, err := request(secured); return err == nil })
		})
		w.step("each type by its own service", func() { r.wantOwnServices(delta) })
		w.step("a changed cluster", func() { r.awaitChanged("2s", r.put(edsCluster("a", "2s", source))) })
		w.step("a cluster without endpoints", func() {
			r.put(edsCluster("b", "1s", source))
			promptly(w.t, "active", func() bool { return activeClusters(w.t, r.envoy)["b"] == "1s" })
		})
		w.step("a changed route, to a new cluster", func() {
			r.put(edsCluster("c", "1s", source), endpoints("c", backend(r.whole, "c")))
			r.awaitState(r.put(route("r", "c")), "delivered")
			promptly(w.t, "routed", func() bool { _, body := get(r.proxy); return body == "c" })
		})
		w.step("a poison is recorded and taken back", func() {
			revision := r.put(httpListener{name: "poison", address: address, routes: rds("r", source)}.res()) // the address of l
			got := r.receipt(revision)
			if got.State != "rejected" || got.Counts.Nacked != 1 || !strings.Contains(*got.Nodes[0].Detail, "duplicate address") {
				w.t.Fatalf("receipt %+v, want rejected by 1, in Envoy's words", got)
			}
			r.awaitState(r.apply("delete: [{type: listeners, name: poison}]\n"), "delivered")
		})
		w.step("a cut", func() {
			before := r.tap.cut()
			last := r.put(endpoints("c", backend(r.whole, "d")))
			promptly(w.t, "routed", func() bool { _, body := get(r.proxy); return body == "d" })
			r.awaitBack(before)
			eventually(w.t, soon, "the node did not ACK it", func() bool {
				got := r.receipt(last)
				return got.State == "delivered" && got.Counts.Acked == 1
			})
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
	for _, a := range r.tap.requests(0) {
		if a.method != word+services[a.typ] {
			r.t.Errorf("Envoy asked for %s by %s, want %s", a.typ, a.method, word+services[a.typ])
		}
		seen[a.typ] = true
	}
	if len(seen) != len(services) {
		r.t.Errorf("Envoy asked for %v, want %v", seen, services)
	}
}

// awaitBack waits until Envoy asked for every type on the streams after those before.
func (r *routed) awaitBack(before int) {
	r.t.Helper()
	for typ := range services {
		eventually(r.t, soon, "Envoy did not ask for "+typ.Slug()+" again", func() bool { return r.tap.sees(before, typ) })
	}
	if code, _ := get(r.proxy); code != http.StatusOK {
		r.t.Errorf("it answers %d", code)
	}
}
