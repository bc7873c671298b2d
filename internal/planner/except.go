package planner

import (
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// A client whose first request reports nothing of a type is a new one, for all that is known.
// One that has the very version took it after all: it was presumed to refuse what it only took
// its time for, or another client with its node id refused it (T41). In state of the world it
// may have any version in a set that is not known. One that has some version of a name of which
// there is to be none is not the client that never had any: nothing is taken away from it. So
// the exceptions of all these are in doubt (SEMANTICS 3.6).

// reconsidered is what was held, and what was kept back, when exceptions were doubted last.
type reconsidered struct{ held, kept [fleet.NumTypes]*snapshot.Set }

// doubtTaken doubts what keeps a version back that the client has confirmed: it was not
// this stream that refused it, and what one client took is not taken away for the words of
// another with the same node id (T41). Its cost is that of the target's exceptions, where
// something has moved.
func (c *Client) doubtTaken(target *snapshot.Target) {
	for _, t := range order {
		kept := target.Types[t]
		if kept == target.View[t] {
			continue
		}
		if c.asked == nil {
			c.asked = new(reconsidered)
		}
		held := c.pos.Types[t].Held
		if c.asked.held[t] == held && c.asked.kept[t] == kept {
			continue
		}
		c.asked.held[t], c.asked.kept[t] = held, kept
		for refused := range snapshot.Diff(target.View[t], kept) {
			if refused == nil {
				continue
			}
			if r := held.Get(refused.Name); r != nil && snapshot.Same(r, refused) {
				c.reconsider(t, refused)
			}
		}
	}
}

func (c *Client) reconsider(t fleet.Type, refused *snapshot.Resource) {
	c.found.Doubted = append(c.found.Doubted, refusal.Key{Type: t, Name: refused.Name, Version: refused.Version})
}

// doubtExceptions looks at what the first request of a type says of the exceptions.
func (c *Client) doubtExceptions(r *Request, target *snapshot.Target) {
	t := r.Type
	if target.Types[t] == target.View[t] {
		return
	}
	anew := r.Version == "" && r.Versions.N == 0
	reported := make(map[string]string)
	for refused := range snapshot.Diff(target.View[t], target.Types[t]) {
		if refused != nil {
			reported[refused.Name] = ""
		}
	}
	r.Versions.of(reported)
	l := c.inputs(target)
	for refused, instead := range snapshot.Diff(target.View[t], target.Types[t]) {
		if refused == nil {
			continue
		}
		has := reported[refused.Name]
		if !c.pos.Kind.Delta {
			has = l.held(t, refused.Name).version()
		}
		took := has == refused.Version || !c.pos.Kind.Delta && c.pos.Types[t].Unknown
		_, left := target.Leaves(t)[refused.Name]
		other := has != "" && instead == nil && !left
		if anew || took || other {
			c.reconsider(t, refused)
		}
	}
}
