package snapshot_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// proxy is a model of an Envoy on an aggregated stream: it applies responses, answers
// clusters only when their endpoints are there, refuses what is poison, and then may
// have applied any of the rest.
type proxy struct {
	t      *rapid.T
	client snapshot.Client
	snap   *snapshot.Snapshot
	except []snapshot.Exception

	holds   [fleet.NumTypes]map[string]*snapshot.Resource
	asked   [fleet.NumTypes]map[string]bool // names subscribed to
	missing map[string]bool                 // endpoints that it was told do not exist
	answers []*snapshot.Response            // received, not answered
	seen    map[string]bool                 // contents that were refused
	sent    int
}

func newProxy(t *rapid.T, delta bool, s *snapshot.Snapshot) *proxy {
	p := &proxy{t: t, client: snapshot.Client{Delta: delta, Envoy: true}, snap: s, seen: map[string]bool{}, missing: map[string]bool{}}
	for i := range p.holds {
		p.holds[i], p.asked[i] = map[string]*snapshot.Resource{}, map[string]bool{}
	}
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener} {
		p.client.Subscribe(snapshot.Request{Type: typ}, p.target())
	}
	return p
}

func (p *proxy) target() *snapshot.Target { return snapshot.NewTarget(p.snap, p.except) }

// receive takes the next response, if there is one, as the wire would bring it.
func (p *proxy) receive() bool {
	r := p.client.Next(p.target())
	if r == nil {
		return false
	}
	p.sent++
	if content := describe(r); p.seen[content] {
		p.t.Fatalf("refused and sent again: %s", content)
	}
	p.client.Sent(r, fmt.Sprint(p.sent))
	p.answers = append(p.answers, r)
	return true
}

func describe(r *snapshot.Response) string {
	var b strings.Builder
	b.WriteString(r.Type.Slug())
	for _, x := range r.Resources {
		fmt.Fprintf(&b, " %s@%s", x.Name, x.Version)
	}
	for _, n := range r.Removed {
		b.WriteString(" -" + n)
	}
	return b.String()
}

func poison(r *snapshot.Resource) bool { return strings.HasSuffix(r.Version, "!") }

// answer answers one response that can be answered.
func (p *proxy) answer(pick func(n int) int) bool {
	var ready []int
	for i, r := range p.answers {
		if p.apply(r, nil) { // would it be warm?
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		return false
	}
	i := ready[pick(len(ready))]
	r := p.answers[i]
	p.answers = slices.Delete(p.answers, i, i+1)
	var bad []string
	for _, x := range r.Resources {
		if poison(x) {
			bad = append(bad, x.Name)
		}
	}
	if len(bad) == 0 {
		p.apply(r, func(string) bool { return true })
		p.client.Acknowledge(r.Type, r.Nonce)
		p.subscribe()
		p.check("after " + describe(r))
		return true
	}
	p.seen[describe(r)] = true
	p.apply(r, func(name string) bool { return !slices.Contains(bad, name) && rapid.Bool().Draw(p.t, "half") })
	text := ""
	if rapid.Bool().Draw(p.t, "names the culprit") {
		text = "Error adding " + strings.Join(bad, ", ")
	}
	blamed, ok := p.client.Refuse(r.Type, r.Nonce, text)
	if !ok || len(blamed) == 0 {
		p.t.Fatalf("nobody is blamed for %s", describe(r))
	}
	for _, b := range blamed {
		p.except = append(p.except, snapshot.Exception{Type: r.Type, Name: b.Refused.Name, Refused: b.Refused.Version, Good: b.Good})
	}
	p.subscribe()
	return true
}

// apply makes the response's resources held, as far as take says; without take it only
// tells whether the response could be answered now: clusters when they are warm.
func (p *proxy) apply(r *snapshot.Response, take func(name string) bool) bool {
	if take == nil {
		if r.Type != fleet.Cluster {
			return true
		}
		for _, x := range r.Resources {
			if !poison(x) && x.EDSName != "" && p.holds[fleet.Endpoint][x.EDSName] == nil && !p.missing[x.EDSName] && p.asked[fleet.Endpoint][x.EDSName] {
				return false
			}
		}
		return true
	}
	in := map[string]bool{}
	for _, x := range r.Resources {
		in[x.Name] = true
		if named := r.Type == fleet.Endpoint || r.Type == fleet.Route; named && !p.asked[r.Type][x.Name] {
			continue // given up meanwhile
		}
		if take(x.Name) {
			p.holds[r.Type][x.Name] = x
		}
	}
	for _, n := range r.Removed {
		if take(n) {
			delete(p.holds[r.Type], n)
			p.missing[n] = p.missing[n] || r.Type == fleet.Endpoint
		}
	}
	if !p.client.Delta && r.Type.FullSet() {
		for n := range p.holds[r.Type] {
			if !in[n] && take(n) {
				delete(p.holds[r.Type], n)
			}
		}
	}
	return true
}

// subscribe asks for what the held resources name, and gives up the rest. Endpoints of
// clusters that are on their way are asked for as well.
func (p *proxy) subscribe() {
	endpoints, routes := map[string]bool{}, map[string]bool{}
	for _, c := range p.holds[fleet.Cluster] {
		endpoints[c.EDSName] = true
	}
	for _, r := range p.answers {
		if r.Type == fleet.Cluster {
			for _, c := range r.Resources {
				endpoints[c.EDSName] = true
			}
		}
	}
	for _, l := range p.holds[fleet.Listener] {
		for _, ref := range l.Refs {
			routes[ref.Name] = true
		}
	}
	p.ask(fleet.Endpoint, endpoints)
	p.ask(fleet.Route, routes)
}

func (p *proxy) ask(t fleet.Type, want map[string]bool) {
	if maps.Equal(want, p.asked[t]) {
		return
	}
	r := snapshot.Request{Type: t}
	for n := range want {
		if !p.client.Delta || !p.asked[t][n] {
			r.Names = append(r.Names, n)
		}
	}
	for n := range p.asked[t] {
		if !want[n] {
			delete(p.holds[t], n)
			delete(p.missing, n)
			if p.client.Delta {
				r.Dropped = append(r.Dropped, n)
			}
		}
	}
	slices.Sort(r.Names)
	p.asked[t] = want
	p.client.Subscribe(r, p.target())
}

// check: no route that the proxy holds names a cluster that it does not hold, as long as
// it refuses nothing: what it dropped by applying half of a response is not ours to order.
func (p *proxy) check(when string) {
	if len(p.seen) > 0 {
		return
	}
	for _, r := range p.holds[fleet.Route] {
		for _, ref := range r.Refs {
			if p.holds[fleet.Cluster][ref.Name] == nil {
				p.t.Fatalf("%s: route %s@%s names %s, which the proxy does not have", when, r.Name, r.Version, ref.Name)
			}
		}
	}
}

// settle lets everything come to rest.
func (p *proxy) settle() {
	for range 500 {
		for p.receive() {
			p.subscribe()
		}
		if !p.answer(func(int) int { return 0 }) && p.client.Next(p.target()) == nil {
			if len(p.answers) > 0 {
				p.t.Fatalf("stuck with %s unanswered: endpoints %v, asked for %v", describe(p.answers[0]), p.holds[fleet.Endpoint], p.asked[fleet.Endpoint])
			}
			return
		}
	}
	p.t.Fatal("no rest after 500 answers")
}

// world draws a fleet in which every route names clusters that exist, and every
// listener a route that does.
func drawFleet(t *rapid.T, before *snapshot.Snapshot, poisonous bool) *snapshot.Snapshot {
	next := &snapshot.Snapshot{Revision: 1}
	if before != nil {
		next.Revision = before.Revision + 1
	}
	version := func(label string) string {
		v := fmt.Sprint(rapid.IntRange(1, 3).Draw(t, label))
		if poisonous && rapid.IntRange(0, 5).Draw(t, "poison") == 0 {
			v += "!"
		}
		return v
	}
	put := func(typ fleet.Type, name, version string, d fleet.Derived) {
		row := fleet.Row{Type: typ, Name: name, Version: version + fmt.Sprint(d.Refs), Derived: d, Revision: next.Revision}
		if strings.Contains(version, "!") {
			row.Version += "!"
		}
		next.Types[typ] = next.Types[typ].With(snapshot.NewResource(typ, row, []byte(row.Version)))
	}
	clusters := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 4, rapid.ID).Draw(t, "clusters")
	for _, c := range clusters {
		put(fleet.Cluster, c, version("cluster"), fleet.Derived{EDSName: c})
		put(fleet.Endpoint, c, fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "endpoint")), fleet.Derived{})
	}
	for _, r := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"r", "s"}), 0, 2, rapid.ID).Draw(t, "routes") {
		named := rapid.SliceOfNDistinct(rapid.SampledFrom(clusters), 1, 2, rapid.ID)
		var refs []fleet.Ref
		for _, c := range named.Draw(t, "named") {
			refs = append(refs, fleet.Ref{Type: fleet.Cluster, Name: c})
		}
		put(fleet.Route, r, version("route"), fleet.Derived{Refs: refs})
		put(fleet.Listener, "l"+r, version("listener"), fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Route, Name: r}}})
	}
	return next
}

// TestMakeBeforeBreak plays random histories of a fleet against the model.
func TestMakeBeforeBreak(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for _, poisonous := range []bool{false, true} {
			t.Run(fmt.Sprintf("delta=%v poison=%v", delta, poisonous), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) {
					s := drawFleet(t, nil, poisonous)
					p := newProxy(t, delta, s)
					for range rapid.IntRange(1, 30).Draw(t, "steps") {
						switch rapid.SampledFrom([]string{"change", "receive", "answer", "answer"}).Draw(t, "step") {
						case "change":
							p.snap = drawFleet(t, p.snap, poisonous)
						case "receive":
							p.receive()
							p.subscribe()
						case "answer":
							p.answer(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") })
						}
					}
					p.settle()
					if !poisonous {
						p.wantAll()
					}
				})
			})
		}
	}
}

// wantAll: at rest the proxy holds exactly the fleet.
func (p *proxy) wantAll() {
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Route, fleet.Endpoint} {
		want, got := contents(p.snap.Types[typ]), map[string]string{}
		for n, r := range p.holds[typ] {
			got[n] = r.Version
		}
		if !maps.Equal(got, want) {
			p.t.Fatalf("%s at rest: %v, want %v", typ, got, want)
		}
	}
	if p.client.Settled() != p.snap.Revision {
		p.t.Fatalf("settled at %d at rest, want %d", p.client.Settled(), p.snap.Revision)
	}
}
