package planner

import (
	"time"

	"fairlead/internal/fleet"
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
)

// unaskedAt returns when clusters are due although the client did not ask for them; the
// zero time if they are not. One that merely warms asks as soon as it has its endpoints.
func (c *Client) unaskedAt(target *snapshot.Target) time.Time {
	if !c.unheard() || c.pos.Opening || c.pos.subscribed(fleet.Cluster) {
		return time.Time{} // many a client has no clusters to ask for
	}
	if !c.pos.subscribed(fleet.Endpoint) && !c.pos.subscribed(fleet.Listener) {
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
	if !c.origin.Past.Unclean {
		return
	}
	at := c.unaskedAt(target)
	if at.IsZero() || c.now.Before(at) {
		return
	}
	candidates := c.changedSince(target)
	if len(candidates) == 0 {
		candidates = c.neverAskedOf(target)
	}
	p, tr := c.peculiar(t), &c.pos.Types[t]
	p.unasked, c.times.unasked = true, c.now
	var named []snapshot.Edit // what it may be stuck on it has asked for
	seen := map[string]bool{}
	for _, x := range candidates {
		if name := x.Refused.Name; x.Refused.ByName && !seen[name] {
			seen[name], named = true, append(named, snapshot.Edit{New: x.Refused.NameOnly()})
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
	if len(candidates) > 0 {
		p.bisection = &bisection{words: nevermind}
		p.bisection.presume(candidates, false) // what it sticks on may be an older version
	}
}

// unheard reports whether an Envoy that takes clusters from here, as far as is known, has said nothing of them on this stream: it may be stuck,
// if its last one did not end clean, or it was unheard on that and is no other process. Others ask for clusters only if a listener leads there.
func (c *Client) unheard() bool {
	p := c.origin.Past
	mayStick := p.Unclean && !p.NoClusters || p.Silent && (c.pos.Opening || c.counts.reported)
	return mayStick && c.pos.Kind.Envoy && !c.pos.Kind.SingleType && !c.Subscribed(fleet.Cluster)
}

// willReport reports whether the client holds something that hangs on nothing else and has it say so on its next stream, be it stuck on clusters or
// not: who comes with nothing then is another process.
func (c *Client) willReport() bool {
	return c.pos.Types[fleet.Listener].Held.Len()+c.pos.Types[fleet.Runtime].Held.Len() > 0
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
	look := func(r *snapshot.Resource) {
		if r == nil || r.Slow {
			return
		}
		if good, known := c.settledWith(t, r.Name, target); known && !snapshot.Same(good, r) {
			all = append(all, snapshot.Exception{Type: t, Refused: r, Good: good})
		}
	}
	if before := c.origin.Before; c.origin.Past.Unclean && before != nil {
		for _, r := range snapshot.Diff(before.Types[t], target.Types[t]) {
			look(r)
		}
		return all
	}
	for r := range target.Types[t].All() {
		if c.origin.Past.doubts(r) {
			look(r)
		}
	}
	return all
}
