package planner

import (
	"slices"
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
	var crossed []*sentResponse
	if unasked {
		crossed = c.open(t)
		c.forgetUnasked(t)
	}
	if first && (r.Version != "" || r.Versions.N > 0) {
		c.counts.reported = true
		if c.pos.startsWarming(t) {
			c.times.lost = now
		}
	}
	take := c.requestSotW
	if c.pos.Kind.Delta {
		take = c.requestDelta
	}
	asked := take(&r, target, first)
	if first && !unasked { // an Envoy that was just freed reports what it was stuck on
		c.doubtExceptions(&r, target)
	}
	if unasked && c.pos.Types[t].Unknown {
		c.edit(t).search = nil // a set without what is kept back would take away what the client has of it
	} else if unasked {
		c.correct(t, target)
	}
	for _, f := range crossed { // it may take them in after what it says now
		f.doubt(c.in, &c.pos.Types[t], f.presumed)
	}
	if first {
		c.oweFirst(&r, target)
	}
	if t == fleet.Cluster && !c.times.opened.IsZero() {
		c.origin.Before, c.origin.Between = nil, nil // all was said
	}
	if asked { // which was not confirmed with the rest
		c.settled.confirmed[t] = min(c.settled.confirmed[t], target.Revision-1)
	}
	return c.report()
}

// oweFirst owes the first request of a type what else it waits for than names: what it says of these the client has, and waits for all the same.
func (c *Client) oweFirst(r *Request, target *snapshot.Target) {
	switch r.Type {
	case fleet.Endpoint:
		if f := c.inFlight[fleet.Cluster]; f != nil {
			c.in.oweEndpoints(&c.pos, f.Response) // which it crossed
		}
	case fleet.ScopedRoute:
		if f := c.inFlight[fleet.Listener]; f != nil {
			c.in.oweScopes(&c.pos, f.Response)
		}
	case fleet.VirtualHost:
		c.enterRoutes(r.Versions, target)
	}
}

// forgetUnasked forgets what was presumed of a type that the client asks for only now.
func (c *Client) forgetUnasked(t fleet.Type) {
	p, tr := c.edit(t), &c.pos.Types[t]
	*tr = Track{Pending: tr.Pending, Answer: tr.Answer, Unknown: tr.Unknown}
	p.unasked, p.late = false, nil
	c.inFlight[t] = nil
}

// open are the responses that were not answered, the oldest first.
func (c *Client) open(t fleet.Type) []*sentResponse {
	all := slices.Clone(c.rec.of(t).late)
	if f := c.inFlight[t]; f != nil {
		all = append(all, f)
	}
	return all
}

// requestSotW replaces the subscription. An empty list on a stream that never named a
// resource of the type is the legacy wildcard; after that it means nothing (PROTOCOL
// rules 1 and 2). It reports whether some name was not asked for before. Of a list that goes on from the one before it costs what is new.
func (c *Client) requestSotW(r *Request, target *snapshot.Target, first bool) (asked bool) {
	t, tr := r.Type, &c.pos.Types[r.Type]
	old := tr.Sub
	if old == nil {
		old = &Subscription{typ: t}
	}
	next := old
	if r.Adds {
		if edits, _ := old.adding(r.Names, target.Types[t]); len(edits) > 0 {
			next = c.in.derive(old, old.wildcard, old.explicit, edits)
		}
	} else {
		legacy := first || old.wildcard && !old.explicit && old.Len() == 0
		explicit := r.Star && t != fleet.Secret // nobody may have all secrets
		wildcard := explicit || legacy && !r.Says() && t.LegacyWildcard(false)
		if next = c.in.subscription(t, wildcard, explicit, r.Names.Count); next == nil {
			next = c.in.derive(old, wildcard, explicit, old.replacing(r.Names, target.Types[t]))
		}
	}
	tr.Sub = next
	if next != old {
		asked = c.change(t, old, next)
	}
	c.denyAll(r)
	if first {
		c.resumeSotW(r, target)
	}
	return asked
}

// denyAll owes the word that nobody may have all secrets to a client that asks for them and understands it, once for a stream: in state of the
// world each request says so.
func (c *Client) denyAll(r *Request) {
	if tr := &c.pos.Types[r.Type]; r.Star && r.Type == fleet.Secret && c.pos.Kind.Errors && tr.Denial == denialNone {
		tr.Denial = denialOwed
	}
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
		c.change(t, old, less)
	}
	if r.Star && t != fleet.Secret { // nobody may have all secrets
		wildcard, explicit = true, true
	}
	more := (*Subscription)(nil)
	if less.Len() == 0 {
		more = c.in.subscription(t, wildcard, explicit, r.Names.Count)
	}
	if more == nil {
		edits, _ := less.adding(r.Names, target.Types[t])
		more = c.in.derive(less, wildcard, explicit, edits)
	}
	tr.Sub = more
	c.denyAll(r)
	if r.Names.N > 0 && c.inFlight[t] != nil {
		c.change(t, less, more)
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
