package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// runtimeLayer adds to a bootstrap a runtime layer that comes from source.
func runtimeLayer(name, source string) func(string) string {
	return func(bootstrap string) string {
		return bootstrap + sprintf("layered_runtime: {layers: [{name: %s, rtds_layer: {name: %s, rtds_config: %s}}]}\n", name, name, source)
	}
}

func layer(name, key string, value int) world.Resource {
	return world.NewResource("runtimes", name, sprintf("{name: %s, layer: {%s: %d}}", name, key, value))
}

// runtimeValue is what Envoy's runtime says, "" if nothing.
func runtimeValue(t testing.TB, e *localenvoy.Envoy, key string) string {
	t.Helper()
	b, err := e.Admin(t.Context(), "/runtime")
	world.Must(t, err)
	var page struct {
		Entries map[string]struct {
			Final string `json:"final_value"`
		}
	}
	world.Must(t, json.Unmarshal(b, &page))
	return page.Entries[key].Final
}

// aborting is a filter that answers every request with this status.
func aborting(name string, status int) world.Resource {
	return world.NewResource("extensions", name, sprintf(`{name: %s, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault,
    abort: {http_status: %d, percentage: {numerator: 100}}}}`, name, status))
}

// discovered is the httpListener.filters of one whose filter comes from source.
func discovered(filter, source string) string {
	return sprintf(`{name: %s, config_discovery: {config_source: %s, type_urls: [type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault]}},`, filter, source)
}

func scope(name, key, route string) world.Resource {
	return world.NewResource("scoped-routes", name, sprintf("{name: %s, route_configuration_name: %s, key: {fragments: [{string_key: %s}]}}", name, route, key))
}

// scoped is the httpListener.routes of one whose header x-scope chooses the route. Scopes and routes have a source each.
func scoped(scopes, routes string) string {
	return sprintf(`scoped_routes: {name: scopes, rds_config_source: %s, scoped_rds: {scoped_rds_config_source: %s},
    scope_key_builder: {fragments: [{header_value_extractor: {name: x-scope, index: 0}}]}}`, routes, scopes)
}

// TestEveryTypeReachesEnvoy: endpoints, clusters, secrets, listeners and routes are in
// other tests as well, virtual hosts are in TestVirtualHostsOnDemand.
func TestEveryTypeReachesEnvoy(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		plain, scopes, filtered, secured := world.FreePort(t), world.FreePort(t), world.FreePort(t), world.FreePort(t)
		cert, key := world.Certificate(t)
		w.Apply(world.Together(
			world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")), world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")),
			world.Route("r", "a"), world.Route("other", "b"), world.Listener("l", plain, "r"),
			layer("layer", "e2e.key", 7), aborting("filter", 418), secret("server", cert, key),
			world.HTTPListener{Name: "filtered", Address: filtered, Routes: world.RDS("r", world.ADS), Filters: discovered("filter", world.ADS)}.Resource(),
			world.HTTPListener{Name: "secured", Address: secured, Routes: world.RDS("r", world.ADS), TLS: presents("server", world.ADS)}.Resource(),
			world.HTTPListener{Name: "scopes", Address: scopes, Routes: scoped(world.ADS, world.ADS)}.Resource(), scope("s", "one", "other"),
		))
		server := w.XDS()
		tap := world.NewTap(t, server.Address)
		e := w.Launch("n1", tap.Address, delta, runtimeLayer("layer", world.ADS))
		promptly(t, "LIVE", func() bool { return live(t, e) })
		w.AwaitLive("n1")

		w.Step("a route", func() {
			promptly(w.T, "routed", func() bool { _, body := world.Get("http://" + plain); return body == "a" })
		})
		w.Step("a secret", func() {
			promptly(w.T, "routed over TLS", func() bool { _, err := request(secured); return err == nil })
		})
		w.Step("a runtime", func() {
			promptly(w.T, "in the runtime", func() bool { return runtimeValue(w.T, e, "e2e.key") == "7" })
			w.Put(layer("layer", "e2e.key", 8))
			promptly(w.T, "in the runtime changed", func() bool { return runtimeValue(w.T, e, "e2e.key") == "8" })
		})
		w.Step("an extension", func() {
			promptly(w.T, "filtered", func() bool { code, _ := world.Get("http://" + filtered); return code == http.StatusTeapot })
			w.Put(aborting("filter", 410))
			promptly(w.T, "filtered otherwise", func() bool { code, _ := world.Get("http://" + filtered); return code == http.StatusGone })
		})
		w.Step("a scoped route", func() {
			promptly(w.T, "routed by scope", func() bool { return getScope(scopes, "one") == "b" })
			if got := getScope(scopes, "two"); got == "a" || got == "b" {
				w.T.Errorf("a scope that does not exist is routed to %s", got)
			}
			last := w.Put(scope("s2", "two", "r"))
			promptly(w.T, "routed by a new scope", func() bool { return getScope(scopes, "two") == "a" })
			if got := w.Receipt(last); got.State != "delivered" || got.Counts.Acked != 1 {
				w.T.Errorf("receipt %+v, want delivered to 1", got)
			}
		})
		for _, typ := range fleet.Types() {
			held := func(s world.Sent) bool { return s.Type == typ && len(s.Names) > 0 }
			if typ != fleet.VirtualHost && !slices.ContainsFunc(tap.Since(0), held) {
				t.Errorf("no %s were sent", typ)
			}
		}
	})
}

// getScope asks with the header that chooses a route, and returns the answer's body.
func getScope(address, scope string) string {
	_, body := world.Ask("http://"+address, func(r *http.Request) { r.Header.Set("X-Scope", scope) })
	return body
}
