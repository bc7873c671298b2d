package xds

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
)

// TestT40_ANodeIsBoundedBeforeItIsDecoded: what is dropped of a node is not decoded, and
// the rest takes little. The test runs alone.
func TestT40_ANodeIsBoundedBeforeItIsDecoded(t *testing.T) {
	id, err := proto.Marshal(&corev3.Node{Id: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := pin(id) // and makes the message's tables
	if err != nil {
		t.Fatal(err)
	}
	const limit = "262144 is the limit"
	for name, c := range map[string]struct {
		entry string
		says  string
	}{
		"extensions":          {"\x4a\x00", ""},
		"listening addresses": {"\x5a\x00", ""},
		"dynamic parameters":  {"\x62\x00", ""},
		"client features":     {"\x52\x00", limit},
		"metadata":            {"\x1a\x00", limit},
		"localities":          {"\x22\x00", limit},
		"what is unknown":     {"\xfa\x7f\x00", limit},
		"half an extension":   {"\x4a\x00\x4a", "cannot be decoded"},
	} {
		node := append(append([]byte{}, id...), strings.Repeat(c.entry, 1_000_000)...)
		for what, look := range map[string]func() error{
			"the first request": func() error { _, err := pin(node); return err },
			"a later one":       func() error { return (&pinnedNode{same: pinned.same}).check(node) },
		} {
			var err error
			n := allocated(func() { err = look() })
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%s in %s: %v, want %q", name, what, err, c.says)
			}
			if c.says == limit && !errors.Is(err, fleet.ErrLimit) {
				t.Errorf("%s in %s: %v is no ErrLimit", name, what, err)
			}
			if n > 64<<10 {
				t.Errorf("%s in %s: %d KiB were allocated", name, what, n>>10)
			}
		}
	}
}

// TestT40_OfAClientsFeaturesThoseAreKeptThatMatter: they are kept as long as the stream lives.
func TestT40_OfAClientsFeaturesThoseAreKeptThatMatter(t *testing.T) {
	n := &corev3.Node{Id: "n1"}
	for i := range 10_000 {
		n.ClientFeatures = append(n.ClientFeatures, fmt.Sprint("x", i), featureTTL)
	}
	n.ClientFeatures = n.ClientFeatures[:5_000]
	encoded, err := proto.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pin(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.node.ClientFeature; len(got) != 1 || got[0] != featureTTL {
		t.Errorf("%d features are kept, want the one that is known", len(got))
	}
}

// TestNodeOfAnEnvoyIsTaken: with 516 extensions it takes 61 kB, and any order of its fields
// makes the same node.
func TestNodeOfAnEnvoyIsTaken(t *testing.T) {
	n := &corev3.Node{Id: "n1", Cluster: "edge", ClientFeatures: []string{featureTTL, "other", featureWrapped}}
	for i := range 516 {
		n.Extensions = append(n.Extensions, &corev3.Extension{Name: fmt.Sprint("envoy.filters.http.", i), Category: "envoy.filters.http", TypeUrls: []string{strings.Repeat("x", 60)}})
	}
	encoded, err := proto.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pin(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if p.node.ID != "n1" || p.node.Cluster != "edge" || len(p.node.ClientFeature) != 2 {
		t.Errorf("got %+v", p.node)
	}
	var fields [][]byte // turned round, but for lists
	for rest := encoded; len(rest) > 0; {
		_, _, size := protowire.ConsumeField(rest)
		fields = append(fields, rest[:size])
		rest = rest[size:]
	}
	turned := append(append([]byte{}, fields[1]...), fields[0]...)
	for _, f := range fields[2:] {
		turned = append(turned, f...)
	}
	if err := p.check(turned); err != nil {
		t.Errorf("the same node in another order: %v", err)
	}
}

// TestANodeTellsWhichContribItHas: by the types of its extensions, and by the names of those that list no types.
func TestANodeTellsWhichContribItHas(t *testing.T) {
	const broker = "envoy.extensions.filters.network.kafka_broker.v3"
	ordinary := &corev3.Extension{Name: "envoy.filters.http.buffer", TypeUrls: []string{"envoy.extensions.filters.http.buffer.v3.Buffer"}}
	for name, c := range map[string]struct {
		extensions   []*corev3.Extension
		lacks, other bool // the broker, and another one's package
	}{
		"nothing is told":    {nil, false, false},
		"names alone":        {[]*corev3.Extension{{Name: "envoy.filters.network.kafka_broker"}}, false, false},
		"a build without":    {[]*corev3.Extension{ordinary}, true, true},
		"a build with it":    {[]*corev3.Extension{ordinary, {Name: "x", TypeUrls: []string{"a.B", broker + ".KafkaBroker"}}}, false, true},
		"it is disabled":     {[]*corev3.Extension{ordinary, {TypeUrls: []string{broker + ".KafkaBroker"}, Disabled: true}}, true, true},
		"one without a type": {[]*corev3.Extension{ordinary, {Name: "qat"}}, true, false},
	} {
		encoded, err := proto.Marshal(&corev3.Node{Id: "n1", Extensions: c.extensions})
		if err != nil {
			t.Fatal(err)
		}
		p, err := pin(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if lacks := envoyversion.LacksContrib(p.node.Contrib, broker); lacks != c.lacks {
			t.Errorf("%s: it lacks the broker: %t", name, lacks)
		}
		if lacks := envoyversion.LacksContrib(p.node.Contrib, "envoy.extensions.private_key_providers.qat.v3alpha"); lacks != c.other {
			t.Errorf("%s: it lacks qat: %t", name, lacks)
		}
	}
}
