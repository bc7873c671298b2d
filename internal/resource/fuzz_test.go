package resource_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// FuzzToJSON: what comes out is JSON, comes out of itself unchanged, and every error is
// of a known kind.
func FuzzToJSON(f *testing.F) {
	for _, s := range []string{"a: 1", "{a: [b, {c: ~}]}", "a: |\n x", `{"a":"\ud83d\ude00"}`, "a: *b", "on: 1", "- .inf", "? a\n: b", "--- a\n...", "a: 0x7f", "\"\\u2028\"", "a: 1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range []resource.Format{resource.JSON, resource.YAML} {
			out, err := resource.ToJSON(format, []byte(s))
			if err != nil {
				if !errors.Is(err, fleet.ErrInvalid) {
					t.Errorf("format %d, %q: %v", format, s, err)
				}
				continue
			}
			if !json.Valid(out) {
				t.Errorf("format %d, %q became %q", format, s, out)
			}
			if again, err := resource.ToJSON(resource.JSON, out); err != nil || !bytes.Equal(again, out) {
				t.Errorf("format %d, %q became %q, then %q, %v", format, s, out, again, err)
			}
		}
	})
}

// FuzzParseApply: every document that is taken has an address that can be stored, none
// twice, and a body that stands in the input.
func FuzzParseApply(f *testing.F) {
	for _, s := range []string{
		`{"resources":[{"type":"clusters","name":"a","ttl":"1s","labels":{"a":"b"},"body":{}}],"message":"m"}`,
		`{"resources":[{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a"}],"delete":[{"type":"routes","name":"r"}]}`,
		`{"delete":[{"type":"routes","name":"r","variant":"v"}]}`, `{"resources":[1,[],{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := resource.ParseApply(in)
		if err != nil {
			if !errors.Is(err, fleet.ErrInvalid) {
				t.Errorf("%q: %v", in, err)
			}
			return
		}
		seen := map[resource.Deletion]bool{}
		add := func(d resource.Deletion) {
			if seen[d] || d.Name == "" || len(d.Name) > 512 || bytes.ContainsRune([]byte(d.Name), 0) || int(d.Type) >= fleet.NumTypes {
				t.Errorf("%q: the address %+v", in, d)
			}
			seen[d] = true
		}
		for _, d := range a.Resources {
			add(resource.Deletion{Type: d.Type, Name: d.Name, Variant: d.Variant})
			if !bytes.Contains(in, d.Body) || d.TTL < 0 {
				t.Errorf("%q: the document %v", in, d)
			}
		}
		for _, d := range a.Delete {
			add(d)
		}
	})
}

// FuzzCompile: what is taken can be shown, and what is shown is the same resource.
func FuzzCompile(f *testing.F) {
	j, err := resource.ToJSON(resource.YAML, []byte(testdata(f, "listener.yaml")))
	if err != nil {
		f.Fatal(err)
	}
	listener, err := resource.ParseDocument(j)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(fleet.Listener), listener.Body)
	for t, s := range map[fleet.Type]string{
		fleet.Cluster:   `{"name":"ingress","type":"EDS","edsClusterConfig":{"edsConfig":{"ads":{}}},"metadata":{"filter_metadata":{"a":{"b":[1,null,"x"]}}}}`,
		fleet.Listener:  `{"name":"ingress","filter_chains":[{"filters":[{"name":"f","typed_config":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy","value":{"statPrefix":"s","weightedClusters":{"clusters":[{"name":"a/b~c","weight":1}]}}}}]}],"address":{"socket_address":{"address":"1.2.3.4","port_value":1}}}`,
		fleet.Route:     `{"name":"ingress","virtual_hosts":[{"name":"v","domains":["*"],"routes":[{"match":{"prefix":"/"},"route":{"cluster":"c"}}]}]}`,
		fleet.Endpoint:  `{"cluster_name":"ingress","endpoints":[{"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"1.2.3.4","port_value":1}}}}]}]}`,
		fleet.Secret:    `{"name":"ingress","generic_secret":{"secret":{"inline_bytes":"eA"}}}`,
		fleet.Extension: `{"name":"ingress","typed_config":{"@type":"type.googleapis.com/google.protobuf.Any","value":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s"}}}`,
		fleet.Runtime:   `{"name":"ingress","layer":{"a":{"numerator":1.5e3}}}`,
	} {
		f.Add(uint8(t), []byte(s))
	}
	f.Add(uint8(fleet.Cluster), []byte(`{"name":"ingress","altStatName":"${fleet.values.B}","per_connection_buffer_limit_bytes":"${fleet.values.A}","metadata":{"filter_metadata":{"a":{"b~/":["x${fleet.values.B}"]}}}}`))
	c := newCompiler()
	f.Fuzz(func(t *testing.T, ty uint8, body []byte) {
		d := resource.Document{Type: fleet.Type(ty % fleet.NumTypes), Name: "ingress", Body: body, Fill: map[string]string{"A": "1", "B": "x"}}
		first, err := c.Compile(testKey, d)
		if err != nil {
			if !errors.Is(err, fleet.ErrInvalid) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		derived, err := resource.Derive(first.Type, first.Value)
		if err != nil || len(derived.Refs) != len(first.Derived.Refs) {
			t.Errorf("%q: derived %v, then %v, %v", body, first.Derived, derived, err)
		}
		facts, err := resource.FactsOf(first.Type, first.Value)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		checkMentions(t, first, facts)
		d.Body, err = resource.RenderWritten(first.Type, first.Value, first.Placeholders)
		if first.Type == fleet.Secret {
			if err == nil {
				t.Error("a Secret was rendered")
			}
			return
		}
		if err != nil {
			t.Fatalf("%q cannot be rendered: %v", body, err)
		}
		second, err := c.Compile(testKey, d)
		if err != nil || second.Version != first.Version || second.DocHash != first.DocHash {
			t.Errorf("%q was rendered as %q, which is another resource, %v", body, d.Body, err)
		}
	})
}

// FuzzFactsOf: bytes of any origin are read, or refused, and what they name is what is derived.
func FuzzFactsOf(f *testing.F) {
	f.Add(uint8(fleet.Listener), mustCompile(f, testdata(f, "listener.yaml")).Value)
	f.Add(uint8(fleet.Route), mustCompile(f, routeTo("weighted_clusters: {clusters: [{name: c, weight: 1}, {cluster_header: x, weight: 1}]}")).Value)
	f.Add(uint8(fleet.Listener), mustCompile(f, listener(networkFilter("'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, value: {statPrefix: s, cluster: c}"))).Value)
	f.Fuzz(func(t *testing.T, ty uint8, value []byte) {
		typ := fleet.Type(ty % fleet.NumTypes)
		facts, err := resource.FactsOf(typ, value)
		derived, derr := resource.Derive(typ, value)
		if (err == nil) != (derr == nil) || err != nil && !errors.Is(err, fleet.ErrInvalid) {
			t.Fatalf("%v, and derived %v", err, derr)
		}
		seen := map[fleet.Ref]bool{}
		for _, m := range facts.Mentions {
			seen[m.Ref] = true
			if !strings.HasPrefix(m.Pointer, "/body/") {
				t.Errorf("%v", m)
			}
		}
		if len(seen) != len(derived.Refs) {
			t.Errorf("mentions %v, derived %v", facts.Mentions, derived.Refs)
		}
	})
}
