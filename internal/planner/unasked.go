package planner

import (
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
	"fairlead/internal/snapshot"
)

// An Envoy that is stuck does not ask for clusters on a new stream, and would never be
// repaired: it is sent them unasked (SEMANTICS 3.8c).

const (
	// unaskedAfter is how long a returning client may keep silent about clusters: what is
	// sent to it then may take something away that serves, so it is the last resort.
	unaskedAfter = 5 * time.Second
	// unaskedSoon is the same where it is known what it had of the clusters that changed since
	// it settled: that takes nothing away.
	unaskedSoon = time.Second
	// deafAfter is how long it may leave them unanswered. One that they free answers at once; who says nothing takes no clusters from here.
	deafAfter = 30 * time.Second
)

// unaskedAt returns when clusters are due although the client did not ask for them; the
// zero time if they are not. One that merely warms asks as soon as it has its endpoints.
func (c *Client) unaskedAt(target *snapshot.Target) time.Time {
	if !c.unheard() || c.pos.Opening || c.pos.subscribed(fleet.Cluster) {
		return time.Time{}
	}
	since := c.quietSince(c.times.opened)
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
func (c *Client) pushUnasked(target *snapshot.Target) {
	const t = fleet.Cluster
	at := c.unaskedAt(target)
	if at.IsZero() || c.now.Before(at) {
		return
	}
	candidates := c.changedSince(target)
	if len(candidates) == 0 {
		candidates = c.neverAskedOf(target)
	}
	p, tr := c.edit(t), &c.pos.Types[t]
	p.unasked, c.times.unasked = true, c.now
	var named []snapshot.Edit // what it may be stuck on it has asked for
	for _, x := range candidates {
		if x.Refused.ByName {
			named = append(named, snapshot.Edit{New: x.Refused.NameOnly()})
		}
	}
	tr.Sub, tr.Answer = c.in.derive(&Subscription{typ: t}, true, false, named), !c.pos.Kind.Delta
	tr.Held, _ = tr.Sub.wants(c.in, target.Types[t])
	var newer []string
	for r := range tr.Held.All() {
		if c.doubts(t, r, target) {
			newer = append(newer, r.Name)
		}
	}
	tr.Held = c.in.dropped(t, tr.Held, newer)
	var doubts []doubtEdit
	for _, x := range candidates {
		d := change{name: x.Refused.Name, old: has{res: x.Good}, new: x.Refused}.doubtful()
		doubts = append(doubts, doubtEdit{x.Refused.Name, &d})
	}
	for _, name := range target.Withheld(t) {
		doubts = append(doubts, doubtEdit{name, new(Doubt)})
	}
	for r := range target.Gone[t].All() { // what was deleted since it settled it may stick on as well
		if c.origin.Past.doubts(r) && tr.Held.Get(r.Name) == nil {
			doubts = append(doubts, doubtEdit{r.Name, new(Doubt)})
		}
	}
	c.in.cast(t, tr, doubts)
	if len(candidates) > 0 { // what it sticks on may be an older version
		p.search, _, _ = p.search.Presumed(repair.Refusal{Type: t, Words: repair.Stuck, Target: target, Candidates: candidates}, false)
	}
}

// deafAt returns when an Envoy takes no clusters from here, for all that it says; the zero time if it was sent none unasked.
func (c *Client) deafAt() time.Time {
	if !c.rec.of(fleet.Cluster).unasked {
		return time.Time{}
	}
	return c.times.unasked.Add(deafAfter)
}

// giveUpUnasked takes clusters back that went out unasked and were not answered for so long: all that the client has are in its bootstrap. Should it
// ask for some after all, that is its first request.
func (c *Client) giveUpUnasked() {
	const t = fleet.Cluster
	if at := c.deafAt(); at.IsZero() || c.now.Before(at) {
		return
	}
	c.forgetUnasked(t)
	c.pos.Types[t], c.edit(t).search, c.counts.deaf = Track{}, nil, true
	c.heal()
}

// unheard reports whether an Envoy whose last stream did not end clean has said nothing of clusters on this one: it may be stuck. It asks for endpoints
// of those that it has, or comes with listeners from before: another process does not. Others ask for clusters only if a listener leads there.
func (c *Client) unheard() bool {
	if !c.origin.Past.Unclean || c.counts.deaf || !c.pos.Kind.Envoy || c.pos.Kind.SingleType || c.Subscribed(fleet.Cluster) {
		return false
	}
	return c.pos.subscribed(fleet.Endpoint) || c.pos.subscribed(fleet.Listener) && c.counts.reported
}

// neverAskedOf returns the target's clusters whose endpoints the client did not ask for,
// though it asked for those of others.
func (c *Client) neverAskedOf(target *snapshot.Target) (all []snapshot.Exception) {
	endpoints := c.pos.Types[fleet.Endpoint].Sub
	for r := range target.Types[fleet.Cluster].All() {
		if r.EDSName != "" && !r.ByName && !endpoints.Has(r.EDSName) {
			all = append(all, snapshot.Exception{Type: fleet.Cluster, Refused: r})
		}
	}
	return all
}

// changedSince returns the clusters that changed since the client settled, if its last
// stream did not end clean, with what it had of them then.
func (c *Client) changedSince(target *snapshot.Target) (all []snapshot.Exception) {
	const t = fleet.Cluster
	compare := func(r *snapshot.Resource) {
		if r == nil || r.Slow {
			return
		}
		if good, known := c.settledWith(t, r.Name, target); known && !snapshot.Same(good, r) {
			all = append(all, snapshot.Exception{Type: t, Refused: r, Good: good})
		}
	}
	if before := c.origin.Before; c.origin.Past.Unclean && before != nil {
		for _, r := range snapshot.Diff(before.Types[t], target.Types[t]) {
			compare(r)
		}
		return all
	}
	for r := range target.Types[t].All() {
		if c.origin.Past.doubts(r) {
			compare(r)
		}
	}
	return all
}
