package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
)

// runtimeLayer adds to a bootstrap a runtime layer that comes from source.
func runtimeLayer(name, source string) func(string) string {
	return func(bootstrap string) string {
		return bootstrap + sprintf("layered_runtime: {layers: [{name: %s, rtds_layer: {name: %s, rtds_config: %s}}]}\n", name, name, source)
	}
}

func layer(name, key string, value int) res {
	return res{"runtimes", name, sprintf("{name: %s, layer: {%s: %d}}", name, key, value)}
}

// runtimeValue is what Envoy's runtime says, "" if nothing.
func runtimeValue(t testing.TB, e *localenvoy.Envoy, key string) string {
	t.Helper()
	b, err := e.Admin(t.Context(), "/runtime")
	must(t, err)
	var page struct {
		Entries map[string]struct {
			Final string `json:"final_value"`
		}
	}
	must(t, json.Unmarshal(b, &page))
	return page.Entries[key].Final
}

// aborting is a filter that answers every request with this status.
func aborting(name string, status int) res {
	return res{"extensions", name, sprintf(`{name: %s, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault,
    abort: {http_status: %d, percentage: {numerator: 100}}}}`, name, status)}
}

// discovered is the httpListener.filters of one whose filter comes from source.
func discovered(filter, source string) string {
	return sprintf(`{name: %s, config_discovery: {config_source: %s, type_urls: [type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault]}},`, filter, source)
}

func scope(name, key, route string) res {
	return res{"scoped-routes", name, sprintf("{name: %s, route_configuration_name: %s, key: {fragments: [{string_key: %s}]}}", name, route, key)}
}

// scoped is the httpListener.routes of one whose header x-scope chooses the route.
func scoped(source string) string {
	return sprintf(`scoped_routes: {name: scopes, rds_config_source: %s, scoped_rds: {scoped_rds_config_source: %s},
    scope_key_builder: {fragments: [{header_value_extractor: {name: x-scope, index: 0}}]}}`, source, source)
}

// TestEveryTypeReachesEnvoy: endpoints, clusters, secrets, listeners and routes are in
// other tests as well, virtual hosts are in TestVirtualHostsOnDemand.
func TestEveryTypeReachesEnvoy(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		plain, scopes, filtered, secured := freePort(t), freePort(t), freePort(t), freePort(t)
		cert, key := certificate(t)
		w.apply(together(
			cluster("a", "1s"), endpoints("a", backend(t, "a")), cluster("b", "1s"), endpoints("b", backend(t, "b")),
			route("r", "a"), route("other", "b"), listener("l", plain, "r"),
			layer("layer", "e2e.key", 7), aborting("filter", 418), secret("server", cert, key),
			httpListener{name: "filtered", address: filtered, routes: rds("r", ads), filters: discovered("filter", ads)}.res(),
			httpListener{name: "secured", address: secured, routes: rds("r", ads), tls: presents("server", ads)}.res(),
			httpListener{name: "scopes", address: scopes, routes: scoped(ads)}.res(), scope("s", "one", "other"),
		))
		server := w.xds()
		tap := newTap(t, server.address)
		e := w.launch("n1", tap.address, delta, runtimeLayer("layer", ads))
		promptly(t, "LIVE", func() bool { return live(t, e) })
		w.awaitLive("n1")

		w.step("a route", func() {
			promptly(w.t, "routed", func() bool { _, body := get("http://" + plain); return body == "a" })
		})
		w.step("a secret", func() {
			promptly(w.t, "routed over TLS", func() bool { _, err := request(secured); return err == nil })
		})
		w.step("a runtime", func() {
			promptly(w.t, "in the runtime", func() bool { return runtimeValue(w.t, e, "e2e.key") == "7" })
			w.put(layer("layer", "e2e.key", 8))
			promptly(w.t, "in the runtime changed", func() bool { return runtimeValue(w.t, e, "e2e.key") == "8" })
		})
		w.step("an extension", func() {
			promptly(w.t, "filtered", func() bool { code, _ := get("http://" + filtered); return code == http.StatusTeapot })
			w.put(aborting("filter", 410))
			promptly(w.t, "filtered otherwise", func() bool { code, _ := get("http://" + filtered); return code == http.StatusGone })
		})
		w.step("a scoped route", func() {
			promptly(w.t, "routed by scope", func() bool { return getScope(scopes, "one") == "b" })
			if got := getScope(scopes, "two"); got == "a" || got == "b" {
				w.t.Errorf("a scope that does not exist is routed to %s", got)
			}
			last := w.put(scope("s2", "two", "r"))
			promptly(w.t, "routed by a new scope", func() bool { return getScope(scopes, "two") == "a" })
			if got := w.receipt(last); got.State != "delivered" || got.Counts.Acked != 1 {
				w.t.Errorf("receipt %+v, want delivered to 1", got)
			}
		})
		for _, typ := range fleet.Types() {
			held := func(s sent) bool { return s.typ == typ && len(s.names) > 0 }
			if typ != fleet.VirtualHost && !slices.ContainsFunc(tap.since(0), held) {
				t.Errorf("no %s were sent", typ)
			}
		}
	})
}

// getScope asks with the header that chooses a route, and returns the answer's body.
func getScope(address, scope string) string {
	_, body := ask("http://"+address, func(r *http.Request) { r.Header.Set("X-Scope", scope) })
	return body
}
