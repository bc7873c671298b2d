package snapshot

import (
	"fairlead/internal/fleet"
)

// Client is what one stream knows of its client. It is owned by one goroutine. The
// engine reports what the client said through Subscribe, Acknowledge and Refuse, and
// what went out through Sent; Next decides, and notes here what it found in step.
type Client struct {
	// Delta tells incremental streams from state of the world.
	Delta bool
	// Envoy: the client's user agent is "envoy".
	Envoy bool
	// Young: the stream has just been opened, and the client has not said yet all that it
	// holds. No cluster is taken away from it, since what names that cluster is not known,
	// and nothing counts as settled. Grow ends it.
	Young bool

	types [fleet.NumTypes]track
	sent  bool // some response went out on this stream
	// history is that of the last target: what was confirmed in another one counts no more.
	history uint64
}

// track is what is known of one type.
type track struct {
	subscribed bool
	sub        Subscription
	// held is what the client confirmed, or reported and was believed. While the client
	// is in step it is the target's own set: one pointer.
	held *Set
	// owed are names that must be answered though the client may hold them already.
	owed map[string]struct{}
	// asked: the last request asked for some name.
	asked bool
	// answer: one response is owed even if there is nothing to say.
	answer   bool
	inFlight *Response
	// refused are contents that this stream would not take, and what they held.
	refused map[Sum][]change
	// confirmed is the highest revision whose target this type was in step with.
	confirmed fleet.Revision
	// inStepWith and repairs are the target's against which nothing was found to send: a
	// memo, valid while inStep. Seen again, they cost one comparison.
	inStepWith *Set
	repairs    *repairs
	inStep     bool
}

// Request is what a client says of one type, delta or state of the world.
type Request struct {
	Type fleet.Type
	// Names are all names (state of the world) or the added ones (delta).
	Names []string
	// Dropped are the names given up (delta).
	Dropped []string
	// Version is version_info of a first request (state of the world); Versions are
	// initial_resource_versions (delta).
	Version  string
	Versions map[string]string
}

// Subscribed reports whether a request of the type was seen.
func (c *Client) Subscribed(t fleet.Type) bool { return c.types[t].subscribed }

// Subscription returns what the client wants of a type. It is not to be kept.
func (c *Client) Subscription(t fleet.Type) *Subscription { return &c.types[t].sub }

// InFlight returns the response of the type that waits for its answer, nil if none does.
func (c *Client) InFlight(t fleet.Type) *Response { return c.types[t].inFlight }

// Subscribe takes in what a request says about names and, if it is the type's first,
// about what the client holds.
func (c *Client) Subscribe(r Request, target *Target) {
	tr := &c.types[r.Type]
	tr.inStep = false
	first := !tr.subscribed
	tr.subscribed = true
	tr.asked = false
	if c.Delta {
		c.subscribeDelta(tr, r, target, first)
	} else {
		c.subscribeSotW(tr, r, target, first)
	}
	if tr.asked { // which was not confirmed with the rest
		tr.confirmed = min(tr.confirmed, target.Revision-1)
	}
}

// NameBytes is what the names of all subscriptions take.
func (c *Client) NameBytes() int {
	n := 0
	for i := range c.types {
		n += c.types[i].sub.bytes
	}
	return n
}

// Grow ends the stream's youth: the client has had the time to say what it holds. If
// nothing was sent meanwhile one set is sent now, since only a response resets a
// client's backoff (PROTOCOL rule 13).
func (c *Client) Grow() {
	c.Young = false
	if c.sent {
		return
	}
	for _, t := range []fleet.Type{fleet.Listener, fleet.ScopedRoute, fleet.Cluster} {
		if c.types[t].subscribed {
			c.types[t].answer = true
			return
		}
	}
}

// subscribeSotW replaces the subscription. An empty list on a stream that never named a
// resource of the type is the legacy wildcard; after that it means nothing (PROTOCOL
// rules 1 and 2).
func (c *Client) subscribeSotW(tr *track, r Request, target *Target, first bool) {
	old := tr.sub
	legacy := first || old.wildcard && !old.explicit && len(old.names) == 0
	next := Subscription{wildcard: legacy && len(r.Names) == 0 && r.Type.LegacyWildcard(false)}
	for _, n := range r.Names {
		if n == "*" && r.Type != fleet.Secret {
			next.wildcard, next.explicit = true, true
			continue
		}
		next.add(n)
	}
	tr.sub = next
	if old.wildcard && !next.wildcard {
		tr.forgetUnwanted()
	}
	for n := range old.names {
		if !next.Has(n) {
			tr.forget(n)
		}
	}
	for _, n := range r.Names {
		if n != "*" && !old.Named(n) {
			tr.want(n)
		}
	}
	if !first {
		return
	}
	want := c.wanted(r.Type, target)
	current := want.Sum().String()
	if r.Version == current {
		tr.held = want
	}
	// A set that the client does not hold is sent even when it is empty. And one type is
	// always answered, or Envoy's backoff is never reset: the listeners, whose set is
	// small (PROTOCOL rule 13).
	tr.answer = r.Type.FullSet() && r.Version != current || r.Type == fleet.Listener && !c.sent
}

func (c *Client) subscribeDelta(tr *track, r Request, target *Target, first bool) {
	if first && len(r.Names) == 0 && len(r.Dropped) == 0 {
		tr.sub.wildcard = r.Type.LegacyWildcard(true)
	}
	for _, n := range r.Dropped {
		c.drop(tr, n)
	}
	// A stream that was lost while clusters warmed begins again with its endpoints:
	// believed, they would not be sent, and Envoy would wait 15 s (PROTOCOL rule 13).
	warming := r.Type == fleet.Endpoint && c.Envoy && !c.types[fleet.Cluster].subscribed
	believe := first && !warming
	for _, n := range r.Names {
		if n == "*" && r.Type != fleet.Secret {
			tr.sub.wildcard, tr.sub.explicit = true, true
			continue
		}
		tr.want(n)
		if _, reported := r.Versions[n]; !reported || !believe {
			tr.owe(n)
		}
	}
	if !first {
		return
	}
	if believe {
		tr.held = c.believed(tr, r, target)
	}
	// The first request of a wildcard that reports nothing is answered even if there is
	// nothing to say: unanswered it costs Envoy 15 s of its start (PROTOCOL rule 6). And
	// one type is answered on every stream (rule 13).
	tr.answer = tr.sub.wildcard && len(r.Versions) == 0 ||
		(r.Type == fleet.Cluster || r.Type == fleet.Listener) && !c.sent
}

// believed is what a client holds by the versions that it reports on a new stream.
// Where all of them are the target's it is the target's own set.
func (c *Client) believed(tr *track, r Request, target *Target) *Set {
	want := c.wanted(r.Type, target)
	if want.Len() == len(r.Versions) && holdsAll(want, r.Versions) {
		return want
	}
	var held *Set
	for n, v := range r.Versions {
		if w := want.Get(n); w != nil && w.Version == v {
			held = held.With(w)
		} else if tr.sub.Has(n) {
			held = held.With(&Resource{Name: n, Version: v, key: keyOf(n, v)})
		}
	}
	return held
}

func holdsAll(s *Set, versions map[string]string) bool {
	for n, v := range versions {
		if r := s.Get(n); r == nil || r.Version != v {
			return false
		}
	}
	return true
}

func (tr *track) owe(name string) {
	if tr.owed == nil {
		tr.owed = make(map[string]struct{})
	}
	tr.owed[name] = struct{}{}
}

// drop ends the subscription to a name. Under a wildcard the client is told what the
// name is now (PROTOCOL rule 6); a name that was never asked for is ignored.
func (c *Client) drop(tr *track, name string) {
	if name == "*" {
		tr.sub.wildcard = false
		tr.forgetUnwanted()
		return
	}
	if !tr.sub.Named(name) {
		return
	}
	tr.sub.drop(name)
	delete(tr.owed, name)
	if tr.sub.wildcard {
		tr.owe(name)
		return
	}
	tr.forget(name)
}

// forget: the client gave the name up and holds it no more.
func (tr *track) forget(name string) {
	tr.held = tr.held.Without(name)
	delete(tr.owed, name)
	f := tr.inFlight
	if f == nil {
		return
	}
	if r := f.after.Get(name); r != nil {
		if f.dropped == nil {
			f.dropped = make(map[string]*Resource)
		}
		f.dropped[name] = r
		f.after = f.after.Without(name)
	}
}

// want takes a name up again. If it was given up since a response left that carries it,
// the client may or may not take the resource in when that arrives.
func (tr *track) want(name string) {
	tr.sub.add(name)
	tr.asked = true
	if f := tr.inFlight; f != nil && f.dropped[name] != nil {
		f.after = f.after.With(doubtful(change{new: f.dropped[name]}))
	}
}

func (tr *track) forgetUnwanted() {
	for r := range tr.held.All() {
		if !tr.sub.Has(r.Name) {
			tr.forget(r.Name)
		}
	}
	if f := tr.inFlight; f != nil {
		for r := range f.after.All() {
			if !tr.sub.Has(r.Name) {
				tr.forget(r.Name)
			}
		}
	}
}

// Sent takes in that a response went out under a nonce.
func (c *Client) Sent(r *Response, nonce string) {
	tr := &c.types[r.Type]
	r.Nonce = nonce
	tr.inFlight = r
	tr.answer, tr.inStep = false, false
	c.sent = true
	for _, x := range r.Resources {
		delete(tr.owed, x.Name)
	}
	for _, n := range r.Removed {
		delete(tr.owed, n)
	}
	if r.Type == fleet.Cluster {
		c.oweEndpoints(r)
	}
}

// oweEndpoints: after a cluster was added or changed its endpoints are sent again,
// unasked, behind it. Delta Envoy never asks for them and waits 15 s (PROTOCOL rule 14).
func (c *Client) oweEndpoints(r *Response) {
	tr := &c.types[fleet.Endpoint]
	for _, ch := range r.changes {
		if ch.new != nil && ch.new.EDSName != "" && tr.sub.Named(ch.new.EDSName) {
			tr.owe(ch.new.EDSName)
			tr.inStep = false
		}
	}
}

// Acknowledge takes in the ACK of the response that is in flight. It reports false for
// a nonce that is not that response's: such an answer is late and settles nothing.
func (c *Client) Acknowledge(t fleet.Type, nonce string) bool {
	tr := &c.types[t]
	f := tr.inFlight
	if f == nil || f.Nonce != nonce {
		return false
	}
	tr.inFlight, tr.inStep = nil, false
	tr.held = f.after
	if f.complete && f.target.History == c.history && len(tr.owed) == 0 {
		tr.confirm(f.target.Revision)
	}
	return true
}

func (tr *track) confirm(r fleet.Revision) { tr.confirmed = max(tr.confirmed, r) }

// enter takes in that the target belongs to a history.
func (c *Client) enter(history uint64) {
	if history == c.history {
		return
	}
	c.history = history
	for i := range c.types {
		c.types[i].confirmed, c.types[i].inStep = 0, false
	}
}

// Settled returns the highest revision of the present history that every subscribed type
// confirmed (SEMANTICS 5.1), 0 while there is none.
func (c *Client) Settled() fleet.Revision {
	if c.Young {
		return 0
	}
	var low fleet.Revision
	found := false
	for i := range c.types {
		tr := &c.types[i]
		if tr.subscribed && (!found || tr.confirmed < low) {
			low, found = tr.confirmed, true
		}
	}
	return low
}
