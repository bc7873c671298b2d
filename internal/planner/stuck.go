package planner

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
	"fairlead/internal/snapshot"
)

// A cluster that Envoy's load balancer refuses stays in warming and holds back every
// answer for clusters, ACK and NACK, for good, on this stream and on the next ones
// (SEMANTICS 3.8). Such clusters are presumed stuck, and repaired without having been
// refused.

const (
	// stuckAfter is how long clusters may stay unanswered once all that they asked for was
	// ACKed, and stuckEach how much longer for each changed one: thousands take their time.
	stuckAfter = time.Second
	// blindAfter is the same where nothing tells which of them it is: a busy proxy may be
	// late by itself.
	blindAfter = 2 * time.Second
	stuckEach  = time.Millisecond
	// pauseAfter is how long something else may be unanswered until that says that the client
	// answers nothing at all.
	pauseAfter = 500 * time.Millisecond
	// slowAfter is the same where a cluster resolves names or checks its endpoints first.
	slowAfter = 30 * time.Second
)

// quietSince returns when the client last had something of what clusters need to take
// in; the zero time while it still has.
func (c *Client) quietSince(from time.Time) time.Time {
	for _, t := range []fleet.Type{fleet.Endpoint, fleet.Secret} {
		tr := &c.pos.Types[t]
		switch at := c.times.confirmed[t]; {
		case tr.Sub == nil:
		case tr.InFlight || tr.Pending.Len() > 0:
			return time.Time{}
		case at.After(from):
			from = at
		}
	}
	return from
}

// stuckAt returns when the clusters in flight are presumed stuck; the zero time if they
// are not.
func (c *Client) stuckAt() time.Time {
	f := c.inFlight[fleet.Cluster]
	if f == nil || f.presumed || !c.pos.Kind.Envoy || c.pos.Kind.SingleType {
		return time.Time{}
	}
	since := c.quietSince(f.sentAt)
	if since.IsZero() {
		return since
	}
	if c.pauses() {
		return since.Add(slowAfter)
	}
	if soonest := since.Add(stuckAfter); c.now.Before(soonest) {
		return soonest // when it is worth looking at each of them
	}
	after := stuckAfter
	if len(c.neverAsked(f)) == 0 {
		after = blindAfter
		if slices.ContainsFunc(f.changes, func(ch change) bool { return ch.new != nil && ch.new.Slow }) {
			return since.Add(slowAfter)
		}
	}
	after += time.Duration(len(f.changes)) * stuckEach
	return since.Add(min(after<<min(c.counts.cleared, 5), max(after, slowAfter)))
}

// pauses reports whether the client leaves more than clusters unanswered: it is busy, or
// does not read.
func (c *Client) pauses() bool {
	for i, f := range c.inFlight {
		if f != nil && fleet.Type(i) != fleet.Cluster && c.now.Sub(f.sentAt) >= pauseAfter { //nolint:gosec // one of nine
			return true
		}
	}
	return false
}

// neverAsked returns the new clusters of a response whose endpoints the client never
// asked for: Envoy asks for those of good ones at once. One that it has from before this
// stream it asked endpoints for as the stream began.
func (c *Client) neverAsked(f *sentResponse) (never []snapshot.Exception) {
	endpoints := c.pos.Types[fleet.Endpoint].Sub
	for _, x := range c.candidates(f.Response) {
		if x.Good == nil && x.Refused.EDSName != "" && !endpoints.Has(x.Refused.EDSName) {
			x.Leave = x.Leave && !f.blind
			never = append(never, x)
		}
	}
	return never
}

// presumeStuck begins the bisection of the clusters in flight when it is time: those that
// the client never asked endpoints for, else all that changed.
func (c *Client) presumeStuck(target *snapshot.Target) {
	const t = fleet.Cluster
	at := c.stuckAt()
	if at.IsZero() || c.now.Before(at) {
		return
	}
	c.overlay.base = target
	f := c.inFlight[t]
	f.presumed, f.idle = true, nil
	all, sure := c.neverAsked(f), true
	if gone := c.gone(t, f.Response); len(gone) > 0 {
		if len(all) > 0 { // else it may wait for endpoints of what is there no more
			gone = slices.DeleteFunc(gone, func(name string) bool {
				return !slices.ContainsFunc(all, func(x snapshot.Exception) bool { return x.Refused.Name == name })
			})
		}
		if len(gone) > 0 { // what is left is to blame only if the client is stuck without them
			c.withdraw(t, gone)
			c.pos.Warm = nil
			return
		}
	}
	if len(all) == 0 {
		all = c.candidates(f.Response)
		sure = len(all) == 1
	}
	next, vs, news := c.rec.of(t).search.Presumed(repair.Refusal{Type: t, Words: repair.Stuck, Target: target, Candidates: all}, sure)
	if !news {
		return
	}
	c.edit(t).search = next
	c.find(vs)
	c.counts.refusals++
	c.pos.Warm = nil
}

// explain takes in the words that stand beside an ACK of what was put back: they are about
// what stuck.
func (c *Client) explain(t fleet.Type, words string) {
	p, lists := c.rec.of(t), repair.Lists(t, words)
	var named []snapshot.Exception
	for x := range p.search.All() {
		if lists(x.Refused.Name) && x.At == 0 && !p.overtookOther(x) {
			named = append(named, x)
		}
	}
	if len(named) > 0 {
		c.refusedBy(repair.Refusal{Type: t, Words: words, Target: c.overlay.base, Culprits: named})
	}
}

// overtookOther reports whether a held response carried another version of the name: the
// words may be about that one.
func (p *typeRecord) overtookOther(x snapshot.Exception) bool {
	return slices.ContainsFunc(p.late, func(f *sentResponse) bool {
		return slices.ContainsFunc(f.changes, func(ch change) bool {
			return ch.new != nil && ch.name == x.Refused.Name && !snapshot.Same(ch.new, x.Refused)
		})
	})
}

// clearUnsaid: what an Envoy in state of the world stuck on it tells beside the ACK of what
// was put back. On what it does not name it was only slow.
func (c *Client) clearUnsaid(t fleet.Type, words string) {
	if !c.pos.Kind.Envoy || c.pos.Kind.Delta || t != fleet.Cluster {
		return
	}
	for _, late := range c.rec.of(t).late {
		if late.presumed {
			c.clear(t, late, words)
		}
	}
}

// clear takes in that the client took clusters after all that it was presumed to stick on,
// but for those that it names: they are offered again, and it is given more time from now
// on.
func (c *Client) clear(t fleet.Type, late *sentResponse, words string) {
	if words == "" {
		c.counts.cleared++
	}
	lists := repair.Lists(t, words)
	taken := func(name, version string) bool {
		return !lists(name) && slices.ContainsFunc(late.changes, func(ch change) bool {
			return ch.new != nil && ch.name == name && ch.new.Version == version
		})
	}
	c.rec.of(t).search.Revise(func(x *snapshot.Exception, _ bool) bool { return !taken(x.Refused.Name, x.Refused.Version) })
	c.found.Verdicts = slices.DeleteFunc(c.found.Verdicts, func(v snapshot.Verdict) bool {
		return v.Type == t && !slices.ContainsFunc(v.Blame, func(x snapshot.Exception) bool { return !taken(x.Refused.Name, x.Refused.Version) })
	})
	for _, ch := range late.changes {
		if ch.new != nil && taken(ch.name, ch.new.Version) && c.overlay.base.Excepts(t, ch.new) {
			c.reconsider(t, ch.new)
		}
	}
}
