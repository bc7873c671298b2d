package e2e

import (
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// asksInVain has Envoy ask ADS for routes of Thrift and of Dubbo, which are not served, and wait for them without end.
func asksInVain(t testing.TB) func(string) string {
	source := "{ads: {}, resource_api_version: V3, initial_fetch_timeout: 0s}"
	listener := func(name, filter string) string {
		return sprintf("  - {name: %s, address: %s, filter_chains: [{filters: [{name: f, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.%s, config_source: %s}}}]}]}\n",
			name, world.Socket(world.FreePort(t)), filter, source)
	}
	return func(bootstrap string) string {
		return strings.Replace(bootstrap, "static_resources:\n", "static_resources:\n  listeners:\n"+
			listener("thrift", "thrift_proxy.v3.ThriftProxy, stat_prefix: t, trds: {route_config_name: r")+
			listener("dubbo", "dubbo_proxy.v3.DubboProxy, stat_prefix: d, drds: {route_config_name: r"), 1)
	}
}

// TestATypeThatIsNotServed: an Envoy that asks for one keeps its stream, and what else it asks for; the fleet is told what it was. What would make it ask
// is refused when it is written.
func TestATypeThatIsNotServed(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		tap := world.NewTap(t, w.XDS().Address)
		w.Apply(world.Together(world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")), world.Listener("l", world.FreePort(t), "r")))
		w.Launch("n1", tap.Address, delta, asksInVain(t))
		w.AwaitLive("n1")
		for _, timeout := range []string{"2s", "3s", "4s"} {
			w.AwaitState(w.Put(world.Cluster("a", timeout)), "delivered")
		}
		if n := tap.Opened(); n != 1 {
			t.Errorf("the Envoy has had %d streams, want the one", n)
		}
		kind := client.EventKindDenied
		told := map[string]bool{}
		world.Eventually(t, 3*world.Soon, "nothing was told", func() bool {
			answer, err := w.REST.ListEventsWithResponse(t.Context(), "acme", "edge", &client.ListEventsParams{Kind: &kind})
			w.Made(answer, err)
			for _, e := range answer.JSON200.Items {
				if *e.Reason != client.TypeNotServed || e.Node != "n1" {
					t.Fatalf("told %s", world.AsJSON(e))
				}
				told[strings.Split(*e.Action, ": ")[1]] = true
			}
			return len(told) == 2
		})
		for what := range told {
			if !strings.Contains(what, "thrift_proxy.v3.RouteConfiguration") && !strings.Contains(what, "dubbo_proxy.v3.") {
				t.Errorf("told of %q", what)
			}
		}
		doc := world.Together(world.NewResource("listeners", "thrift", sprintf(`{name: thrift, address: %s, filter_chains: [{filters: [{name: f, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy, stat_prefix: t, trds: {route_config_name: r, config_source: {ads: {}}}}}]}]}`, world.Socket(world.FreePort(t)))))
		answer, err := w.REST.ApplyWithBodyWithResponse(t.Context(), "acme", "edge", nil, "application/yaml", strings.NewReader(doc))
		world.Must(t, err)
		if answer.StatusCode() != 400 && answer.StatusCode() != 422 || !strings.Contains(string(answer.Body), "type_not_served") || !strings.Contains(string(answer.Body), "trds/config_source") {
			t.Errorf("the write was answered with %d: %s", answer.StatusCode(), answer.Body)
		}
	})
}
