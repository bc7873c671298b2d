package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	_ "fairlead/test/pinned" // the same histories each time
)

// proxy is a model of an Envoy on an aggregated stream: it applies responses, answers
// clusters only when their endpoints are there, refuses what is poison, and then may
// have applied any of the rest.
type proxy struct {
	t      *rapid.T
	client client
	snap   *snapshot.Snapshot
	except []snapshot.Exception

	holds    [fleet.NumTypes]map[string]*snapshot.Resource
	asked    [fleet.NumTypes]map[string]bool // names subscribed to
	missing  map[string]bool                 // endpoints that it was told do not exist
	answers  []*response                     // received, not answered
	seen     map[string]bool                 // contents that were refused
	firsts   map[string]string               // routes: the version that it had first
	sticky   map[string]bool                 // clusters that hold back every answer for clusters
	came     map[string]int                  // endpoints: the number of the response that brought them last
	returned bool                            // it has lost a stream
	// asksClusters: the proxy has still to ask for clusters on this stream.
	asksClusters bool
	// apart: it asks for no clusters, and came with nothing that tells it from a process that takes none from here, on this stream or one before. It
	// served nothing then (SEMANTICS 3.8c).
	apart bool
	// reported are the versions of what was in ACKed responses: what Envoy lists on a new
	// stream, whatever it has applied of refused ones.
	reported [fleet.NumTypes]map[string]string
	accepted [fleet.NumTypes]string // version_info
	// left are the revisions of which a refusal of a whole set, that named nobody, left the
	// type as it was: what the proxy held before was not known.
	left  [fleet.NumTypes]fleet.Revision
	words []string // of the held answers, for the next one in state of the world
	sent  int
	snaps map[fleet.Revision]*snapshot.Snapshot
	at    []fleet.Revision // of the exceptions: when they were made
}

// before is what the proxy was to hold when it settled, as the database tells it; nil if it is the present.
func (p *proxy) before(settled fleet.Revision) *snapshot.Snapshot {
	snap := p.snaps[settled]
	if snap == nil {
		return nil
	}
	own := &snapshot.Snapshot{Revision: settled}
	var es []snapshot.Exception
	for i, e := range p.except {
		switch {
		case p.at[i] > settled || !e.Applies(snap):
		case e.Leave:
			own.Unknown = append(own.Unknown, e.Ref())
		default:
			es = append(es, e)
		}
	}
	if snap == p.snap && len(es)+len(own.Unknown) == 0 {
		return nil
	}
	own.Types = snapshot.NewTarget(snap, es).Types
	return own
}

// change gives the fleet other content.
func (p *proxy) change(s *snapshot.Snapshot) { p.snap, p.snaps[s.Revision] = s, s }

func newProxy(t *rapid.T, delta bool, s *snapshot.Snapshot) *proxy {
	p := &proxy{t: t, client: client{t: t, Delta: delta, Envoy: true}, seen: map[string]bool{}, firsts: map[string]string{}, missing: map[string]bool{}, sticky: map[string]bool{}, came: map[string]int{}, snaps: map[fleet.Revision]*snapshot.Snapshot{}}
	p.change(s)
	p.client.Now = start
	for i := range p.holds {
		p.holds[i], p.asked[i] = map[string]*snapshot.Resource{}, map[string]bool{}
		p.reported[i] = map[string]string{}
	}
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener} {
		p.client.Subscribe(request{Type: typ}, p.target())
	}
	return p
}

func (p *proxy) target() *snapshot.Target { return snapshot.NewTarget(p.snap, p.except) }

// receive takes the next response, if there is one, as the wire would bring it.
func (p *proxy) receive() bool {
	r := p.client.Next(p.target())
	p.judge()
	if r == nil {
		r = p.client.Next(p.target())
	}
	if r == nil {
		return false
	}
	p.sent++
	if p.seen[p.content(r)] {
		p.t.Fatalf("refused and sent again: %s", describe(r))
	}
	for _, x := range r.Resources {
		if old := p.holds[r.Type][x.Name]; old == nil && r.Type == fleet.Listener && missing(x, p.target()) && len(p.seen) == 0 && !p.returned {
			p.t.Fatalf("%s: the route that %s names is not there", describe(r), x.Name)
		}
	}
	p.checkEndpoints(r)
	p.t.Logf("gets %s", describe(r))
	p.client.Sent(r, fmt.Sprint(p.sent))
	p.stick(r)
	p.answers = append(p.answers, r)
	return true
}

// checkEndpoints: a route does not begin to go to a cluster that the proxy asks endpoints for and was left without, though the route was written with some,
// unless the fleet has the cluster without any by now.
func (p *proxy) checkEndpoints(r *response) {
	if r.Type != fleet.Route || len(p.seen) > 0 || p.returned {
		return
	}
	now := p.target()
	for _, x := range r.Resources {
		for _, ref := range x.Refs {
			had := p.snaps[x.Revision].Types[fleet.Endpoint].Get(ref.Name) != nil
			emptied := now.Types[fleet.Cluster].Get(ref.Name) != nil && now.Types[fleet.Endpoint].Get(ref.Name) == nil
			if old := p.holds[fleet.Route][x.Name]; !had || emptied || !p.asked[fleet.Endpoint][ref.Name] || old != nil && old.Names(ref) {
				continue
			}
			if e := p.sentEndpoints(ref.Name); e == nil || e.Empty {
				p.t.Fatalf("%s: %s has no endpoints with the proxy", describe(r), ref.Name)
			}
		}
	}
}

// sentEndpoints is what the proxy has, or will have, of a name.
func (p *proxy) sentEndpoints(name string) *snapshot.Resource {
	e := p.holds[fleet.Endpoint][name]
	for _, r := range p.answers {
		if r.Type != fleet.Endpoint {
			continue
		}
		if slices.Contains(r.Removed, name) {
			e = nil
		}
		for _, x := range r.Resources {
			if x.Name == name {
				e = x
			}
		}
	}
	return e
}

// content is what must not come twice. A later revision that brings a refused version back
// asks again.
func (p *proxy) content(r *response) string {
	return fmt.Sprintf("%d %s", p.snap.Revision, describe(r))
}

func describe(r *response) string {
	var b strings.Builder
	if r.Heartbeat {
		b.WriteString("heartbeat ")
	}
	b.WriteString(r.Type.Slug())
	for _, x := range r.Resources {
		fmt.Fprintf(&b, " %s@%s", x.Name, x.Version)
		for _, a := range r.Aliases[x.Name] {
			b.WriteString("=" + a)
		}
	}
	for _, n := range r.Removed {
		b.WriteString(" -" + n)
	}
	for _, n := range r.Nonexistent {
		b.WriteString(" ?" + n)
	}
	return b.String()
}

func poison(r *snapshot.Resource) bool {
	return strings.HasSuffix(r.Version, "!") || sticks(r)
}

// sticks: Envoy's load balancer refuses it, but says so only when it is replaced.
func sticks(r *snapshot.Resource) bool { return strings.HasSuffix(r.Version, "?") }

// stick notes, as a response arrives, which clusters hold back all answers. One by itself is refused at once: an Envoy sticks only where the response
// brings a good one that it has not, or takes one away that it has (seen with 1.40).
func (p *proxy) stick(r *response) {
	if r.Type != fleet.Cluster || r.Heartbeat {
		return
	}
	holds := p.holds[fleet.Cluster]
	pauses := slices.ContainsFunc(r.Resources, func(x *snapshot.Resource) bool {
		return !poison(x) && (holds[x.Name] == nil || holds[x.Name].Version != x.Version)
	})
	for n := range holds {
		gone := slices.Contains(r.Removed, n)
		if !p.client.Delta {
			gone = !slices.ContainsFunc(r.Resources, func(x *snapshot.Resource) bool { return x.Name == n })
		}
		pauses = pauses || gone
	}
	in := map[string]bool{}
	for _, x := range r.Resources {
		in[x.Name] = true
		delete(p.sticky, x.Name)
		if sticks(x) && pauses {
			p.sticky[x.Name] = true
		}
	}
	for _, n := range r.Removed {
		delete(p.sticky, n)
	}
	for n := range p.sticky {
		if !p.client.Delta && !in[n] {
			delete(p.sticky, n)
		}
	}
}

// swallow: in state of the world only the last of several held responses is answered,
// with the words for those before.
func (p *proxy) swallow() {
	var clusters []int
	for i, r := range p.answers {
		if r.Type == fleet.Cluster {
			clusters = append(clusters, i)
		}
	}
	if p.client.Delta || len(clusters) < 2 {
		return
	}
	for _, i := range slices.Backward(clusters[:len(clusters)-1]) {
		for _, x := range p.answers[i].Resources {
			if poison(x) {
				p.words = append(p.words, x.Name)
			}
		}
		p.answers = slices.Delete(p.answers, i, i+1)
	}
}

// answer answers one response that can be answered.
func (p *proxy) answer(pick func(n int) int) bool {
	var ready []int
	if len(p.sticky) == 0 {
		p.swallow()
	}
	first := true // of the clusters: they are answered in order
	for i, r := range p.answers {
		if r.Type == fleet.Cluster {
			if len(p.sticky) > 0 || !first {
				continue
			}
			first = false
		}
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
		words := ""
		if r.Type == fleet.Cluster && len(p.words) > 0 {
			words = says(r.Type, p.words...)
			p.words = nil
		}
		p.t.Logf("takes %s", describe(r))
		p.apply(r, func(string) bool { return true })
		p.report(r)
		p.client.acknowledge(r.Type, r.Nonce, words)
		p.judge()
		p.subscribe()
		p.check("after " + describe(r))
		return true
	}
	p.seen[p.content(r)] = true
	p.apply(r, func(name string) bool { return !slices.Contains(bad, name) && rapid.Bool().Draw(p.t, "half") })
	text := ""
	if slices.ContainsFunc(r.Resources, sticks) || rapid.Bool().Draw(p.t, "names the culprit") {
		text = says(r.Type, bad...)
	}
	p.t.Logf("refuses %s: %q", describe(r), text)
	if !p.client.Refuse(r.Type, r.Nonce, text) {
		p.t.Fatalf("the refusal of %s was not taken", describe(r))
	}
	p.judge()
	p.subscribe()
	return true
}

// report notes what an ACKed response makes the proxy list on its next stream.
func (p *proxy) report(r *response) {
	p.accepted[r.Type] = r.Version.String()
	for _, x := range r.Resources {
		if r.Type.FullSet() || p.asked[r.Type][x.Name] { // else it was given up meanwhile
			p.reported[r.Type][x.Name] = x.Version
		}
	}
	for _, n := range r.Removed {
		delete(p.reported[r.Type], n)
	}
}

// reconnect opens a new stream to a server that knows what the last one left behind. A
// proxy that is stuck, or warms, does not ask for clusters on it.
func (p *proxy) reconnect() {
	old := p.client
	warming := len(p.sticky) > 0 || slices.ContainsFunc(p.answers, func(r *response) bool { return r.Type == fleet.Cluster })
	for _, r := range p.answers {
		p.process(r)
	}
	p.answers, p.words = nil, nil
	clear(p.seen) // that nothing goes out twice holds for one stream
	p.client = client{t: p.t, Delta: old.Delta, Envoy: true, Opening: true, Now: old.Now}
	p.client.Past = old.leaves()
	p.client.Before = p.before(old.Settled())
	if !warming {
		p.returns(fleet.Cluster)
	}
	for _, t := range []fleet.Type{fleet.Endpoint, fleet.Listener, fleet.Route} {
		p.returns(t)
	}
	p.client.Opened()
	p.apart = p.apart && p.asksClusters || len(p.asked[fleet.Endpoint]) == 0 && len(p.reported[fleet.Listener]) == 0 && (old.Delta || p.accepted[fleet.Listener] == "")
	p.asksClusters, p.returned = warming, true
}

// process takes in what arrived and was not answered when the stream was lost. Clusters
// always are; of the others the news may have been lost as well.
func (p *proxy) process(r *response) {
	if r.Type != fleet.Cluster && !rapid.Bool().Draw(p.t, "arrived") {
		return
	}
	bad := slices.ContainsFunc(r.Resources, poison)
	p.apply(r, func(name string) bool {
		poisoned := slices.ContainsFunc(r.Resources, func(x *snapshot.Resource) bool { return x.Name == name && poison(x) })
		stuck := r.Type == fleet.Cluster && len(p.sticky) > 0 // what stands beside that is taken in whole
		return !poisoned && (!bad || stuck || rapid.Bool().Draw(p.t, "half"))
	})
	if !bad {
		p.report(r)
	}
	for _, x := range r.Resources { // it was taken in, and sticks only then
		if p.sticky[x.Name] && r.Type == fleet.Cluster {
			p.reported[r.Type][x.Name] = x.Version
		}
	}
}

// askForClusters makes a proxy that is not stuck any more, and warm, ask for clusters.
func (p *proxy) askForClusters() {
	if !p.asksClusters || len(p.sticky) > 0 {
		return
	}
	for _, c := range p.holds[fleet.Cluster] {
		if c.EDSName != "" && p.holds[fleet.Endpoint][c.EDSName] == nil && !p.missing[c.EDSName] && p.asked[fleet.Endpoint][c.EDSName] {
			return
		}
	}
	p.answers = slices.DeleteFunc(p.answers, func(r *response) bool {
		if r.Type == fleet.Cluster {
			p.process(r)
		}
		return r.Type == fleet.Cluster
	})
	p.asksClusters = false
	p.returns(fleet.Cluster)
}

// returns is the first request of a type on a new stream.
func (p *proxy) returns(t fleet.Type) {
	r := request{Type: t, Version: p.accepted[t]}
	if named := t == fleet.Endpoint || t == fleet.Route; named {
		if len(p.asked[t]) == 0 {
			return
		}
		r.Names = slices.Sorted(maps.Keys(p.asked[t]))
	}
	if p.client.Delta {
		r.Version, r.Versions = "", map[string]string{}
		for n, v := range p.reported[t] {
			if r.Names == nil || p.asked[t][n] {
				r.Versions[n] = v
			}
		}
	}
	p.client.Subscribe(r, p.target())
}

// judge makes exceptions of the culprits that were found: nobody else may be blamed.
func (p *proxy) judge() {
	for _, v := range p.client.Verdicts() {
		if len(v.Blame) == 0 {
			p.left[v.Type] = p.snap.Revision
		}
		for _, b := range v.Blame {
			switch {
			case !b.Leave && !poison(b.Refused):
				p.t.Fatalf("%s %s@%s is blamed, and is good", v.Type, b.Refused.Name, b.Refused.Version)
			}
			p.t.Logf("blames %s@%s, good %v, leave %v", b.Refused.Name, b.Refused.Version, b.Good != nil, b.Leave)
			p.at = append(p.at, p.snap.Revision)
			p.except = append(p.except, snapshot.Exception{Type: v.Type, Refused: b.Refused, Good: b.Good, Leave: b.Leave})
		}
	}
}

func number(r *response) int {
	n, _ := strconv.Atoi(r.Nonce)
	return n
}

// apply makes the response's resources held, as far as take says; without take it only
// tells whether the response could be answered now: clusters when they are warm.
func (p *proxy) apply(r *response, take func(name string) bool) bool {
	if take == nil {
		if r.Type != fleet.Cluster {
			return true
		}
		for _, x := range r.Resources {
			// A changed cluster waits for its endpoints once more, and does not ask.
			h := p.holds[fleet.Cluster][x.Name]
			if !poison(x) && x.EDSName != "" && h != nil && h.Version != x.Version && p.asked[fleet.Endpoint][x.EDSName] && p.came[x.EDSName] < number(r) {
				return false
			}
			if !sticks(x) && !poison(x) && x.EDSName != "" && p.holds[fleet.Endpoint][x.EDSName] == nil && !p.missing[x.EDSName] && p.asked[fleet.Endpoint][x.EDSName] {
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
		if r.Type == fleet.Endpoint {
			p.came[x.Name] = number(r)
		}
		if take(x.Name) {
			if r.Type == fleet.Route && p.holds[r.Type][x.Name] == nil {
				p.firsts[x.Name] = x.Version
			}
			p.holds[r.Type][x.Name] = x
		}
	}
	for _, n := range r.Removed {
		if r.Type == fleet.Endpoint {
			p.came[n] = number(r)
		}
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
				if !sticks(c) {
					endpoints[c.EDSName] = true
				}
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
	r := request{Type: t}
	for n := range want {
		if !p.client.Delta || !p.asked[t][n] {
			r.Names = append(r.Names, n)
		}
	}
	for n := range p.asked[t] {
		if !want[n] {
			delete(p.holds[t], n)
			delete(p.reported[t], n)
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
// it refuses nothing: what it dropped by applying half of a response is not ours to order. The
// first that it has of a route may name what it is not given at all.
func (p *proxy) check(when string) {
	if len(p.seen) > 0 || p.returned {
		return
	}
	for _, r := range p.holds[fleet.Route] {
		for _, ref := range r.Refs {
			if p.holds[fleet.Cluster][ref.Name] == nil && !(p.firsts[r.Name] == r.Version && p.target().Withholds(ref)) {
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
		p.askForClusters()
		if !p.answer(func(int) int { return 0 }) && !p.receive() {
			if due := p.client.Due(); !due.IsZero() && (len(p.answers) > 0 || p.asksClusters) {
				p.client.Now = due
				continue
			}
			if p.left[fleet.Cluster] == p.snap.Revision || p.leftAlone() {
				return
			}
			if p.waitsNoLonger() {
				continue
			}
			if p.asksClusters && p.apart {
				p.left[fleet.Cluster] = p.snap.Revision
				return
			}
			if p.asksClusters {
				p.t.Fatalf("stuck by %v, and never repaired", p.sticky)
			}
			if len(p.answers) > 0 {
				p.t.Fatalf("stuck with %s unanswered: endpoints %v, asked for %v", describe(p.answers[0]), p.holds[fleet.Endpoint], p.asked[fleet.Endpoint])
			}
			return
		}
	}
	p.t.Fatal("no rest after 500 answers")
}

// leftAlone: the proxy has a version of something whose bytes nobody has, and a set without it would take that away.
func (p *proxy) leftAlone() bool {
	return !p.client.Delta && slices.ContainsFunc(p.except, func(e snapshot.Exception) bool { return e.Leave && e.Applies(p.snap) })
}

// waitsNoLonger: for endpoints that nobody wrote, and that nothing says so of in state of the world, Envoy waits for 15 s.
func (p *proxy) waitsNoLonger() (any bool) {
	for n := range p.asked[fleet.Endpoint] {
		if !p.client.Delta && !p.missing[n] && p.holds[fleet.Endpoint][n] == nil && p.target().Find(fleet.Endpoint, n) == nil {
			p.missing[n], any = true, true
		}
	}
	return any
}

// world draws a fleet in which every route names clusters that exist, and every
// listener a route that does.
func drawFleet(t *rapid.T, before *snapshot.Snapshot, poisonous bool) *snapshot.Snapshot {
	next := &snapshot.Snapshot{Revision: 1}
	if before != nil {
		next.Revision = before.Revision + 1
		next.Follow(before, snapshot.Change{Resources: 1})
	}
	version := func(label string) string {
		v := fmt.Sprint(rapid.IntRange(1, 3).Draw(t, label))
		if poisonous && rapid.IntRange(0, 5).Draw(t, "poison") == 0 {
			v += rapid.SampledFrom([]string{"!", "?"}).Draw(t, "kind")
		}
		return v
	}
	put := func(typ fleet.Type, name, version string, d fleet.Derived) {
		row := fleet.Row{Type: typ, Name: name, Version: version + fmt.Sprint(d.Refs), Derived: d, Revision: next.Revision}
		switch {
		case strings.HasSuffix(version, "!"), strings.HasSuffix(version, "?") && typ != fleet.Cluster:
			row.Version += "!"
		case strings.HasSuffix(version, "?"):
			row.Version += "?"
		}
		next.Types[typ] = next.Types[typ].With(snapshot.NewResource(typ, row, []byte(row.Version)))
	}
	clusters := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 4, rapid.ID).Draw(t, "clusters")
	for _, c := range clusters {
		put(fleet.Cluster, c, version("cluster"), fleet.Derived{EDSName: c})
		if rapid.IntRange(0, 3).Draw(t, "has endpoints") > 0 {
			put(fleet.Endpoint, c, fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "endpoint")), fleet.Derived{})
		}
	}
	for _, r := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"r", "s"}), 0, 2, rapid.ID).Draw(t, "routes") {
		named := rapid.SliceOfNDistinct(rapid.SampledFrom(clusters), 1, 2, rapid.ID)
		var refs []fleet.Ref
		for _, c := range named.Draw(t, "named") {
			refs = append(refs, fleet.Ref{Type: fleet.Cluster, Name: c})
		}
		put(fleet.Route, r, version("route"), fleet.Derived{Refs: refs})
		goal := r
		if rapid.IntRange(0, 5).Draw(t, "dangling") == 0 {
			goal = "none"
		}
		put(fleet.Listener, "l"+r, version("listener"), fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Route, Name: goal}}})
	}
	if before != nil {
		bury(before, next)
	}
	return next
}

// bury makes tombstones of what the next fleet has lost.
func bury(before, next *snapshot.Snapshot) {
	for t := range next.Types {
		next.Gone[t] = before.Gone[t]
		for r := range before.Types[t].All() {
			if next.Types[t].Get(r.Name) == nil {
				next.Gone[t] = next.Gone[t].With(snapshot.Tombstone(r.Name, next.Revision))
			}
		}
		for r := range next.Types[t].All() {
			next.Gone[t] = next.Gone[t].Without(r.Name)
		}
	}
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
						switch rapid.SampledFrom([]string{"change", "receive", "answer", "answer", "receive", "answer", "reconnect"}).Draw(t, "step") {
						case "reconnect":
							p.reconnect()
						case "change":
							p.change(drawFleet(t, p.snap, poisonous))
						case "receive":
							p.receive()
							p.subscribe()
						case "answer":
							p.answer(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") })
						}
					}
					p.settle()
					p.wantTarget()
					if !poisonous && !p.dangles() && p.client.Settled() != p.snap.Revision {
						t.Fatalf("settled at %d at rest, want %d", p.client.Settled(), p.snap.Revision)
					}
				})
			})
		}
	}
}

// wantTarget: at rest the proxy holds the newest that it accepts, the fleet with its
// exceptions. What stands in for a refused route may name clusters that the fleet has
// lost: those stay.
func (p *proxy) wantTarget() {
	target := p.target()
	if p.leftAlone() {
		return
	}
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Route, fleet.Endpoint} {
		if slices.Contains(p.left[:], p.snap.Revision) {
			return
		}
		want, got := contents(target.Types[typ]), map[string]string{}
		for n, r := range p.holds[typ] {
			if !p.isForNone(typ, n, r.Version, want[n]) {
				got[n] = r.Version
			}
		}
		if len(p.except) > 0 {
			p.forgive(typ, want, got)
		}
		if p.dangles() {
			if typ != fleet.Cluster {
				return // what is withheld may keep an old listener, with its routes
			}
			maps.DeleteFunc(got, func(n, _ string) bool { return want[n] == "" })
		}
		if !maps.Equal(got, want) {
			p.t.Fatalf("%s at rest: %v, want %v", typ, got, want)
		}
	}
}

// isForNone reports whether the proxy holds what stands for endpoints that there are not: none, where a cluster has that name; or, in state
// of the world, what was with a cluster that is gone.
func (p *proxy) isForNone(typ fleet.Type, name, version, want string) bool {
	if typ != fleet.Endpoint || want != "" {
		return false
	}
	if p.target().Types[fleet.Cluster].HasEDSName(name) {
		return version == snapshot.Absent(typ, name).Version
	}
	return !p.client.Delta
}

// dangles reports whether some listener names a route that the fleet does not have.
func (p *proxy) dangles() bool {
	for r := range p.target().Types[fleet.Listener].All() {
		if missing(r, p.target()) {
			return true
		}
	}
	return false
}

func missing(r *snapshot.Resource, target *snapshot.Target) bool {
	return slices.ContainsFunc(r.Refs, func(ref fleet.Ref) bool {
		return ref.Type == fleet.Route && target.Types[fleet.Route].Get(ref.Name) == nil
	})
}

// forgive drops what exceptions keep, or hold up: names of a substitute, and what names a
// cluster or a listener that this proxy will not take.
func (p *proxy) forgive(typ fleet.Type, want, got map[string]string) {
	for n := range got {
		if _, ok := want[n]; !ok && typ != fleet.Listener {
			delete(got, n)
		}
	}
	for n := range want {
		if _, ok := got[n]; !ok && !p.asked[typ][n] && (typ == fleet.Route || typ == fleet.Endpoint) {
			delete(want, n) // nothing that it holds asks for it
		}
	}
	for _, e := range p.except {
		for n := range want {
			r := p.target().Types[typ].Get(n)
			if e.Good == nil && r != nil && r.Names(e.Ref()) {
				delete(want, n)
				delete(got, n)
			}
		}
	}
}

// TestEveryRouteArrivesUnderEndlessChanges: each revision brings a new cluster and moves
// the route to it, and the next one comes before the proxy can follow. Whatever revision
// is the newest when a response of clusters goes out, the route has come that far when
// the second ACK of clusters after it is in (SEMANTICS 3.9).
func TestEveryRouteArrivesUnderEndlessChanges(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		t.Run(fmt.Sprintf("delta=%v", delta), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				p := newProxy(t, delta, endless(1))
				p.settle()
				newest := []fleet.Revision{1, 1} // at the last two ACKs of clusters
				for range 30 {
					for range rapid.IntRange(1, 3).Draw(t, "changes") {
						p.change(endless(p.snap.Revision + 1))
					}
					for p.receive() {
						p.subscribe()
					}
					clusters := slices.ContainsFunc(p.answers, func(r *response) bool { return r.Type == fleet.Cluster })
					for p.answerOther() {
						p.subscribe()
					}
					if !clusters || !p.answer(func(int) int { return 0 }) {
						continue
					}
					for p.receive() || p.answerOther() {
						p.subscribe()
					}
					if got := p.holds[fleet.Route]["r"].Revision; got < newest[0] {
						t.Fatalf("the route is at %d, two ACKs ago the fleet was at %d, it is at %d", got, newest[0], p.snap.Revision)
					}
					newest = []fleet.Revision{newest[1], p.snap.Revision}
				}
				p.settle()
				p.wantTarget()
			})
		})
	}
}

// answerOther answers one response that is not of clusters.
func (p *proxy) answerOther() bool {
	i := slices.IndexFunc(p.answers, func(r *response) bool { return r.Type != fleet.Cluster })
	if i < 0 {
		return false
	}
	return p.answer(func(n int) int { return min(i, n-1) })
}

// endless is the fleet at a revision: its route names the cluster of that revision alone.
func endless(rev fleet.Revision) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Revision: rev}
	name := fmt.Sprintf("c%d", rev)
	put := func(t fleet.Type, r fleet.Row) {
		r.Version, r.Revision = fmt.Sprint(rev), rev
		s.Types[t] = s.Types[t].With(snapshot.NewResource(t, r, nil))
	}
	put(fleet.Cluster, fleet.Row{Name: name, Derived: fleet.Derived{EDSName: name}})
	put(fleet.Endpoint, fleet.Row{Name: name})
	put(fleet.Route, fleet.Row{Name: "r", Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Cluster, Name: name}}}})
	put(fleet.Listener, fleet.Row{Name: "l", Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Route, Name: "r"}}}})
	return s
}
