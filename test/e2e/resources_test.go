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

// ads is the source of what comes over the aggregated stream.
const ads = "{ads: {}, resource_api_version: V3}"

func cluster(name, timeout string) res { return edsCluster(name, timeout, ads) }

// edsCluster is a cluster whose endpoints come from source.
func edsCluster(name, timeout, source string) res {
	return res{"clusters", name, fmt.Sprintf(`{name: %s, type: EDS, connect_timeout: %s, eds_cluster_config: {eds_config: %s}}`, name, timeout, source)}
}

func endpoints(cluster, address string) res {
	return res{"endpoints", cluster, fmt.Sprintf(`{cluster_name: %s, endpoints: [{lb_endpoints: [{endpoint: {address: %s}}]}]}`, cluster, socket(address))}
}

func socket(address string) string {
	host, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf("{socket_address: {address: %s, port_value: %s}}", host, port)
}

func route(name, cluster string) res {
	return res{"routes", name, fmt.Sprintf(`{name: %s, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: %s}}]}]}`, name, cluster)}
}

func listener(name, address, route string) res {
	return httpListener{name: name, address: address, routes: rds(route, ads)}.res()
}

// rds has a listener take its routes from source.
func rds(route, source string) string {
	return fmt.Sprintf("rds: {route_config_name: %s, config_source: %s}", route, source)
}

// httpListener is a listener for HTTP.
type httpListener struct {
	name, address string
	routes        string // the connection manager's field that says where routes come from
	filters       string // HTTP filters before the router, each with a comma behind it
	tls           string // the filter chain's field transport_socket, with a comma behind it
}

func (l httpListener) res() res {
	return res{"listeners", l.name, fmt.Sprintf(`{name: %s, address: %s, filter_chains: [{%s filters: [{name: hcm, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: %s, %s,
    http_filters: [%s {name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}]}]}`,
		l.name, socket(l.address), l.tls, l.name, l.routes, l.filters)}
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
