package httpapi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/internal/docdiff"
	"fairlead/internal/envoyconfig"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// costly makes documents of which it is not known what they cost: wide, deep and long ones, and all of that at once.
type costly struct {
	*rand.Rand
	n       int  // names that were made
	hostile bool // there are values that are refused
	wide    bool // what stands side by side is small
}

// name is a new one, short or long, with what has to be escaped now and then.
func (g *costly) name() string {
	g.n++
	s := fmt.Sprint("n", g.n)
	switch g.IntN(12) {
	case 0:
		s += strings.Repeat("x", g.IntN(600))
	case 1:
		s += `/~\"é\n`
	}
	return s
}

// many writes members or items until they come to so many bytes.
func (g *costly) many(bytes int, one func() string) string {
	var b strings.Builder
	for b.Len() < bytes {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(one())
	}
	return b.String()
}

// value is any JSON of about so many bytes.
func (g *costly) value(bytes, depth int) string {
	if depth > 0 && bytes > 16 {
		part := func() string { return g.value(g.part(bytes), depth-1) }
		switch g.IntN(5) {
		case 0:
			return `[` + g.many(bytes, part) + `]`
		case 1, 2:
			return `{` + g.many(bytes, func() string { return `"` + g.name() + `":` + part() }) + `}`
		case 3: // deep
			d := min(1+g.IntN(70), 1+bytes/4)
			return strings.Repeat(`{"a":[`, d/2) + g.value(bytes-6*(d/2), 0) + strings.Repeat(`]}`, d/2)
		}
	}
	kinds := 8
	if !g.hostile {
		kinds = 2
	}
	switch 7 - g.IntN(kinds) {
	case 7:
		return `"` + strings.Repeat([]string{"x", `\u00e9`, "\\n", "é", " ", "%", `\ud83d\ude00`}[g.IntN(7)], bytes/4+1) + `"`
	case 1:
		return strings.Repeat("1", min(bytes, 1+g.IntN(3000))) + []string{"", ".5", "e9", "e-400"}[g.IntN(4)]
	case 2:
		return []string{"null", "true", "false"}[g.IntN(3)]
	case 3:
		return `"${fleet.values.` + []string{"HOST", "HOSU"}[g.IntN(2)] + `}"`
	case 4:
		return `"[redacted]"`
	}
	return fmt.Sprintf(`"%d"`, g.IntN(1000))
}

// part is what one of several has of so many bytes: mostly little.
func (g *costly) part(bytes int) int {
	if g.wide {
		bytes = min(bytes, 32)
	}
	return int(math.Pow(float64(bytes), g.Float64()))
}

const costlyAny = `{"@type":"type.googleapis.com/%s"%s}`

// any is an Any of about so many bytes.
func (g *costly) any(bytes, depth int) string {
	typed := func(t, rest string) string { return fmt.Sprintf(costlyAny, t, rest) }
	switch g.IntN(7) {
	case 0:
		return typed("google.protobuf.Struct", `,"value":{`+g.members(bytes)+`}`)
	case 1:
		return typed("xds.type.v3.TypedStruct", `,"type_url":"type.googleapis.com/google.protobuf.Struct","value":{`+g.members(bytes)+`}`)
	case 2:
		if depth > 0 {
			return typed("xds.type.v3.TypedStruct", `,"type_url":"type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig","value":{"name":"x","typed_config":`+g.any(bytes, depth-1)+`}`)
		}
	case 3:
		if depth > 0 {
			return `{"value":` + g.any(bytes, depth-1) + `,"@type":"type.googleapis.com/google.protobuf.Any"}`
		}
	case 4:
		return typed("envoy.config.route.v3.RouteConfiguration", `,"virtual_hosts":[`+g.hosts(bytes)+`]`)
	case 5:
		return typed("envoy.extensions.transport_sockets.tls.v3.CommonTlsContext", `,"tls_certificates":[`+
			g.many(bytes, func() string {
				return `{"certificate_chain":{"filename":"/` + g.name() + `"},"private_key":{"filename":"/b"}}`
			})+`]`)
	}
	return typed("envoy.extensions.filters.http.router.v3.Router", "")
}

func (g *costly) members(bytes int) string {
	depth := g.IntN(4)
	return g.many(bytes, func() string { return `"` + g.name() + `":` + g.value(g.part(bytes), depth) })
}

func (g *costly) hosts(bytes int) string {
	return g.many(bytes, func() string {
		each := g.part(bytes)
		return `{"name":"` + g.name() + `","domains":[` + g.many(g.part(each), func() string { return `"` + g.name() + `"` }) + `],"routes":[` + g.many(each, func() string {
			switch g.IntN(5) {
			case 0:
				return `{"match":{"safe_regex":{"regex":"/` + strings.Repeat("(a|b)*", g.IntN(100)) + `"}},"redirect":{}}`
			case 1:
				return `{"match":{"prefix":"/"},"route":{"weighted_clusters":{"clusters":[` + g.many(g.part(each), func() string { return `{"name":"` + g.name() + `","weight":1}` }) + `]}}}`
			case 2:
				return `{"match":{"prefix":"/"},"typed_per_filter_config":{"` + g.name() + `":` + g.any(g.part(each), 2) + `},"route":{"cluster":"c"}}`
			}
			return `{"match":{"prefix":"/` + g.name() + `"},"route":{"cluster":"` + g.name() + `"}}`
		}) + `]}`
	})
}

// document is one of the API's, or of an Envoy's own.
func (g *costly) document(bytes int) (format resource.Format, text string) {
	of := func(slug, rest string) string {
		return fmt.Sprintf(`{"type":%q,"name":"a","body":{"name":"a",%s}}`, slug, rest)
	}
	g.hostile, g.wide = g.IntN(3) == 0, g.IntN(2) == 0
	switch g.IntN(12) {
	case 0:
		text = of("clusters", `"metadata":{"filter_metadata":{"x":{`+g.members(bytes)+`}}}`)
	case 1:
		text = of("clusters", `"typed_extension_protocol_options":{`+g.many(bytes, func() string { return `"` + g.name() + `":` + g.any(g.part(bytes), 3) })+`}`)
	case 2:
		text = of("listeners", `"filter_chains":[`+g.many(bytes, func() string {
			return `{"filters":[` + g.many(g.part(bytes), func() string { return `{"name":"` + g.name() + `","typed_config":` + g.any(g.part(bytes), 2) + `}` }) + `]}`
		})+`]`)
	case 3:
		text = of("routes", `"virtual_hosts":[`+g.hosts(bytes)+`]`)
	case 4:
		text = of("secrets", `"validation_context":{"trusted_ca":{"inline_string":`+g.value(bytes, 0)+`}}`)
	case 5: // what is no field
		text = of("clusters", g.members(bytes))
	case 6:
		text = of("clusters", `"health_checks":[`+g.many(bytes, func() string { return `{"timeout":"` + fmt.Sprint(g.IntN(9)) + `s","` + g.name() + `":1}` })+`]`)
	case 7:
		text = of("clusters", `"load_assignment":{"cluster_name":"a","endpoints":[`+g.many(bytes, func() string {
			return `{"lb_endpoints":[` + g.many(g.part(bytes), func() string {
				return `{"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":` + fmt.Sprint(g.IntN(65536)) + `}}},"metadata":{"filter_metadata":{"x":{` + g.members(16) + `}}}}`
			}) + `]}`
		})+`]}`)
	case 8:
		text = `{"resources":[` + g.many(bytes, func() string {
			n := g.name()
			return fmt.Sprintf(`{"type":"clusters","name":"%s","labels":{"a":"b"},"body":{"name":"%[1]s"}}`, n)
		}) + `]}`
	case 9:
		text = `{"static_resources":{"clusters":[` + g.many(bytes, func() string {
			return `{"name":"` + g.name() + `","metadata":{"filter_metadata":{"x":{` + g.members(g.part(bytes)) + `}}}}`
		}) + `],"listeners":[` + g.many(g.part(bytes), func() string {
			return `{"name":"` + g.name() + `","address":{"socket_address":{"address":"0.0.0.0","port_value":80}},"filter_chains":[{"filters":[{"name":"f","typed_config":` + g.any(g.part(bytes), 1) + `}]}]}`
		}) + `]}}`
	case 10: // nothing of all that
		text = g.value(bytes, 6)
	default:
		return resource.YAML, g.yaml(bytes)
	}
	if g.IntN(6) == 0 {
		return resource.YAML, text // JSON is YAML, mostly
	}
	if g.IntN(20) == 0 {
		text = text[:g.IntN(len(text))] // cut off
	}
	return resource.JSON, text
}

// yaml is a document in YAML's own forms.
func (g *costly) yaml(bytes int) string {
	var b strings.Builder
	b.WriteString("type: clusters\nname: a\nbody:\n  name: a\n  metadata:\n    filter_metadata:\n      x:\n")
	indent := 8
	for b.Len() < bytes {
		b.WriteString(strings.Repeat(" ", indent))
		switch g.IntN(8) {
		case 0:
			b.WriteString("# " + g.name() + "\n")
		case 1:
			fmt.Fprintf(&b, "k%d: |\n", b.Len())
			for range 1 + g.IntN(20) {
				b.WriteString(strings.Repeat(" ", indent+2) + "text: [\n")
			}
		case 2:
			fmt.Fprintf(&b, "k%d: [%s]\n", b.Len(), g.many(g.part(bytes), func() string { return "x" }))
		case 3:
			fmt.Fprintf(&b, "k%d:\n", b.Len())
			indent += 2
			fmt.Fprintf(&b, "%sk: 1\n", strings.Repeat(" ", indent))
			if indent > 60 {
				indent = 8
			}
		case 4:
			fmt.Fprintf(&b, "? k%d\n%s: \"\\u00e9\"\n", b.Len(), strings.Repeat(" ", indent))
		default:
			fmt.Fprintf(&b, "k%d: %d\n", b.Len(), g.IntN(10))
		}
	}
	return b.String()
}

// threadTime is the processor's time that this thread has had: others that use the machine do not show in it.
func threadTime() time.Duration {
	var u syscall.Rusage
	const thread = 1 // RUSAGE_THREAD
	_ = syscall.Getrusage(thread, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// costs does with a document what requests do with it, and tells of how many bytes each of them is and what it costs.
func costs(format resource.Format, in []byte, told func(request string, bytes int, took time.Duration)) {
	bytes := len(in)
	request := func(name string, f func()) {
		start := threadTime()
		f()
		told(name, bytes, threadTime()-start)
	}
	compiler := resource.NewCompiler(resource.Config{VersionKey: make([]byte, 32)})
	var cs []resource.Compiled
	request("a write", func() {
		out, err := resource.ToJSON(format, in)
		if err != nil {
			return
		}
		var docs []resource.Document
		if d, err := resource.ParseDocument(out); err == nil {
			docs = append(docs, d)
		} else if a, err := resource.ParseApply(out); err == nil {
			docs = a.Resources
		}
		for _, d := range docs {
			d.Fill = map[string]string{"HOST": "h"}
			if c, err := compiler.Compile(fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{1}}, d); err == nil {
				cs = append(cs, c)
			}
		}
	})
	request("an import", func() { _, _ = envoyconfig.Read(in, envoyconfig.Options{}) })
	rows := make([]store.Resource, len(cs))
	for i, c := range cs {
		summary, _ := summaryOf(c, "")
		rows[i] = store.Resource{Row: fleet.Row{Type: c.Type, Name: c.Name, Version: c.Version, Body: c.Value}, Labels: c.Labels, DocHash: c.DocHash, Summary: summary}
	}
	request("a reading", func() {
		for _, row := range rows {
			_, _ = resourceOf(row)
		}
	})
	request("findings", func() {
		var rs []findings.Resource
		for _, row := range rows {
			if row.Type != fleet.Secret {
				rs = append(rs, findings.Resource{Ref: fleet.Ref{Type: row.Type, Name: row.Name}, Facts: read.FactsOf(row)})
			}
		}
		_, _ = findings.Check(findings.Fleet{Resources: rs, Now: time.Now()})
	})
	var sides [][2]*shown
	for _, row := range rows {
		if before, err := shownOf(row); err == nil && before.Body != nil {
			sides = append(sides, [2]*shown{before, scrambled(before, len(in))})
			bytes += 2 * len(*before.Body) // of both sides, as they are told
		}
	}
	request("changes", func() {
		for _, side := range sides {
			if differ, _, err := compare(side[0], side[1]); err == nil {
				if _, whole := differ.Changes(maxDiffs); whole {
					differ.Unified("a", "b", docdiff.Context)
				}
			}
		}
	})
}

// scrambled is the same resource with many small changes in it.
func scrambled(s *shown, seed int) *shown {
	out := *s
	if s.Body != nil {
		text := []byte(*s.Body)
		for i := range text {
			if text[i] >= '0' && text[i] <= '8' && (i*31+seed)%7 == 0 && i > 0 && text[i-1] != 'u' && text[i-1] != '\\' {
				text[i]++
			}
		}
		raw := *s.Body
		raw = append(raw[:0:0], text...)
		out.Body = &raw
	}
	out.version = "another"
	return &out
}

// TestSoakT19_WhatOneRequestCosts: 10,000 documents that are wide, deep and long cost 50 ms and a microsecond for each of their bytes at most, each way that they can take, refused or
// accepted. Without FAIRLEAD_SOAK it is 150 of them, smaller ones, and four times that is let pass: a processor that others use too is slower, and
// what is not linear is further off. With the race detector it is a quarter of these, and what it slows is let pass too.
func TestSoakT19_WhatOneRequestCosts(t *testing.T) { // not parallel: it measures
	many, largest, factor := 150/(raceFactor/5+1), 1<<20, 4.*raceFactor
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		many, largest, factor = 10_000/(raceFactor/5+1), 3<<20, 1.*raceFactor
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	worst := map[string]float64{}
	for seed := range many {
		g := &costly{Rand: rand.New(rand.NewPCG(19, uint64(seed)))} //nolint:gosec // a test's
		format, text := g.document(64 + int(math.Pow(float64(largest-64), math.Sqrt(g.Float64()))))
		in := []byte(text[:min(len(text), maxDocument)])
		took := map[string]float64{} // in parts of what it may be
		for range 3 {                // the least of them: what disturbs is none of the document's
			over := false
			costs(format, in, func(request string, bytes int, d time.Duration) {
				part := float64(d) / float64(50*time.Millisecond+time.Duration(bytes)*time.Microsecond)
				if was, again := took[request]; !again || part < was {
					took[request] = part
				}
				over = over || took[request] > factor
			})
			if !over {
				break
			}
		}
		for request, part := range took {
			if worst[request] = max(worst[request], part); part > factor {
				t.Errorf("seed %d: %s of %d bytes costs %.1f times what it may: %.200s", seed, request, len(in), part, in)
			}
		}
		if t.Failed() && seed > 1000 {
			return
		}
	}
	t.Logf("the worst, in parts of 50 ms and a microsecond for each byte: %v", worst)
	if len(worst) != 5 {
		t.Error("not all requests were made")
	}
}
