package world

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Resource is one resource: its type's slug, and its body as YAML flow.
type Resource struct{ Type, Name, Body string }

// NewResource is all of it.
func NewResource(typ, name, body string) Resource { return Resource{typ, name, body} }

// Document is what a PUT of it says.
func (r Resource) Document() string {
	return fmt.Sprintf("{type: %s, name: %q, body: %s}\n", r.Type, r.Name, r.Body)
}

// With is the resource with more fields.
func (r Resource) With(fields string) Resource {
	r.Body = strings.TrimSuffix(r.Body, "}") + ", " + fields + "}"
	return r
}

// Together is the apply document of several.
func Together(rs ...Resource) string {
	var b strings.Builder
	b.WriteString("resources:\n")
	for _, r := range rs {
		b.WriteString("- " + r.Document())
	}
	return b.String()
}

// Removal is the apply document that deletes them.
func Removal(rs ...Resource) string {
	var b strings.Builder
	b.WriteString("delete:\n")
	for _, r := range rs {
		fmt.Fprintf(&b, "- {type: %s, name: %q}\n", r.Type, r.Name)
	}
	return b.String()
}

// ADS is the source of what comes over the aggregated stream.
const ADS = "{ads: {}, resource_api_version: V3}"

// Cluster is a cluster with this connect timeout whose endpoints come over ADS under its
// own name.
func Cluster(name, timeout string) Resource { return EDSCluster(name, timeout, ADS) }

// EDSCluster is a cluster whose endpoints come from source.
func EDSCluster(name, timeout, source string) Resource {
	return Resource{"clusters", name, fmt.Sprintf(`{name: %q, type: EDS, connect_timeout: %s, eds_cluster_config: {eds_config: %s}}`, name, timeout, source)}
}

// Endpoints are one address for a cluster.
func Endpoints(cluster, address string) Resource {
	return Resource{"endpoints", cluster, fmt.Sprintf(`{cluster_name: %q, endpoints: [{lb_endpoints: [{endpoint: {address: %s}}]}]}`, cluster, Socket(address))}
}

// Socket is the message Address of host:port.
func Socket(address string) string {
	host, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf("{socket_address: {address: %q, port_value: %s}}", host, port)
}

// Route sends all to one cluster.
func Route(name, cluster string) Resource {
	return Resource{"routes", name, fmt.Sprintf(`{name: %q, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: %q}}]}]}`, name, cluster)}
}

// RDS has a connection manager take its routes from source.
func RDS(route, source string) string {
	return fmt.Sprintf("rds: {route_config_name: %q, config_source: %s}", route, source)
}

// Manager is an HTTP connection manager: what routes, as RDS says it, and HTTP filters
// before the router, each with a comma behind it.
func Manager(stats, routes, filters string) string {
	return fmt.Sprintf(`{"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: %s, %s,
    http_filters: [%s{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}`, stats, routes, filters)
}

// Listener is for HTTP, with its routes over ADS.
func Listener(name, address, route string) Resource {
	return HTTPListener{Name: name, Address: address, Routes: RDS(route, ADS)}.Resource()
}

// HTTPListener is a listener for HTTP.
type HTTPListener struct {
	Name, Address   string
	Routes, Filters string // Manager's
	TLS             string // the filter chain's field transport_socket, with a comma behind it
}

// Resource is the listener.
func (l HTTPListener) Resource() Resource {
	return Resource{"listeners", l.Name, fmt.Sprintf(`{name: %q, address: %s, filter_chains: [{%s filters: [{name: hcm, typed_config: %s}]}]}`,
		l.Name, Socket(l.Address), l.TLS, Manager(l.Name, l.Routes, l.Filters))}
}

// Backend answers every HTTP request with its name.
func Backend(t testing.TB, name string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}
