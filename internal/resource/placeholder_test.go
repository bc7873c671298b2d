package resource_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// filled takes a document in YAML the whole way, for a fleet with the values.
func filled(t testing.TB, text string, values map[string]string) (resource.Compiled, error) {
	t.Helper()
	j, err := resource.ToJSON(resource.YAML, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := resource.ParseDocument(j)
	if err != nil {
		t.Fatal(err)
	}
	d.Fill = values
	return newCompiler().Compile(testKey, d)
}

const toBackend = `{type: clusters, name: b, body: {name: b, connectTimeout: '${fleet.values.WAIT}', type: '${fleet.values.DNS}', metadata: {filter_metadata: {a: {'x/y': ['v ${fleet.values.HOST}!']}}},
  loadAssignment: {clusterName: b, endpoints: [{lbEndpoints: [{endpoint: {address: {socketAddress: {address: '${fleet.values.HOST}', portValue: '${fleet.values.PORT}'}}}}]}]},
  typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {'@type': type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http2_protocol_options: {max_concurrent_streams: '${fleet.values.STREAMS}'}}}}}}`

// A text, a number, a duration, an enum, a wrapper, a text without a schema and one in an extension are filled, whatever the spelling of the
// fields; the resource is the one that has the values themselves, and is shown with the placeholders.
func TestPlaceholdersAreFilled(t *testing.T) {
	t.Parallel()
	values := map[string]string{"HOST": `h"ost`, "PORT": "80", "WAIT": "2s", "DNS": "STRICT_DNS", "STREAMS": "7", "OTHER": "x"}
	got, err := filled(t, toBackend, values)
	if err != nil {
		t.Fatal(err)
	}
	plain := toBackend
	for name, value := range values {
		plain = strings.ReplaceAll(plain, "${fleet.values."+name+"}", value)
	}
	want := mustCompile(t, plain)
	if got.Version != want.Version || got.BodyHash != want.BodyHash || got.DocHash == want.DocHash {
		t.Errorf("filled it is another resource than with the values themselves, or the same document:\n%q\n%q", got.Value, want.Value)
	}
	host, stream := "${fleet.values.HOST}", "/typed_extension_protocol_options/envoy.extensions.upstreams.http.v3.HttpProtocolOptions/explicit_http_config/http2_protocol_options/max_concurrent_streams"
	if diff := cmp.Diff(resource.Placeholders{
		Texts: map[string]string{
			"/connect_timeout": "${fleet.values.WAIT}", "/type": "${fleet.values.DNS}", "/metadata/filter_metadata/a/x~1y/0": "v " + host + "!", stream: "${fleet.values.STREAMS}",
			"/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/address":    host,
			"/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/port_value": "${fleet.values.PORT}",
		},
		Values: map[string]string{"HOST": `h"ost`, "PORT": "80", "WAIT": "2s", "DNS": "STRICT_DNS", "STREAMS": "7"},
	}, got.Placeholders); diff != "" {
		t.Error(diff)
	}
	shown, err := resource.RenderWritten(got.Type, got.Value, got.Placeholders)
	if err != nil {
		t.Fatal(err)
	}
	again, err := newCompiler().Compile(testKey, resource.Document{Type: got.Type, Name: got.Name, Body: shown, Fill: values})
	if err != nil || again.DocHash != got.DocHash {
		t.Errorf("%s is another document than the one that it shows: %v", shown, err)
	}
	for _, p := range got.Placeholders.Texts {
		if !strings.Contains(string(shown), p) {
			t.Errorf("%s: %s is not shown", shown, p)
		}
	}
}

// Every text and number of real resources can be a placeholder; where it is not written, as it is the default, too.
func TestEveryTextCanBeAPlaceholder(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		testdata(t, "listener.yaml"),
		`{type: clusters, name: c, body: {name: c, type: STATIC, load_assignment: {cluster_name: c, endpoints: [{priority: 0, locality: {region: eu}, lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 0}}}}]}]}}}`,
		`{type: runtimes, name: r, body: {name: r, layer: {a: [1, x, {b: '5'}]}}}`,
		`{type: extensions, name: e, body: {name: e, typed_config: {'@type': type.googleapis.com/google.protobuf.Duration, value: 3s}}}`,
	} {
		j, err := resource.ToJSON(resource.YAML, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d, err := resource.ParseDocument(j)
		if err != nil {
			t.Fatal(err)
		}
		want := mustCompile(t, text)
		count := 0
		for n := 0; ; n++ {
			body, value := replaceLeaf(t, d.Body, n)
			if body == nil {
				break
			}
			one := d
			one.Body, one.Fill = body, map[string]string{"X": value}
			got, err := newCompiler().Compile(testKey, one)
			if err != nil && strings.Contains(err.Error(), "a number") { // of a Struct: there a number is none as a text
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", body, err)
				continue
			}
			if got.Type != fleet.Runtime && got.Version != want.Version {
				t.Errorf("%s is another resource", body)
			}
			one.Body, err = resource.RenderWritten(got.Type, got.Value, got.Placeholders)
			if again, errAgain := newCompiler().Compile(testKey, one); err != nil || errAgain != nil || again.DocHash != got.DocHash || len(got.Placeholders.Texts) != 1 {
				t.Errorf("%s was rendered as %s, which is another document: %v, %v", body, one.Body, err, errAgain)
			}
			count++
		}
		if count < 2 {
			t.Errorf("of %s %d texts were tried", text, count)
		}
	}
}

// replaceLeaf writes a placeholder in the place of the text or number with that index, and returns what stood there; nil behind the last.
func replaceLeaf(t *testing.T, body []byte, index int) (out []byte, value string) {
	t.Helper()
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				v[key] = walk(v[key])
			}
			return v
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
			return v
		case string, float64:
			if n++; n-1 == index {
				value = fmt.Sprint(v)
				return "${fleet.values.X}"
			}
		}
		return v
	}
	walk(tree)
	if n <= index {
		return nil, ""
	}
	out, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return out, value
}

func TestPlaceholdersThatAreWrong(t *testing.T) {
	t.Parallel()
	cluster := func(field string) string {
		return `{type: clusters, name: c, body: {name: c, ` + field + `}}`
	}
	for name, c := range map[string]struct {
		text string
		want []string
		says string
	}{
		"unknown":       {cluster(`alt_stat_name: '${fleet.values.BACKENDS}'`), []string{"unknown_value /body/alt_stat_name"}, "the fleet that this is written to has no value BACKENDS: is BACKEND meant?"},
		"a bad name":    {cluster(`alt_stat_name: '${fleet.values.a-b}'`), []string{"placeholder_invalid /body/alt_stat_name"}, "letters, digits and _"},
		"not closed":    {cluster(`alt_stat_name: '${fleet.values.HOST'`), []string{"placeholder_invalid /body/alt_stat_name"}, "is written ${fleet.values.NAME}"},
		"another word":  {cluster(`alt_stat_name: 'x${fleet.name}'`), []string{"placeholder_invalid /body/alt_stat_name"}, "is written ${fleet.values.NAME}"},
		"nested":        {cluster(`alt_stat_name: '${fleet.values.${fleet.values.HOST}}'`), []string{"placeholder_invalid /body/alt_stat_name"}, "is written ${fleet.values.NAME}"},
		"a key":         {cluster(`metadata: {filter_metadata: {'${fleet.values.HOST}': {}}}`), []string{"placeholder_invalid /body/metadata/filter_metadata"}, "in a text alone"},
		"a boolean":     {cluster(`respect_dns_ttl: '${fleet.values.HOST}'`), []string{"wrong_type /body/respect_dns_ttl"}, `true or false, not "backend"`},
		"not a number":  {cluster(`per_connection_buffer_limit_bytes: '${fleet.values.HOST}'`), []string{"wrong_type /body/per_connection_buffer_limit_bytes"}, `not "backend"`},
		"two":           {cluster(`alt_stat_name: '${fleet.values.A}', cluster_type: {name: '${fleet.values.B}'}`), []string{"unknown_value /body/alt_stat_name", "unknown_value /body/cluster_type/name"}, ""},
		"another name":  {`{type: clusters, name: c, body: {name: '${fleet.values.HOST}'}}`, []string{"name_mismatch /body/name"}, ""},
		"a value twice": {cluster(`alt_stat_name: '${fleet.values.A}${fleet.values.A}'`), []string{"unknown_value /body/alt_stat_name", "unknown_value /body/alt_stat_name"}, ""},
		"its own type":  {`{type: clusters, name: c, body: {'@type': '${fleet.values.T}', name: c}}`, []string{"placeholder_invalid /body/@type"}, "is not stored"},
		"in a secret":   {`{type: secrets, name: s, body: {name: s, generic_secret: {secret: {inline_string: '${fleet.values.HOST}'}}}}`, []string{"placeholder_invalid /body"}, "a secret takes no values"},
	} {
		_, err := filled(t, c.text, map[string]string{"HOST": "backend", "BACKEND": "b", "T": "type.googleapis.com/envoy.config.cluster.v3.Cluster"})
		if got := found(t, err); !slices.Equal(got, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Beside the body nothing is filled, and so nothing is taken that looks as if it were.
func TestNoPlaceholderBesideTheBody(t *testing.T) {
	t.Parallel()
	const at = "placeholder_invalid "
	for fields, want := range map[string][]string{
		`name: 'a-${fleet.values.HOST}'`:                                      {at + "/name"},
		`name: c, variant: '${fleet.values.V}', selector: node.id=b`:          {at + "/variant"},
		`name: c, variant: v, selector: 'metadata.stage=${fleet.values.S}'`:   {at + "/selector"},
		`name: c, variant: v, selector: 'metadata.stage="${fleet.values.S}"'`: {at + "/selector"},
		`name: c, labels: {team: '${fleet.values.TEAM}'}`:                     {at + "/labels/team"},
	} {
		j, err := resource.ToJSON(resource.YAML, []byte(`{type: clusters, `+fields+`, body: {name: c}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resource.ParseDocument(j); !slices.Equal(found(t, err), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
}

// The places of the placeholders are stored, and a place can be as long as the document: together they are bounded.
func TestPlaceholdersAreBounded(t *testing.T) {
	t.Parallel()
	compile := func(key string, n int) error {
		list := strings.Repeat(`"${fleet.values.A}",`, n)
		d := resource.Document{Type: fleet.Cluster, Name: "c", Fill: map[string]string{"A": "a"}, Body: []byte(`{"name":"c","metadata":{"filter_metadata":{"x":{"` + key + `":[` + strings.TrimSuffix(list, ",") + `]}}}}`)}
		_, err := newCompiler().Compile(testKey, d)
		return err
	}
	if err := compile("k", 2000); err != nil {
		t.Error(err)
	}
	long := strings.Repeat("k", 3_000)
	for n, key := range map[int]string{100_000: "k", 1000: long} {
		err := compile(key, n)
		if got := found(t, err); len(got) != 1 || !strings.HasPrefix(got[0], "limit /body") || !strings.Contains(err.Error(), "256 KiB") {
			t.Errorf("%d placeholders: %.200q", n, got)
		}
	}
}

// What a value holds is not looked at again.
func TestAValueIsNoPlaceholder(t *testing.T) {
	t.Parallel()
	got, err := filled(t, `{type: clusters, name: c, body: {name: c, alt_stat_name: '${fleet.values.A}'}}`, map[string]string{"A": "${fleet.values.B}", "B": "b"})
	if err != nil || !strings.Contains(string(got.Value), "${fleet.values.B}") {
		t.Errorf("%q, %v", got.Value, err)
	}
}

// A placeholder does not hide a key that stands outside of a Secret.
func TestAPlaceholderHidesNoKey(t *testing.T) {
	t.Parallel()
	_, err := filled(t, listener(networkFilter(`'@type': type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy, stat_prefix: s, settings: {op_timeout: 1s}, downstream_auth_passwords: [{inline_string: '${fleet.values.A}'}]`)), map[string]string{"A": "hunter2"})
	if got := found(t, err); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "inline_key ") }) || strings.Contains(fmt.Sprint(err), "hunter2") {
		t.Errorf("%v, %v", got, err)
	}
}
