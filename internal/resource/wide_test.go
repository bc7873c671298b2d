package resource_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/internal/resource"
)

// wide are documents whose size is in what stands side by side, or in one part of them, and not in depth. Each is
// about as many bytes as it is asked for.
var wide = map[string]struct {
	format resource.Format
	make   func(bytes int) string
}{
	"keys of a Struct":               {resource.JSON, func(n int) string { return inMetadata(repeat(n, `"k%07d":1`)) }},
	"objects in a Struct":            {resource.JSON, func(n int) string { return inMetadata(repeat(n, `"k%07d":{"a":[1]}`)) }},
	"below one long key":             {resource.JSON, func(n int) string { return inMetadata(longKey(n, repeat(n/2, `"%d"`))) }},
	"marks below one long key":       {resource.JSON, func(n int) string { return inMetadata(longKey(n, repeat(n/2, `"[redacted]"`))) }},
	"guarded below one long key":     {resource.JSON, func(n int) string { return dataSources(longName(n), repeat(n/2, `{"filename":"/x%d"}`)) }},
	"a placeholder below a long key": {resource.JSON, func(n int) string { return inMetadata(longKey(n, `"${fleet.values.HOST}",`+repeat(n/2, `"%d"`))) }},
	"placeholders":                   {resource.JSON, func(n int) string { return inMetadata(repeat(min(n, 64<<10), `"k%07d":"${fleet.values.HOST}"`)) }},
	"unknown placeholders":           {resource.JSON, func(n int) string { return inMetadata(repeat(min(n, 128<<10), `"k%d":"${fleet.values.HOSU}"`)) }},
	"unknown fields":                 {resource.JSON, func(n int) string { return wideCluster(repeat(n, `"f%07d":1`)) }},
	"unknown fields near a key":      {resource.JSON, func(n int) string { return inSecret(repeat(n, `"f%07d":1`)) }},
	"wrong values":                   {resource.JSON, func(n int) string { return wideCluster(`"health_checks":[` + repeat(n, `{"timeout":%d}`) + `]`) }},
	"wrong words":                    {resource.JSON, func(n int) string { return wideCluster(`"health_checks":[` + repeat(n, `{"x%d":"b"}`) + `]`) }},
	"broken constraints":             {resource.JSON, func(n int) string { return wideCluster(`"health_checks":[` + repeat(n, `{"timeout":"%ds"}`) + `]`) }},
	"entries of a map of Anys": {resource.JSON, func(n int) string {
		return wideCluster(`"typed_extension_protocol_options":{` + repeat(n, `"k%07d":`+anyOf) + `}`)
	}},
	"one list of Anys": {resource.JSON, func(n int) string { return wideListener(repeat(n, `{"name":"f%d","typed_config":`+anyOf+`}`)) }},
	"TypedStructs":     {resource.JSON, func(n int) string { return wideListener(repeat(n, `{"name":"f%d","typed_config":`+oneTyped+`}`)) }},
	"one wide TypedStruct": {resource.JSON, func(n int) string {
		return wideListener(`{"name":"f","typed_config":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/google.protobuf.Struct","value":{` + repeat(n, `"k%07d":1`) + `}}}`)
	}},
	"clusters that are named":     {resource.JSON, func(n int) string { return wideRoute(repeat(n, `{"match":{"prefix":"/"},"route":{"cluster":"c%d"}}`)) }},
	"clusters below one long key": {resource.JSON, clustersBelow},
	"headers": {resource.JSON, func(n int) string {
		return wideRoute(`{"match":{"prefix":"/"},"route":{"cluster":"c"},"request_headers_to_add":[` + repeat(n, `{"header":{"key":"x-%d","value":"v"}}`) + `]}`)
	}},
	"domains": {resource.JSON, func(n int) string {
		return wideDocument("routes", `"virtual_hosts":[{"name":"v","domains":[`+repeat(n, `"d%d"`)+`]}]`)
	}},
	"domains twice": {resource.JSON, func(n int) string {
		return wideDocument("routes", `"virtual_hosts":[{"name":"v","domains":[`+repeat(n, `"d"`)+`]}]`)
	}},
	"expressions": {resource.JSON, func(n int) string {
		return wideRoute(repeat(n, `{"match":{"safe_regex":{"regex":"/a%d{9}.*"}},"redirect":{}}`))
	}},
	"escapes":                 {resource.JSON, func(n int) string { return inMetadata(`"a":"` + strings.Repeat(`\u00e9\n`, n/8) + `"`) }},
	"a number of many digits": {resource.JSON, func(n int) string { return inMetadata(`"a":` + strings.Repeat(`1`, n) + `e-` + fmt.Sprint(n)) }},
	"labels": {resource.JSON, func(n int) string {
		return `{"type":"clusters","name":"a","labels":{` + repeat(n, `"k%d":"v"`) + `},"body":{"name":"a"}}`
	}},
	"requirements of a selector": {resource.JSON, func(n int) string {
		return `{"type":"clusters","name":"a","variant":"v","selector":"` + strings.ReplaceAll(repeat(n, `a%d=b`), `"`, ``) + `","body":{"name":"a"}}`
	}},
	"documents of an apply": {resource.JSON, func(n int) string {
		return `{"resources":[` + repeat(n, `{"type":"clusters","name":"a%[1]d","body":{"name":"a%[1]d"}}`) + `]}`
	}},
	"wrong documents of an apply": {resource.JSON, func(n int) string { return `{"resources":[` + repeat(n, `{"type":"clusters","name":"a%d"}`) + `]}` }},
	"deletions":                   {resource.JSON, func(n int) string { return `{"delete":[` + repeat(n, `{"type":"clusters","name":"a%d"}`) + `]}` }},
	"the type last":               {resource.JSON, func(n int) string { return nestedTypeLast(n, 14) }},
	"TypedStructs in each other":  {resource.JSON, func(n int) string { return nestedTyped(n, 12) }},
	"TypedStructs by their URLs":  {resource.JSON, func(n int) string { return typedByURL(n, "type_url", 50) }},
	"TypedStructs by other names": {resource.JSON, func(n int) string { return typedByURL(n, "typeUrl", 50) }},
	"subject of many parts":       {resource.JSON, certificateOf},
	"blocks before space": {resource.JSON, func(n int) string {
		return caOf(strings.Repeat(`-----BEGIN A-----\n-----END A-----\n`, n/80) + strings.Repeat(" ", n/2))
	}},
	"blocks without an end":      {resource.JSON, func(n int) string { return caOf(strings.Repeat(`-----BEGIN A-----\n`, n/20)) }},
	"a private key of many bits": {resource.JSON, largeKey},
	"one element for each list": {resource.JSON, func(n int) string {
		return wideRoute(repeat(n, `{"match":{"prefix":"/"},"route":{"cluster":"c","hash_policy":{"header":{"header_name":"h"}},"retry_policy":{"retriable_status_codes":"0500"}}}`))
	}},
	"lists in lists": {resource.JSON, func(n int) string {
		return wideRoute(strings.Repeat("[", 40) + repeat(n, `[{"match":{"prefix":"/"},"route":{"cluster":"c"}}]`) + strings.Repeat("]", 40))
	}},
	"enums in small letters": {resource.JSON, func(n int) string {
		return wideRoute(repeat(n, `{"match":{"prefix":"/"},"redirect":{"response_code":"see_other"}}`))
	}},
	"durations as objects": {resource.JSON, func(n int) string {
		return wideRoute(repeat(n, `{"match":{"prefix":"/"},"route":{"cluster":"c","timeout":{"seconds":"005","nanos":5}}}`))
	}},
	"seconds of many digits": {resource.JSON, func(n int) string {
		return wideRoute(`{"match":{"prefix":"/"},"route":{"cluster":"c","timeout":{"seconds":"` + strings.Repeat("1", 8*n) + `"}}}`)
	}},
	"seconds of many decimals": {resource.JSON, func(n int) string {
		return wideRoute(`{"match":{"prefix":"/"},"route":{"cluster":"c","timeout":{"seconds":1.` + strings.Repeat("0", 8*n) + `}}}`)
	}},
	"YAML keys": {resource.YAML, func(n int) string {
		return "{type: clusters, name: a, body: {name: a, metadata: {filter_metadata: {x: {" + repeat(n/2, "k%07d: 1") + "}}}}}"
	}},
	"YAML blocks": {resource.YAML, func(n int) string {
		return "type: clusters\nname: a\nbody:\n  name: a\n  metadata:\n    filter_metadata:\n      x:\n" + strings.ReplaceAll(repeat(n/2, "        k%07d: 1\n"), ",", "")
	}},
	"YAML quoted keys":       {resource.YAML, func(n int) string { return "{" + repeat(n/2, `"k%07d": "x"`) + "}" }},
	"YAML explicit keys":     {resource.YAML, func(n int) string { return "{" + repeat(n/2, `? k%07d`) + "}" }},
	"YAML plain text":        {resource.YAML, func(n int) string { return "a: " + strings.Repeat("word\n   ", n/8) }},
	"YAML folded text":       {resource.YAML, func(n int) string { return "a: >\n" + strings.Repeat("  word\n\n", n/8) }},
	"YAML escapes":           {resource.YAML, func(n int) string { return `a: "` + strings.Repeat(`\u00e9`, n/6) + `"` }},
	"YAML comments":          {resource.YAML, func(n int) string { return "a: 1\n" + strings.Repeat("# c\n", n/4) + "b: 2\n" }},
	"YAML comments between":  {resource.YAML, func(n int) string { return strings.ReplaceAll(repeat(n, "# c\nk%07d: 1 # d\n"), ",", "") }},
	"YAML comments in lists": {resource.YAML, func(n int) string { return "a:\n" + strings.ReplaceAll(repeat(n, "# c\n\n- %d # d\n"), ",", "") }},
	"YAML empty lines":       {resource.YAML, func(n int) string { return "a: 1\n" + strings.Repeat("\n", n) + "b: 2\n" }},
	"YAML anchors":           {resource.YAML, func(n int) string { return "[" + repeat(n/2, "&a%d x") + "]" }},
	"YAML aliases":           {resource.YAML, func(n int) string { return "- &a x\n" + strings.Repeat("- *a\n", n/8) }},
	"YAML aliases of an object": {resource.YAML, func(n int) string {
		return "{type: clusters, name: a, body: {name: a, metadata: {filter_metadata: {x: {!ignore a: &a {" + repeat(n/40, "k%07d: 1") + "}, " + repeat(n/2, "b%d: *a") + "}}}}}"
	}},
	"YAML merge keys": {resource.YAML, func(n int) string {
		return "a: &a {" + repeat(n/40, "k%07d: 1") + "}\nb:\n  <<:\n" + strings.Repeat("  - *a\n", n/8)
	}},
	"YAML documents":  {resource.YAML, func(n int) string { return strings.Repeat("--- a\n", n/6) }},
	"YAML directives": {resource.YAML, func(n int) string { return strings.ReplaceAll(repeat(n, "%%TAG !a%d! x\n"), ",", "") + "--- {a: 1}\n" }},
	"YAML directives later": {resource.YAML, func(n int) string {
		return "a: 1\n...\n" + strings.ReplaceAll(repeat(n, "%%TAG !a%d! x\n"), ",", "") + "--- {a: 1}\n"
	}},
	"YAML tags":          {resource.YAML, func(n int) string { return "[" + repeat(n/2, "!!str x%d") + "]" }},
	"YAML nested flow":   {resource.YAML, func(n int) string { return strings.Repeat("[", 60) + repeat(n/2, "x%d") + strings.Repeat("]", 60) }},
	"YAML open brackets": {resource.YAML, func(n int) string { return strings.Repeat("[", min(n, 9_000)) + strings.Repeat("x ", n/2) }},
	"YAML indents":       {resource.YAML, indents},
}

const (
	anyOf    = `{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}`
	oneTyped = `{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router","value":{"suppress_envoy_headers":true}}`
)

// repeat writes the form with a number, with commas between, until there are so many bytes.
func repeat(bytes int, form string) string {
	var b strings.Builder
	for i := 0; i == 0 || b.Len() < bytes; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(form, "%") {
			fmt.Fprintf(&b, form, i)
		} else {
			b.WriteString(form)
		}
	}
	return b.String()
}

func wideDocument(slug, rest string) string {
	return fmt.Sprintf(`{"type":%q,"name":"a","body":{"name":"a",%s}}`, slug, rest)
}

func wideCluster(rest string) string { return wideDocument("clusters", rest) }
func wideListener(filters string) string {
	return wideDocument("listeners", `"filter_chains":[{"filters":[`+filters+`]}]`)
}
func wideRoute(routes string) string {
	return wideDocument("routes", `"virtual_hosts":[{"name":"v","domains":["*"],"routes":[`+routes+`]}]`)
}
func inMetadata(members string) string {
	return wideCluster(`"metadata":{"filter_metadata":{"x":{` + members + `}}}`)
}
func inSecret(members string) string {
	return wideDocument("secrets", `"generic_secret":{`+members+`}`)
}

func longName(n int) string              { return strings.Repeat("k", n/2) }
func longKey(n int, items string) string { return `"` + longName(n) + `":[` + items + `]` }

// dataSources are in the configuration of one extension.
func dataSources(name, sources string) string {
	return wideCluster(`"typed_extension_protocol_options":{"` + name + `":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.CommonTlsContext","validation_context":{"trusted_ca":{"filename":"/a"}},"tls_certificates":[` +
		strings.ReplaceAll(sources, `{"filename"`, `{"certificate_chain":{"filename":"/a"},"private_key":{"filename":"/b"},"password":{"filename"`) + `]}}`)
}

func clustersBelow(n int) string {
	return wideDocument("routes", `"virtual_hosts":[{"name":"v","domains":["*"],"typed_per_filter_config":{"`+longName(n)+`":{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","virtual_hosts":[{"name":"v","domains":["*"],"routes":[`+
		repeat(n/2, `{"match":{"prefix":"/"},"route":{"cluster":"c%d"}}`)+`]}]}}}]`)
}

// nestedTypeLast are Anys in each other whose "@type" follows all that they hold.
func nestedTypeLast(n, depth int) string {
	const typed = `"@type":"type.googleapis.com/google.protobuf.Any"`
	inner := `{"value":{` + repeat(n, `"k%07d":1`) + `},"@type":"type.googleapis.com/google.protobuf.Struct"}`
	return wideCluster(`"typed_extension_protocol_options":{"x":` + strings.Repeat(`{"value":`, depth) + inner + strings.Repeat(`,`+typed+`}`, depth) + `}`)
}

func nestedTyped(n, depth int) string {
	const open = `{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig","value":{"name":"x","typed_config":`
	inner := `{"@type":"type.googleapis.com/google.protobuf.Struct","value":{` + repeat(n, `"k%07d":1`) + `}}`
	return wideCluster(`"typed_extension_protocol_options":{"x":` + strings.Repeat(open, depth) + inner + strings.Repeat(`}}`, depth) + `}`)
}

// typedByURL are TypedStructs in each other, of which the outermost alone has an "@type".
func typedByURL(n int, key string, depth int) string {
	open := `"` + key + `":"type.googleapis.com/xds.type.v3.TypedStruct","value":{`
	inner := `"` + key + `":"type.googleapis.com/envoy.config.core.v3.Metadata","value":{"filter_metadata":{"x":{` + repeat(n, `"k%07d":1`) + `}}}`
	return wideCluster(`"typed_extension_protocol_options":{"x":{"@type":"type.googleapis.com/xds.type.v3.TypedStruct",` + strings.Repeat(open, depth) + inner + strings.Repeat(`}`, depth) + `}}`)
}

func caOf(pem string) string {
	return wideDocument("secrets", `"validation_context":{"trusted_ca":{"inline_string":"`+pem+`"}}`)
}

func indents(n int) string {
	var b strings.Builder
	for b.Len() < n {
		for d := range 40 {
			fmt.Fprintf(&b, "%sk%d_%d:\n", strings.Repeat(" ", d), d, b.Len())
		}
	}
	return b.String()
}

// stages are what is done with a document, each one of them in a request.
type stages struct {
	t    testing.TB
	most time.Duration
	all  time.Duration
}

// stage does one thing, again if something disturbs it.
func (s *stages) stage(name string, f func()) {
	var took time.Duration
	for range 3 {
		if took = threadTime(f); took <= s.most || took > 4*s.most {
			break
		}
	}
	s.all += took
	if took > s.most {
		s.t.Errorf("%s took %v, more than %v", name, took, s.most)
	}
}

// through takes a document the whole way.
func (s *stages) through(format resource.Format, in []byte) (wrong error) {
	var out []byte
	s.stage("to JSON", func() { out, wrong = resource.ToJSON(format, in) })
	if wrong != nil {
		return wrong
	}
	var docs []resource.Document
	s.stage("to documents", func() { docs, wrong = documentsOf(out) })
	if wrong != nil {
		return wrong
	}
	values := map[string]string{"HOST": "h"}
	for i := range 100 {
		values[fmt.Sprintf("HOSV%d", i)] = "x"
	}
	var cs []resource.Compiled
	s.stage("compile", func() {
		cs = nil
		for _, d := range docs {
			d.Fill = values
			c, err := newCompiler().Compile(testKey, d)
			if wrong = err; err == nil {
				cs = append(cs, c)
			}
		}
	})
	each := func(f func(c resource.Compiled)) func() {
		return func() {
			for _, c := range cs {
				f(c)
			}
		}
	}
	s.stage("facts", each(func(c resource.Compiled) { _, _ = resource.FactsOf(c.Type, c.Value) }))
	s.stage("derive", each(func(c resource.Compiled) { _, _ = resource.Derive(c.Type, c.Value) }))
	s.stage("render", each(func(c resource.Compiled) { _, _ = resource.RenderWritten(c.Type, c.Value, c.Placeholders) }))
	return wrong
}

func documentsOf(in []byte) ([]resource.Document, error) {
	if strings.HasPrefix(string(in[:min(len(in), 12)]), `{"resources"`) || strings.HasPrefix(string(in[:min(len(in), 12)]), `{"delete"`) {
		a, err := resource.ParseApply(in)
		return a.Resources, err
	}
	d, err := resource.ParseDocument(in)
	return []resource.Document{d}, err
}

// threadTime is the processor's time that f takes on its thread: others that use the machine do not show in it.
func threadTime(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := usedByThread()
	f()
	return usedByThread() - start
}

func usedByThread() time.Duration {
	var u syscall.Rusage
	const thread = 1 // RUSAGE_THREAD
	_ = syscall.Getrusage(thread, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestT19_WideDocumentsCostWhatTheyAreLong: what is done with a document costs 50 ms and a microsecond for each byte at most, whatever stands in it side by side; twice
// that is let pass here, because a processor that others use too is slower.
// What looks a member up by looking at all of them, or writes a place out for each of its values, costs many times that. With the race detector
// the documents are small, and only what is far off shows.
func TestT19_WideDocumentsCostWhatTheyAreLong(t *testing.T) { // not parallel: it measures
	for name, w := range wide {
		t.Run(name, func(t *testing.T) {
			in := []byte(w.make(256 << 10 / (3*raceFactor/15 + 1)))
			s := stages{t: t, most: (50*time.Millisecond + time.Duration(len(in))*time.Microsecond) * (raceFactor + 3) / 2}
			wrong := s.through(w.format, in)
			t.Logf("%4d KiB: %v %.99v", len(in)>>10, s.all, wrong)
		})
	}
}
