package grpcclients

import (
	"fmt"

	"fairlead/test/world"
)

func byName(route string) string { return world.RDS(route, world.ADS) }

func inline(routeBody string) string { return "route_config: " + routeBody }

// target is a listener for gRPC clients.
func target(name, routes string) world.Resource {
	return world.NewResource("listeners", name, fmt.Sprintf(`{name: %q, api_listener: {api_listener: %s}}`, name, world.Manager("s", routes, "")))
}

func routeBody(name, action string) string {
	return fmt.Sprintf(`{name: %q, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: ""}, %s}]}]}`, name, action)
}

func toCluster(name string) string { return fmt.Sprintf(`route: {cluster: %q}`, name) }

func route(name, cluster string) world.Resource {
	return world.NewResource("routes", name, routeBody(name, toCluster(cluster)))
}

// cluster is one with a load balancing policy.
func cluster(name, policy string) world.Resource {
	return world.Cluster(name, "1s").With("lb_policy: " + policy)
}

// endpoints are what a gRPC client takes: in a locality, which has a weight.
func endpoints(cluster, address string) world.Resource {
	return world.NewResource("endpoints", cluster, fmt.Sprintf(`{cluster_name: %q, endpoints: [{locality: {region: here}, load_balancing_weight: 1,
    lb_endpoints: [{endpoint: {address: %s}}]}]}`, cluster, world.Socket(address)))
}
