package findings_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/envoyversion"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// serves is a fleet of which nothing is to be said.
var serves = []string{rds("l", "r"), route("r", "cluster: c"), cluster("c")}

func serving(docs ...string) []string { return slices.Concat(serves, docs) }

// TestCheck has every kind of finding, and beside each what is not one.
func TestCheck(t *testing.T) {
	t.Parallel()
	const (
		action   = "/body/virtual_hosts/0/routes/0/route"
		vhds     = "{type: routes, name: r, body: {name: r, vhds: {config_source: {ads: {}}}, virtual_hosts: [{name: v, domains: [a, b]}]}}"
		scopes   = hcmType + ", scoped_routes: {name: s, scope_key_builder: {fragments: [{header_value_extractor: {name: x, index: 0}}]}, rds_config_source: {ads: {}}, scoped_rds: {scoped_rds_config_source: {ads: {}}}}"
		internal = "{type: endpoints, name: c, body: {cluster_name: c, endpoints: [{lb_endpoints: [{endpoint: {address: {envoy_internal_address: {server_listener_name: i}}}}]}]}}"
		scope    = "{type: scoped-routes, name: s, body: {name: s, route_configuration_name: r, key: {fragments: [{string_key: x}]}}}"
		upTLS    = "{type: clusters, name: c, body: {name: c, transport_socket: {name: tls, typed_config: {" + tlsType + "UpstreamTlsContext, common_tls_context: {tls_certificate_sds_secret_configs: [{name: k, sds_config: {ads: {}}}]}}}}}"
		ecds     = "{type: listeners, name: l, body: {name: l, address: {socket_address: {address: 0.0.0.0, port_value: 1}}, filter_chains: [{filters: [{name: e, config_discovery: {config_source: {ads: {}}, type_urls: [type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy]}}]}]}}"
		ext      = "{type: extensions, name: e, body: {name: e, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: s, cluster: c}}}"
	)
	const (
		demand       = ", http_filters: [{name: on_demand, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand, odcds: {source: {ads: {}}}}}]"
		polled       = "{api_config_source: {api_type: REST, cluster_names: [fairlead_xds], refresh_delay: 1s}}"
		pollsCluster = "{type: clusters, name: c, body: {name: c, type: EDS, eds_cluster_config: {eds_config: " + polled + "}}}"
	)
	polls := listener("l", hcmType+", rds: {route_config_name: r, config_source: "+polled+"}")
	host := func(name, domains string) string {
		return fmt.Sprintf("{type: virtual-hosts, name: %s, body: {name: %[1]s, domains: [%s]}}", name, domains)
	}
	for name, c := range map[string]struct {
		docs  []string
		fleet findings.Fleet
		want  []string
	}{
		"nothing": {docs: serves},

		"a route to no cluster":               {docs: []string{rds("l", "r"), route("r", "cluster: d")}, want: []string{"error missing_reference routes/r " + action + "/cluster -> clusters/d"}},
		"a weighted one":                      {docs: []string{rds("l", "r"), cluster("c"), route("r", "weighted_clusters: {clusters: [{name: c, weight: 1}, {name: d, weight: 1}]}")}, want: []string{"error missing_reference routes/r " + action + "/weighted_clusters/clusters/1/name -> clusters/d"}},
		"a mirror":                            {docs: []string{rds("l", "r"), cluster("c"), route("r", "cluster: c, request_mirror_policies: [{cluster: d}]")}, want: []string{"warning missing_reference routes/r " + action + "/request_mirror_policies/0/cluster -> clusters/d"}},
		"in the bootstrap":                    {docs: []string{rds("l", "r"), route("r", "cluster: d")}, fleet: findings.Fleet{StaticClusters: []string{"d"}}},
		"there and here":                      {docs: serving(), fleet: findings.Fleet{StaticClusters: []string{"c"}}, want: []string{"warning static_cluster clusters/c"}},
		"asked for by polls":                  {docs: []string{polls, route("r", "cluster: c"), pollsCluster, endpoints("c")}},
		"no route is to be had by polls":      {docs: []string{polls}, want: []string{"error missing_reference listeners/l " + at + "/rds/route_config_name -> routes/r"}},
		"asked for of somebody else":          {docs: []string{strings.ReplaceAll(polls, "fairlead_xds", "x"), route("r", "cluster: x")}, fleet: findings.Fleet{StaticClusters: []string{"x"}}, want: []string{"info unreachable routes/r"}},
		"of a cluster that is served":         {docs: []string{strings.ReplaceAll(polls, "fairlead_xds", "x"), cluster("x")}, want: []string{"error missing_reference listeners/l " + at + "/rds/config_source/api_config_source/cluster_names/0 -> clusters/x"}},
		"endpoints of one that is served":     {docs: []string{strings.ReplaceAll(pollsCluster, "fairlead_xds", "x"), cluster("x"), rds("l", "r"), route("r", "cluster: c")}, want: []string{"error missing_reference clusters/c /body/eds_cluster_config/eds_config/api_config_source/cluster_names/0 -> clusters/x"}},
		"of a cluster that is not there":      {docs: []string{strings.ReplaceAll(polls, "fairlead_xds", "x")}, want: []string{"error missing_reference listeners/l " + at + "/rds/config_source/api_config_source/cluster_names/0 -> clusters/x"}},
		"of one that is served by name":       {docs: []string{strings.ReplaceAll(polls, "fairlead_xds", "x"), with(cluster("x"), "delivery: by-name")}, want: []string{"error missing_reference listeners/l " + at + "/rds/config_source/api_config_source/cluster_names/0 -> clusters/x"}},
		"logs to a cluster that is served":    {docs: []string{listener("l", hcmType+", route_config: {name: r}, access_log: [{name: f, typed_config: {'@type': type.googleapis.com/envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig, cluster: x, tag: t, stat_prefix: s, record: {a: b}}}]"), cluster("x")}, want: []string{"error missing_reference listeners/l " + at + "/access_log/0/typed_config/cluster -> clusters/x"}},
		"a listener to no route":              {docs: []string{rds("l", "r")}, want: []string{"error missing_reference listeners/l " + at + "/rds/route_config_name -> routes/r"}},
		"a cluster to no secret":              {docs: []string{rds("l", "r"), route("r", "cluster: c"), upTLS}, want: []string{"error missing_reference clusters/c /body/transport_socket/typed_config/common_tls_context/tls_certificate_sds_secret_configs/0/name -> secrets/k"}},
		"to a secret":                         {docs: []string{rds("l", "r"), route("r", "cluster: c"), upTLS, secret("k")}},
		"to no extension":                     {docs: []string{ecds}, want: []string{"error missing_reference listeners/l /body/filter_chains/0/filters/0/name -> extensions/e"}},
		"to an extension":                     {docs: []string{ecds, ext, cluster("c")}},
		"a cluster to no endpoint":            {docs: []string{rds("l", "r"), route("r", "cluster: c"), edsCluster("c")}, want: []string{"warning missing_reference clusters/c /body/name -> endpoints/c"}},
		"to endpoints":                        {docs: []string{rds("l", "r"), route("r", "cluster: c"), edsCluster("c"), endpoints("c")}},
		"an endpoint to no internal listener": {docs: serving(internal), want: []string{"warning missing_reference endpoints/c /body/endpoints/0/lb_endpoints/0/endpoint/address/envoy_internal_address/server_listener_name -> listeners/i", "info unreachable endpoints/c"}},
		"to an internal listener":             {docs: []string{rds("l", "r"), route("r", "cluster: c"), edsCluster("c"), internal, "{type: listeners, name: i, body: {name: i, internal_listener: {}, filter_chains: [{filters: []}]}}"}},
		"a scope to no route":                 {docs: []string{listener("l", scopes), scope}, want: []string{"error missing_reference scoped-routes/s /body/route_configuration_name -> routes/r"}},
		"to a route":                          {docs: []string{listener("l", scopes), scope, route("r", "cluster: c"), cluster("c")}},

		"unused":                      {docs: serving(cluster("d"), route("s", "cluster: d"), endpoints("c"), secret("k"), ext), want: []string{"info unreachable clusters/d -> routes/s", "info unreachable endpoints/c", "info unreachable extensions/e", "info unreachable routes/s", "info unreachable secrets/k"}},
		"requests choose":             {docs: []string{rds("l", "r"), route("r", "cluster_header: x"), edsCluster("d"), endpoints("d"), secret("k")}, want: []string{"info unreachable secrets/k"}},
		"what chooses is unused":      {docs: serving(route("s", "cluster_header: x"), cluster("d")), want: []string{"info unreachable clusters/d", "info unreachable routes/s"}},
		"in a circle":                 {docs: serving(aggregate("x", "z"), aggregate("z", "x")), want: []string{"info unreachable clusters/x -> clusters/z", "info unreachable clusters/z -> clusters/x"}},
		"no listeners":                {docs: []string{route("r", "cluster: c"), cluster("c"), secret("k")}},
		"runtimes are asked for":      {docs: serving("{type: runtimes, name: x, body: {name: x}}")},
		"no scopes":                   {docs: serving(scope), want: []string{"info unreachable scoped-routes/s"}},
		"virtual hosts":               {docs: []string{rds("l", "r"), vhds, host("r/h", "c")}},
		"of a route without":          {docs: serving(host("r/h", "c")), want: []string{"info unreachable virtual-hosts/r/h"}},
		"of no route":                 {docs: serving(host("x/h", "c")), want: []string{"info unreachable virtual-hosts/x/h"}},
		"of an unused one":            {docs: serving(strings.ReplaceAll(vhds, "name: r", "name: s"), host("s/h", "c")), want: []string{"info unreachable routes/s", "info unreachable virtual-hosts/s/h"}},
		"endpoints of the bootstrap":  {docs: serving(endpoints("x")), fleet: findings.Fleet{StaticClusters: []string{"x"}}},
		"a domain in route and host":  {docs: []string{rds("l", "r"), vhds, host("r/h", "c, B")}, want: []string{"error duplicate_domain virtual-hosts/r/h /body/domains/1 -> routes/r"}},
		"in two hosts":                {docs: []string{rds("l", "r"), vhds, host("r/h", "c"), host("r/i", "d, c")}, want: []string{"error duplicate_domain virtual-hosts/r/i /body/domains/1 -> virtual-hosts/r/h"}},
		"in two variants":             {docs: []string{rds("l", "r"), vhds, host("r/h", "c"), variant(host("r/h", "c"), "eu", "node.cluster=eu")}},
		"for nodes that have both":    {docs: []string{rds("l", "r"), vhds, host("r/h", "c"), variant(host("r/i", "c"), "eu", "node.cluster=eu")}, want: []string{"error duplicate_domain virtual-hosts/r/i@eu /body/domains/0 -> virtual-hosts/r/h"}},
		"for no node that has both":   {docs: []string{rds("l", "r"), vhds, variant(host("r/h", "c"), "us", "node.cluster=us"), variant(host("r/i", "c"), "eu", "node.cluster=eu")}},
		"in different routes":         {docs: []string{rds("l", "r"), vhds, rds("m", "s"), strings.ReplaceAll(vhds, "name: r", "name: s"), host("r/h", "c"), host("s/h", "c")}},
		"in a host that is not asked": {docs: serving(host("r/h", "c"), host("r/i", "c")), want: []string{"info unreachable virtual-hosts/r/h", "info unreachable virtual-hosts/r/i"}},

		"a variant for nobody": {
			docs: serving(variant(cluster("c"), "eu", "node.id=x")), fleet: findings.Fleet{Nodes: nodes("a", "b")},
			want: []string{"warning variant_unmatched clusters/c@eu /selector"},
		},
		"delivered by name": {
			docs: []string{rds("l", "r"), with(cluster("c"), "delivery: by-name"), route("r", "cluster: c")},
			want: []string{"error delivered_by_name routes/r " + action + "/cluster -> clusters/c"},
		},
		"delivered by name on demand": {docs: []string{listener("l", hcmType+demand+", rds: {route_config_name: r, config_source: {ads: {}}}"), with(cluster("c"), "delivery: by-name"), route("r", "cluster: c")}},
		"delivered by name to who refuses": {
			docs: []string{listener("l", hcmType+demand+", route_config: {virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c}}]}]}"), with(cluster("c"), "delivery: by-name")},
			want: []string{"error delivered_by_name listeners/l " + at + "/route_config/virtual_hosts/0/routes/0/route/cluster -> clusters/c"},
		},
		"a mirror delivered by name": {
			docs: []string{rds("l", "r"), cluster("c"), with(cluster("d"), "delivery: by-name"), route("r", "cluster: c, request_mirror_policies: [{cluster: d}]")},
			want: []string{"warning delivered_by_name routes/r " + action + "/request_mirror_policies/0/cluster -> clusters/d"},
		},
		"not all nodes known": {docs: serving(variant(cluster("c"), "eu", "node.id=x")), fleet: findings.Fleet{Nodes: nodes("a", "b"), NodesCut: true}},
		"no nodes":            {docs: serving(variant(cluster("c"), "eu", "node.id=x"))},
		"a variant that never wins": {
			docs:  serving(with(variant(cluster("c"), "all", "node.id"), "priority: 1"), variant(cluster("c"), "some", "node.id=a")),
			fleet: findings.Fleet{Nodes: nodes("a", "b")}, want: []string{"warning variant_shadowed clusters/c@some /priority (1 nodes)"},
		},
		"a tie":  {docs: serving(variant(cluster("c"), "all", "node.id"), variant(cluster("c"), "some", "node.id=a")), want: []string{"warning variant_tie clusters/c@some /priority -> clusters/c@all"}},
		"no tie": {docs: serving(variant(cluster("c"), "one", "node.id=b"), variant(cluster("c"), "some", "node.id=a"), with(variant(cluster("c"), "all", "node.id"), "priority: 1"))},
		"for some": {
			docs:  []string{rds("l", "r"), route("r", "cluster: c"), variant(cluster("c"), "a", "node.id=a"), variant(cluster("c"), "b", "node.id=b")},
			fleet: findings.Fleet{Nodes: nodes("a", "b", "c", "d")}, want: []string{"error missing_for_nodes routes/r " + action + "/cluster -> clusters/c (2 nodes)"},
		},
		"for those that have it": {
			docs: []string{
				rds("l", "r"), variant(route("r", "cluster: c"), "x", "node.id in (a, c)"), route("r", "cluster: d"), cluster("d"),
				variant(cluster("c"), "a", "node.id=a"), variant(cluster("c"), "b", "node.id=b"),
			},
			fleet: findings.Fleet{Nodes: nodes("a", "b", "c", "d")}, want: []string{"error missing_for_nodes routes/r@x " + action + "/cluster -> clusters/c (1 nodes)"},
		},
		"for all that need it": {
			docs: []string{
				rds("l", "r"), variant(route("r", "cluster: c"), "x", "node.id=a"), route("r", "cluster: d"), cluster("d"), variant(cluster("c"), "a", "node.id=a"),
			},
			fleet: findings.Fleet{Nodes: nodes("a", "b")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := c.fleet
			f.Resources, f.Now = stored(t, c.docs...), now
			got := check(f)
			if diff := cmp.Diff(c.want, lines(got)); diff != "" {
				t.Error(diff)
			}
			r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // a test's
			r.Shuffle(len(f.Resources), func(i, j int) { f.Resources[i], f.Resources[j] = f.Resources[j], f.Resources[i] })
			r.Shuffle(len(f.Nodes), func(i, j int) { f.Nodes[i], f.Nodes[j] = f.Nodes[j], f.Nodes[i] })
			if diff := cmp.Diff(got, check(f)); diff != "" {
				t.Errorf("in another order: %s", diff)
			}
		})
	}
}

func aggregate(name, of string) string {
	return fmt.Sprintf("{type: clusters, name: %s, body: {name: %[1]s, cluster_type: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [%s]}}}}", name, of)
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60 * 1e9
	for name, c := range map[string]struct {
		cert resource.Certificate
		want string
		says string
	}{
		"good":              {cert: resource.Certificate{NotAfter: now.Add(30*day + 1)}},
		"thirty days":       {resource.Certificate{NotAfter: now.Add(30 * day)}, "warning certificate_expires", "on 2030-05-31, in 30 days"},
		"a day":             {resource.Certificate{NotAfter: now.Add(day), Subject: "CN=x"}, "warning certificate_expires", "the certificate of CN=x in secrets/s expires on 2030-05-02, in 1 day:"},
		"now":               {resource.Certificate{NotAfter: now}, "error certificate_expired", "expired on 2030-05-01"},
		"an old authority":  {resource.Certificate{NotAfter: now.Add(-day), Authority: true}, "warning certificate_expired", "a certificate authority in secrets/s"},
		"an authority soon": {resource.Certificate{NotAfter: now.Add(day / 2), Authority: true}, "warning certificate_expires", "in less than a day"},
		"one of a chain":    {resource.Certificate{NotAfter: now.Add(-day), Intermediate: true, Subject: "CN=i"}, "warning certificate_expired", "the intermediate certificate of CN=i in secrets/s expired on 2030-04-30: clients that know no other path refuse the chain; write"},
		"another key":       {resource.Certificate{NotAfter: now.Add(31 * day), OtherKey: true}, "error key_mismatch", "is not the one of its certificate"},
	} {
		c.cert.Pointer = "/body/x"
		r := findings.Resource{Ref: fleet.Ref{Type: fleet.Secret, Name: "s"}, Facts: &resource.Facts{Certificates: []resource.Certificate{c.cert}}}
		got := check(findings.Fleet{Resources: []findings.Resource{r}, Now: now})
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %v", name, lines(got))
		case c.want != "" && (len(got) != 1 || lines(got)[0] != c.want+" secrets/s /body/x" || !strings.Contains(got[0].Detail, c.says)):
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSentences: each says what is wrong and what to do.
func TestSentences(t *testing.T) {
	t.Parallel()
	got := check(findings.Fleet{Now: now, Resources: stored(t, rds("l", "r"),
		route("r", "weighted_clusters: {clusters: [{name: backnd, weight: 1}, {name: backnd, weight: 1}]}"), cluster("backend"))})
	want := []string{
		"routes/r names clusters/backnd (here and in 1 more place), which does not exist: what is sent there fails, requests with 503; is clusters/backend meant? Else write it, " +
			"name another one, or list it in the fleet's static_clusters if it stands in the proxies' bootstrap",
		"nothing in the fleet names clusters/backend, so it is not used: name it where it is wanted, or delete it",
	}
	var sentences []string
	for _, f := range got {
		sentences = append(sentences, f.Detail)
	}
	if diff := cmp.Diff(want, sentences); diff != "" {
		t.Error(diff)
	}
}

// TestUnknownBodies: of a resource of whose body nothing is known nothing is said.
func TestUnknownBodies(t *testing.T) {
	t.Parallel()
	rs := []findings.Resource{{Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}}, {Ref: fleet.Ref{Type: fleet.Cluster, Name: "c"}, Variant: "v", Selector: "("}}
	got := check(findings.Fleet{Resources: rs, Nodes: nodes("a"), Now: now})
	if diff := cmp.Diff([]string{"warning variant_unmatched clusters/c@v /selector", "info unreachable clusters/c@v"}, lines(got)); diff != "" {
		t.Error(diff)
	}
	if said := got[0].Detail; !strings.Contains(said, "does not match the fleet's only node") {
		t.Error(said)
	}
}

// TestBootstrapCluster: the cluster is the one of the generated bootstraps.
func TestBootstrapCluster(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../bootstrap/testdata/server-by-ip.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("- name: "+findings.BootstrapCluster+"\n")) {
		t.Errorf("no cluster %s", findings.BootstrapCluster)
	}
}

// TestDocumented: docs/findings.md describes every code.
func TestDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range findings.Codes() {
		if !bytes.Contains(page, []byte("| `"+string(c)+"` |")) {
			t.Errorf("docs/findings.md does not describe %s", c)
		}
	}
}

// TestContribIsFoundWhereABuildHasItNot: of the nodes that get the resource, those that tell what their build has.
func TestContribIsFoundWhereABuildHasItNot(t *testing.T) {
	t.Parallel()
	const broker = "envoy.extensions.filters.network.kafka_broker.v3"
	has := envoyversion.ContribOfType([]byte(broker + ".KafkaBroker"))
	node := func(id, region string, has fleet.Contrib) fleet.Node {
		return fleet.Node{ID: id, Region: region, Contrib: has}
	}
	nodes := []fleet.Node{
		node("contrib", "eu", fleet.ContribTold|has), node("plain", "eu", fleet.ContribTold), node("plain2", "us", fleet.ContribTold), node("grpc", "us", 0), node("unlabeled", "eu", fleet.ContribTold),
	}
	body := func(name string) string {
		return "{name: " + name + `, address: {socket_address: {address: 0.0.0.0, port_value: 1}}, filter_chains: [{filters: [{name: k, typed_config: {"@type": type.googleapis.com/` + broker + `.KafkaBroker, stat_prefix: k}},` +
			` {name: k2, typed_config: {"@type": type.googleapis.com/` + broker + `.KafkaBroker, stat_prefix: k2}}]}]}`
	}
	const at = " /body/filter_chains/0/filters/0/typed_config"
	ordinary := "{type: listeners, name: kafka, body: {name: kafka, address: {socket_address: {address: 0.0.0.0, port_value: 1}}}}"
	for name, c := range map[string]struct {
		docs  []string
		nodes []fleet.Node
		want  []string
	}{
		"for all":              {[]string{"{type: listeners, name: kafka, body: " + body("kafka") + "}"}, nodes, []string{"error needs_contrib listeners/kafka" + at + " (2 nodes)"}},
		"all have it":          {[]string{"{type: listeners, name: kafka, body: " + body("kafka") + "}"}, nodes[:1], nil},
		"nobody is known":      {[]string{"{type: listeners, name: kafka, body: " + body("kafka") + "}"}, nil, nil},
		"nobody tells":         {[]string{"{type: listeners, name: kafka, body: " + body("kafka") + "}"}, nodes[3:], nil},
		"for those who have":   {[]string{ordinary, "{type: listeners, name: kafka, variant: v, selector: node.id=contrib, body: " + body("kafka") + "}"}, nodes, nil},
		"for some":             {[]string{ordinary, "{type: listeners, name: kafka, variant: v, selector: locality.region=eu, body: " + body("kafka") + "}"}, nodes, []string{"error needs_contrib listeners/kafka@v" + at + " (1 nodes)"}},
		"for the others":       {[]string{"{type: listeners, name: kafka, body: " + body("kafka") + "}", "{type: listeners, name: kafka, variant: v, selector: locality.region=eu, body: {name: kafka, address: {socket_address: {address: 0.0.0.0, port_value: 1}}}}"}, nodes, []string{"error needs_contrib listeners/kafka" + at + " (1 nodes)"}},
		"in a TypedStruct too": {[]string{`{type: extensions, name: x, body: {name: x, typed_config: {"@type": type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/` + broker + `.KafkaBroker, value: {stat_prefix: k}}}}`}, nodes, []string{"error needs_contrib extensions/x /body/typed_config/value (2 nodes)"}},
	} {
		got := check(findings.Fleet{Nodes: c.nodes, Unlabeled: map[string]bool{"unlabeled": true}, Resources: stored(t, c.docs...)})
		got = slices.DeleteFunc(got, func(f findings.Finding) bool { return f.Code != findings.NeedsContrib })
		if !slices.Equal(lines(got), c.want) {
			t.Errorf("%s: got %q, want %q", name, lines(got), c.want)
		}
		if name == "for all" && len(got) == 1 && !strings.Contains(got[0].Detail, `2 nodes, such as "plain", have one without it`) {
			t.Error(got[0].Detail)
		}
	}
}

// TestADSOfNodesThatPollIsFound: an Envoy that polls may confirm what it is to ask for over ADS, and goes without.
func TestADSOfNodesThatPollIsFound(t *testing.T) {
	t.Parallel()
	nodes := []fleet.Node{{ID: "poll", Region: "eu", Polls: true}, {ID: "poll2", Region: "us", Polls: true}, {ID: "stream", Region: "eu"}, {ID: "unlabeled", Region: "eu", Polls: true}}
	rest := "{resource_api_version: V3, api_config_source: {api_type: REST, transport_api_version: V3, cluster_names: [fairlead_xds], refresh_delay: 1s}}"
	eds := func(source, rest string) string {
		return "{type: clusters, name: c" + rest + ", body: {name: c, type: EDS, eds_cluster_config: {eds_config: " + source + "}}}"
	}
	rds := func(source string) string {
		return listener("l", hcmType+", rds: {route_config_name: r, config_source: "+source+"}")
	}
	for name, c := range map[string]struct {
		docs  []string
		nodes []fleet.Node
		want  []string
	}{
		"endpoints":                   {[]string{eds("{ads: {}}", "")}, nodes, []string{"error missing_for_nodes clusters/c -> endpoints/c (2 nodes)"}},
		"over REST":                   {[]string{eds(rest, ""), rds(rest), route("r", "cluster: c")}, nodes, nil},
		"routes":                      {[]string{rds("{ads: {}}"), route("r", "cluster: c")}, nodes, []string{"error missing_for_nodes listeners/l -> routes/r (2 nodes)"}},
		"nobody polls":                {[]string{eds("{ads: {}}", "")}, nodes[2:], nil},
		"nobody is known":             {[]string{eds("{ads: {}}", "")}, nil, nil},
		"a variant":                   {[]string{eds("{ads: {}}", ""), eds(rest, ", variant: v, selector: locality.region=eu")}, nodes, []string{"error missing_for_nodes clusters/c -> endpoints/c (1 nodes)"}},
		"a variant for all that poll": {[]string{eds("{ads: {}}", ""), eds(rest, ", variant: v, selector: node.id=poll"), eds(rest, ", variant: w, selector: node.id=poll2")}, nodes, nil},
	} {
		var got []string
		for _, f := range check(findings.Fleet{Nodes: c.nodes, Unlabeled: map[string]bool{"unlabeled": true}, Resources: stored(t, c.docs...)}) {
			if f.Code == findings.MissingForNodes {
				got = append(got, fmt.Sprintf("%s %s %s/%s -> %s/%s (%d nodes)", f.Severity, f.Code, f.Type.Slug(), f.Name, f.To.Type.Slug(), f.To.Name, f.Nodes))
				if f.Pointer == "" || !strings.Contains(f.Detail, "over ADS, and there is none over REST: ") {
					t.Errorf("%s: at %q: %s", name, f.Pointer, f.Detail)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestT46_OldBootstrapsAreFound: Envoys without the mark, ten by name, whatever the resources; and nobody of whom it is
// not known.
func TestT46_OldBootstrapsAreFound(t *testing.T) {
	t.Parallel()
	node := func(id, agent, metadata string) fleet.Node {
		return fleet.Node{ID: id, UserAgent: agent, MetadataJSON: []byte(metadata)}
	}
	quiet := []fleet.Node{
		node("new", "envoy", `{"fairlead": {"bootstrap": 2}, "a": "b"}`), node("by-hand", "envoy", `{"fairlead": {"bootstrap": "mine"}}`), node("grpc", "grpc-go", ""), node("unknown", "envoy", ""),
	}
	old := []fleet.Node{
		node("none", "envoy", ""), node("other", "envoy", `{"a": {"bootstrap": 2}}`), node("flat", "envoy", `{"fairlead.bootstrap": 2}`), node("text", "envoy", `{"fairlead": "bootstrap"}`),
	}
	of := func(nodes ...fleet.Node) []findings.Finding {
		return check(findings.Fleet{Nodes: nodes, Unlabeled: map[string]bool{"unknown": true}})
	}
	if got := of(quiet...); len(got) != 0 {
		t.Errorf("found of those that say so: %v", lines(got))
	}
	got := of(append(old, quiet...)...)
	if want := []string{"warning old_bootstrap clusters/fairlead_xds (4 nodes)"}; !slices.Equal(lines(got), want) {
		t.Fatalf("got %q, want %q", lines(got), want)
	}
	if d := got[0].Detail; !strings.HasPrefix(d, "the bootstrap of none, other, flat, text does not say") {
		t.Error(d)
	}
	var many []fleet.Node
	for i := range 12 {
		many = append(many, node(fmt.Sprintf("n%02d", i), "envoy", ""))
	}
	if d := of(many...)[0].Detail; !strings.Contains(d, "n08, n09 and 2 more does") || strings.Contains(d, "n10") {
		t.Error(d)
	}
}

// TestT46_WhatNamesTheBootstrapIsFound: what is stored already, by the prefix and by the fleet's list. To ask such a
// cluster for configuration is what it is for.
func TestT46_WhatNamesTheBootstrapIsFound(t *testing.T) {
	t.Parallel()
	source := "{type: clusters, name: c, body: {name: c, type: EDS, eds_cluster_config: {eds_config: {api_config_source: {api_type: GRPC, grpc_services: [{envoy_grpc: {cluster_name: fairlead_xds}}]}}}}}"
	f := findings.Fleet{StaticClusters: []string{"fairlead_xds", "local"}, PrivateClusters: []string{"vault"}, Resources: stored(t, rds("l", "r"), source, endpoints("c"),
		route("r", "weighted_clusters: {clusters: [{name: fairlead_xds, weight: 1}, {name: c, weight: 1}, {name: vault, weight: 1}, {name: local, weight: 1}, {name: fairlead_other, weight: 1}]}"))}
	var want []string
	for i, name := range map[int]string{0: "fairlead_xds", 2: "vault", 4: "fairlead_other"} {
		want = append(want, fmt.Sprintf("warning names_bootstrap routes/r /body/virtual_hosts/0/routes/0/route/weighted_clusters/clusters/%d/name -> clusters/%s", i, name))
	}
	slices.Sort(want)
	if got := lines(check(f)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestASecretThatNoServerCanOpenIsFound: by the keys of the servers that tell, else by the key with which secrets are sealed now.
func TestASecretThatNoServerCanOpenIsFound(t *testing.T) {
	t.Parallel()
	const found = "error sealed_for_another_key secrets/k"
	for name, c := range map[string]struct {
		sealed, own string
		servers     []string
		want        bool
		says        string
	}{
		"the servers have it":                {sealed: "a", own: "b", servers: []string{"a"}},
		"one of them has it":                 {sealed: "a", own: "a", servers: []string{"a", "b"}},
		"none has it":                        {sealed: "a", own: "b", servers: []string{"b"}, want: true, says: "and the xDS servers have b: nodes keep what they have of it, or go without; write it again"},
		"none has it, and it is the API's":   {sealed: "a", own: "a", servers: []string{"b", "c"}, want: true, says: "have b and c: nodes keep what they have of it, or go without; give the API servers the public key of that pair"},
		"no server tells, and it is another": {sealed: "a", own: "b", want: true},
		"no server tells":                    {sealed: "a", own: "a"},
		"it is not known":                    {own: "b", servers: []string{"b"}},
	} {
		f := findings.Fleet{Resources: stored(t, secret("k")), ServerKeys: c.servers, OwnKey: c.own, Now: now}
		f.Resources[0].SealedFor = c.sealed
		written, err := findings.CheckWrite(f, map[fleet.Ref]bool{{Type: fleet.Secret, Name: "k"}: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range [][]findings.Finding{check(f), written} {
			if slices.Contains(lines(got), found) != c.want {
				t.Errorf("%s: %v", name, lines(got))
			}
			if c.want && !strings.Contains(got[0].Detail, c.says) {
				t.Errorf("%s: %s", name, got[0].Detail)
			}
		}
	}
}

// TestTheEndOfANodeCredentialIsFound, before and after.
func TestTheEndOfANodeCredentialIsFound(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{
		findings.CredentialSoon + time.Hour: "",
		findings.CredentialSoon:             "warning credential_expires clusters/fairlead_xds (12 nodes): the node credential id of a, b and 10 more expires on 2030-05-15, in 14 days: ",
		time.Minute:                         "warning credential_expires clusters/fairlead_xds (12 nodes): the node credential id of a, b and 10 more expires on 2030-05-01, in less than a day: ",
		-time.Hour:                          "error credential_expires clusters/fairlead_xds (12 nodes): the node credential id of a, b and 10 more expired on 2030-05-01: ",
	} {
		got := check(findings.Fleet{Now: now, Credentials: []findings.Credential{{ID: "id", ExpiresAt: now.Add(left), Nodes: 12, Named: []string{"a", "b"}}}})
		switch {
		case want == "":
			if len(got) > 0 {
				t.Errorf("%v before: %v", left, got)
			}
		case len(got) != 1 || !strings.HasPrefix(lines(got)[0]+": "+got[0].Detail, want):
			t.Errorf("%v before: %+v, want %s", left, got, want)
		}
	}
}

// Endpoints that are data are there, and those that are held are told.
func TestEndpointsThatAreHeldAreFound(t *testing.T) {
	t.Parallel()
	f := findings.Fleet{Resources: stored(t, rds("l", "r"), route("r", "cluster: c"), edsCluster("c"))}
	for _, c := range []struct {
		data map[string]int
		want []string
	}{
		{want: []string{"warning missing_reference clusters/c /body/name -> endpoints/c"}},
		{data: map[string]int{"other": 0}, want: []string{"warning missing_reference clusters/c /body/name -> endpoints/c"}},
		{data: map[string]int{"c": 0}},
		{data: map[string]int{"c": 2, "b": 1}, want: []string{"warning endpoints_held endpoints/b", "warning endpoints_held endpoints/c"}},
	} {
		f.Endpoints = c.data
		if got := lines(check(f)); !slices.Equal(got, c.want) {
			t.Errorf("with %v: %q, want %q", c.data, got, c.want)
		}
	}
}

// Of clusters whose requests fail those of the fleet are told: proxies may name any.
func TestClustersThatFailAreFound(t *testing.T) {
	t.Parallel()
	f := findings.Fleet{Resources: stored(t, rds("l", "r"), route("r", "cluster: c"), edsCluster("c")), Endpoints: map[string]int{"c": 0}}
	f.Failing = []findings.Failing{{Cluster: "c", Ended: 60, Failed: 12}, {Cluster: "made-up", Ended: 60, Failed: 60}}
	got := check(f)
	if want := []string{"warning requests_fail clusters/c"}; !slices.Equal(lines(got), want) || !strings.Contains(got[0].Detail, "of 60 requests to c that ended in the last 5 minutes 12 have failed") {
		t.Errorf("%+v, want %q", got, want)
	}
}

// Of clusters that nobody calls those of the fleet are told, but not where proxies do not count what they send there.
func TestClustersThatNobodyCallsAreFound(t *testing.T) {
	t.Parallel()
	udp := "{type: listeners, name: u, body: {name: u, address: {socket_address: {protocol: UDP, address: 10.0.0.1, port_value: 53}}, listener_filters: [{name: udp, typed_config: {" +
		"'@type': type.googleapis.com/envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig, stat_prefix: s, cluster: dns}}]}}"
	aggregate := "{type: clusters, name: all, body: {name: all, connect_timeout: 1s, lb_policy: CLUSTER_PROVIDED, cluster_type: {name: envoy.clusters.aggregate, " +
		"typed_config: {'@type': type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [c]}}}}"
	f := findings.Fleet{Now: now, Resources: stored(t, rds("l", "r"), route("r", "cluster: all"), aggregate, edsCluster("c"), edsCluster("dns"), udp), Endpoints: map[string]int{"c": 0, "dns": 0}}
	since := now.Add(-12 * 24 * time.Hour)
	for _, name := range []string{"c", "dns", "all", "made-up"} {
		f.Idle = append(f.Idle, findings.Idle{Cluster: name, Since: since})
	}
	got := check(f)
	if want := []string{"info not_called clusters/c"}; !slices.Equal(lines(got), want) || !strings.Contains(got[0].Detail, "to an endpoint of c since 2030-04-19, as all nodes") {
		t.Errorf("%+v, want %q", got, want)
	}
	f.Idle[0].Called = since.Add(24 * time.Hour)
	if got := check(f); len(got) != 1 || !strings.Contains(got[0].Detail, "since 2030-04-20") {
		t.Errorf("after a last call: %+v", got)
	}
}
