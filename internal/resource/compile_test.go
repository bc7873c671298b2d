package resource_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// TestVersionsAreFixed: versions and hashes of a document are for ever what they were:
// a build that computes others would push everything again to every client. The values
// were computed by another program from SEMANTICS 1.1 and 1.2.
func TestVersionsAreFixed(t *testing.T) {
	t.Parallel()
	for _, g := range []struct{ name, doc, value, version, docHash, bodyHash string }{
		{
			"cluster", "{type: clusters, name: backend, ttl: 1.5s, labels: {b: '2', a: '1'}, description: d, body: {name: backend, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}}",
			goldenClusterValue, goldenClusterVersion, goldenClusterDoc, goldenClusterBody,
		},
		{
			"secret", "{type: secrets, name: s, body: {name: s, generic_secret: {secret: {inline_string: hush}}}}",
			goldenSecretValue, goldenSecretVersion, goldenSecretDoc, goldenSecretBody,
		},
	} {
		c := mustCompile(t, g.doc)
		for _, v := range []struct{ what, got, want string }{
			{"value", hex.EncodeToString(c.Value), g.value},
			{"version", c.Version, g.version},
			{"doc hash", hex.EncodeToString(c.DocHash[:]), g.docHash},
			{"body hash", hex.EncodeToString(c.BodyHash[:]), g.bodyHash},
		} {
			if v.got != v.want {
				t.Errorf("%s: %s = %s, want %s", g.name, v.what, v.got, v.want)
			}
		}
	}
}

const (
	goldenClusterValue   = "0a076261636b656e641a040a021a001003"
	goldenClusterVersion = "c34AsIHzpC3_VxRdQwVn"
	goldenClusterDoc     = "a75aab12f12795d1fb98a44fb295c031453275177cc12ad9237afa18de3b675a"
	goldenClusterBody    = "a93c3f3a407127fee291039559a0b51e612857fc295a16cfb1685e1c1ddc7d48"
	goldenSecretValue    = "0a01732a080a061a0468757368"
	goldenSecretVersion  = "XHKNwO4RSTaJtl9L8TbM"
	goldenSecretDoc      = "54334de66cdf19c450973fd566c16a93ba1ff5e989dc1c98cf677548f8ab47de"
	goldenSecretBody     = "d7741ce5ae2afc29431ec8f15926e63accb9bb145ca34960b8435a9e614fcd64"
)

// TestWhatIsInAVersion: the version moves with content and TTL alone, the doc hash with
// all that can be set, the body hash with what decides whether a stored body fits.
func TestWhatIsInAVersion(t *testing.T) {
	t.Parallel()
	const base = "{type: clusters, name: a, ttl: 1s, labels: {k: v}, description: d, body: {name: a, connect_timeout: 1s}}"
	const secret = "{type: secrets, name: a, ttl: 1s, labels: {k: v}, description: d, body: {name: a, generic_secret: {secret: {inline_string: x}}}}"
	type moves struct{ version, doc, body bool }
	for _, c := range []struct {
		base, from, to string
		want           moves
	}{
		{base, "connect_timeout: 1s", "connectTimeout: 1.000s", moves{false, false, false}},
		{base, "connect_timeout: 1s", "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster, connect_timeout: 1s", moves{false, false, false}},
		{base, "connect_timeout: 1s", "connect_timeout: 2s", moves{true, true, true}},
		{base, "ttl: 1s", "ttl: 2s", moves{true, true, false}},
		{base, "k: v", "k: w", moves{false, true, false}},
		{base, "k: v", "kv: ''", moves{false, true, false}},
		{base, "description: d", "description: e", moves{false, true, false}},
		{base, "ttl: 1s", "ttl: 1s, delivery: by-name", moves{false, true, false}},
		{secret, "inline_string: x", "inline_string: z", moves{true, true, true}},
		{secret, "ttl: 1s", "ttl: 2s", moves{true, true, true}}, // it is sealed for its version
		{secret, "k: v", "k: w", moves{false, true, false}},
	} {
		a, b := mustCompile(t, c.base), mustCompile(t, strings.Replace(c.base, c.from, c.to, 1))
		got := moves{a.Version != b.Version, a.DocHash != b.DocHash, a.BodyHash != b.BodyHash}
		if got != c.want {
			t.Errorf("%s -> %s: moves %+v, want %+v", c.from, c.to, got, c.want)
		}
	}
}

// TestSecretHashesAreKeyed: nobody without the version key can try out what a Secret's
// hash is of.
func TestSecretHashesAreKeyed(t *testing.T) {
	t.Parallel()
	j, err := resource.ToJSON(resource.YAML, []byte("{type: secrets, name: a, body: {name: a, generic_secret: {secret: {inline_string: x}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := resource.ParseDocument(j)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newCompiler().Compile(testKey, d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := resource.NewCompiler(resource.Config{VersionKey: []byte("another key of thirty-two bytes.")}).Compile(testKey, d)
	if err != nil {
		t.Fatal(err)
	}
	if a.Version == b.Version || a.DocHash == b.DocHash || a.BodyHash == b.BodyHash {
		t.Error("a hash of a Secret does not depend on the key")
	}
	if _, err := resource.NewCompiler(resource.Config{}).Compile(testKey, d); !errorsIs(err, fleet.ErrUnavailable) {
		t.Errorf("without a version key: %v", err)
	}
}

// The same Secret, of the same name in a fleet of the same id, shows as another one in
// another tenant, in all that is stored and shown of it. What anybody can know is not
// keyed: the fingerprint of a certificate, and all of what is no Secret.
func TestT05_T27_EqualSecretsOfTwoTenantsDoNotShowAsEqual(t *testing.T) {
	t.Parallel()
	for what, body := range map[string]string{
		"generic":     "{name: a, generic_secret: {secret: {inline_string: x}}}",
		"ticket keys": "{name: a, session_ticket_keys: {keys: [{inline_string: \"" + strings.Repeat("k", 80) + "\"}]}}",
	} {
		j, err := resource.ToJSON(resource.YAML, []byte("{type: secrets, name: a, body: "+body+"}"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := resource.ParseDocument(j)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, tenant := range []fleet.TenantID{{1}, {2}, {1, 0, 1}} {
			for range 2 { // once more: the same in the same tenant
				c, err := newCompiler().Compile(fleet.Key{Tenant: tenant, Fleet: testKey.Fleet}, d)
				if err != nil {
					t.Fatal(err)
				}
				for field, hash := range map[string]string{
					"version": c.Version, "doc hash": hex.EncodeToString(c.DocHash[:]), "body hash": hex.EncodeToString(c.BodyHash[:]),
				} {
					if at := seen[hash]; at != "" && at != tenant.String()+field {
						t.Errorf("%s: the %s of tenant %s is one seen as %s", what, field, tenant, at)
					}
					seen[hash] = tenant.String() + field
				}
			}
		}
		if len(seen) != 3*3 {
			t.Errorf("%s: %d hashes of three tenants, want 9", what, len(seen))
		}
	}
}

// TestT47_EqualSecretsDoNotShowAsEqualBesideEachOther: whoever writes Secrets could try what another one holds by writing guesses
// beside it, as variants, under other names and in other fleets, and by what is stored and shown of them.
func TestT47_EqualSecretsDoNotShowAsEqualBesideEachOther(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, at := range []struct {
		fleet         fleet.ID
		name, variant string
	}{{testKey.Fleet, "a", ""}, {testKey.Fleet, "a", ", variant: v, selector: 'node.id=n'"}, {testKey.Fleet, "a", ", variant: w, selector: 'node.id=n'"}, {testKey.Fleet, "b", ""}, {fleet.ID{9}, "a", ""}} {
		for range 2 { // the same again is the same
			j, err := resource.ToJSON(resource.YAML, fmt.Appendf(nil, "{type: secrets, name: %s%s, body: {name: %s, generic_secret: {secret: {inline_string: '1234'}}}}", at.name, at.variant, at.name))
			if err != nil {
				t.Fatal(err)
			}
			d, err := resource.ParseDocument(j)
			if err != nil {
				t.Fatal(err)
			}
			c, err := newCompiler().Compile(fleet.Key{Tenant: testKey.Tenant, Fleet: at.fleet}, d)
			if err != nil {
				t.Fatal(err)
			}
			for what, hash := range map[string]string{"version": c.Version, "doc hash": hex.EncodeToString(c.DocHash[:]), "body hash": hex.EncodeToString(c.BodyHash[:])} {
				here := fmt.Sprint(at, what)
				if there := seen[hash]; there != "" && there != here {
					t.Errorf("the %s of %v is that of %s", what, at, there)
				}
				seen[hash] = here
			}
			if c.Secret.Fingerprint != "" {
				t.Errorf("%v shows the fingerprint %s", at, c.Secret.Fingerprint)
			}
		}
	}
	if len(seen) != 5*3 {
		t.Errorf("%d hashes of five Secrets, want 15", len(seen))
	}
}

// TestShapeErrors: what does not decode, each with its place in the sender's spelling.
func TestShapeErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		want []string
	}{
		{"connect_timeout: 5sec", []string{"wrong_type /body/connect_timeout"}},
		{"connectTimeout: 5", []string{"wrong_type /body/connectTimeout"}},
		{"nope: 1, lbPolicy: RANDOMX, type: 7.5, dns_refresh_rate: [1s]", []string{
			"unknown_field /body/nope", "unknown_enum /body/lbPolicy", "unknown_enum /body/type", "wrong_type /body/dns_refresh_rate",
		}},
		{"lb_policy: MAGLEV, lbPolicy: MAGLEV", []string{"duplicate_key /body/lbPolicy"}},
		{"type: EDS, cluster_type: {name: x}", []string{"oneof_conflict /body/cluster_type"}},
		{"health_checks: text", []string{"wrong_type /body/health_checks"}},
		{"health_checks: [null, 1]", []string{"wrong_type /body/health_checks/1"}},
		{"metadata: {filter_metadata: {a: 1}}", []string{"wrong_type /body/metadata/filter_metadata/a"}},
		{"metadata: {filter_metadata: [1]}", []string{"wrong_type /body/metadata/filter_metadata"}},
		{"per_connection_buffer_limit_bytes: -1", []string{"wrong_type /body/per_connection_buffer_limit_bytes"}},
		{"per_connection_buffer_limit_bytes: '1.5'", []string{"wrong_type /body/per_connection_buffer_limit_bytes"}},
		{"per_connection_buffer_limit_bytes: 4294967296", []string{"wrong_type /body/per_connection_buffer_limit_bytes"}},
		{"respect_dns_ttl: 'on'", []string{"wrong_type /body/respect_dns_ttl"}},
		{"ring_hash_lb_config: {minimum_ring_size: x}", []string{"wrong_type /body/ring_hash_lb_config/minimum_ring_size"}},
		{"'@type': type.googleapis.com/envoy.config.listener.v3.Listener", []string{"type_mismatch /body/@type"}},
		{"transport_socket: {'@type': x, name: tls}", []string{"invalid_value /body/transport_socket/@type"}},
		{"transport_socket: {name: tls, typed_config: {}}", []string{"missing_type /body/transport_socket/typed_config"}},
		{"transport_socket: {name: tls, typed_config: 1}", []string{"wrong_type /body/transport_socket/typed_config"}},
		{"transport_socket: {name: tls, typed_config: {'@type': 1}}", []string{"wrong_type /body/transport_socket/typed_config/@type"}},
		{"transport_socket: {name: tls, typed_config: {'@type': type.googleapis.com/envoy.api.v2.auth.UpstreamTlsContext}}", []string{"v2_api /body/transport_socket/typed_config/@type"}},
		{"transport_socket: {name: tls, typed_config: {'@type': envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext}}", []string{"unknown_type /body/transport_socket/typed_config/@type"}},
		{"transport_socket: {name: tls, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, sny: x, common_tls_context: {alpnProtocols: 1}}}", []string{
			"unknown_field /body/transport_socket/typed_config/sny", "wrong_type /body/transport_socket/typed_config/common_tls_context/alpnProtocols",
		}},
		{"typed_extension_protocol_options: {a/b~c: {'@type': type.googleapis.com/google.protobuf.Duration, value: x}}", []string{"wrong_type /body/typed_extension_protocol_options/a~1b~0c/value"}},
		{"typed_extension_protocol_options: {a: {'@type': type.googleapis.com/google.protobuf.Duration, seconds: 1}}", []string{
			"unknown_field /body/typed_extension_protocol_options/a/seconds", "required /body/typed_extension_protocol_options/a/value",
		}},
		{"metadata: {filter_metadata: {a: {b: 1e999}}}", []string{"wrong_type /body/metadata/filter_metadata/a/b"}},
	} {
		_, err := compile("{type: clusters, name: a, body: {name: a, " + c.body + "}}")
		if diff := cmp.Diff(c.want, found(t, err)); diff != "" {
			t.Errorf("%s: %s\n%v", c.body, diff, err)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"conect_timeout: 1s": "is connect_timeout meant?",
		"zzz: 1":             "Cluster has no such field",
		"type: EDZ":          "STATIC, STRICT_DNS, LOGICAL_DNS, EDS, ORIGINAL_DST",
		"upstream_config: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContextX}}": "is type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext meant?",
		"upstream_config: {name: x, typed_config: {'@type': type.googleapis.com/envoy.api.v2.auth.UpstreamTlsContext}}":                          "v3 message: is type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext meant?",
	} {
		if _, err := compile("{type: clusters, name: a, body: {name: a, " + body + "}}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// TestConstraintsInsideAny: the four seeded errors of which a plain ValidateAll finds
// one, in the sender's mix of spellings.
func TestConstraintsInsideAny(t *testing.T) {
	t.Parallel()
	_, err := compile(testdata(t, "constraints.yaml"))
	want := []string{
		"constraint /body/address/socketAddress/portValue",
		"constraint /body/filterChains/0/filters/0/typedConfig/stat_prefix",
		"constraint /body/filterChains/0/filters/0/typedConfig/access_log/0/filter",
		"constraint /body/filterChains/0/filters/0/typedConfig/route_config/virtual_hosts/0/routes/0/typed_per_filter_config/a.b[0]/request_rules/0/on_header_present/key",
		"constraint /body/filterChains/0/filters/0/typedConfig/http_filters/0/typed_config/request_rules/0/on_header_present/key",
		"constraint /body/filterChains/0/filters/0/typedConfig/http_filters/0/typed_config/request_rules/0/on_header_present/type",
		"name_mismatch /body/name",
	}
	if diff := cmp.Diff(want, found(t, err)); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
	var errs resource.Errors
	if !errors.As(err, &errs) || !strings.Contains(errs[2].Detail, "one of these must be set: status_code_filter, duration_filter") {
		t.Errorf("the sentence about a oneof: %v", err)
	}
}

func TestInnerName(t *testing.T) {
	t.Parallel()
	bodies := map[fleet.Type]string{
		fleet.Cluster:     "connect_timeout: 1s",
		fleet.Endpoint:    "endpoints: []",
		fleet.Secret:      "generic_secret: {secret: {inline_string: x}}",
		fleet.Listener:    "address: {socket_address: {address: 0.0.0.0, port_value: 1}}",
		fleet.Route:       "virtual_hosts: []",
		fleet.ScopedRoute: "route_configuration_name: r, key: {fragments: [{string_key: x}]}",
		fleet.VirtualHost: "domains: [a]",
		fleet.Runtime:     "layer: {}",
		fleet.Extension:   "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}",
	}
	for _, ty := range fleet.Types() {
		key := "name"
		if ty == fleet.Endpoint {
			key = "cluster_name"
		}
		for _, c := range []struct {
			inner string
			want  []string
		}{
			{key + ": r/h,", nil},
			{"", []string{"required /body/" + key}},
			{key + ": '',", []string{"required /body/" + key}},
			{key + ": h,", []string{"name_mismatch /body/" + key}},
		} {
			_, err := compile("{type: " + ty.Slug() + ", name: r/h, body: {" + c.inner + bodies[ty] + "}}")
			if diff := cmp.Diff(c.want, found(t, err)); diff != "" {
				t.Errorf("%s, %q: %s\n%v", ty, c.inner, diff, err)
			}
		}
	}
}

// TestVirtualHostIsNamedAfterItsRoute: Envoy routes a virtual host by what stands before
// the last slash of its name, and drops one without it though it ACKs it.
func TestVirtualHostIsNamedAfterItsRoute(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"route/host": nil, "a/b/host": nil, "route/host:8080": nil, "route/*.host": nil,
		"host": {"name_form /name"}, "/host": {"name_form /name"}, "route/": {"name_form /name"}, "/": {"name_form /name"},
	} {
		_, err := compile("{type: virtual-hosts, name: '" + name + "', body: {name: '" + name + "', domains: [a]}}")
		if diff := cmp.Diff(want, found(t, err)); diff != "" {
			t.Errorf("virtual host %q: %s", name, diff)
		}
	}
	_, err := compile("{type: virtual-hosts, name: shop.host, body: {name: other, domains: [a], bogus: 1}}")
	if diff := cmp.Diff([]string{"unknown_field /body/bogus"}, found(t, err)); diff != "" {
		t.Error(diff)
	}
	_, err = compile("{type: virtual-hosts, name: shop.host, body: {name: other, domains: [a]}}")
	if diff := cmp.Diff([]string{"name_mismatch /body/name", "name_form /name"}, found(t, err)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(err.Error(), `<route>/<host>, such as "my-route/shop.host"`) {
		t.Errorf("the error does not say what to write: %v", err)
	}
	// Envoy's own message has one name alone.
	bare := `{"@type":"type.googleapis.com/envoy.config.route.v3.VirtualHost","name":"shop.host","domains":["a"]}`
	d, err := resource.ParsePut([]byte(bare), fleet.VirtualHost, "shop.host", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = newCompiler().Compile(testKey, d)
	if diff := cmp.Diff([]string{"name_form /name"}, found(t, err)); diff != "" {
		t.Error(diff)
	}
}

// TestStickyAndFatal: what makes Envoy stop answering, or drop all of a response, never
// reaches it.
func TestStickyAndFatal(t *testing.T) {
	t.Parallel()
	const any = "'@type': type.googleapis.com/envoy.extensions.load_balancing_policies."
	policy := func(s string) string {
		return "load_balancing_policy: {policies: [{typed_extension_config: {name: x, typed_config: {" + any + s + "}}}]}"
	}
	const inAny = "/body/load_balancing_policy/policies/0/typed_extension_config/typed_config/"
	injector := func(credential string) string {
		return "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.credential_injector.v3.CredentialInjector, credential: {name: g, typed_config: " +
			"{'@type': type.googleapis.com/envoy.extensions.http.injected_credentials.generic.v3.Generic, credential: " + credential + "}}}"
	}
	cla := func(address string) string {
		return "endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: " + address + ", port_value: 1}}}}]}]"
	}
	for _, c := range []struct {
		kind, body string
		want       []string
	}{
		{"clusters", "ring_hash_lb_config: {minimum_ring_size: 100, maximum_ring_size: 10}", []string{"ring_size /body/ring_hash_lb_config/minimum_ring_size"}},
		{"clusters", "ringHashLbConfig: {maximumRingSize: '10'}", []string{"ring_size /body/ringHashLbConfig/maximumRingSize"}},
		{"clusters", "ring_hash_lb_config: {minimum_ring_size: 10, maximum_ring_size: 10}", nil},
		{"clusters", policy("ring_hash.v3.RingHash, minimum_ring_size: 11, maximum_ring_size: 10"), []string{"ring_size " + inAny + "minimum_ring_size"}},
		{"clusters", policy("ring_hash.v3.RingHash, minimum_ring_size: 1, maximum_ring_size: 10"), nil},
		{"clusters", "ring_hash_lb_config: {maximum_ring_size: 8388609}", []string{"constraint /body/ring_hash_lb_config/maximum_ring_size"}},
		{"clusters", "ring_hash_lb_config: {minimum_ring_size: 8388609, maximum_ring_size: 8388608}", []string{"ring_size /body/ring_hash_lb_config/minimum_ring_size"}},
		{"clusters", policy("ring_hash.v3.RingHash, maximum_ring_size: 8388609"), []string{"constraint " + inAny + "maximum_ring_size"}},
		{"clusters", policy("ring_hash.v3.RingHash, minimum_ring_size: 8388609"), []string{"ring_size " + inAny + "minimum_ring_size"}},
		{"clusters", policy("wrr_locality.v3.WrrLocality, endpoint_picking_policy: {policies: [{typed_extension_config: {name: z, typed_config: " +
			"{'@type': type.googleapis.com/envoy.extensions.load_balancing_policies.maglev.v3.Maglev, table_size: 4}}}]}"),
			[]string{"table_size " + inAny + "endpoint_picking_policy/policies/0/typed_extension_config/typed_config/table_size"}},
		{"clusters", "maglev_lb_config: {table_size: 100}", []string{"table_size /body/maglev_lb_config/table_size"}},
		{"clusters", "maglev_lb_config: {table_size: 0}", []string{"table_size /body/maglev_lb_config/table_size"}},
		{"clusters", "maglev_lb_config: {table_size: 5000111}", []string{"table_size /body/maglev_lb_config/table_size"}},
		{"clusters", "maglev_lb_config: {table_size: 65537}", nil},
		{"clusters", "maglev_lb_config: {table_size: 5000011}", nil},
		{"clusters", policy("maglev.v3.Maglev, table_size: 9"), []string{"table_size " + inAny + "table_size"}},
		{"clusters", policy("maglev.v3.Maglev, table_size: 11"), nil},
		{"clusters", "connect_timeout: -1s", []string{"negative_duration /body/connect_timeout"}},
		{"clusters", "connect_timeout: 0s", []string{"constraint /body/connect_timeout"}},
		{"clusters", "cleanup_interval: -0.5s", []string{"negative_duration /body/cleanup_interval"}},
		{"clusters", "connect_timeout: 9223372036s", []string{"invalid_value /body/connect_timeout"}},
		{"clusters", "load_assignment: {cluster_name: a, " + cla("backend") + "}", []string{"address_not_ip /body/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/address"}},
		{"clusters", "type: STRICT_DNS, load_assignment: {cluster_name: a, " + cla("backend") + "}", nil},
		{"endpoints", cla("backend"), []string{"address_not_ip /body/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/address"}},
		{"endpoints", cla("1.2.3"), []string{"address_not_ip /body/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/address"}},
		{"endpoints", cla("10.0.0.1"), nil},
		{"endpoints", cla("'::1'"), nil},
		{"endpoints", "endpoints: [{lb_endpoints: [{endpoint: {address: {pipe: {path: /a}}}}]}]", nil},
		{"endpoints", "endpoints: [{lb_endpoints: [{endpoint: {address: {pipe: {path: /a}}, additional_addresses: [{address: {socket_address: {address: x, port_value: 1}}}]}}]}]",
			[]string{"address_not_ip /body/endpoints/0/lb_endpoints/0/endpoint/additional_addresses/0/address/socket_address/address"}},
		{"extensions", injector("{name: s}"), []string{"required /body/typed_config/credential/typed_config/credential"}},
		{"extensions", injector("{name: s, sds_config: {ads: {}, resource_api_version: V3}}"), nil},
		{"clusters", "typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {'@type': type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, " +
			"explicit_http_config: {http_protocol_options: {}}, http_filters: [{name: c, " + injector("{name: s}") + "}]}}",
			[]string{"required /body/typed_extension_protocol_options/envoy.extensions.upstreams.http.v3.HttpProtocolOptions/http_filters/0/typed_config/credential/typed_config/credential"}},
		{"extensions", "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.tap.v3.Tap, common_config: {static_config: {match: {any_match: true}, output_config: {sinks: [{streaming_grpc: {grpc_service: {envoy_grpc: {cluster_name: c}}}}]}}}}",
			[]string{"invalid_value /body/typed_config/common_config/static_config/output_config/sinks/0/streaming_grpc"}},
		{"extensions", "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.tap.v3.Tap, common_config: {static_config: {match: {any_match: true}, output_config: {sinks: [{streaming_admin: {}}]}}}}", nil},
		{"clusters", "transport_socket: {name: t, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tap.v3.Tap, transport_socket: {name: r, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer}}, common_config: {static_config: {match: {any_match: true}, output_config: {sinks: [{streaming_grpc: {grpc_service: {envoy_grpc: {cluster_name: c}}}}]}}}}}",
			[]string{"invalid_value /body/transport_socket/typed_config/common_config/static_config/output_config/sinks/0/streaming_grpc"}},
		{"routes", "virtual_hosts: [{name: a, domains: ['*']}, {name: b, domains: [b, '*']}]", []string{"duplicate_domain /body/virtual_hosts/1/domains/1"}},
		{"routes", "virtualHosts: [{name: a, domains: [a.b, A.B]}]", []string{"duplicate_domain /body/virtualHosts/0/domains/1"}},
		{"routes", "virtual_hosts: [{name: a, domains: ['*']}, {name: b, domains: ['*.b']}]", nil},
		{"virtual-hosts", "domains: [a, a]", []string{"duplicate_domain /body/domains/1"}},
		{"routes", "virtual_hosts: [{name: a, domains: [a], routes: [{match: {safe_regex: {regex: '('}}, redirect: {}}]}]", []string{"regex_invalid /body/virtual_hosts/0/routes/0/match/safe_regex/regex"}},
		{"routes", "virtual_hosts: [{name: a, domains: [a], routes: [{match: {safe_regex: {regex: '/a.*'}}, redirect: {}}]}]", nil},
	} {
		name, key := "a", "name"
		switch c.kind {
		case "endpoints":
			key = "cluster_name"
		case "virtual-hosts":
			name = "a/b"
		}
		_, err := compile("{type: " + c.kind + ", name: " + name + ", body: {" + key + ": " + name + ", " + c.body + "}}")
		if diff := cmp.Diff(c.want, found(t, err)); diff != "" {
			t.Errorf("%s: %s\n%v", c.body, diff, err)
		}
	}
}

// TestT20_HostileRegex: a short expression that is a huge program is refused quickly.
func TestT20_HostileRegex(t *testing.T) {
	t.Parallel()
	doc := func(re string) string {
		return fmt.Sprintf("{type: routes, name: a, body: {name: a, virtual_hosts: [{name: a, domains: [a], routes: [{match: {safe_regex: {regex: %q}}, redirect: {}}]}]}}", re)
	}
	for _, re := range []string{
		strings.Repeat("a", 1025), strings.Repeat(`[\p{L}\p{N}]`, 80), `(?:[\p{L}\p{N}]{100}){9}`, `((a{100}){10}b{900}){1}` + strings.Repeat(`(\pL{1000})`, 90),
	} {
		var err error
		took := threadTime(func() { _, err = compile(doc(re)) })
		if got := found(t, err); len(got) != 1 || !strings.HasPrefix(got[0], "limit /body/virtual_hosts/0") {
			t.Errorf("%.30q: %v", re, got)
		}
		if took > 2*time.Second*raceFactor {
			t.Errorf("%.30q took %v", re, took)
		}
	}
	mustCompile(t, doc(`^/api/v[0-9]+/[\p{L}\p{N}_-]{1,8}(/.*)?$`))
}

func TestT09_ResourceAtItsLimit(t *testing.T) {
	t.Parallel()
	doc := func(n int) string {
		return "{type: clusters, name: a, body: {name: a, alt_stat_name: " + strings.Repeat("x", n) + "}}"
	}
	over := len(mustCompile(t, doc(1<<19)).Value) - 1<<19 + 1 // one byte more of length above half a million
	if c, err := compile(doc(1<<20 - over + 1)); err != nil || len(c.Value) != 1<<20 {
		t.Errorf("%d bytes: %v", len(c.Value), err)
	}
	_, err := compile(doc(1<<20 - over + 2))
	if got := found(t, err); len(got) != 1 || got[0] != "limit /body" {
		t.Errorf("one byte above the limit: %v", got)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string][]string{
		"{type: routes, name: a, ttl: 1s, body: {name: a}}":                                                                                                  {"ttl_without_effect /ttl"},
		"{type: endpoints, name: a, ttl: 1s, body: {cluster_name: a}}":                                                                                       {"ttl_without_effect /ttl"},
		"{type: secrets, name: a, ttl: 1s, body: {name: a, generic_secret: {}}}":                                                                             {"ttl_without_effect /ttl"},
		"{type: clusters, name: a, ttl: 1s, body: {name: a}}":                                                                                                {"ttl_delta_only /ttl"},
		"{type: listeners, name: a, ttl: 1s, body: {name: a}}":                                                                                               {"ttl_delta_only /ttl"},
		"{type: runtimes, name: a, ttl: 1s, body: {name: a, layer: {}}}":                                                                                     {"ttl_delta_only /ttl"},
		"{type: virtual-hosts, name: r/a, ttl: 1s, body: {name: r/a, domains: [a]}}":                                                                         {"ttl_delta_only /ttl"},
		"{type: scoped-routes, name: a, ttl: 1s, body: {name: a, key: {fragments: [{string_key: a}]}}}":                                                      {"ttl_delta_only /ttl"},
		"{type: extensions, name: a, ttl: 1s, body: {name: a, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}": {"ttl_delta_only /ttl"},
		"{type: routes, name: a, body: {name: a}}":                                                                                                           nil,
		"{type: extensions, name: a, body: {name: a, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm, config: {vm_config: {runtime: r, code: {remote: {sha256: x, http_uri: {uri: u, cluster: c, timeout: 1s}}}}}}}}": {"remote_code /body/typed_config/config/vm_config/code/remote"},
		"{type: extensions, name: a, body: {name: a, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm, config: {vm_config: {runtime: r, code: {local: {filename: /x}}}}}}}":                                            nil,
		"{type: extensions, name: a, body: {name: a, typed_config: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: x, value: {a: 1}}}}":                                                                                                     {"unchecked /body/typed_config"},
	} {
		if diff := cmp.Diff(want, found(t, asError(mustCompile(t, doc).Warnings))); diff != "" {
			t.Errorf("%s: %s", doc, diff)
		}
	}
}

// TestCompileChecksHandMadeDocuments: what no parser has made is checked all the same.
func TestCompileChecksHandMadeDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    resource.Document
		want string
	}{
		{resource.Document{Name: "a", Body: []byte(`{"name":"a"}`)}, ""},
		{resource.Document{Body: []byte(`{}`)}, "name_form /name"},
		{resource.Document{Name: "a", Variant: "x", Body: []byte(`{}`)}, "required /selector"},
		{resource.Document{Name: "a", TTL: 999 * time.Millisecond, Body: []byte(`{}`)}, "ttl_invalid /ttl"},
		{resource.Document{Name: "a", TTL: -time.Hour, Body: []byte(`{}`)}, "ttl_invalid /ttl"},
		{resource.Document{Name: "a"}, "syntax /body"},
		{resource.Document{Name: "a", Body: []byte(`{"a":[{"b":1,"b":2}]}`)}, "duplicate_key /body/a/0/b"},
		{resource.Document{Name: "a", Body: []byte(`[]`)}, "wrong_type /body"},
	} {
		_, err := newCompiler().Compile(testKey, c.d)
		if got := strings.Join(found(t, err), ","); got != c.want {
			t.Errorf("%s: %s, want %s", c.d.Body, got, c.want)
		}
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	c := mustCompile(t, "{type: clusters, name: a, body: {name: a, connectTimeout: 1s, ringHashLbConfig: {minimumRingSize: 5}, metadata: {filterMetadata: {b: {x: '<&>'}, a: {}}}}}")
	const want = `{"name":"a","connect_timeout":"1s","ring_hash_lb_config":{"minimum_ring_size":"5"},"metadata":{"filter_metadata":{"a":{},"b":{"x":"<&>"}}}}`
	for range 10 {
		if got, err := resource.Render(c.Type, c.Value); err != nil || string(got) != want {
			t.Fatalf("rendered as %s, %v", got, err)
		}
	}
	if _, err := resource.Render(fleet.Cluster, []byte{0xff}); !errorsIs(err, fleet.ErrInvalid) {
		t.Errorf("bytes that are no cluster: %v", err)
	}
}

// TestPutTakesEnvoysOwnFile: what an Envoy file subscription holds, with one resource.
func TestPutTakesEnvoysOwnFile(t *testing.T) {
	t.Parallel()
	const message = `{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a","connect_timeout":"-1s"}`
	for in, want := range map[string][]string{
		`{"resources":[` + message + `],"version_info":"1"}`: nil,
		`{"resources":[` + message + `,` + message + `]}`:    {"wrong_type /resources"},
		`{"resources":{}}`: {"wrong_type /resources"},
		`{"resources":[` + message + `],"delete":[]}`:   {"unknown_field /delete"},
		`{"resources":[{"@type":"x","name":"a"}]}`:      {"unknown_type /resources/0/@type"},
		`{"resources":[{"body":{"name":"a"},"ttl":1}]}`: {"wrong_type /resources/0/ttl"},
	} {
		d, err := resource.ParsePut([]byte(in), fleet.Cluster, "a", "")
		if diff := cmp.Diff(want, found(t, err)); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
		if err == nil {
			if _, err = newCompiler().Compile(testKey, d); !strings.HasSuffix(found(t, err)[0], " /resources/0/connect_timeout") {
				t.Errorf("%s: %v", in, err)
			}
		}
	}
}
