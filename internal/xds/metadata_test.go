package xds

import (
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// TestMetadataIsCutToLabels: what no selector can ask is not kept, and a change of it
// within a stream is seen all the same.
func TestMetadataIsCutToLabels(t *testing.T) {
	t.Parallel()
	node := func(change func(map[string]any)) []byte {
		deep := any("end")
		for range 17 {
			deep = map[string]any{"d": deep}
		}
		m := map[string]any{
			"role": "edge", "weight": 5.0, "canary": true, "none": nil, "list": []any{"a"}, "empty": map[string]any{}, "deep": deep,
			"app": map[string]any{"name": "shop", "ports": []any{1.0}}, "long": strings.Repeat("é", 2000),
		}
		change(m)
		s, err := structpb.NewStruct(m)
		if err != nil {
			t.Fatal(err)
		}
		b, err := proto.Marshal(&corev3.Node{Id: "n", Metadata: s, Locality: &corev3.Locality{Region: "r", Zone: "z", SubZone: "s"}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	p, err := pin(node(func(map[string]any) {}))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(string(p.node.MetadataJSON), " ", "")
	for _, part := range []string{`"role":"edge"`, `"weight":5`, `"canary":true`, `"app":{"name":"shop"}`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s lacks %s", got, part)
		}
	}
	for _, part := range []string{"none", "list", "empty", "deep", "ports"} {
		if strings.Contains(got, part) {
			t.Errorf("%s holds %s", got, part)
		}
	}
	if n := strings.Count(got, "é"); n != 513 {
		t.Errorf("of the long text %d characters are kept, want 513: more than a selector's 1 KiB and no half one", n)
	}
	if p.node.Region != "r" || p.node.Zone != "z" || p.node.SubZone != "s" {
		t.Errorf("the locality is %+v", p.node)
	}
	if err := p.check(node(func(map[string]any) {})); err != nil {
		t.Errorf("the same node: %v", err)
	}
	if err := p.check(node(func(m map[string]any) { m["list"] = []any{"b"} })); err == nil {
		t.Error("another node was taken within the stream")
	}
}
