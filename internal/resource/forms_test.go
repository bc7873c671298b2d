package resource_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// formed compiles a body of JSON and tells how it is shown.
func formed(t *testing.T, kind fleet.Type, body string, fill map[string]string) (string, error) {
	t.Helper()
	c, err := newCompiler().Compile(testKey, resource.Document{Type: kind, Name: "a", Body: []byte(body), Fill: fill})
	if err != nil {
		return "", err
	}
	out, err := resource.Render(kind, c.Value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), nil
}

// TestEnvoysFormsAreTaken: what Envoy's own parser accepts beside proto3 JSON is accepted, and stored as everybody writes it. Each kind was
// seen to be accepted by Envoy 1.40.
func TestEnvoysFormsAreTaken(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"lb_policy": "least_Request"`:                                         `"lb_policy":"LEAST_REQUEST"`,
		`"lb_policy": "3"`:                                                     `"lb_policy":"RANDOM"`,
		`"lbPolicy": 3`:                                                        `"lb_policy":"RANDOM"`,
		`"ignore_health_on_host_removal": "true"`:                              `"ignore_health_on_host_removal":true`,
		`"ignore_health_on_host_removal": "Yes"`:                               `"ignore_health_on_host_removal":true`,
		`"ignore_health_on_host_removal": "1"`:                                 `"ignore_health_on_host_removal":true`,
		`"ignore_health_on_host_removal": "f"`:                                 ``,
		`"cleanup_interval": {"seconds": 5}`:                                   `"cleanup_interval":"5s"`,
		`"cleanup_interval": {"seconds": "5", "nanos": 5e8}`:                   `"cleanup_interval":"5.500s"`,
		`"cleanup_interval": {"nanos": 1}`:                                     `"cleanup_interval":"0.000000001s"`,
		`"cleanup_interval": "007.5s"`:                                         `"cleanup_interval":"7.500s"`,
		`"per_connection_buffer_limit_bytes": {"value": "080"}`:                `"per_connection_buffer_limit_bytes":80`,
		`"per_connection_buffer_limit_bytes": {}`:                              `"per_connection_buffer_limit_bytes":0`,
		`"per_connection_buffer_limit_bytes": "+80"`:                           `"per_connection_buffer_limit_bytes":80`,
		`"per_connection_buffer_limit_bytes": "0x50"`:                          `"per_connection_buffer_limit_bytes":80`,
		`"per_connection_buffer_limit_bytes": ".8e2"`:                          `"per_connection_buffer_limit_bytes":80`,
		`"common_lb_config": {"healthy_panic_threshold": {"value": " +1.5 "}}`: `"common_lb_config":{"healthy_panic_threshold":{"value":1.5}}`,
		`"alt_stat_name": 5.50`:                                                `"alt_stat_name":"5.50"`,
		`"alt_stat_name": 99999999999`:                                         `"alt_stat_name":"99999999999"`,
		`"lb_subset_config": {"subset_selectors": {"keys": "k"}}`:              `"lb_subset_config":{"subset_selectors":[{"keys":["k"]}]}`,
		`"lb_subset_config": {"subset_selectors": [[{"keys": ["a", ["b", [], ["c"]]]}], {"keys": "d"}]}`:                               `"lb_subset_config":{"subset_selectors":[{"keys":["a","b","c"]},{"keys":["d"]}]}`,
		`"lb_subset_config": {"subset_selectors": [null]}`:                                                                             `"lb_subset_config":{"subset_selectors":[{}]}`,
		`"metadata": {"filter_metadata": {"a": null, "b": {"x": [null, [1], "1"], "y": null}}}`:                                        `"metadata":{"filter_metadata":{"a":{},"b":{"x":[null,[1],"1"],"y":null}}}`,
		`"load_assignment": {"cluster_name": "a", "endpoints": {"lb_endpoints": {"endpoint": {"address": {"pipe": {"path": "/s"}}}}}}`: `"load_assignment":{"cluster_name":"a","endpoints":[{"lb_endpoints":[{"endpoint":{"address":{"pipe":{"path":"/s"}}}}]}]}`,
		`"typed_extension_protocol_options": {"x": {"@type": "own.example/udpa.type.v1.TypedStruct", "type_url": "a/b.C"}}`:            `"typed_extension_protocol_options":{"x":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"a/b.C"}}`,
		`"typed_extension_protocol_options": {"x": {"@type": "types.example/envoy.config.core.v3.Locality", "region": "eu"}}`:          `"typed_extension_protocol_options":{"x":{"@type":"type.googleapis.com/envoy.config.core.v3.Locality","region":"eu"}}`,
	} {
		if want != "" {
			want = "," + want
		}
		got, err := formed(t, fleet.Cluster, `{"@type": "types.example/envoy.config.cluster.v3.Cluster", "name": "a", `+in+`}`, nil)
		if diff := cmp.Diff(canonical(t, `{"name":"a"`+want+`}`), canonical(t, got)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", in, err, diff)
		}
	}
}

func canonical(t *testing.T, text string) (v any) {
	t.Helper()
	if text != "" {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return v
}

// TestWhatEnvoyRefusesIsRefused: of the forms that are like those Envoy takes. Each kind was seen to be refused by Envoy 1.40.
func TestWhatEnvoyRefusesIsRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"lb_policy": "round-robin"`:                                                             "unknown_enum /body/lb_policy",
		`"lb_policy": ["RANDOM"]`:                                                                "unknown_enum /body/lb_policy",
		`"lb_policy": "0.0"`:                                                                     "unknown_enum /body/lb_policy",
		`"lb_policy": false`:                                                                     "unknown_enum /body/lb_policy",
		`"ignore_health_on_host_removal": 1`:                                                     "wrong_type /body/ignore_health_on_host_removal",
		`"ignore_health_on_host_removal": "on"`:                                                  "wrong_type /body/ignore_health_on_host_removal",
		`"ignore_health_on_host_removal": []`:                                                    "wrong_type /body/ignore_health_on_host_removal",
		`"cleanup_interval": 5`:                                                                  "wrong_type /body/cleanup_interval",
		`"cleanup_interval": "5"`:                                                                "wrong_type /body/cleanup_interval",
		`"cleanup_interval": "+5s"`:                                                              "wrong_type /body/cleanup_interval",
		`"cleanup_interval": {"second": 5}`:                                                      "unknown_field /body/cleanup_interval/second",
		`"cleanup_interval": {"seconds": 1.5}`:                                                   "wrong_type /body/cleanup_interval/seconds",
		`"cleanup_interval": {"seconds": 400000000000}`:                                          "wrong_type /body/cleanup_interval",
		`"cleanup_interval": {"seconds": 1, "nanos": -5}`:                                        "wrong_type /body/cleanup_interval",
		`"per_connection_buffer_limit_bytes": [5]`:                                               "wrong_type /body/per_connection_buffer_limit_bytes",
		`"per_connection_buffer_limit_bytes": {"valeu": 5}`:                                      "unknown_field /body/per_connection_buffer_limit_bytes/valeu",
		`"per_connection_buffer_limit_bytes": " 80"`:                                             "wrong_type /body/per_connection_buffer_limit_bytes",
		`"per_connection_buffer_limit_bytes": "1_000"`:                                           "wrong_type /body/per_connection_buffer_limit_bytes",
		`"per_connection_buffer_limit_bytes": ""`:                                                "wrong_type /body/per_connection_buffer_limit_bytes",
		`"per_connection_buffer_limit_bytes": "0x1FFFFFFFF"`:                                     "wrong_type /body/per_connection_buffer_limit_bytes",
		`"alt_stat_name": 5`:                                                                     "wrong_type /body/alt_stat_name",
		`"alt_stat_name": true`:                                                                  "wrong_type /body/alt_stat_name",
		`"alt_stat_name": ["a"]`:                                                                 "wrong_type /body/alt_stat_name",
		`"lb_subset_config": {"subset_selectors": {"keys": 5}}`:                                  "wrong_type /body/lb_subset_config/subset_selectors/keys",
		`"lb_subset_config": {"subset_selectors": {"keys": {}}}`:                                 "wrong_type /body/lb_subset_config/subset_selectors/keys",
		`"lb_subset_config": {"subset_selectors": "keys"}`:                                       "wrong_type /body/lb_subset_config/subset_selectors",
		`"metadata": {"filter_metadata": []}`:                                                    "wrong_type /body/metadata/filter_metadata",
		`"metadata": {"filter_metadata": {"a": [1]}}`:                                            "wrong_type /body/metadata/filter_metadata/a",
		`"typed_extension_protocol_options": {"x": {"@type": "envoy.config.core.v3.Locality"}}`:  "unknown_type /body/typed_extension_protocol_options/x/@type",
		`"typed_extension_protocol_options": {"x": {"@type": "/envoy.config.core.v3.Locality"}}`: "unknown_type /body/typed_extension_protocol_options/x/@type",
		`"connect_timeout": "1s", "connectTimeout": "2s"`:                                        "duplicate_key /body/connectTimeout",
	} {
		_, err := formed(t, fleet.Cluster, `{"name": "a", `+in+`}`, nil)
		if got := strings.Join(found(t, err), ", "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	_, err := formed(t, fleet.Cluster, `{"name": "a", "alt_stat_name": true}`, nil)
	if want := "/body/alt_stat_name: this must be a text, not true: in YAML y, n, yes, no, on and off are true and false, and a text in quotes"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err = formed(t, fleet.Cluster, `{"name": "a", "alt_stat_name": 5}`, nil); err == nil || err.Error() != "/body/alt_stat_name: this must be a text, not 5: write it in quotes" {
		t.Error(err)
	}
}

// TestFormsHaveTheirPlace: what is wrong with a value in one of these forms is told at the place at which it was sent, and a value of the
// fleet in it is still there when the resource is read.
func TestFormsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"virtual_hosts": {"name": "v", "domains": "a\u0000"}`:                                                                                            "invalid_value /body/virtual_hosts/domains",
		`"virtual_hosts": {"name": "v", "domains": "*", "routes": {"match": {"prefix": "/"}, "route": {}}}`:                                               "constraint /body/virtual_hosts/routes/route",
		`"virtual_hosts": [{"name": "v", "domains": "*", "routes": [{"match": {"safe_regex": {"regex": "("}}, "redirect": {"response_code": "found"}}]}]`: "regex_invalid /body/virtual_hosts/0/routes/0/match/safe_regex/regex",
	} {
		_, err := formed(t, fleet.Route, `{"name": "a", `+in+`}`, nil)
		if got := strings.Join(found(t, err), ", "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	const body = `{"name": "a", "lb_policy": "${fleet.values.P}", "cleanup_interval": {"seconds": 5}, "lb_subset_config": {"subset_selectors": {"keys": "${fleet.values.K}"}}, "ignore_health_on_host_removal": "${fleet.values.B}", "per_connection_buffer_limit_bytes": {"value": "${fleet.values.N}"}}`
	c, err := newCompiler().Compile(testKey, resource.Document{Type: fleet.Cluster, Name: "a", Body: []byte(body), Fill: map[string]string{"P": "random", "K": "k", "B": "no", "N": "080"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := resource.RenderWritten(fleet.Cluster, c.Value, c.Placeholders)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"a","lb_policy":"${fleet.values.P}","cleanup_interval":"5s","lb_subset_config":{"subset_selectors":[{"keys":["${fleet.values.K}"]}]},"ignore_health_on_host_removal":"${fleet.values.B}","per_connection_buffer_limit_bytes":"${fleet.values.N}"}`
	if diff := cmp.Diff(canonical(t, want), canonical(t, string(out))); diff != "" {
		t.Error(diff)
	}
	again, err := newCompiler().Compile(testKey, resource.Document{Type: fleet.Cluster, Name: "a", Body: out, Fill: map[string]string{"P": "random", "K": "k", "B": "no", "N": "080"}})
	if err != nil || again.Version != c.Version {
		t.Errorf("what is read is written: %v", err)
	}
	_, err = formed(t, fleet.Cluster, `{"name": "a", "cleanup_interval": {"seconds": "${fleet.values.S}"}}`, map[string]string{"S": "5"})
	if got := strings.Join(found(t, err), ", "); got != "placeholder_invalid /body/cleanup_interval/seconds" {
		t.Error(got)
	}
}
