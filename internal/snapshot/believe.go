package snapshot

import (
	"slices"

	"fairlead/internal/fleet"
)

// Past is how a client's last stream ended (SEMANTICS 3.4). Envoy applies half of what it
// refuses and reports a changed name under its old version: after a stream that did not
// end clean, what it reports is believed only of what has not changed since it settled.
type Past struct {
	Unclean bool
	Settled fleet.Revision
}

// doubts reports whether the client may hold something else than the resource although
// it reports its version.
func (p Past) doubts(r *Resource) bool { return p.Unclean && r.Revision > p.Settled }

// doubts is the same of what the target has under a name. What stands in for a refused
// version is as old as it is; the client may hold half of the version that was refused.
func (c *Client) doubts(t fleet.Type, r *Resource, target *Target) bool {
	refused := target.view[t].Get(r.Name)
	return c.Past.doubts(r) || refused != nil && c.Past.doubts(refused)
}

// believed is what a client holds by the versions that it reports on a new stream. Where
// all of them are the target's it is the target's own set. find returns older resources,
// nil for those that are not known.
func (c *Client) believed(tr *track, r Request, target *Target, find func(name, version string) *Resource) *Set {
	want := c.wanted(r.Type, target)
	if !c.Past.Unclean && want.Len() == len(r.Versions) && holdsAll(want, r.Versions) {
		return want
	}
	var held *Set
	for n, v := range r.Versions {
		w := want.Get(n)
		switch {
		case w != nil && w.Version == v && !c.doubts(r.Type, w, target):
			held = held.With(w)
		case !tr.sub.Has(n) && r.Type != fleet.VirtualHost: // which is asked for by an alias
		case w != nil && w.Version == v:
			last, known := c.settledWith(r.Type, n, target)
			if last == nil || !known {
				last = w
			}
			held = held.With(&Resource{Name: n, doubt: true, had: true, last: last, Refs: slices.Concat(w.Refs, last.Refs), key: keyOf(n, inDoubt)})
		case c.Past.Unclean:
			d := &Resource{Name: n, Version: v, doubt: true, had: true, key: keyOf(n, inDoubt)}
			if d.last = find(n, v); d.last != nil {
				d.Refs = d.last.Refs
			}
			held = held.With(d)
		default:
			old := find(n, v)
			if old == nil {
				old = &Resource{Name: n, Version: v, key: keyOf(n, v)}
			}
			held = held.With(old)
		}
	}
	return c.zombies(tr, r.Type, target, held)
}

// Doubted is a version that the node's target keeps back, and that it might take by now.
type Doubted struct {
	Type          fleet.Type
	Name, Version string
}

// Doubted returns, once, the exceptions that are in doubt (SEMANTICS 3.6). A client whose first
// request reports nothing of a type is a new one, for all that is known. One that has the
// very version took it after all: it was presumed to refuse what it only took its time
// for, or another client with its node id refused it (T41). In state of the world it may
// have any version in a set that is not known. One that has some version of a name of which
// there is to be none is not the client that never had any: nothing is taken away from it.
func (c *Client) Doubted() []Doubted {
	d := c.doubted
	c.doubted = nil
	return d
}

// doubtTaken doubts what keeps a version back that the client has confirmed: it was not
// this stream that refused it, and what one client took is not taken away for the words of
// another with the same node id (T41). Its cost is that of the target's exceptions, where
// something has moved.
func (c *Client) doubtTaken(target *Target) (any bool) {
	for _, t := range order {
		tr := &c.types[t]
		if target.Types[t] == target.view[t] || tr.heldWith == tr.held && tr.doubtedOf == target.Types[t] {
			continue
		}
		tr.heldWith, tr.doubtedOf = tr.held, target.Types[t]
		for refused := range Diff(target.view[t], target.Types[t]) {
			if refused == nil {
				continue
			}
			if held := tr.held.Get(refused.Name); held != nil && !held.doubt && Same(held, refused) {
				c.doubted, any = append(c.doubted, Doubted{t, refused.Name, refused.Version}), true
			}
		}
	}
	return any
}

func (c *Client) doubtExceptions(r Request, target *Target) {
	tr := &c.types[r.Type]
	anew := r.Version == "" && len(r.Versions) == 0
	for refused, instead := range Diff(target.view[r.Type], target.Types[r.Type]) {
		if refused == nil {
			continue
		}
		has := r.Versions[refused.Name]
		if !c.Delta {
			has = tr.held.Get(refused.Name).versionHad()
		}
		took := has == refused.Version || !c.Delta && tr.unknown
		_, left := target.leaves(r.Type)[refused.Name]
		other := has != "" && instead == nil && !left
		if anew || took || other {
			c.doubted = append(c.doubted, Doubted{r.Type, refused.Name, refused.Version})
		}
	}
}

// unchanged reports whether nothing of what the client wants has changed since it settled,
// if its last stream did not end clean: then an equal version means equal content.
func (c *Client) unchanged(tr *track, t fleet.Type, want *Set, target *Target) bool {
	if !c.Past.Unclean {
		return true
	}
	for r := range want.All() {
		if c.doubts(t, r, target) {
			return false
		}
	}
	for _, s := range []*Set{target.Gone[t], target.view[t]} { // what is withheld from the node was refused
		for r := range s.All() {
			if c.Past.doubts(r) && tr.sub.Has(r.Name) {
				return false
			}
		}
	}
	return true
}

// zombies adds what the client may have taken from a response that it refused, and does
// not report: what came into the fleet, or left it, since the client settled.
func (c *Client) zombies(tr *track, t fleet.Type, target *Target, held *Set) *Set {
	if !c.Past.Unclean {
		return held
	}
	for _, s := range []*Set{target.Gone[t], target.view[t]} {
		for r := range s.All() {
			if c.Past.doubts(r) && tr.sub.Has(r.Name) && held.Get(r.Name) == nil {
				held = held.With(&Resource{Name: r.Name, doubt: true, key: keyOf(r.Name, inDoubt)})
			}
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

// Clean reports whether what the client will report on its next stream can be believed:
// nothing is unanswered, and nothing in doubt (SEMANTICS 3.4).
func (c *Client) Clean() bool {
	if c.unheard() {
		return false
	}
	for i := range c.types {
		tr := &c.types[i]
		if tr.inFlight.alters() || len(tr.late) > 0 || tr.trial != nil {
			return false
		}
		if c.Past.Unclean && tr.subscribed && tr.confirmed == 0 {
			return false // what was not believed was not sent yet
		}
		for r := range tr.held.All() {
			if r.doubt {
				return false
			}
		}
	}
	return true
}

// unheard reports whether the client has said nothing of clusters on this stream, though
// its last one did not end clean: it may be stuck.
func (c *Client) unheard() bool {
	clusters := &c.types[fleet.Cluster]
	return c.Past.Unclean && !c.Alone && (!clusters.subscribed || clusters.unasked)
}
