package xds

import (
	"encoding/json"
	"fmt"
	"math"
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

// TestT45_MetadataIsMeasuredAsItIsStored: numbers are passed on in few bytes and stored with
// all their digits, and one node must not break its fleet's reports.
func TestT45_MetadataIsMeasuredAsItIsStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields int
		value  *structpb.Value
		says   string
	}{
		"large numbers":       {450, structpb.NewNumberValue(1e308), "as it is stored"},
		"small numbers":       {450, structpb.NewNumberValue(5e-324), "as it is stored"},
		"some large numbers":  {100, structpb.NewNumberValue(-1e308), ""},
		"ordinary numbers":    {1000, structpb.NewNumberValue(8080), ""},
		"no number":           {1, structpb.NewNumberValue(math.NaN()), "read node.metadata"},
		"texts":               {60, structpb.NewStringValue(strings.Repeat("x", 1000)), ""},
		"too many texts":      {70, structpb.NewStringValue(strings.Repeat("x", 1000)), "65536 is the limit"},
		"texts that are long": {70, structpb.NewStringValue(strings.Repeat("\x00", 500)), "65536 is the limit"},
		"NUL":                 {1, structpb.NewStringValue("a\x00b"), ""}, // package store writes another character
	} {
		fields := map[string]*structpb.Value{}
		for i := range c.fields {
			fields[fmt.Sprint("k", i)] = c.value
		}
		b, err := proto.Marshal(&corev3.Node{Id: "n", Metadata: &structpb.Struct{Fields: fields}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := pin(b)
		switch {
		case c.says == "" && (err != nil || !json.Valid(p.node.MetadataJSON)):
			t.Errorf("%s: %v, %.60s", name, err, p.node.MetadataJSON)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
