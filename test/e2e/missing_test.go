package e2e

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// filtered is a listener whose one filter is of this type.
func filtered(t *testing.T, name, address, typ, fields string) world.Resource {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	world.Must(t, err)
	return world.NewResource("listeners", name, fmt.Sprintf(`{name: %s, address: {socket_address: {address: %s, port_value: %s}}, filter_chains: [{filters: [{name: f, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.%s, stat_prefix: %[1]s, %[5]s}}]}]}`,
		name, host, port, typ, fields))
}

// TestWhatLacksAClusterIsToldAndComes: a real Envoy refuses just those listeners of which the write says so, and all of them are there by themselves
// when the cluster that they lack is: but for one that asks for a cluster of the bootstrap, as the write says.
func TestWhatLacksAClusterIsToldAndComes(t *testing.T) {
	const (
		manager = "http_connection_manager.v3.HttpConnectionManager"
		router  = `http_filters: [{name: r, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]`
	)
	routes := func(action, more string) string {
		return router + `, route_config: {name: r, virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {` + action + `}}]}]` + more + `}`
	}
	with := func(what, typ, fields string) string {
		config := `{name: x, typed_config: {"@type": type.googleapis.com/envoy.` + typ + `, ` + fields + `}}`
		if what == "access_log" {
			config = "[" + config + "]"
		} else {
			config = "{provider: " + config + "}"
		}
		return routes("cluster: a", "") + ", " + what + ": " + config
	}
	const grpc = "grpc_service: {envoy_grpc: {cluster_name: gone}, timeout: 1s}"
	listeners := []struct{ name, typ, fields string }{
		{"inline", manager, routes("cluster: gone", "")},
		{"weighted", manager, routes("weighted_clusters: {clusters: [{name: gone, weight: 1}]}", "")},
		{"mirrored", manager, routes("cluster: a, request_mirror_policies: [{cluster: gone}]", "")},
		{"unchecked", manager, routes("cluster: gone", ", validate_clusters: false")},
		{"zipkin", manager, with("tracing", "config.trace.v3.ZipkinConfig", "collector_cluster: gone, collector_endpoint: /x, collector_endpoint_version: HTTP_JSON")},
		{"datadog", manager, with("tracing", "config.trace.v3.DatadogConfig", "collector_cluster: gone, service_name: s")},
		{"skywalking", manager, with("tracing", "config.trace.v3.SkyWalkingConfig", grpc)},
		{"logs", manager, with("access_log", "extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", "common_config: {log_name: l, transport_api_version: V3, "+grpc+"}")},
		{"fluentd", manager, with("access_log", "extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig", "cluster: gone, tag: t, stat_prefix: s, record: {a: b}")},
		{"thrift", "thrift_proxy.v3.ThriftProxy", "route_config: {name: r, routes: [{match: {method_name: ''}, route: {cluster: gone}}]}"},
		{"tcp", "tcp_proxy.v3.TcpProxy", "cluster: gone"},
		{"source", manager, router + ", rds: {route_config_name: r, config_source: {resource_api_version: V3, api_config_source: {api_type: REST, transport_api_version: V3, cluster_names: [gone], refresh_delay: 1s}}}"},
	}
	inBootstrap := func(name string) bool { return name == "fluentd" || name == "source" } // has to be what they name
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		gone := world.Backend(t, "gone") // it closes behind Envoy, whose logs and traces stay open
		w.Put(world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")))
		xds, address := w.XDS(), world.FreePort(t)
		envoy := w.Envoy("n1", xds.Address, delta)
		w.AwaitLive("n1")
		var refused []string
		for i, l := range listeners {
			at := address
			if i > 0 {
				at = world.FreePort(t)
			}
			r := filtered(t, l.name, at, l.typ, l.fields)
			p, err := w.REST.PutResourceWithBodyWithResponse(t.Context(), w.Tenant, w.Fleet, client.TypeParam(r.Type), r.Name, nil, "application/yaml", strings.NewReader(r.Document()))
			w.Made(p, err)
			said := slices.IndexFunc(p.JSON201.Findings.Items, func(f client.Finding) bool { return f.Code == client.MissingReference })
			if said < 0 {
				t.Fatalf("%s: nothing is said of what is missing: %s", l.name, p.Body)
			}
			detail := p.JSON201.Findings.Items[said].Detail
			if strings.Contains(detail, "Envoy refuses listeners/"+l.name) {
				refused = append(refused, l.name)
			}
			if got := strings.Contains(detail, "unless it stands in its bootstrap"); got != inBootstrap(l.name) {
				t.Errorf("%s: %s", l.name, detail)
			}
			receipt := w.Receipt(p.JSON201.Revision)
			if got, want := receipt.State, wantState(slices.Contains(refused, l.name)); got != want {
				t.Errorf("%s: %s, want %s, as it is said: %s", l.name, world.AsJSON(receipt), want, detail)
			}
		}
		if want := []string{"inline", "weighted", "mirrored", "zipkin", "datadog", "fluentd", "thrift", "source"}; !slices.Equal(refused, want) {
			t.Errorf("%q are said to be refused, want %q", refused, want)
		}
		for _, f := range w.Node("n1").Refusals {
			if !strings.Contains(*f.LiftedBy, "or clusters/gone, which it was not given") {
				t.Errorf("%s: lifted by %s", f.Name, *f.LiftedBy)
			}
		}
		w.AwaitDelivered(w.Put(world.Endpoints("gone", gone), world.Cluster("gone", "1s")), 1)
		for _, f := range w.Node("n1").Refusals {
			if f.LiftedBy != nil && !inBootstrap(f.Name) {
				t.Errorf("%s is refused still: %s", f.Name, world.AsJSON(f))
			}
		}
		world.Eventually(t, world.Soon, "not served", func() bool { _, body := world.Get("http://" + address + "/"); return body == "gone" })
		active, err := envoy.Admin(t.Context(), "/listeners")
		world.Must(t, err)
		for _, l := range listeners {
			if strings.Contains(string(active), l.name+"::") == inBootstrap(l.name) {
				t.Errorf("%s: active are %s", l.name, active)
			}
		}
		var said []string // of a cluster that the fleet has by now, and Envoy looks for elsewhere
		code := client.MissingReference
		found, err := w.REST.ListFindingsWithResponse(t.Context(), w.Tenant, w.Fleet, &client.ListFindingsParams{Code: &code})
		world.Must(t, err)
		for _, f := range found.JSON200.Items {
			said = append(said, f.Name)
		}
		if slices.Sort(said); !slices.Equal(said, []string{"fluentd", "source"}) {
			t.Errorf("findings say of %q that they lack a cluster", said)
		}
	})
}

func wantState(refused bool) client.ReceiptState {
	if refused {
		return client.ReceiptStateRejected
	}
	return client.ReceiptStateDelivered
}

// TestARouteThatIsCheckedIsOfferedAgain when its cluster comes: the listener that waits for it serves then.
func TestARouteThatIsCheckedIsOfferedAgain(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		checked := world.Route("checked", "later").With("validate_clusters: true")
		revision := r.Apply(world.Together(checked, world.Listener("l", strings.TrimPrefix(r.proxy, "http://"), "checked")))
		if n := r.AwaitRejected(revision); n.Resource.Name != "checked" {
			t.Errorf("refused is %s", n.Resource.Name)
		}
		r.Put(world.Endpoints("later", world.Backend(t, "later")), world.Cluster("later", "1s"))
		world.Eventually(t, world.Soon, "not served", func() bool { _, body := world.Get(r.proxy + "/"); return body == "later" })
	})
}
