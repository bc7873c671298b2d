package resource_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

func mustFacts(t testing.TB, typ fleet.Type, value []byte) resource.Facts {
	t.Helper()
	f, err := resource.FactsOf(typ, value)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkMentions: facts and what is derived speak of the same resources, and what a pointer
// leads to in the document that is shown is the name.
func checkMentions(t testing.TB, c resource.Compiled, f resource.Facts) {
	t.Helper()
	seen := map[fleet.Ref]bool{}
	for _, m := range f.Mentions {
		seen[m.Ref] = true
	}
	if len(seen) != len(c.Derived.Refs) || slices.ContainsFunc(c.Derived.Refs, func(r fleet.Ref) bool { return !seen[r] }) {
		t.Errorf("mentions %v, derived %v", f.Mentions, c.Derived.Refs)
	}
	if c.Type == fleet.Secret {
		return
	}
	body, err := resource.Render(c.Type, c.Value)
	if err != nil {
		t.Fatal(err)
	}
	doc := map[string]any{}
	if err := json.Unmarshal([]byte(`{"body":`+string(body)+`}`), &doc); err != nil {
		t.Fatal(err)
	}
	for _, m := range f.Mentions {
		if !leadsTo(doc, m.Pointer, m.Name) {
			t.Errorf("%s does not lead to %q in %s", m.Pointer, m.Name, body)
		}
	}
}

// leadsTo reports whether the pointer leads to the name, or to a member that is called so.
func leadsTo(at any, pointer, name string) bool {
	key := ""
	for _, step := range strings.Split(pointer, "/")[1:] {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return false
			}
			at = v[i]
		default:
			return false
		}
	}
	return at == name || at != nil && key == name
}

const (
	tcpProxy = "'@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: s, "
	onPort   = "address: {socket_address: {address: 0.0.0.0, port_value: 1}}, "
	hcmType  = "'@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: s, "
	extTypes = "'@type': type.googleapis.com/envoy.extensions.filters.http."
)

func listener(filters string) string {
	return "{type: listeners, name: a, body: {name: a, " + onPort + "filter_chains: [{filters: [" + filters + "]}]}}"
}

func networkFilter(config string) string { return "{name: f, typed_config: {" + config + "}}" }

func httpFilter(config string) string {
	return listener(networkFilter(hcmType + "route_config: {name: r}, http_filters: [{name: h, typed_config: {" + config + "}}]"))
}

func routeTo(action string) string {
	return "{type: routes, name: a, body: {name: a, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {" + action + "}}]}]}}"
}

// TestMentions: wherever a reference hides, the facts say what is named and where.
func TestMentions(t *testing.T) {
	t.Parallel()
	const (
		chain  = "/body/filter_chains/0/filters/0/typed_config"
		action = "/body/virtual_hosts/0/routes/0/route"
		http   = chain + "/http_filters/0/typed_config"
		grpc   = "grpc_service: {envoy_grpc: {cluster_name: c}}"
	)
	for doc, want := range map[string][]string{
		routeTo("cluster: c"): {"clusters c at " + action + "/cluster"},
		routeTo("weighted_clusters: {clusters: [{name: c, weight: 1}, {name: d, weight: 1}, {name: c, weight: 2}]}"): {
			"clusters c at " + action + "/weighted_clusters/clusters/0/name, 1 more", "clusters d at " + action + "/weighted_clusters/clusters/1/name",
		},
		routeTo("cluster: c, request_mirror_policies: [{cluster: c}]"): {
			"clusters c at " + action + "/cluster", "clusters c at " + action + "/request_mirror_policies/0/cluster",
		},
		listener(networkFilter(tcpProxy + "cluster: c")): {"clusters c at " + chain + "/cluster"},
		listener(networkFilter("'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, value: {statPrefix: s, weightedClusters: {clusters: [{name: c, weight: 1}]}}")): {
			"clusters c at " + chain + "/value/weightedClusters/clusters/0/name",
		},
		listener(networkFilter("'@type': type.googleapis.com/google.protobuf.Any, value: {" + tcpProxy + "cluster: c}")): {"clusters c at " + chain + "/value/cluster"},
		listener(networkFilter(hcmType + "rds: {route_config_name: r, config_source: {ads: {}}}")):                       {"routes r at " + chain + "/rds/route_config_name"},
		listener(networkFilter(hcmType + "route_config: {name: r}, access_log: [{name: g, typed_config: {'@type': type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig, common_config: {log_name: l, " + grpc + "}}}]")): {
			"clusters c at " + chain + "/access_log/0/typed_config/common_config/grpc_service/envoy_grpc/cluster_name",
		},
		httpFilter(extTypes + "ext_authz.v3.ExtAuthz, " + grpc):                                                                {"clusters c at " + http + "/grpc_service/envoy_grpc/cluster_name"},
		httpFilter(extTypes + "ext_authz.v3.ExtAuthz, http_service: {server_uri: {uri: 'http://x', cluster: c, timeout: 1s}}"): {"clusters c at " + http + "/http_service/server_uri/cluster"},
		httpFilter(extTypes + "ratelimit.v3.RateLimit, domain: d, rate_limit_service: {transport_api_version: V3, " + grpc + "}"): {
			"clusters c at " + http + "/rate_limit_service/grpc_service/envoy_grpc/cluster_name",
		},
		httpFilter(extTypes + "jwt_authn.v3.JwtAuthentication, providers: {'p/1': {remote_jwks: {http_uri: {uri: 'http://x', cluster: c, timeout: 1s}}}}"): {
			"clusters c at " + http + "/providers/p~11/remote_jwks/http_uri/cluster",
		},
		httpFilter(extTypes + "health_check.v3.HealthCheck, pass_through_mode: false, cluster_min_healthy_percentages: {c: {value: 50}}"): {
			"clusters c at " + http + "/cluster_min_healthy_percentages/c",
		},
		"{type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}}":                  {"endpoints a at /body/name"},
		"{type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {service_name: s, eds_config: {ads: {}}}}}": {"endpoints s at /body/eds_cluster_config/service_name"},
	} {
		c := mustCompile(t, doc)
		f := mustFacts(t, c.Type, c.Value)
		var got []string
		for _, m := range f.Mentions {
			line := fmt.Sprintf("%s %s at %s", m.Type, m.Name, m.Pointer)
			if m.More > 0 {
				line += fmt.Sprintf(", %d more", m.More)
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", doc, diff)
		}
		checkMentions(t, c, f)
	}
	c := mustCompile(t, testdata(t, "listener.yaml"))
	checkMentions(t, c, mustFacts(t, c.Type, c.Value))
}

// TestWhatChoosesClusters: where a request, a connection or code decides, no cluster is
// known to be unused.
func TestWhatChoosesClusters(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]bool{
		routeTo("cluster: c"):          false,
		routeTo("cluster_header: x-c"): true,
		routeTo("cluster: c, request_mirror_policies: [{cluster_header: x}]"):      true,
		routeTo("weighted_clusters: {clusters: [{cluster_header: x, weight: 1}]}"): true,
		routeTo("inline_cluster_specifier_plugin: {extension: {name: e, typed_config: {'@type': type.googleapis.com/envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig, source_code: {inline_string: x}}}}"): true,
		listener(networkFilter(tcpProxy + "cluster: c")):                                                                               false,
		listener(networkFilter(tcpProxy + "cluster: c, on_demand: {odcds_config: {ads: {}}}")):                                         true,
		listener("{name: s, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.sni_cluster.v3.SniCluster}}"): true,
		listener(networkFilter("'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: x.Y, value: {a: b}")):                  true,
		listener(networkFilter("'@type': type.googleapis.com/envoy.extensions.filters.network.set_filter_state.v3.Config, on_new_connection: [{object_key: envoy.tcp_proxy.cluster, format_string: {text_format_source: {inline_string: x}}}]")): true,
		listener(networkFilter("'@type': type.googleapis.com/envoy.extensions.filters.network.set_filter_state.v3.Config, on_new_connection: [{object_key: other, format_string: {text_format_source: {inline_string: x}}}]")):                   false,
		httpFilter(extTypes + "lua.v3.Lua, default_source_code: {inline_string: x}"): true,
		httpFilter(extTypes + "router.v3.Router"):                                    false,
	} {
		c := mustCompile(t, doc)
		if got := mustFacts(t, c.Type, c.Value).AnyCluster; got != want {
			t.Errorf("%s: %v", doc, got)
		}
	}
}

// TestFactsOfClustersThatAreNotCounted: where what is sent to a cluster is counted for another one, or for endpoints that have gone by then.
func TestFactsOfClustersThatAreNotCounted(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"type: EDS, eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}": false,
		"type: STATIC": false,
		"type: ORIGINAL_DST, lb_policy: CLUSTER_PROVIDED": true,
		"lb_policy: CLUSTER_PROVIDED, cluster_type: {name: envoy.clusters.aggregate, typed_config: {'@type': type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [b]}}": true,
	} {
		c := mustCompile(t, "{type: clusters, name: a, body: {name: a, connect_timeout: 1s, "+body+"}}")
		if got := mustFacts(t, c.Type, c.Value).Uncounted; got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

func TestFactsOfRouteTables(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]resource.Facts{
		"{type: routes, name: a, body: {name: a, vhds: {config_source: {ads: {}}}, virtual_hosts: [{name: v, domains: [u, v]}, {name: w, domains: ['*']}]}}": {
			VHDS: true, Hosts: [][]string{{"u", "v"}, {"*"}},
		},
		"{type: routes, name: a, body: {name: a, vhds: {config_source: {path_config_source: {path: /x}}}}}": {},
		"{type: virtual-hosts, name: a/b, body: {name: a/b, domains: [b]}}":                                 {Hosts: [][]string{{"b"}}},
		listener(networkFilter(hcmType + "scoped_routes: {name: s, scope_key_builder: {fragments: [{header_value_extractor: {name: x, index: 0}}]}, rds_config_source: {ads: {}}, scoped_rds: {scoped_rds_config_source: {ads: {}}}}")): {Scopes: true},
	} {
		c := mustCompile(t, doc)
		if diff := cmp.Diff(want, mustFacts(t, c.Type, c.Value)); diff != "" {
			t.Errorf("%s: %s", doc, diff)
		}
	}
	if _, err := resource.FactsOf(fleet.Cluster, []byte{0xff}); !errorsIs(err, fleet.ErrInvalid) {
		t.Errorf("bytes that are no cluster: %v", err)
	}
}

// TestFactsOfCertificates: of a Secret, and of the certificates that stand elsewhere.
func TestFactsOfCertificates(t *testing.T) {
	t.Parallel()
	one, other := newECPair(t), newECPair(t)
	at := time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC)
	const subject = "CN=www.example.com,O=Shop"
	ends := func(name string, at time.Time) string {
		return newECPair(t, func(c *x509.Certificate) { c.Subject, c.NotAfter = pkix.Name{CommonName: name}, at }).chain
	}
	before, after := at.Add(-time.Hour), at.Add(time.Hour)
	data := func(s string) *core.DataSource {
		return &core.DataSource{Specifier: &core.DataSource_InlineString{InlineString: s}}
	}
	secret := func(chain, key string) []byte {
		return marshal(t, &tls.Secret{Name: "a", Type: &tls.Secret_TlsCertificate{TlsCertificate: &tls.TlsCertificate{CertificateChain: data(chain), PrivateKey: data(key)}}})
	}
	for name, c := range map[string]struct {
		value []byte
		want  []resource.Certificate
	}{
		"its own key":      {secret(one.chain, one.key), []resource.Certificate{{Pointer: "/body/tls_certificate/certificate_chain", Subject: subject, NotAfter: at}}},
		"another key":      {secret(one.chain, other.key), []resource.Certificate{{Pointer: "/body/tls_certificate/certificate_chain", Subject: subject, NotAfter: at, OtherKey: true}}},
		"no certificate":   {secret("x", one.key), nil},
		"a key in no form": {secret(one.chain, "x"), []resource.Certificate{{Pointer: "/body/tls_certificate/certificate_chain", Subject: subject, NotAfter: at}}},
		"a chain":          {secret(one.chain+ends("later", after)+ends("same", at), one.key), []resource.Certificate{{Pointer: "/body/tls_certificate/certificate_chain", Subject: subject, NotAfter: at}}},
		"one of it is first to expire": {secret(one.chain+ends("later", after)+ends("sooner", before)+ends("soon", at.Add(-time.Minute)), one.key), []resource.Certificate{
			{Pointer: "/body/tls_certificate/certificate_chain", Subject: subject, NotAfter: at},
			{Pointer: "/body/tls_certificate/certificate_chain", Intermediate: true, Subject: "CN=sooner", NotAfter: before},
		}},
		"another authority": {marshal(t, &tls.Secret{Type: &tls.Secret_ValidationContext{ValidationContext: &tls.CertificateValidationContext{TrustedCa: data(one.chain)}}}), []resource.Certificate{{Pointer: "/body/validation_context/trusted_ca", Authority: true, Subject: subject, NotAfter: at}}},
	} {
		if diff := cmp.Diff(c.want, mustFacts(t, fleet.Secret, c.value).Certificates); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	c := mustCompile(t, "{type: clusters, name: a, body: {name: a, transport_socket: {name: tls, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, "+
		"common_tls_context: {validation_context: {trusted_ca: {inline_string: "+jsonText(one.chain)+"}}}}}}}")
	want := []resource.Certificate{{Pointer: "/body/transport_socket/typed_config/common_tls_context/validation_context/trusted_ca", Authority: true, Subject: subject, NotAfter: at}}
	if diff := cmp.Diff(want, mustFacts(t, c.Type, c.Value).Certificates); diff != "" {
		t.Error(diff)
	}
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFactsOfStored: of what cannot be read here, what was stored with it.
func TestFactsOfStored(t *testing.T) {
	t.Parallel()
	at := time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC)
	got := resource.FactsOfStored(fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Cluster, Name: "c"}}, EDSName: "e", VHDS: true, Scopes: true, Domains: []string{"d"}}, "validation_context", "CN=x", at)
	want := resource.Facts{
		Mentions: []resource.Mention{{Ref: fleet.Ref{Type: fleet.Cluster, Name: "c"}, Pointer: "/body"}}, EDSName: "e", VHDS: true, Scopes: true, Hosts: [][]string{{"d"}},
		Certificates: []resource.Certificate{{Pointer: "/body/validation_context", Authority: true, Subject: "CN=x", NotAfter: at}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
