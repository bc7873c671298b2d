package snapshot

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
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
	// unaskedAfter is how long a returning client may keep silent about clusters: what is
	// sent to it then may take something away that serves, so it is the last resort.
	unaskedAfter = 5 * time.Second
	// unaskedSoon is the same where it is known what it had of the clusters that changed since
	// it settled: that takes nothing away.
	unaskedSoon = time.Second
	// pauseAfter is how long something else may be unanswered until that says that the client
	// answers nothing at all.
	pauseAfter = 500 * time.Millisecond
	// slowAfter is the same where a cluster resolves names or checks its endpoints first.
	slowAfter = 30 * time.Second
)

// What stands in the place of the client's words.
const (
	stuckWords = "the proxy answered neither ACK nor NACK, though it had all endpoints and secrets that it asked for"
	nevermind  = stuckWords + ": it holds back all answers for clusters, as Envoy does when its load balancer refuses one"
)

// quietSince returns when the client last had something of what clusters need to take
// in; the zero time while it still has.
func (c *Client) quietSince(from time.Time) time.Time {
	for _, t := range []fleet.Type{fleet.Endpoint, fleet.Secret} {
		tr := &c.types[t]
		switch {
		case !tr.subscribed:
		case tr.inFlight != nil || len(tr.owed) > 0:
			return time.Time{}
		case tr.confirmedAt.After(from):
			from = tr.confirmedAt
		}
	}
	return from
}

// stuckAt returns when the clusters in flight are presumed stuck; the zero time if they
// are not.
func (c *Client) stuckAt() time.Time {
	f := c.types[fleet.Cluster].inFlight
	if f == nil || f.presumed || !c.Envoy || c.Alone {
		return time.Time{}
	}
	since := c.quietSince(f.sentAt)
	if since.IsZero() {
		return since
	}
	if c.pauses() {
		return since.Add(slowAfter)
	}
	after := stuckAfter
	if len(c.neverAsked(f)) == 0 {
		after = blindAfter
		if slices.ContainsFunc(f.changes, func(ch change) bool { return ch.new != nil && ch.new.Slow }) {
			return since.Add(slowAfter)
		}
	}
	after += time.Duration(len(f.changes)) * stuckEach
	return since.Add(min(after<<min(c.acquitted, 5), max(after, slowAfter)))
}

// pauses reports whether the client leaves more than clusters unanswered: it is busy, or
// does not read.
func (c *Client) pauses() bool {
	for i := range c.types {
		switch f := c.types[i].inFlight; {
		case f == nil, fleet.Type(i) == fleet.Cluster:
		case c.Now.Sub(f.sentAt) >= pauseAfter:
			return true
		}
	}
	return false
}

// acquitUnsaid: what an Envoy in state of the world stuck on it tells beside the ACK of what
// was put back. On what it does not name it was only slow.
func (c *Client) acquitUnsaid(t fleet.Type) {
	tr := &c.types[t]
	if !c.Envoy || c.Delta || t != fleet.Cluster {
		return
	}
	text := tr.explained
	for _, late := range tr.late {
		if late.presumed {
			c.acquit(t, late, text)
		}
	}
}

// acquit takes in that the client took clusters after all that it was presumed to stick on,
// but for those that it names: they are offered again, and it is given more time from now
// on.
func (c *Client) acquit(t fleet.Type, late *Response, text string) {
	if text == "" {
		c.acquitted++
	}
	tr := &c.types[t]
	taken := func(name, version string) bool {
		return !standsWhole(text, name) && slices.ContainsFunc(late.changes, func(ch change) bool {
			return ch.new != nil && ch.new.Name == name && ch.new.Version == version
		})
	}
	if tr.trial != nil {
		tr.trial.drop(func(s suspect) bool { return taken(s.refused.Name, s.refused.Version) })
		tr.inStep = false
		c.trialMoves++
	}
	c.verdicts = slices.DeleteFunc(c.verdicts, func(v Verdict) bool {
		return v.Type == t && !slices.ContainsFunc(v.Culprits, func(b Blame) bool { return !taken(b.Refused.Name, b.Refused.Version) })
	})
	for _, ch := range late.changes {
		if ch.new != nil && taken(ch.new.Name, ch.new.Version) && c.base.excepts(t, ch.new) {
			c.doubted = append(c.doubted, Doubted{t, ch.new.Name, ch.new.Version})
		}
	}
}

// neverAsked returns the new clusters of a response whose endpoints the client never
// asked for: Envoy asks for those of good ones at once. One that it has from before this
// stream it asked endpoints for as the stream began.
func (c *Client) neverAsked(f *Response) (never []suspect) {
	endpoints := &c.types[fleet.Endpoint].sub
	for _, s := range f.suspects() {
		if s.good == nil && s.refused.EDSName != "" && !endpoints.Has(s.refused.EDSName) {
			s.leave = s.leave && !f.blind
			never = append(never, s)
		}
	}
	return never
}

// presumeStuck begins the trial of the clusters in flight when it is time: those that
// the client never asked endpoints for, else all that changed.
func (c *Client) presumeStuck() {
	at := c.stuckAt()
	if at.IsZero() || c.Now.Before(at) {
		return
	}
	tr := &c.types[fleet.Cluster]
	f := tr.inFlight
	f.presumed = true
	suspects, sure := c.neverAsked(f), true
	if len(suspects) == 0 {
		suspects = f.suspects()
		sure = len(suspects) == 1
	}
	if tr.trial != nil {
		known := tr.trial
		suspects = slices.DeleteFunc(suspects, func(s suspect) bool { return known.keepsBack(s.refused) })
	}
	if len(suspects) == 0 {
		if tr.trial != nil && tr.trial.giveUp(f) {
			c.trialMoves++
		}
		return
	}
	c.refusals++
	c.warm = nil
	c.trialMoves++
	if tr.trial == nil {
		tr.trial = &trial{text: nevermind}
	}
	tr.trial.suspect(suspects, sure)
	// What would have to be fetched first cannot be tried: it is judged.
	fetch := slices.DeleteFunc(slices.Clone(suspects), func(s suspect) bool { return !s.leave })
	if len(fetch) > 0 {
		c.condemn(fleet.Cluster, nevermind, fetch)
	}
}

// suspect keeps suspects back that were not answered for. Unless one of them is the
// culprit for sure, each half is given back by itself.
func (tr *trial) suspect(suspects []suspect, sure bool) {
	tr.drop(func(s suspect) bool {
		return slices.ContainsFunc(suspects, func(x suspect) bool { return x.refused == s.refused })
	})
	tr.offered = nil
	if sure {
		tr.waiting = slices.Insert(tr.waiting, 0, &group{suspects: suspects, bad: true})
		return
	}
	at := len(suspects) / 2
	tr.waiting = slices.Insert(tr.waiting, 0, &group{suspects: slices.Clone(suspects[:at])}, &group{suspects: slices.Clone(suspects[at:])})
}

// giveUp takes in that what was put back sticks as well: then nothing good is known of the
// name, and without it the client is free.
func (tr *trial) giveUp(f *Response) (any bool) {
	sticks := func(r *Resource) bool {
		return r != nil && slices.ContainsFunc(f.changes, func(ch change) bool { return Same(ch.new, r) })
	}
	for _, suspects := range tr.groups() {
		for i := range suspects {
			if sticks(suspects[i].good) {
				suspects[i].good, any = nil, true
			}
		}
	}
	return any
}

// keepsBack reports whether the version is kept back by now.
func (tr *trial) keepsBack(r *Resource) bool {
	found := false
	tr.withheld(func(s suspect) bool {
		found = s.refused == r
		return !found
	})
	return found
}

// Explain takes in the words that stand beside an ACK in state of the world: they are
// about an earlier response that was held back (PROTOCOL rule 16).
func (c *Client) Explain(t fleet.Type, text string) {
	tr := &c.types[t]
	tr.explained = text
	if tr.trial == nil {
		return
	}
	named := slices.DeleteFunc(tr.trial.all(), func(s suspect) bool {
		return !standsWhole(text, s.refused.Name) || slices.Contains(tr.trial.condemned, s) || tr.overtookOther(s)
	})
	if len(named) > 0 {
		c.condemn(t, text, named)
		c.trialMoves++
	}
}

// overtookOther reports whether a held response carried another version of the name: the
// words may be about that one.
func (tr *track) overtookOther(s suspect) bool {
	return slices.ContainsFunc(tr.late, func(r *Response) bool {
		return slices.ContainsFunc(r.changes, func(ch change) bool {
			return ch.new != nil && ch.new.Name == s.refused.Name && !Same(ch.new, s.refused)
		})
	})
}

// An Envoy that is stuck does not ask for clusters on a new stream, and would never be
// repaired: it is sent them unasked (SEMANTICS 3.8c).

// unaskedAt returns when clusters are due although the client did not ask for them; the
// zero time if they are not. One that merely warms asks as soon as it has its endpoints.
func (c *Client) unaskedAt(target *Target) time.Time {
	if !c.Past.Unclean || !c.Envoy || c.Alone || c.Young || c.types[fleet.Cluster].subscribed {
		return time.Time{} // many a client has no clusters to ask for
	}
	if !c.types[fleet.Endpoint].subscribed && !c.types[fleet.Listener].subscribed {
		return time.Time{}
	}
	since := c.quietSince(c.grownAt)
	if since.IsZero() {
		return since
	}
	if len(c.changedSince(target)) > 0 {
		return since.Add(unaskedSoon)
	}
	return since.Add(unaskedAfter)
}

// pushUnasked subscribes the client to clusters, if it is time: what may be stuck is in
// doubt and kept back, the rest counts as held until the client asks and says what it is.
func (c *Client) pushUnasked(target *Target) {
	at := c.unaskedAt(target)
	if at.IsZero() || c.Now.Before(at) {
		return
	}
	suspects := c.changedSince(target)
	if len(suspects) == 0 {
		suspects = c.neverAskedOf(target)
	}
	tr := &c.types[fleet.Cluster]
	tr.subscribed, tr.unasked, tr.sub.wildcard, tr.answer = true, true, true, !c.Delta
	tr.held = target.Types[fleet.Cluster]
	for r := range target.Types[fleet.Cluster].All() {
		if c.Past.doubts(r) {
			tr.held = tr.held.Without(r.Name)
		}
	}
	for _, s := range suspects {
		tr.held = tr.held.With(doubtful(change{old: s.good, new: s.refused}))
	}
	if target.repairs != nil {
		for ref := range target.repairs.absent {
			if ref.Type == fleet.Cluster {
				tr.held = tr.held.With(&Resource{Name: ref.Name, doubt: true, key: keyOf(ref.Name, inDoubt)})
			}
		}
	}
	for r := range target.Gone[fleet.Cluster].All() {
		if c.Past.doubts(r) {
			tr.held = tr.held.With(&Resource{Name: r.Name, doubt: true, key: keyOf(r.Name, inDoubt)})
		}
	}
	if len(suspects) > 0 {
		c.trialMoves++
		tr.trial = &trial{text: nevermind}
		tr.trial.suspect(suspects, false) // what it sticks on may be an older version
	}
}

// neverAskedOf returns the target's clusters whose endpoints the client did not ask for,
// though it asked for those of others.
func (c *Client) neverAskedOf(target *Target) (suspects []suspect) {
	endpoints := &c.types[fleet.Endpoint].sub
	for r := range target.Types[fleet.Cluster].All() {
		if r.EDSName != "" && !endpoints.Has(r.EDSName) {
			suspects = append(suspects, suspect{refused: r})
		}
	}
	return suspects
}

// changedSince returns the clusters that changed since the client settled, if its last
// stream did not end clean, with what it had of them then.
func (c *Client) changedSince(target *Target) (suspects []suspect) {
	for r := range target.Types[fleet.Cluster].All() {
		if !c.Past.doubts(r) || r.Slow {
			continue
		}
		if good, known := c.settledWith(fleet.Cluster, r.Name, target); known && !Same(good, r) {
			suspects = append(suspects, suspect{refused: r, good: good})
		}
	}
	return suspects
}

// begin forgets what was presumed of a type that the client asks for only now.
func (tr *track) begin() {
	tr.unasked, tr.held, tr.inFlight, tr.late, tr.sub, tr.inStep = false, nil, nil, nil, Subscription{}, false
}
