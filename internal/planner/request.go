package planner

import (
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Request takes in what a request says about names and, if it is the type's first,
// about what the client holds.
func (c *Client) Request(now time.Time, r Request, target *snapshot.Target) Findings {
	c.now = now
	t := r.Type
	p := c.rec.of(t)
	first, unasked := !c.pos.subscribed(t) || p.unasked, p.unasked
	if unasked {
		c.forgetUnasked(t)
	}
	if first && c.pos.startsWarming(t) && (r.Version != "" || r.Versions.N > 0) {
		c.times.lost = now
	}
	asked := false
	if c.pos.Kind.Delta {
		asked = c.requestDelta(&r, target, first)
	} else {
		asked = c.requestSotW(&r, target, first)
	}
	if first && !unasked { // an Envoy that was just freed reports what it was stuck on
		c.doubtExceptions(&r, target)
	}
	if b := c.rec.of(t).bisection; unasked && b != nil {
		b.correct(func(name string) has { return c.look(target).held(t, name) })
	}
	if first && t == fleet.Endpoint {
		if f := c.flights[fleet.Cluster]; f != nil {
			// It crossed clusters on their way. What it says of them the client has, and waits for
			// all the same.
			c.in.oweEndpoints(&c.pos, f.Response)
		}
	}
	if first && t == fleet.VirtualHost {
		c.enterRoutes(r.Versions, target)
	}
	if asked { // which was not confirmed with the rest
		c.settled.confirmed[t] = min(c.settled.confirmed[t], target.Revision-1)
	}
	return c.report()
}

// forgetUnasked forgets what was presumed of a type that the client asks for only now.
func (c *Client) forgetUnasked(t fleet.Type) {
	p, tr := c.peculiar(t), &c.pos.Types[t]
	c.pushed = nil
	if len(p.held) == 0 {
		c.pushed = tr.Held
	}
	*tr = Track{Pending: tr.Pending, Answer: tr.Answer, Unknown: tr.Unknown}
	p.unasked, p.held, p.next, p.late = false, nil, nil, nil
	c.flights[t] = nil
}

// requestSotW replaces the subscription. An empty list on a stream that never named a
// resource of the type is the legacy wildcard; after that it means nothing (PROTOCOL
// rules 1 and 2). It reports whether some name was not asked for before.
func (c *Client) requestSotW(r *Request, target *snapshot.Target, first bool) (asked bool) {
	t, tr := r.Type, &c.pos.Types[r.Type]
	old := tr.Sub
	if old == nil {
		old = &Subscription{typ: t}
	}
	legacy := first || old.wildcard && !old.explicit && old.Len() == 0
	explicit := r.Star && t != fleet.Secret // nobody may have all secrets
	wildcard := explicit || legacy && r.Names.N == 0 && !r.Star && t.LegacyWildcard(false)
	next := c.in.subscription(t, wildcard, explicit, r.Names.Count)
	if next == nil {
		next = c.in.derive(old, wildcard, explicit, old.replacing(r.Names, target.Types[t]))
	}
	tr.Sub = next
	if next != old {
		asked = c.change(t, old, next)
	}
	if first {
		c.resumeSotW(r, target)
	}
	return asked
}

// requestDelta changes the subscription. It reports whether some name is asked for.
func (c *Client) requestDelta(r *Request, target *snapshot.Target, first bool) (asked bool) {
	t, tr := r.Type, &c.pos.Types[r.Type]
	old := tr.Sub
	if old == nil {
		old = &Subscription{typ: t}
	}
	wildcard, explicit := old.wildcard, old.explicit
	if first && !r.Says() {
		wildcard = t.LegacyWildcard(true)
	}
	if r.Unstar {
		wildcard = false
	}
	less := c.in.derive(old, wildcard, explicit, old.dropping(r.Dropped))
	tr.Sub = less
	if less != old {
		c.giveUp(t, old, less)
	}
	if r.Star && t != fleet.Secret { // nobody may have all secrets
		wildcard, explicit = true, true
	}
	more := (*Subscription)(nil)
	if less.Len() == 0 {
		more = c.in.subscription(t, wildcard, explicit, r.Names.Count)
	}
	if more == nil {
		more = c.in.derive(less, wildcard, explicit, less.adding(r.Names, target.Types[t]))
	}
	tr.Sub = more
	if r.Names.N > 0 {
		c.takeUp(t, less, more)
	}
	believe := first && !c.pos.startsWarming(t)
	if first {
		c.resumeDelta(r, target, believe)
	} else {
		c.ask(t, c.namesOf(r.Names, more))
	}
	return r.Names.N > 0
}

// namesOf are names of a request as a set of names of the subscription.
func (c *Client) namesOf(n Names, s *Subscription) *snapshot.Set {
	switch {
	case n.N == 0:
		return nil
	case n.Count == s.names.Names():
		return s.names
	}
	var edits []snapshot.Edit
	seen := make(map[string]struct{}, n.N)
	for b := range n.Each {
		x := s.names.Get(string(b))
		if _, again := seen[x.Name]; !again {
			seen[x.Name] = struct{}{}
			edits = append(edits, snapshot.Edit{New: x})
		}
	}
	return c.in.apply(s.typ, nil, edits)
}

// ask owes an answer to names.
func (c *Client) ask(t fleet.Type, names *snapshot.Set) {
	if names.Len() == 0 {
		return
	}
	tr := &c.pos.Types[t]
	tr.Pending = c.in.all(t, tr.Pending, names)
	if c.pos.Kind.patient(t) {
		c.times.asked = append(c.times.asked, asking{t, names, c.now})
	}
}

// change takes in that one subscription took the place of another one. It reports whether
// some name is new.
func (c *Client) change(t fleet.Type, old, next *Subscription) (asked bool) {
	if old.Len() == 0 && !old.wildcard && c.flights[t] == nil {
		return next.Len() > 0 // nothing was given up
	}
	tr := &c.pos.Types[t]
	stays := next.wildcard
	gone := 0
	var dropped []string
	for was, is := range snapshot.Diff(old.names, next.names) {
		if is != nil {
			asked = true
			c.rewant(t, is.Name)
			continue
		}
		if gone++; !next.Has(was.Name) {
			dropped = append(dropped, was.Name)
		} else {
			stays = true
		}
	}
	stays = stays || gone < old.Len()
	if old.wildcard && !next.wildcard {
		c.forgetUnwanted(t)
	}
	c.forget(t, dropped)
	tr.Unknown = tr.Unknown && stays // what is not known was given up
	return asked
}

// giveUp ends the subscription to names. Under a wildcard the client is told what the
// name is now (PROTOCOL rule 6); a name that was never asked for is ignored.
func (c *Client) giveUp(t fleet.Type, old, next *Subscription) {
	tr := &c.pos.Types[t]
	if old.wildcard && !next.wildcard {
		c.forgetUnwanted(t)
	}
	var dropped []string
	var told []*snapshot.Resource
	for was := range snapshot.Diff(old.names, next.names) {
		if was == nil {
			continue
		}
		if next.wildcard {
			told = append(told, was)
		} else {
			dropped = append(dropped, was.Name)
		}
	}
	c.forget(t, dropped)
	if len(told) > 0 {
		tr.Pending = c.in.adding(t, tr.Pending, told...)
	}
}

// forget: the client gave names up and holds them no more.
func (c *Client) forget(t fleet.Type, dropped []string) {
	if len(dropped) == 0 {
		return
	}
	tr := &c.pos.Types[t]
	tr.Held, tr.Pending = c.in.dropped(t, tr.Held, dropped), c.in.dropped(t, tr.Pending, dropped)
	if tr.InFlight {
		tr.Next = c.in.dropped(t, tr.Next, dropped)
	}
	if c.rec == nil {
		return
	}
	for _, name := range dropped {
		delete(c.rec.types[t].held, name)
		delete(c.rec.types[t].next, name)
	}
}

// dropped takes names out of a set.
func (in interner) dropped(t fleet.Type, s *snapshot.Set, names []string) *snapshot.Set {
	var edits []snapshot.Edit
	for _, n := range names {
		if r := s.Get(n); r != nil {
			edits = append(edits, snapshot.Edit{Old: r})
		}
	}
	return in.apply(t, s, edits)
}

// takeUp takes names up.
func (c *Client) takeUp(t fleet.Type, old, next *Subscription) {
	if c.flights[t] == nil {
		return
	}
	for _, is := range snapshot.Diff(old.names, next.names) {
		if is != nil {
			c.rewant(t, is.Name)
		}
	}
}

// rewant takes a name up again. If it was given up since a response left that carries it,
// the client may or may not take the resource in when that arrives.
func (c *Client) rewant(t fleet.Type, name string) {
	f := c.flights[t]
	if f == nil || c.pos.Types[t].Next.Get(name) != nil {
		return
	}
	r := f.after.Get(name)
	if r == nil {
		return
	}
	p := c.peculiar(t)
	if p.next == nil {
		p.next = make(map[string]Doubt)
	}
	p.next[name] = change{name: name, new: r}.doubtful()
}

func (c *Client) forgetUnwanted(t fleet.Type) {
	tr := &c.pos.Types[t]
	var dropped []string
	sets := []*snapshot.Set{tr.Held}
	if tr.InFlight {
		sets = append(sets, tr.Next)
	}
	for _, s := range sets {
		for r := range s.All() {
			if !tr.Sub.Has(r.Name) {
				dropped = append(dropped, r.Name)
			}
		}
	}
	for _, doubts := range []map[string]Doubt{c.rec.of(t).held, c.rec.of(t).next} {
		for name := range doubts {
			if !tr.Sub.Has(name) {
				dropped = append(dropped, name)
			}
		}
	}
	c.forget(t, unique(dropped))
}

// unique are names, each once.
func unique(names []string) []string {
	seen := make(map[string]struct{}, len(names))
	once := names[:0]
	for _, n := range names {
		if _, again := seen[n]; !again {
			seen[n] = struct{}{}
			once = append(once, n)
		}
	}
	return once
}
