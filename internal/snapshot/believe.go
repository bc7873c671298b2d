package snapshot

import "fairlead/internal/fleet"

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

// believed is what a client holds by the versions that it reports on a new stream.
// Where all of them are the target's it is the target's own set.
func (c *Client) believed(tr *track, r Request, target *Target) *Set {
	want := c.wanted(r.Type, target)
	if !c.Past.Unclean && want.Len() == len(r.Versions) && holdsAll(want, r.Versions) {
		return want
	}
	var held *Set
	for n, v := range r.Versions {
		w := want.Get(n)
		switch {
		case w != nil && w.Version == v && !c.Past.doubts(w):
			held = held.With(w)
		case !tr.sub.Has(n) && r.Type != fleet.VirtualHost: // which is asked for by an alias
		case w != nil && w.Version == v:
			held = held.With(&Resource{Name: n, doubt: true, had: true, last: w, Refs: w.Refs, key: keyOf(n, inDoubt)})
		case c.Past.Unclean:
			held = held.With(&Resource{Name: n, Version: v, doubt: true, had: true, key: keyOf(n, inDoubt)})
		default:
			held = held.With(&Resource{Name: n, Version: v, key: keyOf(n, v)})
		}
	}
	return c.zombies(tr, r.Type, target, held)
}

// unchanged reports whether nothing of what the client wants has changed since it settled,
// if its last stream did not end clean: then an equal version means equal content.
func (c *Client) unchanged(tr *track, t fleet.Type, want *Set, target *Target) bool {
	if !c.Past.Unclean {
		return true
	}
	for r := range want.All() {
		if c.Past.doubts(r) {
			return false
		}
	}
	for r := range target.Gone[t].All() {
		if c.Past.doubts(r) && tr.sub.Has(r.Name) {
			return false
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
	for _, s := range []*Set{target.Gone[t], target.Types[t]} {
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
		if tr.inFlight != nil || len(tr.late) > 0 || tr.trial != nil {
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
