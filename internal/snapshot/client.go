package snapshot

import (
	"time"

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
	// Alone: the stream is one of a single type's own service. Other types are on other
	// streams, and nothing can be ordered against them.
	Alone bool
	// TTL: the client is sent TTLs (PROTOCOL rule 20).
	TTL bool
	// MaxSet is the most bytes that the client takes in one response; 0: no limit.
	MaxSet int
	// Past is what is known of the client from before this stream.
	Past Past
	// Before is what the client should have held when it settled last, if that is not the
	// present; nil if it is not known. It is forgotten when the client has said what it holds.
	Before *Snapshot
	// Witness tells whether another node of the same client build refused this version, and
	// nothing beside it. nil: none is known.
	Witness func(t fleet.Type, name, version string) bool
	// Now is the time of what happens now. The owner sets it before every call.
	Now time.Time
	// Young: the stream has just been opened, and the client has not said yet all that it
	// holds. No cluster is taken away from it, since what names that cluster is not known,
	// and nothing counts as settled. Grow ends it.
	Young bool

	types [fleet.NumTypes]track
	sent  bool // some response went out on this stream
	// history is that of the last target: what was confirmed in another one counts no more.
	history uint64
	err     error
	// warm is the target whose clusters the client has all ACKed last. Under changes without
	// end what waits for newer clusters goes out as it was there (SEMANTICS 3.9).
	warm *Target
	// refusals counts the NACKs: a target of before one may hold what was refused.
	refusals int

	retries    int       // of the last target
	grownAt    time.Time // the end of the youth
	lostAt     time.Time // when the stream began with endpoints: see mayWarm
	verdicts   []Verdict
	trialMoves int // moves with the trials' groups
	overlay    overlay
	base       *Target // the last target, without what trials make of it
	doubted    []Doubted
	pushed     *Set // what the client has by what it was sent unasked, as far as it was ACKed
	acquitted  int  // how often the client took what it was presumed to stick on
}

// track is what is known of one type.
type track struct {
	subscribed bool
	// unasked: the client has not asked for the type, and was sent it all the same.
	unasked bool
	sub     Subscription
	// held is what the client confirmed, or reported and was believed. While the client
	// is in step it is the target's own set: one pointer.
	held *Set
	// owed are names that must be answered though the client may hold them already, and
	// since when.
	owed map[string]time.Time
	// asked: the last request asked for some name.
	asked bool
	// unknown: in state of the world the client holds a set that is not the target's, and
	// none that is known.
	unknown bool
	// answer: one response is owed even if there is nothing to say.
	answer   bool
	inFlight *Response
	// late are responses that a newer one has overtaken, oldest first.
	late []*Response
	beats
	trial *trial // nil: none goes on
	// refused are contents that this stream would not take, and what they held.
	refused map[Sum]refusal
	last    last
	// explained are words about earlier responses that came with the answer that is taken in.
	explained string
	// confirmed is the highest revision whose target this type was in step with.
	confirmed fleet.Revision
	// kept are the names that counted as settled though they are kept back, and what they
	// wait for.
	kept map[string]kept
	// confirmedAt is when the client last ACKed something of the type.
	confirmedAt time.Time
	// inStepWith and repairs are the target's against which nothing was found to send: a
	// memo, valid while inStep. Seen again, they cost one comparison.
	inStepWith *Set
	repairs    *repairs
	inStep     bool
	// heldWith and doubtedOf are what doubtTaken saw last.
	heldWith, doubtedOf *Set
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
func (c *Client) Subscribed(t fleet.Type) bool {
	tr := &c.types[t]
	return tr.subscribed && !tr.unasked
}

// Subscription returns what the client wants of a type. It is not to be kept.
func (c *Client) Subscription(t fleet.Type) *Subscription { return &c.types[t].sub }

// InFlight returns the response of the type that waits for its answer, nil if none does.
func (c *Client) InFlight(t fleet.Type) *Response { return c.types[t].inFlight }

// Subscribe takes in what a request says about names and, if it is the type's first,
// about what the client holds.
func (c *Client) Subscribe(r Request, target *Target) {
	tr := &c.types[r.Type]
	tr.inStep = false
	first := !tr.subscribed || tr.unasked
	tr.subscribed = true
	tr.asked = false
	unasked := tr.unasked
	if unasked {
		c.pushed = tr.held
		tr.begin()
	}
	if first && c.lostWarming(r.Type) && (r.Version != "" || len(r.Versions) > 0) {
		c.lostAt = c.Now
	}
	if c.Delta {
		c.subscribeDelta(tr, r, target, first)
	} else {
		c.subscribeSotW(tr, r, target, first)
	}
	if first && !unasked { // an Envoy that was just freed reports what it was stuck on
		c.doubtExceptions(r, target)
	}
	if unasked && tr.trial != nil {
		tr.trial.correct(tr.held)
		c.trialMoves++
	}
	if first && r.Type == fleet.Endpoint {
		c.oweWarming(tr)
	}
	if first && r.Type == fleet.VirtualHost {
		c.enterRoutes(r.Versions, target)
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

// Owed is how many names of a type wait for an answer.
func (c *Client) Owed(t fleet.Type) int { return len(c.types[t].owed) }

// Grow ends the stream's youth: the client has had the time to say what it holds. If
// nothing was sent meanwhile one set is sent now, since only a response resets a
// client's backoff (PROTOCOL rule 13).
func (c *Client) Grow() {
	c.Young, c.grownAt = false, c.Now
	if c.types[fleet.Cluster].subscribed || c.Alone {
		c.Before = nil // else what warms is still to be asked for
	}
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
		if n == "*" { // nobody may have all secrets
			next.wildcard = next.wildcard || r.Type != fleet.Secret
			next.explicit = next.wildcard
			continue
		}
		next.add(n)
	}
	tr.sub = next
	if old.wildcard && !next.wildcard {
		tr.forgetUnwanted()
	}
	stays := next.wildcard
	for n := range old.names {
		if !next.Has(n) {
			tr.forget(n)
		} else {
			stays = true
		}
	}
	tr.unknown = tr.unknown && stays // what is not known was given up
	for _, n := range r.Names {
		if n != "*" && !old.Named(n) {
			tr.want(n)
		}
	}
	if !first {
		return
	}
	held, known := c.recall(r.Type, r.Version, target)
	want := c.wanted(r.Type, target)
	believed := known && held.Equal(want) && c.unchanged(tr, r.Type, want, target)
	switch {
	case believed:
		tr.held = want
	case known:
		r.Versions = held.versions()
		tr.held = c.believed(tr, r, target, func(name, _ string) *Resource { return held.Get(name) })
	}
	tr.unknown = !known && r.Version != ""
	// A set that the client does not hold is sent even when it is empty. And one type is
	// always answered, or Envoy's backoff is never reset: the listeners, whose set is
	// small (PROTOCOL rule 13).
	tr.answer = r.Type.FullSet() && (!known || c.Alone) || r.Type == fleet.Listener && !c.sent
	if c.Alone || c.lostWarming(r.Type) {
		for n := range tr.sub.names {
			tr.owe(n, c.Now)
		}
	}
}

// lostWarming reports whether a stream was lost while clusters warmed: then it begins
// again with its endpoints. Believed, they would not be sent, and Envoy would wait 15 s
// (PROTOCOL rule 13).
func (c *Client) lostWarming(t fleet.Type) bool {
	return t == fleet.Endpoint && c.Envoy && !c.Alone && !c.types[fleet.Cluster].subscribed
}

func (c *Client) subscribeDelta(tr *track, r Request, target *Target, first bool) {
	if first && len(r.Names) == 0 && len(r.Dropped) == 0 {
		tr.sub.wildcard = r.Type.LegacyWildcard(true)
	}
	for _, n := range r.Dropped {
		c.drop(tr, n)
	}
	believe := first && !c.lostWarming(r.Type)
	for _, n := range r.Names {
		if n == "*" { // nobody may have all secrets
			tr.sub.wildcard = tr.sub.wildcard || r.Type != fleet.Secret
			tr.sub.explicit = tr.sub.wildcard
			continue
		}
		tr.want(n)
		if _, reported := r.Versions[n]; !reported || !believe {
			tr.owe(n, c.Now)
		}
	}
	if !first {
		return
	}
	if believe {
		tr.held = c.believed(tr, r, target, func(name, version string) *Resource { return c.known(r.Type, name, version, target) })
	}
	// The first request of a wildcard that reports nothing is answered even if there is
	// nothing to say: unanswered it costs Envoy 15 s of its start (PROTOCOL rule 6). And
	// one type is answered on every stream (rule 13).
	tr.answer = tr.sub.wildcard && len(r.Versions) == 0 ||
		(r.Type == fleet.Cluster || r.Type == fleet.Listener || c.Alone && !c.wouldMislead(tr, r.Type, target)) && !c.sent
}

// wouldMislead reports whether an empty answer would end an Envoy's patience with a route
// or an extension that does not exist: its listener would warm for ever.
func (c *Client) wouldMislead(tr *track, t fleet.Type, target *Target) bool {
	if !c.patient(t) {
		return false
	}
	for n := range tr.sub.names {
		if c.lookup(t, n, target) == nil {
			return true
		}
	}
	return false
}

func (tr *track) owe(name string, since time.Time) {
	if tr.owed == nil {
		tr.owed = make(map[string]time.Time)
	}
	tr.owed[name] = since
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
		tr.owe(name, c.Now)
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

// confirm: while a trial goes on what the client is to hold is not known.
func (tr *track) confirm(r fleet.Revision) {
	if tr.trial == nil {
		tr.confirmed = max(tr.confirmed, r)
	}
}

// enter takes in that the target belongs to a history.
func (c *Client) enter(history uint64) {
	if history == c.history {
		return
	}
	c.history, c.warm = history, nil
	for i := range c.types {
		c.types[i].confirmed, c.types[i].inStep = 0, false
	}
}

// retry forgets what was refused, if the target says that it is to be offered again.
func (c *Client) retry(target *Target) {
	if target.Retries == c.retries {
		return
	}
	c.retries = target.Retries
	for i := range c.types {
		c.types[i].refused, c.types[i].inStep = nil, false
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
	if c.unheard() {
		return min(low, c.Past.Settled)
	}
	return low
}
