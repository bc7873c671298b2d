package resource_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

func TestYAMLBecomesJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a: 1\nb: [x, 'y', \"n\", |-\n on\n]": "",
		"a: 1\nb: [x, 'y', \"n\"]":            `{"a":1,"b":["x","y","n"]}`,
		"z: 1\na: ~\nm:\nq: null":             `{"z":1,"a":null,"m":null,"q":null}`,
		"a: true\nb: False":                   `{"a":true,"b":false}`,
		"200: ok\n\"on\": x\n2024-01-01: d":   `{"200":"ok","on":"x","2024-01-01":"d"}`,
		"a: 2024-01-01\nb: 1.5\nc: 1e3":       `{"a":"2024-01-01","b":1.5,"c":1e3}`,
		"a: 0x1F\nb: .inf\nc: -.Inf\nd: .nan": `{"a":31,"b":"Infinity","c":"-Infinity","d":"NaN"}`,
		// booleans and numbers as Envoy reads them; keys are texts
		"a: [y, Yes, ON, TRUE, n, no, Off, false]":              `{"a":[true,true,true,true,false,false,false,false]}`,
		"a: [yES, oN, nULL, ja]":                                `{"a":["yES","oN","nULL","ja"]}`,
		"a: [0777, -010, +80, 0X50, 0, 00]":                     `{"a":[511,-8,80,80,0,0]}`,
		"a: [08, 0o17, 1_000, 1:30, 0b11, .5, 5., 1.2.3]":       `{"a":["08","0o17","1_000","1:30","0b11",".5","5.","1.2.3"]}`,
		"a: [0x10000000000000000, 'y', \"0777\"]":               `{"a":["0x10000000000000000","y","0777"]}`,
		"{y: 1, on: 2, true: 3, 1.40: 4, 0777: 5}":              `{"y":1,"on":2,"true":3,"1.40":4,"0777":5}`,
		"a: [!mine {b: 1}, !!int '5', !!str x, !!map {}, !c d]": `{"a":[{"b":1},5,"x",{},"d"]}`,
		// anchors and aliases, merge keys, and what is dropped
		"!ignore x: {y: &y [1, {z: 2}]}\na: *y\nb: {c: *y}":                               `{"a":[1,{"z":2}],"b":{"c":[1,{"z":2}]}}`,
		"&k a: &v 1\nb: *v\nc: {*k : *v}":                                                 `{"a":1,"b":1,"c":{"a":1}}`,
		"a: &a {b: 1, c: 2}\nd: {<<: *a, c: 3}\ne: {c: 4, <<: [{f: 5}, *a, {f: 6}]}":      `{"a":{"b":1,"c":2},"d":{"c":3,"b":1},"e":{"c":4,"f":5,"b":1}}`,
		"a: &a {<<: {b: 1}, c: 2}\nd: {<<: *a}\ne: {'<<': 1}":                             `{"a":{"c":2,"b":1},"d":{"c":2,"b":1},"e":{"\u003c\u003c":1}}`,
		"a: {!ignore b: 1, !ignore b: 2, c: 3, !ignore [d]: 4}\n!ignore e: &e [*e]\nf: 1": `{"a":{"c":3},"f":1}`,
		"\ufeffa: 1":                 `{"a":1}`,
		"\ufeff{a: 1}":               `{"a":1}`,
		"a: 18446744073709551615":    `{"a":18446744073709551615}`,
		"a: |\n  two\n  lines\n":     `{"a":"two\nlines\n"}`,
		"a: 1.2.3.4\nb: 10s\nc: '*'": `{"a":"1.2.3.4","b":"10s","c":"*"}`,
		"{a: [{b: {c: []}}]}":        `{"a":[{"b":{"c":[]}}]}`,
		"--- \na: 1\n...\n":          `{"a":1}`,
		// documents that hold nothing are none
		"---\n# about\n---\na: 1\n---\n":    `{"a":1}`,
		"a: 1\n...\n---\n# end\n---\n...\n": `{"a":1}`,
		"a: 1\n---\nnull\n":                 "",
		"a: 1\n---\n''\n":                   "",
		"a: 1\n---\n!ignore\n":              "",
		"a: 1\n---\n&x\n":                   "",
	} {
		got, err := resource.ToJSON(resource.YAML, []byte(in))
		if want == "" {
			if err == nil {
				t.Errorf("%q is accepted: %s", in, got)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%q became %s, %v", in, got, err)
		}
	}
}

// TestT18_YAMLRefused: what programs read in different ways, or can blow up, is refused
// with its place and a sentence.
func TestT18_YAMLRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a: 1\na: 2":                     "duplicate_key /a",
		"a: {b: 1, 'b': 2}":              "duplicate_key /a/b",
		"a: &x [*x]":                     "yaml_feature /a/0/0",
		"a: &x {<<: *x}":                 "yaml_feature /a",
		"a: {<<: 1}":                     "yaml_feature /a",
		"a: {<<: [{b: 1}, 1]}":           "yaml_feature /a",
		"a: {<<: {b: 1, b: *c}}":         "yaml_feature ",
		"a: !ignore {b: 1}":              "yaml_feature /a",
		"- !ignore b":                    "yaml_feature /0",
		"b: *x":                          "yaml_feature ",
		"a: !!str 1":                     "yaml_feature /a",
		"a: 1\n---\nb: 2":                "yaml_feature ",
		"~: 1":                           "ambiguous_scalar ",
		"? [a]\n: 1":                     "yaml_feature ",
		"":                               "syntax ",
		"# only a comment":               "syntax ",
		"a: [":                           "syntax ",
		"a: b: c":                        "syntax ",
		"a: \x01":                        "syntax ",
		"a: \xff":                        "syntax ",
		strings.Repeat("[", 65):          "syntax ",
		nest("[", 65, "]"):               "limit " + strings.Repeat("/0", 64),
		nest("{a: ", 65, "}"):            "limit " + strings.Repeat("/a", 64),
		strings.Repeat("[", 20_000):      "limit ",
		strings.Repeat("- a\n", 100_001): "limit ",
		strings.Repeat("- a\n", 99_999):  "",
		strings.Repeat("- a\n", 100_000): "limit /99999",
		strings.Repeat("%TAG !a! x\n", 101) + "--- {a: 1}": "limit ",
		// JSON is YAML, and as such it may have more.
		"---\n[" + strings.Repeat("1,", 200_000) + "1]\n": "",
		"[" + strings.Repeat("1,", 200_000) + "1,]":       "limit ",
	} {
		out, err := resource.ToJSON(resource.YAML, []byte(in))
		if got := strings.Join(found(t, err), ", "); got != want {
			t.Errorf("%.40q: %v, want %s; %.40s", in, got, want, out)
		}
	}
	_, err := resource.ToJSON(resource.YAML, []byte("a:\n  ~: 1"))
	if err == nil || !strings.Contains(err.Error(), `line 2, column 3: a key that is not a text`) {
		t.Errorf("the sentence about a key: %v", err)
	}
	for in, line := range map[string]int{"a: 1\n---\nb: 2": 2, "a: 1\n---\n---\n# b\n\nb: 2": 3, "%YAML 1.2\n---\na: 1\n...\n\n--- {b: 2}\n": 6} {
		_, err := resource.ToJSON(resource.YAML, []byte(in))
		var errs resource.Errors
		if !errors.As(err, &errs) || errs[0].Line != line || !strings.Contains(errs[0].Detail, "a second YAML document begins here") {
			t.Errorf("%q: of a second document it says %v, want line %d", in, err, line)
		}
	}
}

func nest(open string, depth int, closing string) string {
	return strings.Repeat(open, depth) + strings.Repeat(closing, depth)
}

func TestT19_JSONRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1,"a":2}`:           "duplicate_key /a",
		`{"a":1,"\u0061":2}`:      "duplicate_key /a",
		`{"a":{"b/c":1,"b/c":2}}`: "duplicate_key /a/b~1c",
		bigObject(40):             "duplicate_key /k0",
		`{} {}`:                   "syntax ",
		`{},`:                     "syntax ",
		``:                        "syntax ",
		` `:                       "syntax ",
		`{"a"}`:                   "syntax ",
		`{"a":}`:                  "syntax /a",
		`{"a":1,}`:                "syntax ",
		`[1,]`:                    "syntax /1",
		`[1 2]`:                   "syntax ",
		`01`:                      "syntax ",
		`1.`:                      "syntax ",
		`1e`:                      "syntax ",
		`-`:                       "syntax ",
		`+1`:                      "syntax ",
		`nul`:                     "syntax ",
		`NaN`:                     "syntax ",
		`'a'`:                     "syntax ",
		"\"\xff\"":                "syntax ",
		"\"\n\"":                  "syntax ",
		`"\ud800"`:                "syntax ",
		`"\ud800\u0041"`:          "syntax ",
		`"\x"`:                    "syntax ",
		`"a`:                      "syntax ",
		"\ufeff\ufeff{}":          "syntax ",
		`{"a" 1}`:                 "syntax ",
		`// c`:                    "syntax ",
		nest("[", 65, "]"):        "limit " + strings.Repeat("/0", 64),
		nest(`{"a":`, 65, "}"):    "limit " + strings.Repeat("/a", 64),
		nestAny(17):               "limit " + strings.Repeat("/v", 16),
		nestTyped(3):              "limit " + strings.Repeat("/value", 2),
		`{"@type":"x/xds.type.v3.TypedStruct","type_url":"x/udpa.type.v1.TypedStruct","value":{"typeUrl":"x/xds.type.v3.TypedStruct","value":{}}}`: "limit /value",
		keysOf(2048, 2049): "limit /" + strings.Repeat("k", 2048),
	} {
		_, err := resource.ToJSON(resource.JSON, []byte(in))
		if got := found(t, err); len(got) != 1 || got[0] != want {
			t.Errorf("%.40q: %v, want %s", in, got, want)
		}
	}
	for _, in := range []string{nest("[", 64, "]"), nestAny(16), nestTyped(2), keysOf(2048, 2048), `{"":[]}`, ` [-0.5e+7, "\ud83d\ude00\/"] `} {
		if out, err := resource.ToJSON(resource.JSON, []byte(in)); err != nil || string(out) != in {
			t.Errorf("%.40q: %.40s, %v", in, out, err)
		}
	}
}

func bigObject(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return "{" + b.String() + `"k0":1}`
}

func nestAny(depth int) string {
	return strings.Repeat(`{"@type":"x","v":`, depth) + "1" + strings.Repeat("}", depth)
}

func nestTyped(depth int) string {
	return strings.Repeat(`{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","value":`, depth) + "{}" + strings.Repeat("}", depth)
}

// keysOf is an object within another, by keys of these lengths.
func keysOf(outer, inner int) string {
	return `{"` + strings.Repeat("k", outer) + `":{"` + strings.Repeat("k", inner) + `":1}}`
}

func TestT09_InputAtItsLimit(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	fill := func(n int) []byte { return []byte(`"` + strings.Repeat("a", n-2) + `"`) }
	for _, format := range []resource.Format{resource.JSON, resource.YAML} {
		for n, fits := range map[int]bool{limit - 1: true, limit: true, limit + 1: false} {
			_, err := resource.ToJSON(format, fill(n))
			if fits != (err == nil) || !fits && !errors.Is(err, fleet.ErrLimit) {
				t.Errorf("format %d, %d bytes: %v", format, n, err)
			}
		}
	}
}

// TestT18_T19_BombsAreCheap: half a megabyte of nested messages and worse is refused in
// milliseconds, and nothing costs memory out of proportion.
func TestT18_T19_BombsAreCheap(t *testing.T) { // not parallel: it measures
	const mib = 1 << 20
	anyBomb := func(n int) string {
		const open = `{"@type":"type.googleapis.com/google.protobuf.Any","value":`
		return strings.Repeat(open, n/(len(open)+1)) + "{}" + strings.Repeat("}", n/(len(open)+1))
	}
	yamlBomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		yamlBomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for _, b := range []struct {
		name   string
		format resource.Format
		in     string
		most   time.Duration
	}{
		{"nested Any", resource.JSON, anyBomb(mib / 2), 5 * time.Millisecond},
		{"nested lists", resource.JSON, strings.Repeat("[", mib), 5 * time.Millisecond},
		{"flat lists", resource.JSON, "[" + strings.Repeat("[],", mib/3) + "[]]", 500 * time.Millisecond},
		{"many keys", resource.JSON, bigObject(mib / 11), 500 * time.Millisecond},
		{"YAML aliases", resource.YAML, yamlBomb, 500 * time.Millisecond},
		{"YAML nested lists", resource.YAML, strings.Repeat("[", mib), 500 * time.Millisecond},
		{"YAML nested blocks", resource.YAML, strings.Repeat("- ", mib/2), 500 * time.Millisecond},
		{"YAML flat lists", resource.YAML, strings.Repeat("- \n", mib/3), 500 * time.Millisecond},
		{"YAML flow lists", resource.YAML, "[" + strings.Repeat("[],", mib/3) + "[]]", 500 * time.Millisecond},
	} {
		best, heap := time.Hour, uint64(0)
		for range 5 { // the best of five, where one is not enough: the caches of a processor that others use too are cold
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			best = min(best, threadTime(func() { _, _ = resource.ToJSON(b.format, []byte(b.in)) }))
			runtime.ReadMemStats(&after)
			heap = (after.TotalAlloc - before.TotalAlloc) >> 20
			if best <= b.most*raceFactor {
				break
			}
		}
		t.Logf("%s: %v, %d MiB allocated in all", b.name, best, heap)
		if best > b.most*raceFactor {
			t.Errorf("%s: %v, more than %v", b.name, best, b.most)
		}
	}
}

func TestParseDocument(t *testing.T) {
	t.Parallel()
	in := `{"type":"clusters","name":"grpc/a?b=%c ü","ttl":"1.5s","labels":{"team":"shop","":"x"},"description":"d","body":{"name":"b"},
		"version":"v","revision":3,"created_at":"x","updated_at":"x","updated_by":"x"}`
	_, err := resource.ParseDocument([]byte(in))
	if diff := cmp.Diff([]string{"invalid_value /labels/"}, found(t, err)); diff != "" {
		t.Error(diff)
	}
	d, err := resource.ParseDocument([]byte(strings.Replace(in, `,"":"x"`, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if d.Type != fleet.Cluster || d.Name != "grpc/a?b=%c ü" || d.TTL != 1500*time.Millisecond || d.Labels["team"] != "shop" ||
		d.Description != "d" || string(d.Body) != `{"name":"b"}` {
		t.Errorf("parsed as %#v", d.Labels)
	}
}

// TestParseDocumentSaysAllAtOnce: every wrong field of a document is named, in one go.
func TestParseDocumentSaysAllAtOnce(t *testing.T) {
	t.Parallel()
	_, err := resource.ParseDocument([]byte(`{"type":"cluster","name":"","variant":"eu","selector":"a=b","priority":2.5,"ttl":30,
		"labels":{"a":1},"description":"\u0000","body":[],"nope":1,"Type":"x"}`))
	want := []string{
		"unknown_type /type", "wrong_type /priority", "wrong_type /ttl", "wrong_type /labels/a", "invalid_value /description",
		"wrong_type /body", "unknown_field /nope", "unknown_field /Type", "name_form /name", "selector_invalid /selector",
	}
	if diff := cmp.Diff(want, found(t, err)); diff != "" {
		t.Error(diff)
	}
	_, err = resource.ParseDocument([]byte(`{}`))
	if diff := cmp.Diff([]string{"required /type", "required /name", "required /body"}, found(t, err)); diff != "" {
		t.Error(diff)
	}
	_, err = resource.ParseDocument([]byte(`[]`))
	if diff := cmp.Diff([]string{"wrong_type "}, found(t, err)); diff != "" {
		t.Error(diff)
	}
	_, err = resource.ParseDocument([]byte(`{"type":"clusters","name":"a","priority":1,"body":{}}`))
	if diff := cmp.Diff([]string{"variant_invalid /priority"}, found(t, err)); diff != "" {
		t.Error(diff)
	}
}

func TestNamesAndTexts(t *testing.T) {
	t.Parallel()
	doc := func(name, description string) error {
		_, err := resource.ParseDocument([]byte(fmt.Sprintf(`{"type":"clusters","name":"%s","description":"%s","body":{}}`, name, description)))
		return err
	}
	for _, good := range []string{"a", "..", "a/b", "100%", "%2F", "+", ";", "ü", strings.Repeat("a", 512)} {
		if err := doc(good, strings.Repeat("d", 1024)); err != nil {
			t.Errorf("the name %.20q is refused: %v", good, err)
		}
	}
	for bad, want := range map[string]string{"": "name_form /name", `\u0000`: "invalid_value /name", strings.Repeat("a", 513): "limit /name"} {
		if got := found(t, doc(bad, "")); len(got) != 1 || got[0] != want {
			t.Errorf("the name %.20q: %v", bad, got)
		}
	}
	if got := found(t, doc("a", strings.Repeat("d", 1025))); len(got) != 1 || got[0] != "limit /description" {
		t.Errorf("a long description: %v", got)
	}
}

func TestTTL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1.5s": 1500 * time.Millisecond, "1s": time.Second, "1.000s": time.Second, "1.001s": 1001 * time.Millisecond,
		"31622399s": 31622399 * time.Second,
	} {
		d, err := resource.ParseDocument([]byte(`{"type":"clusters","name":"a","ttl":"` + in + `","body":{}}`))
		if err != nil || d.TTL != want {
			t.Errorf("ttl %s: %v, %v", in, d.TTL, err)
		}
	}
	for _, in := range []string{"-1s", "-0.5s", "0s", "0.000s", "0.001s", "0.250s", "0.999s", "0.0001s", "1.0005s", "31622400s", "999999999999s", "30", "1m", "1h30m", "s", "", "1.s", ".5s", "1e3s", "+1s", "01s", "0x1s", " 1s", "--1s"} {
		_, err := resource.ParseDocument([]byte(`{"type":"clusters","name":"a","ttl":"` + in + `","body":{}}`))
		if got := found(t, err); len(got) != 1 || got[0] != "ttl_invalid /ttl" {
			t.Errorf("ttl %s: %v", in, got)
		}
	}
}

func TestParsePut(t *testing.T) {
	t.Parallel()
	const bare = `{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a"}`
	for in, want := range map[string][]string{
		`{"body":{"name":"a"}}`:                              nil,
		`{"type":"clusters","name":"a","body":{"name":"a"}}`: nil,
		bare: nil,
		`{"type":"routes","name":"b","variant":"x","body":{}}`:                         {"type_mismatch /type", "name_mismatch /name", "name_mismatch /variant", "required /selector"},
		`{"name":"a","connect_timeout":"1s"}`:                                          {"unknown_field /connect_timeout", "required /body"},
		`{"@type":"type.googleapis.com/envoy.config.listener.v3.Listener","name":"a"}`: {"type_mismatch /@type"},
		`{"@type":"type.googleapis.com/envoy.api.v2.Cluster"}`:                         {"v2_api /@type"},
		`{"@type":7}`: {"wrong_type /@type"},
		`{"@type":"type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"}`: {"unknown_type /@type"},
	} {
		d, err := resource.ParsePut([]byte(in), fleet.Cluster, "a", "")
		if diff := cmp.Diff(want, found(t, err)); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
		if err == nil && (d.Type != fleet.Cluster || d.Name != "a") {
			t.Errorf("%s: %v", in, d)
		}
	}
	if _, err := resource.ParsePut([]byte(bare), fleet.Cluster, "a", "eu"); err == nil || found(t, err)[0] != "required /selector" {
		t.Errorf("a variant in the address: %v", err)
	}
	if _, err := resource.ParsePut([]byte(bare), fleet.Cluster, "\x00", ""); err == nil {
		t.Error("a NUL in the address is accepted")
	}
	d, err := resource.ParsePut([]byte(`{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a","nope":1}`), fleet.Cluster, "a", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = newCompiler().Compile(testKey, d)
	if diff := cmp.Diff([]string{"unknown_field /nope"}, found(t, err)); diff != "" {
		t.Errorf("pointers into a bare message: %s", diff)
	}
}

func TestParseApply(t *testing.T) {
	t.Parallel()
	const cluster = `{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a"}`
	const cla = `{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","clusterName":"a"}`
	a, err := resource.ParseApply([]byte(`{"version_info":"0","resources":[` + cluster + `,` + cla + `,{"type":"routes","name":"r","body":{"name":"r","nope":1}}],
		"delete":[{"type":"listeners","name":"l"}],"message":"why"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Resources) != 3 || a.Resources[1].Name != "a" || a.Resources[1].Type != fleet.Endpoint || a.Message != "why" ||
		len(a.Delete) != 1 || a.Delete[0] != (resource.Deletion{Type: fleet.Listener, Name: "l"}) {
		t.Errorf("parsed as %+v", a)
	}
	_, err = newCompiler().Compile(testKey, a.Resources[2])
	if diff := cmp.Diff([]string{"unknown_field /resources/2/body/nope"}, found(t, err)); diff != "" {
		t.Errorf("pointers into a list: %s", diff)
	}
	for in, want := range map[string][]string{
		`{"resources":[]}`: nil,
		`{"resources":` + cluster + `,"typeUrl":"x","nonce":"1","canary":true,"control_plane":{"identifier":"x"},"versionInfo":"7","resource_errors":[]}`:                                                nil,
		`{"resources":[` + cluster + `],"nonce":1,"canary":"perhaps","controlPlane":{"id":"x"}}`:                                                                                                         {"wrong_type /nonce", "wrong_type /canary", "unknown_field /controlPlane/id"},
		`{"resources":[{"@type":"type.googleapis.com/envoy.service.discovery.v3.Resource","name":"a","version":"1","ttl":"30s","resource":` + cluster + `}]}`:                                            nil,
		`{"resources":[{"@type":"type.googleapis.com/envoy.service.discovery.v3.Resource","name":"b","resource":` + cluster + `},{"@type":"x/envoy.service.discovery.v3.Resource","cache_control":{}}]}`: {"name_mismatch /resources/0/name", "unknown_field /resources/1/cache_control", "required /resources/1/resource"},
		`{"resources":[` + cluster + `,` + cluster + `]}`: {"duplicate /resources/1"},
		`{"resources":[` + cluster + `],"delete":[{"type":"clusters","name":"a"},{"type":"clusters","name":"b"},{"type":"clusters","name":"b"}]}`: {"duplicate /delete/0", "duplicate /delete/2"},
		`{"delete":[{"type":"clusters","name":"a"}],"resources":[` + cluster + `]}`:                                                               {"duplicate /delete/0"},
		`{}`:              {"required "},
		`[]`:              {"wrong_type "},
		`{"resources":1}`: {"wrong_type /resources"},
		`{"resources":[1,{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster"},{"name":"x"}],"delete":[{"name":"x","nope":1},{"type":"x"},3],"message":1,"more":2}`: {
			"wrong_type /resources/0", "required /resources/1/name", "required /resources/2/type", "required /resources/2/body",
			"unknown_field /delete/0/nope", "required /delete/0/type", "unknown_type /delete/1/type", "required /delete/1/name", "wrong_type /delete/2",
			"wrong_type /message", "unknown_field /more",
		},
	} {
		_, err := resource.ParseApply([]byte(in))
		if diff := cmp.Diff(want, found(t, err)); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// TestErrorsAreBounded: a million mistakes make a hundred and one errors.
func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	_, err := resource.ParseApply([]byte(`{"resources":[` + strings.Repeat("1,", 100_000) + `1]}`))
	if got := found(t, err); len(got) != 101 || got[100] != "too_many_errors " {
		t.Errorf("%d errors, the last is %v", len(got), got[len(got)-1])
	}
}

// TestT18_AliasesRepeatWithinBounds: what they repeat is bounded for itself, so that a few bytes do not cost what a large document does.
func TestT18_AliasesRepeatWithinBounds(t *testing.T) {
	t.Parallel()
	list := "!ignore x: &x [" + strings.TrimSuffix(strings.Repeat("1,", 999), ",") + "]\n"
	long := "!ignore x: &x " + strings.Repeat("a", 1<<10) + "\n"
	repeats := func(n int) string { return "l:\n" + strings.Repeat("- *x\n", n) }
	for in, want := range map[string]string{
		list + repeats(20):   "",
		list + repeats(21):   "limit /l/20",
		long + repeats(1024): "",
		long + repeats(1025): "limit /l/1024",
		list + "a: {" + strings.TrimSuffix(strings.Repeat("<<: *x, ", 21), ", ") + "}":                      "yaml_feature /a",
		"!ignore x: &x {" + repeat(9_000, "k%07d: 1") + "}\n" + "l:\n" + strings.Repeat("- {<<: *x}\n", 13): "",
		"!ignore x: &x {" + repeat(9_000, "k%07d: 1") + "}\n" + "l:\n" + strings.Repeat("- {<<: *x}\n", 20): "limit /l/13",
	} {
		out, err := resource.ToJSON(resource.YAML, []byte(in))
		if got := strings.Join(found(t, err), ", "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%.60q: %v, want %s; %d bytes", in, got, want, len(out))
		}
	}
}

// TestT18_KeysThatAreAliasesRepeatWithinBounds: a key may be an alias too, and what it names counts like any other text that is repeated.
func TestT18_KeysThatAreAliasesRepeatWithinBounds(t *testing.T) {
	t.Parallel()
	key := "!ignore x: &k " + strings.Repeat("a", 1<<10) + "\n"
	object := "!ignore y: &y {*k : 1}\n" // its value has a byte too
	for in, want := range map[string]string{
		key + "l:\n" + strings.Repeat("- *k : 1\n", 1024):              "",
		key + "l:\n" + strings.Repeat("- *k : 1\n", 1025):              "limit /l/1024",
		key + "l:\n" + strings.Repeat("- <<: {*k : 1}\n", 1025):        "limit /l/1024",
		key + object + "l:\n" + strings.Repeat("- *y\n", 1025):         "limit /l/1023",
		key + object + "l:\n" + strings.Repeat("- <<: *y\n", 1025):     "limit /l/1023",
		key + "l: {" + strings.Repeat("<<: {*k : 1}, ", 1025) + "}":    "limit /l",
		"!ignore x: &k k\nl:\n" + strings.Repeat("- *k : 1\n", 20_000): "",
		"!ignore x: &k k\nl:\n" + strings.Repeat("- *k : 1\n", 20_001): "limit /l/20000",
		"!ignore x: &k k\nl: {*k : 1, *k : 2}":                         "duplicate_key /l/k",
		"!ignore x: &k [k]\nl: {*k : 1}":                               "yaml_feature /l",
	} {
		out, err := resource.ToJSON(resource.YAML, []byte(in))
		if got := strings.Join(found(t, err), ", "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%.60q...%.20q: %v, want %s; %d bytes", in, in[len(in)-20:], got, want, len(out))
		}
	}
}

// TestAResourceOfADiscoveryResponse: a resource may stand in a discovery.v3.Resource, which has its ttl, and alone without a list.
func TestAResourceOfADiscoveryResponse(t *testing.T) {
	t.Parallel()
	in := `{"resources":{"@type":"type.googleapis.com/envoy.service.discovery.v3.Resource","ttl":"30s","resource":{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a","nope":1}},"nonce":"x"}`
	a, err := resource.ParseApply([]byte(in))
	if err != nil || len(a.Resources) != 1 || a.Resources[0].Name != "a" || a.Resources[0].TTL != 30*time.Second {
		t.Fatal(a, err)
	}
	_, err = newCompiler().Compile(testKey, a.Resources[0])
	if diff := cmp.Diff([]string{"unknown_field /resources/resource/nope"}, found(t, err)); diff != "" {
		t.Error(diff)
	}
	d, err := resource.ParsePut([]byte(`{"resources":{"@type":"a.example/envoy.config.cluster.v3.Cluster","name":"a"},"nonce":"x","canary":false}`), fleet.Cluster, "a", "")
	if err != nil || string(d.Body) != `{"@type":"a.example/envoy.config.cluster.v3.Cluster","name":"a"}` {
		t.Error(d, err)
	}
}

// TestOldFieldsSayWhatIsWrittenToday: a field that Envoy's API had once is told with what has its place.
func TestOldFieldsSayWhatIsWrittenToday(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"hosts": [{}]`:    "/body/hosts: Envoy's API has this field no more: write load_assignment, with an endpoint for each host",
		`"tlsContext": {}`: "/body/tlsContext: Envoy's API has this field no more: write transport_socket, with the name envoy.transport_sockets.tls and a typed_config of envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
		`"transport_socket": {"name": "tls", "config": {}}`:      `/body/transport_socket/config: Envoy's API has this field no more: write typed_config, with the "@type" of its message`,
		`"lb_policy": "original_dst_lb"`:                         "/body/lb_policy: Envoy's API has this value no more: write CLUSTER_PROVIDED",
		`"load_balancing_policy": {"policies": [{"name": "x"}]}`: "/body/load_balancing_policy/policies/0/name: Envoy's API has this field no more: write typed_extension_config",
	} {
		if _, err := formed(t, fleet.Cluster, `{"name": "a", `+in+`}`, nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if say, ok := resource.OldField("envoy.config.bootstrap.v3.Bootstrap", "watchdog"); !ok || say != "Envoy's API has deprecated this field: write watchdogs" {
		t.Error(say)
	}
	for _, known := range []string{"admin", "no_such_field"} {
		if say, ok := resource.OldField("envoy.config.bootstrap.v3.Bootstrap", known); ok {
			t.Error(known, say)
		}
	}
}
