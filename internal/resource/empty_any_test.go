package resource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/resource"
)

const perFilter = "{type: routes, name: r, body: {name: r, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c}, typed_per_filter_config: {f: FILTER}}]}]}}"

// TestAnEmptyConfigEnablesAFilter: with a FilterConfig whose config is empty Envoy enables a filter that its listener has
// disabled. It has no other way to say so, and takes an Any without a type nowhere else.
func TestAnEmptyConfigEnablesAFilter(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{
		"{'@type': type.googleapis.com/envoy.config.route.v3.FilterConfig, config: {}}",
		"{'@type': type.googleapis.com/envoy.config.route.v3.FilterConfig, config: {}, disabled: true}",
	} {
		c := mustCompile(t, strings.Replace(perFilter, "FILTER", filter, 1))
		if len(c.Guarded) != 0 {
			t.Errorf("%s: the guard names %v", filter, c.Guarded)
		}
		if !strings.Contains(strings.ReplaceAll(string(c.Body), " ", ""), `"config":{}`) {
			t.Errorf("%s: it is stored as %s", filter, c.Body)
		}
		again, err := newCompiler().Compile(testKey, resource.Document{Type: c.Type, Name: c.Name, Body: c.Body})
		if err != nil || again.Version != c.Version {
			t.Errorf("%s: what is stored is not what was written: %v", filter, err)
		}
	}
	at := "/body/virtual_hosts/0/routes/0/typed_per_filter_config/f"
	for filter, want := range map[string]string{
		"{}": "missing_type " + at,
		"{'@type': type.googleapis.com/envoy.config.route.v3.FilterConfig, config: {disabled: true}}":                                              "missing_type " + at + "/config",
		"{'@type': type.googleapis.com/envoy.config.route.v3.FilterConfig, config: []}":                                                            "wrong_type " + at + "/config",
		"{'@type': type.googleapis.com/envoy.config.route.v3.FilterConfig, config: {'@type': ''}}":                                                 "unknown_type " + at + "/config/@type",
		"{'@type': type.googleapis.com/envoy.extensions.filters.http.composite.v3.ExecuteFilterAction, typed_config: {name: a, typed_config: {}}}": "missing_type " + at + "/typed_config/typed_config",
	} {
		_, err := compile(strings.Replace(perFilter, "FILTER", filter, 1))
		if diff := cmp.Diff([]string{want}, found(t, err)); diff != "" {
			t.Errorf("%s: %s\n%v", filter, diff, err)
		}
	}
}

// TestWhatToDoAboutAnUnknownMessage: who is told that a message is not known is told what to write in its place, and is
// pointed to another message only where that is likely.
func TestWhatToDoAboutAnUnknownMessage(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"type.googleapis.com/com.example.Options":                                           "this server knows no such message: correct its name; a message of your own proxy's build goes into an xds.type.v3.TypedStruct, which an admin may write",
		"type.googleapis.com/grpc.lookup.v1.RouteLookupClusterSpecifier":                    "this server knows no such message: correct its name; a message of your own proxy's build goes into an xds.type.v3.TypedStruct, which an admin may write",
		"type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOption":         "this server knows no such message: is type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions meant?",
		"type.googleapis.com/HttpProtocolOption":                                            "this server knows no such message: is type.googleapis.com/envoy.config.core.v3.HttpProtocolOptions meant?",
		"type.googleapis.com/envoy.extensions.filters.http.nothing.v3.SomethingQuiteElse99": "this server knows no such message: correct its name; a message of your own proxy's build goes into an xds.type.v3.TypedStruct, which an admin may write",
	} {
		_, err := compile("{type: clusters, name: a, body: {name: a, typed_extension_protocol_options: {x: {'@type': " + url + "}}}}")
		if err == nil || !strings.HasSuffix(err.Error(), "/body/typed_extension_protocol_options/x/@type: "+want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	// The way that is named is one.
	c := mustCompile(t, "{type: clusters, name: a, body: {name: a, typed_extension_protocol_options: {x: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/com.example.Options, value: {a: 1}}}}}")
	if len(c.Guarded) != 1 || c.Guarded[0].Rule != resource.RuleCode {
		t.Errorf("the guard names %v", c.Guarded)
	}
}

// TestAnEmptyStandsAlone: Envoy takes an Empty by its "@type" alone, and so is it shown. Some encoders write a "value" beside it.
func TestAnEmptyStandsAlone(t *testing.T) {
	t.Parallel()
	const url = "type.googleapis.com/google.protobuf.Empty"
	var version string
	for _, typed := range []string{"{'@type': " + url + "}", "{'@type': " + url + ", value: {}}", "{value: {}, '@type': " + url + "}"} {
		c := mustCompile(t, strings.Replace(clusterOf, "PART", "filters: [{name: f, typed_config: "+typed+"}]", 1))
		want := `"typed_config":{"@type":"` + url + `"}`
		if body, err := resource.Render(c.Type, c.Value); err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s is shown as %s: %v", typed, body, err)
		}
		if version == "" {
			version = c.Version
		}
		if c.Version != version {
			t.Errorf("%s has a version of its own", typed)
		}
	}
	_, err := compile(strings.Replace(clusterOf, "PART", "filters: [{name: f, typed_config: {'@type': "+url+", value: {a: 1}}}]", 1))
	if diff := cmp.Diff([]string{"unknown_field /body/filters/0/typed_config/value/a"}, found(t, err)); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
}

// TestAnEmptyAnyAsADumpShowsIt: Envoy 1.36 and 1.40 take each, as if it were not written.
func TestAnEmptyAnyAsADumpShowsIt(t *testing.T) {
	t.Parallel()
	for in, part := range map[string]string{
		clusterOf:  "metadata: {typed_filter_metadata: {x: {}}}",
		listenerOf: "listener_filters: [{name: w, typed_config: {'@type': " + filterURL + "http.wasm.v3.Wasm, config: {name: w, configuration: {}, vm_config: {configuration: {}, runtime: envoy.wasm.runtime.v8, code: {local: {filename: /w}}}}}}]",
	} {
		mustCompile(t, strings.Replace(in, "PART", part, 1))
	}
}
