package selector_test

import (
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

var edge = fleet.Node{
	ID: "router~10.0.0.1~pod", Cluster: "edge/eu", UserAgent: "envoy", Version: "1.40.0", Region: "eu", Zone: "eu-1",
	MetadataJSON: []byte(`{"role":"canary", "empty":"", "n":5, "pi":3.50, "big":1e21, "huge":1e999, "on":true, "off":false, "nil":null,
		"list":["a",{"b":1}], "labels":{"app.kubernetes.io/name":"shop","deep":{"er":"x"},"hollow":{}}, "twice":"first", "twice":"last",
		"gone":"text", "gone":null, "\u00e9":"\n"}`),
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		// Each key reads its own field.
		"node.id=router~10.0.0.1~pod": true, "node.cluster=edge/eu": true, "locality.region=eu": true, "locality.zone=eu-1": true,
		"client.name=envoy": true, "client.version=1.40.0": true, "node.id=edge/eu": false, "node.id=router": false, "node.id=Router~10.0.0.1~pod": false,

		// Present: zone. Absent: sub zone.
		"locality.zone": true, "!locality.zone": false, "locality.sub_zone": false, "!locality.sub_zone": true,
		"locality.zone=eu-2": false, "locality.sub_zone=a": false,
		"locality.zone!=eu-1": false, "locality.zone!=eu-2": true, "locality.sub_zone!=a": true,
		"locality.zone in (eu-1,eu-2)": true, "locality.zone in (eu-0,eu-2)": false, "locality.sub_zone in (a,b)": false,
		"locality.zone notin (eu-1,eu-2)": false, "locality.zone notin (a,b)": true, "locality.sub_zone notin (a,b)": true,
		"locality.zone^=eu": true, "locality.zone^=eu-1": true, "locality.zone^=eu-10": false, "locality.zone^=u": false, "locality.sub_zone^=a": false,

		// All must hold.
		"locality.region=eu,locality.zone^=eu-,!locality.sub_zone": true, "locality.region=eu,locality.zone=us-1": false,

		// Scalars of the metadata, by their texts.
		"metadata.role=canary": true, "metadata.role^=can": true, "metadata.Role": false,
		`metadata.empty=""`: true, "metadata.empty": true, "metadata.empty=x": false, `metadata.none=""`: false,
		"metadata.n=5": true, "metadata.n=5.0": false, "metadata.pi=3.5": true, "metadata.big=1e+21": true, "metadata.huge": false,
		"metadata.on=true": true, "metadata.off=false": true, "metadata.on=1": false,
		"metadata.nil": false, "!metadata.nil": true, "metadata.list": false, "metadata.labels": false, `metadata.list."0"=a`: false,
		`metadata.labels."app.kubernetes.io/name"=shop`: true, `metadata.labels.app`: false, "metadata.labels.deep.er=x": true, "metadata.labels.hollow": false,
		"metadata.role.canary": false, "metadata.labels.deep.er.x": false, "metadata.twice=last": true, "metadata.gone": false,
		`metadata."é"="\n"`: true, `metadata.é="\u000a"`: true,
	} {
		if got := parse(t, text).Match(edge); got != want {
			t.Errorf("%s matches: %t", text, got)
		}
	}
	if (selector.Selector{}).Match(edge) || (selector.Selector{}).MatchLabels(selector.LabelsOf(edge)) {
		t.Error("no selector at all matches a node")
	}
}

// The metadata is the node's own claim: whatever it is, reading it ends, and what is no
// object holds no label.
func TestUnreadableMetadata(t *testing.T) {
	t.Parallel()
	for _, m := range []string{
		``, `null`, `"a"`, `5`, `[{"a":1}]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1 "b":2}`, `{"b":[1,`, `{"b":{"c":1`, `{1:2}`, `{"a":1]`, `{"b":[}`,
		strings.Repeat(`{"a":`, 20000), strings.Repeat(`[`, 60000),
	} {
		n := fleet.Node{ID: "n", MetadataJSON: []byte(m)}
		if parse(t, "metadata.a").Match(n) || !parse(t, "node.id=n,!metadata.a,metadata.b.c!=1").Match(n) {
			t.Errorf("%.20s has labels", m)
		}
	}
}

func TestDepthOfMetadata(t *testing.T) {
	t.Parallel()
	nested := func(depth int) fleet.Node {
		return fleet.Node{MetadataJSON: []byte(strings.Repeat(`{"x":1,"a":`, depth) + `"end"` + strings.Repeat(`}`, depth))}
	}
	deepest := parse(t, "metadata"+strings.Repeat(".a", 16)+"=end")
	if !deepest.Match(nested(16)) {
		t.Error("the deepest label that can be named is not found")
	}
	if n := nested(30); deepest.Match(n) || !parse(t, "metadata.x=1,metadata"+strings.Repeat(".a", 15)+".x=1").Match(n) {
		t.Error("what is too deep to be named hides what is not")
	}
}

// Hostile metadata of the greatest size costs a bounded multiple of it.
func BenchmarkLabelsOf(b *testing.B) {
	for name, m := range map[string]string{
		"Usual": string(edge.MetadataJSON),
		"Worst": `{"` + strings.Repeat(`a":{"":1},"`, 5900) + `":1}`,
	} {
		b.Run(name, func(b *testing.B) {
			n := fleet.Node{ID: "n", MetadataJSON: []byte(m)}
			b.ReportAllocs()
			for b.Loop() {
				selector.LabelsOf(n)
			}
		})
	}
}
