package schema

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"sigs.k8s.io/yaml"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

const router = typesAt + "envoy.extensions.filters.http.router.v3.Router"

const typesAt = "/v1/schemas/type/"

var documents = Documents{Types: typesAt, Version: "1.40.0"}

// loader answers as the API does, but for what is behind another document's references: unless it is wanted, that has
// its "@type" alone. A whole document with all that it refers to is thousands of schemas.
type loader struct{ wanted []string }

func (l loader) Load(url string) (any, error) {
	_, path, _ := strings.Cut(url, "http://x")
	name := strings.TrimPrefix(path, typesAt)
	if t, ok := fleet.TypeFromSlug(strings.TrimPrefix(path, "/v1/schemas/")); ok {
		name = t.Message()
	} else if !slices.Contains(l.wanted, path) {
		return object{"properties": object{"@type": object{"const": urlPrefix + name}}}, nil
	}
	out, ok := documents.Of(name, path)
	if !ok {
		return nil, fmt.Errorf("there is no schema at %s", path)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(out))
}

// compiled fails on what is no schema, by the words of draft 2020-12, and on references that lead nowhere.
func compiled(t *testing.T, path string, others ...string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.UseLoader(loader{append(others, path)})
	s, err := c.Compile("http://x" + path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func refusal(t *testing.T, s *jsonschema.Schema, body string) error {
	t.Helper()
	js, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(js))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// Every type that is served is a valid schema, and some of what they refer to; all of that is there.
func TestAllIsASchema(t *testing.T) {
	t.Parallel()
	for _, ty := range fleet.Types() {
		compiled(t, "/v1/schemas/"+ty.Slug())
	}
	for i, name := range extensions() {
		out, ok := documents.Of(name, typesAt+name)
		if !ok {
			t.Errorf("%s has none", name)
		}
		for _, ref := range bytes.Split(out, []byte(`"$ref":"`+typesAt))[1:] {
			to, _, _ := bytes.Cut(ref, []byte(`"`))
			if _, ok := slices.BinarySearch(extensions(), string(to)); !ok {
				t.Errorf("%s refers to %s", name, to)
			}
		}
		if i%40 == 0 {
			compiled(t, typesAt+name)
		}
	}
	if n := len(extensions()); n < 300 {
		t.Errorf("only %d extensions are known", n)
	}
}

// What the server takes the schema takes; what it refuses for its form or a rule the schema refuses.
func TestTheSchemaAgreesWithTheServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, body, refused string }{
		{kind: "clusters", body: "{name: a, type: EDS, connect_timeout: 0.25s, eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}}"},
		{kind: "clusters", body: "{name: a, type: 3, connectTimeout: 1s, edsClusterConfig: {edsConfig: {ads: {}}}}"},
		{kind: "clusters", body: "{name: a, per_connection_buffer_limit_bytes: '1048576', connect_timeout: 1s}"},
		{kind: "clusters", body: "{'@type': type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a, lb_policy: RING_HASH, ring_hash_lb_config: {minimum_ring_size: 8}}"},
		{kind: "clusters", body: "{name: a, colour: red}", refused: "colour"},
		{kind: "clusters", body: "{name: a, connect_timeout: 5}", refused: "connect_timeout"},
		{kind: "clusters", body: "{name: a, connect_timeout: 5 minutes}", refused: "connect_timeout"},
		{kind: "clusters", body: "{name: a, type: QUICK}", refused: "type"},
		{kind: "clusters", body: "{name: a, type: EDS, cluster_type: {name: x}}", refused: "oneOf"},
		{kind: "clusters", body: "{name: a, ring_hash_lb_config: {minimum_ring_size: 9000000}}", refused: "minimum_ring_size"},
		{kind: "endpoints", body: "{cluster_name: a, endpoints: [{priority: 129}]}", refused: "priority"},
		{kind: "endpoints", body: "{cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}"},
		{kind: "endpoints", body: "{cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {address: {}}}]}]}", refused: "oneOf"},
		{kind: "routes", body: "{name: r, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c}}]}]}"},
		{kind: "routes", body: "{name: r, virtual_hosts: [{name: v, domains: [], routes: []}]}", refused: "domains"},
		{kind: "routes", body: "{name: r, virtual_hosts: [{name: v, domains: ['*'], routes: [{route: {cluster: c}}]}]}", refused: "match"},
		{kind: "routes", body: "{name: r, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c}, typed_per_filter_config: {f: {'@type': type.googleapis.com/envoy.config.route.v3.FilterConfig, config: {}}}}]}]}"},
		{kind: "routes", body: "{name: r, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c}, typed_per_filter_config: {f: {}}}]}]}", refused: "typed_per_filter_config"},
		{kind: "runtimes", body: "{name: r, layer: {a: {b: [1, x, true]}}}"},
		{kind: "secrets", body: "{name: s, generic_secret: {secret: {inline_string: x}}}"},
		{kind: "extensions", body: "{name: e, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}"},
		{kind: "extensions", body: "{name: e, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, speed: 1}}", refused: "typed_config"},
		{kind: "listeners", body: "{name: l, address: {socket_address: {address: a, port_value: 1}}, filter_chains: [{filters: [{name: f, typed_config: {name: x}}]}]}", refused: "typed_config"},
	} {
		ty, _ := fleet.TypeFromSlug(c.kind)
		js, err := yaml.YAMLToJSON([]byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		_, server := resource.NewCompiler(resource.Config{VersionKey: make([]byte, 32)}).Compile(fleet.Key{}, resource.Document{Type: ty, Name: nameIn(c.body), Body: js})
		if (server == nil) != (c.refused == "") {
			t.Errorf("%s %s: the server says %v", c.kind, c.body, server)
		}
		err = refusal(t, compiled(t, "/v1/schemas/"+c.kind, router), c.body)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s %s: the schema says %v, want %q", c.kind, c.body, err, c.refused)
		}
	}
}

func nameIn(body string) string {
	_, rest, _ := strings.Cut(body, "name: ")
	return rest[:1]
}

// A large document of the server's own tests, and what they find wrong in another one.
func TestWholeDocuments(t *testing.T) {
	t.Parallel()
	s := compiled(t, "/v1/schemas/listeners", typesAt+wrapped[0], router, typesAt+"envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext")
	body := func(file string) string {
		var doc struct{ Body any }
		in, err := os.ReadFile("../resource/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(in, &doc); err != nil {
			t.Fatal(err)
		}
		out, err := yaml.Marshal(doc.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if err := refusal(t, s, body("listener.yaml")); err != nil {
		t.Error(err)
	}
	filter := compiled(t, typesAt+"envoy.config.route.v3.FilterConfig")
	if err := refusal(t, filter, "{config: {}}"); err != nil {
		t.Errorf("an empty config, which enables a filter: %v", err)
	}
	if err := refusal(t, filter, "{config: {a: 1}}"); err == nil || !strings.Contains(err.Error(), "config") {
		t.Errorf("a config without a type: %v", err)
	}
	if err := refusal(t, compiled(t, typesAt+wrapped[0]), "{stat_prefix: ''}"); err == nil || !strings.Contains(err.Error(), "stat_prefix") {
		t.Errorf("an empty prefix: %v", err)
	}
}

func TestPlaceholdersAreTaken(t *testing.T) {
	t.Parallel()
	s := compiled(t, "/v1/schemas/clusters")
	if err := refusal(t, s, `{name: a, connect_timeout: "${fleet.values.patience}", type: "${fleet.values.kind}", per_connection_buffer_limit_bytes: "${fleet.values.n}"}`); err != nil {
		t.Error(err)
	}
}

// Each row of the table names a field that is there, holds an Any and has extensions.
func TestPoints(t *testing.T) {
	t.Parallel()
	for name, prefix := range points {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
		fd, ok := d.(protoreflect.FieldDescriptor)
		if err != nil || !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if fd.IsMap() {
			fd = fd.MapValue()
		}
		if fd.Message() == nil || fd.Message().FullName() != "google.protobuf.Any" {
			t.Errorf("%s holds no Any", name)
		}
		if len(extensionsBy(prefix)) == 0 {
			t.Errorf("%s: nothing begins with %q", name, prefix)
		}
	}
	for _, want := range []string{wrapped[0], "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "envoy.extensions.filters.http.router.v3.Router", "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"} {
		if !slices.Contains(extensions(), want) {
			t.Errorf("%s is not known", want)
		}
	}
	if slices.Contains(extensions(), "envoy.extensions.filters.network.http_connection_manager.v3.Rds") {
		t.Error("a part of an extension is listed as one")
	}
}

func TestWhatHasNoSchema(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"envoy.no.such.Message", "", "google.protobuf.Any", "google.protobuf.Duration", "envoy.config.cluster.v3.Cluster.DiscoveryType", "a/../b"} {
		if out, ok := documents.Of(name, "/x"); ok {
			t.Errorf("%q: %s", name, out)
		}
	}
}

// A document stays small enough to be fetched when it is needed.
func TestSize(t *testing.T) {
	t.Parallel()
	for _, ty := range fleet.Types() {
		out, _ := documents.Of(ty.Message(), "/v1/schemas/"+ty.Slug())
		if len(out) > 200<<10 {
			t.Errorf("%s: %d bytes", ty, len(out))
		}
	}
}

func BenchmarkCluster(b *testing.B) {
	for b.Loop() {
		documents.Of("envoy.config.cluster.v3.Cluster", "/v1/schemas/clusters")
	}
}
