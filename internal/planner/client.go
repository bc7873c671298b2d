package planner

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// Client is what one stream knows of its client: its position, its record, and
// the times of what happened. It is owned by one goroutine. Request, Ack, Nack, Sent and
// Opened tell it what happened, Step says what to do.
type Client struct {
	in         interner
	pos        Position
	rec        *Record // nil: nothing is recorded
	origin     Origin
	inFlight   [fleet.NumTypes]*sentResponse
	settled    settled
	reports    [fleet.NumTypes]*snapshot.Set // the set of the version that it would report now, in state of the world
	times      times
	heartbeats [fleet.NumTypes]*heartbeats // nil: nothing that it holds has a TTL
	overlay    overlay
	counts     counts
	asked      *reconsidered // nil: nothing was doubted
	told       subscribes    // what it asks for
	turn
}

// turn is of what happens now.
type turn struct {
	now     time.Time
	found   Findings
	planned *step // to be sent
}

// Origin is what is known of a client from before its stream.
type Origin struct {
	Past Past
	// Before is what the client should have held when it settled last, if that is not the
	// present; nil if it is not known. It is forgotten when the client has said what it holds, or after pastFor.
	Before *snapshot.Snapshot
	// Between is what the view held when the server began to know all that it held, with what it held before: a client in state of the world may have
	// been given some of that elsewhere. nil: nothing, or it is not known. It is forgotten with Before.
	Between *snapshot.Snapshot
}

// sentResponse is a response that was sent, with what differs from stream to stream.
type sentResponse struct {
	*Response
	nonce    string
	sentAt   time.Time
	presumed bool          // stuck: what is to repair it does not wait for the answer
	idle     *idle         // where nothing newer was to be said beside it; nil: it is not known yet
	refusals int           // of the client, when it was sent
	before   *sentResponse // what was sent before it and may go unanswered; see passed
}

// settled is what the client has confirmed.
type settled struct {
	// history is that of the last target: what was confirmed in another one counts no more.
	history uint64
	// confirmed is the highest revision whose target a type was in step with.
	confirmed [fleet.NumTypes]fleet.Revision
	// followed: the client was in step on this stream with its listeners and, if these name routes, asked for some.
	followed bool
	// kept are the names that counted as settled though they are kept back.
	kept map[fleet.Ref]keeping
}

// times are when something happened.
type times struct {
	opened    time.Time                 // the stream's opening was over
	unasked   time.Time                 // it was sent clusters unasked
	lost      time.Time                 // the stream began with endpoints: see Position.Warming
	confirmed [fleet.NumTypes]time.Time // the client last ACKed something of the type
	asked     []asking
}

// counts are of what happened.
type counts struct {
	sent     bool         // some response went out on this stream
	reported bool         // the client said that it holds something as it came
	last     snapshot.Sum // the content of the last clusters
	refused  bool         // which the client would not take,
	words    string       // with these words
	refusals int          // NACKs: a target of before one may hold what was refused
	deaf     bool         // it has not answered clusters that it was sent unasked
	cleared  int          // how often the client took what it was presumed to stick on
	retries  int          // of the last target
}

// Findings are what the owner of the stream has to pass on before it takes the next step.
type Findings struct {
	// Verdicts are what was found out of refusals. Until the target leaves the blamed out
	// nothing is sent that would give them back.
	Verdicts []snapshot.Verdict
	// Doubted are exceptions that are in doubt (SEMANTICS 3.6).
	Doubted []refusal.Key
}

// Any reports whether something was found.
func (f Findings) Any() bool { return len(f.Verdicts)+len(f.Doubted) > 0 }

// Client returns the state of a new stream. opening: the client will say more of what it
// holds (Opened).
func (pl *Planner) Client(key fleet.Key, k Kind, o Origin, opening bool, now time.Time) *Client {
	return &Client{in: interner{pl, key}, pos: Position{Kind: k, Opening: opening}, origin: o, turn: turn{now: now}}
}

// report returns what was found, and forgets it.
func (c *Client) report() Findings {
	f := c.found
	c.found = Findings{}
	c.heal()
	return f
}

func (c *Client) inputs(target *snapshot.Target) *inputs {
	return &inputs{in: c.in, pos: &c.pos, rec: c.rec, target: target, base: c.base(target)}
}

// base is the node's own target, as last seen.
func (c *Client) base(otherwise *snapshot.Target) *snapshot.Target {
	if c.overlay.base != nil {
		return c.overlay.base
	}
	return otherwise
}

// Subscribed reports whether a request of the type was seen.
func (c *Client) Subscribed(t fleet.Type) bool {
	return c.pos.subscribed(t) && !c.rec.of(t).unasked
}

// Subscription returns what the client wants of a type, nil for nothing.
func (c *Client) Subscription(t fleet.Type) *Subscription { return c.pos.Types[t].Sub }

// NameBytes is what the names of all subscriptions take.
func (c *Client) NameBytes() int {
	n := 0
	for i := range c.pos.Types {
		if s := c.pos.Types[i].Sub; s != nil {
			n += s.bytes
		}
	}
	return n
}

// Unknown is how many of the names that the client asks for of a type there are not, and about how many bytes they have.
func (c *Client) Unknown(t fleet.Type, target *snapshot.Target) (names, bytes int) {
	s := c.pos.Types[t].Sub
	if s.Len() == 0 {
		return 0, 0
	}
	names = s.Len()
	if !s.wildcard {
		want, missing := s.wants(c.in, target.Types[t])
		if names = missing.Len(); t == fleet.VirtualHost { // a name may be an alias
			names = max(0, s.Len()-want.Len())
		}
	}
	return names, s.bytes * names / s.Len()
}

// HoldsUnknown reports whether the client holds a set of a type that is not the target's, and none that is known.
func (c *Client) HoldsUnknown(t fleet.Type) bool { return c.pos.Types[t].Unknown }

// HoldsUnknownSet reports the same of a type each response of which is all of it: what is sent takes away what the client had.
func (c *Client) HoldsUnknownSet() bool {
	for t := range c.pos.Types {
		if fleet.Type(t).FullSet() && c.pos.Types[t].Unknown { //nolint:gosec // small
			return true
		}
	}
	return false
}

// Pending is how many names of a type wait for an answer.
func (c *Client) Pending(t fleet.Type) int { return c.pos.Types[t].Pending.Len() }

// Kind is what the client can do.
func (c *Client) Kind() Kind { return c.pos.Kind }

// Keeps reports whether something is kept back from the client that counts as settled all
// the same: Waits tells of it.
func (c *Client) Keeps() bool { return len(c.settled.kept) > 0 }

// Opened ends the stream's opening: the client has had the time to say what it holds. If
// nothing was sent meanwhile one set is sent now, since only a response resets a
// client's backoff (PROTOCOL rule 13).
func (c *Client) Opened(now time.Time) {
	c.now, c.pos.Opening, c.times.opened = now, false, now
	if c.pos.subscribed(fleet.Cluster) || c.pos.Kind.SingleType {
		c.origin.Before, c.origin.Between = nil, nil // else what warms is still to be asked for
	}
	if c.counts.sent || c.pos.Kind.Polls {
		return
	}
	for _, t := range []fleet.Type{fleet.Listener, fleet.ScopedRoute, fleet.Cluster} {
		if c.pos.subscribed(t) {
			c.pos.Types[t].Answer = true
			return
		}
	}
}

// confirm: while a bisection goes on what the client is to hold is not known.
func (c *Client) confirm(t fleet.Type, r fleet.Revision) {
	if c.rec.of(t).search == nil {
		c.settled.confirmed[t] = max(c.settled.confirmed[t], r)
	}
}

// enter takes in that the target belongs to a history.
func (c *Client) enter(history uint64) {
	if history != c.settled.history {
		c.settled.history, c.pos.Warm = history, nil
		c.settled.confirmed = [fleet.NumTypes]fleet.Revision{}
	}
}

// retry forgets what was refused, if the target says that it is to be offered again.
func (c *Client) retry(target *snapshot.Target) {
	if target.Retries == c.counts.retries {
		return
	}
	c.counts.retries = target.Retries
	if c.rec != nil {
		for i := range c.rec.types {
			c.rec.types[i].refused = nil
		}
	}
}

// Settled returns the highest revision of the present history that every subscribed type
// confirmed (SEMANTICS 5.1), 0 while there is none.
func (c *Client) Settled() fleet.Revision {
	if c.pos.Opening {
		return 0
	}
	var low fleet.Revision
	found := false
	for i, r := range c.settled.confirmed {
		if c.Subscribed(fleet.Type(i)) && (!found || r < low) {
			low, found = r, true
		}
	}
	if c.unheard() || !c.settled.followed && c.lacksRoutes() {
		return min(low, c.origin.Past.Settled)
	}
	return low
}

// lacksRoutes reports whether a gRPC client has a listener that names routes, and subscribes to none: it is sent no change of what its listeners
// lead to. One that has just taken its listener is so for a moment. grpc-go is so for good when it has come back to the first of its servers (docs/clients.md).
func (c *Client) lacksRoutes() bool {
	if !c.pos.Kind.Follows || c.pos.Kind.SingleType || c.pos.subscribed(fleet.Route) {
		return false
	}
	for r := range c.pos.Types[fleet.Listener].Held.All() {
		if slices.ContainsFunc(r.Refs, func(ref fleet.Ref) bool { return ref.Type == fleet.Route }) {
			return true
		}
	}
	return false
}

// Clean reports whether what the client will report on its next stream can be believed:
// nothing is unanswered, and nothing in doubt (SEMANTICS 3.4).
func (c *Client) Clean() bool {
	if c.unheard() {
		return false
	}
	for i := range c.pos.Types {
		p := c.rec.of(fleet.Type(i))
		if f := c.inFlight[i]; f != nil && f.alters() || len(p.late) > 0 || p.search != nil || c.pos.Types[i].Doubts.Len() > 0 || c.lacksSome(fleet.Type(i)) {
			return false
		}
		if c.origin.Past.Unclean && c.pos.Types[i].Sub != nil && c.settled.confirmed[i] == 0 {
			return false // what was not believed was not sent yet
		}
	}
	return true
}

// lacksSome reports whether the client lacks something that it asks for though the version that it will report has it: in state of the world
// that is the one of before it gave the name up.
func (c *Client) lacksSome(t fleet.Type) bool {
	tr := &c.pos.Types[t]
	if c.pos.Kind.Delta {
		return false
	}
	for has, reported := range snapshot.Diff(tr.Held, c.reports[t]) {
		if has == nil && tr.Sub.Has(reported.Name) {
			return true
		}
	}
	return false
}
