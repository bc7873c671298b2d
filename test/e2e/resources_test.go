package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// res is one resource, its body as YAML flow.
type res struct{ typ, name, body string }

func (r res) document() string {
	return fmt.Sprintf("{type: %s, name: %q, body: %s}\n", r.typ, r.name, r.body)
}

// together is the apply document of several.
func together(rs ...res) string {
	var b strings.Builder
	b.WriteString("resources:\n")
	for _, r := range rs {
		b.WriteString("- " + r.document())
	}
	return b.String()
}

func cluster(name, timeout string) res {
	return res{"clusters", name, fmt.Sprintf(`{name: %s, type: EDS, connect_timeout: %s, eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}}`, name, timeout)}
}

func endpoints(cluster, address string) res {
	host, port, _ := net.SplitHostPort(address)
	return res{"endpoints", cluster, fmt.Sprintf(`{cluster_name: %s, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]}`, cluster, host, port)}
}

func route(name, cluster string) res {
	return res{"routes", name, fmt.Sprintf(`{name: %s, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: %s}}]}]}`, name, cluster)}
}

func listener(name, address, route string) res {
	host, port, _ := net.SplitHostPort(address)
	return res{"listeners", name, fmt.Sprintf(`{name: %s, address: {socket_address: {address: %s, port_value: %s}}, filter_chains: [{filters: [{name: hcm, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: %s,
    rds: {route_config_name: %s, config_source: {ads: {}, resource_api_version: V3}},
    http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}]}]}`, name, host, port, name, route)}
}

// backend answers every request with its name.
func backend(t testing.TB, name string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func revisionOf(t testing.TB, body []byte) int64 {
	t.Helper()
	var v struct{ Revision int64 }
	must(t, json.Unmarshal(body, &v))
	if v.Revision == 0 {
		t.Fatalf("no revision in %s", body)
	}
	return v.Revision
}
