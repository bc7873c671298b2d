package planner

import (
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Pending replies are names that must be answered though the client may hold them already:
// it asked for them, or waits for them once more.

// collectOwed puts what is owed an answer, and goes out for no other reason, among the changes: the resource or, by a change from nothing to
// nothing, that there is none.
func (p *plan) collectOwed() {
	there := make(map[string]struct{}, len(p.pending))
	for _, ch := range p.pending {
		there[ch.name] = struct{}{}
	}
	room := MaxResponse / 2
	for _, n := range p.answerable() {
		ch, goes := p.judge(p.owed(n.Name), n)
		switch {
		case !goes:
			continue
		case ch.new != nil:
			p.r.alias(ch.new.Name, n.Name)
		case p.t == fleet.VirtualHost && p.tr.Sub.Named(n.Name):
			if ch.old.nothing() { // else its removal is the answer: no name stands twice in a response
				p.answerNonexistent(n.Name, &room)
			}
			continue
		case !p.pos.Kind.Delta:
			p.unsaid = append(p.unsaid, n) // if it comes into being it is sent
			continue
		}
		if _, ok := there[ch.name]; !ok {
			there[ch.name] = struct{}{}
			p.pending = append(p.pending, ch)
		} else if ch.new != nil && ch.old.is(ch.new) {
			p.keepInPlace(ch)
		}
	}
}

// answerNonexistent says of a virtual host that there is none, if there is room.
func (p *plan) answerNonexistent(name string, room *int) {
	if *room -= 2*len(name) + 16; *room < 0 {
		p.waiting, p.r.cut = true, true
		return
	}
	p.r.Nonexistent = append(p.r.Nonexistent, name)
	p.answer(name, "\x00nonexistent")
}

// owed is the change that answers a name.
func (p *plan) owed(name string) change {
	ch := change{name: name, new: p.lookup(p.t, name)}
	if ch.new != nil {
		ch.name = ch.new.Name
	}
	ch.old = p.held(p.t, ch.name)
	if ch.new == nil && p.t == fleet.Endpoint && ch.old.res != nil && ch.old.res.Known() && (!p.pos.Kind.Delta || p.leavesWithCluster(name)) {
		ch.new = ch.old.res // its cluster changed, and waits for it, whether or not the fleet still has it
	}
	return ch
}

// answerable are the pending names, by name, without those of which nothing is there and nothing can be said yet: these
// may be many, and each step looks at them.
func (p *plan) answerable() (ns []*snapshot.Resource) {
	if !p.pos.Kind.patient(p.t) {
		return p.tr.Pending.Sorted()
	}
	for n := range p.tr.Pending.All() {
		if n.IsOverdue() || p.lookup(p.t, n.Name) != nil || !p.held(p.t, n.Name).nothing() {
			ns = append(ns, n)
		}
	}
	slices.SortFunc(ns, func(a, b *snapshot.Resource) int { return strings.Compare(a.Name, b.Name) })
	return ns
}

// keepInPlace puts a resource that the client holds in the place of its removal.
func (p *plan) keepInPlace(ch change) {
	for i := range p.pending {
		if p.pending[i].name == ch.name && p.pending[i].new == nil {
			p.pending[i] = ch
		}
	}
}

// sent moves a position by a response that goes out.
func (in interner) sent(p *Position, r *Response) {
	tr := &p.Types[r.Type]
	tr.Next, tr.NextDoubts, tr.InFlight, tr.Answer, tr.Unknown = r.after, r.doubts, true, false, false
	tr.Pending = in.answered(r, tr.Pending)
	switch r.Type {
	case fleet.Cluster:
		in.oweEndpoints(p, r)
	case fleet.Route:
		in.oweEntries(p, r)
	case fleet.Listener:
		in.oweScopes(p, r)
	}
}

// answered takes out of the pending replies what a response answers.
func (in interner) answered(r *Response, pending *snapshot.Set) *snapshot.Set {
	if pending.Len() == 0 {
		return nil
	}
	most := min(pending.Len(), len(r.Resources)+len(r.answered))
	edits := make([]snapshot.Edit, 0, most)
	out := make(map[string]struct{}, most)
	take := func(name string) {
		n := pending.Get(name)
		if _, again := out[name]; n != nil && !again {
			out[name] = struct{}{}
			edits = append(edits, snapshot.Edit{Old: n})
		}
	}
	for _, x := range r.Resources {
		take(x.Name)
	}
	for _, n := range r.answered {
		take(n)
	}
	return in.apply(r.Type, pending, edits)
}

// oweEndpoints: after a cluster was added or changed its endpoints are sent again,
// unasked, behind it. Delta Envoy never asks for them and waits 15 s (PROTOCOL rule 14).
func (in interner) oweEndpoints(p *Position, r *Response) {
	tr := &p.Types[fleet.Endpoint]
	if tr.Sub.Len() == 0 {
		return
	}
	var owed []*snapshot.Resource
	for _, ch := range r.changes {
		if ch.new == nil || ch.new.EDSName == "" {
			continue
		}
		if n := tr.Sub.names.Get(ch.new.EDSName); n != nil {
			owed = append(owed, n)
		}
	}
	if len(owed) > 0 {
		tr.Pending = in.adding(fleet.Endpoint, tr.Pending, owed...)
	}
}

// A client subscribes to virtual hosts once per stream and names no route. Each route
// that fetches them on demand keeps its listener warming until it has got one, or the
// word that one is not there: so whenever such a route goes out an entry of it is owed
// (PROTOCOL rule 8).

// oweEntries owes an entry to the routes of a response that the client did not have: one
// that it had keeps its virtual hosts.
func (in interner) oweEntries(p *Position, r *Response) {
	if !p.subscribed(fleet.VirtualHost) {
		return
	}
	for _, ch := range r.changes {
		if ch.new == nil || !ch.new.VHDS {
			continue
		}
		if h := ch.old; h.nothing() || h.doubtful() || !h.res.VHDS && !h.reported() {
			in.oweEntry(p, ch.name, r.target)
		}
	}
}

// oweEntry owes the virtual hosts of a route or, if it has none, the removal of a name
// that it never had, which ends the wait as well.
func (in interner) oweEntry(p *Position, route string, target *snapshot.Target) {
	tr := &p.Types[fleet.VirtualHost]
	var owed []*snapshot.Resource
	for _, h := range target.Types[fleet.VirtualHost].HostsOf(route) {
		if tr.Sub.Has(h.Name) {
			owed = append(owed, h.NameOnly())
		}
	}
	if len(owed) == 0 {
		owed = append(owed, snapshot.NameOnly(route+"/-"))
	}
	tr.Pending = in.adding(fleet.VirtualHost, tr.Pending, owed...)
}

// enterRoutes owes an entry to every route that the client has already, or is about to,
// but those of which it reports a virtual host.
func (c *Client) enterRoutes(reported Versions, target *snapshot.Target) {
	known := map[string]bool{}
	if reported.N > 0 {
		for n := range reported.Each {
			route, _ := snapshot.SplitHost(strings.Clone(string(n)))
			known[route] = true
		}
	}
	routes := &c.pos.Types[fleet.Route]
	sets := []*snapshot.Set{routes.Held}
	if routes.InFlight {
		sets = append(sets, routes.Next)
	}
	for _, s := range sets {
		for r := range s.All() {
			if r.VHDS && !known[r.Name] {
				c.in.oweEntry(&c.pos, r.Name, target)
			}
		}
	}
}

// oweScopes: a listener that takes scoped routes waits for them unless another one takes them from the same source. An Envoy subscribes to them once per
// stream in delta: what it has already, or that there is none, is sent behind the listener. In state of the world it asks again; see askedAgain.
func (in interner) oweScopes(p *Position, r *Response) {
	tr := &p.Types[fleet.ScopedRoute]
	if tr.Sub == nil || !p.Kind.Delta || !p.Kind.Envoy || !slices.ContainsFunc(r.changes, func(ch change) bool {
		return ch.new != nil && ch.new.Scopes && !ch.old.is(ch.new)
	}) {
		return
	}
	var owed []*snapshot.Resource
	for s := range r.target.Types[fleet.ScopedRoute].All() {
		if tr.Sub.Has(s.Name) {
			owed = append(owed, s.NameOnly())
		}
	}
	tr.Pending, tr.Answer = in.adding(fleet.ScopedRoute, tr.Pending, owed...), true
}
