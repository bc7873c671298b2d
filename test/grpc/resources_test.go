package grpcclients

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
)

// res is one resource, its body as JSON.
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

// removal is the apply document that deletes them.
func removal(rs ...res) string {
	var b strings.Builder
	b.WriteString("delete:\n")
	for _, r := range rs {
		fmt.Fprintf(&b, "- {type: %s, name: %q}\n", r.typ, r.name)
	}
	return b.String()
}

const (
	managerType = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
	routerType  = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
)

// manager is an HTTP connection manager with the router and what routes.
func manager(routes string) string {
	return fmt.Sprintf(`{"@type": %s, stat_prefix: s, %s, http_filters: [{name: router, typed_config: {"@type": %s}}]}`, managerType, routes, routerType)
}

func byName(route string) string {
	return fmt.Sprintf(`rds: {route_config_name: %q, config_source: {ads: {}, resource_api_version: V3}}`, route)
}

func inline(routeBody string) string { return "route_config: " + routeBody }

// target is a listener for gRPC clients.
func target(name, routes string) res {
	return res{"listeners", name, fmt.Sprintf(`{name: %q, api_listener: {api_listener: %s}}`, name, manager(routes))}
}

func routeBody(name, action string) string {
	return fmt.Sprintf(`{name: %q, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: ""}, %s}]}]}`, name, action)
}

func toCluster(name string) string { return fmt.Sprintf(`route: {cluster: %q}`, name) }

func route(name, cluster string) res {
	return res{"routes", name, routeBody(name, toCluster(cluster))}
}

// cluster has its endpoints under its own name.
func cluster(name, policy string) res {
	return res{"clusters", name, fmt.Sprintf(`{name: %q, type: EDS, connect_timeout: 1s, lb_policy: %s, eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}}`, name, policy)}
}

// endpoints are what a gRPC client takes: in a locality, which has a weight.
func endpoints(cluster, address string) res {
	host, port, _ := net.SplitHostPort(address)
	return res{"endpoints", cluster, fmt.Sprintf(`{cluster_name: %q, endpoints: [{locality: {region: here}, load_balancing_weight: 1,
    lb_endpoints: [{endpoint: {address: {socket_address: {address: %q, port_value: %s}}}}]}]}`, cluster, host, port)}
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
