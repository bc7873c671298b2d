package planner

import (
	"iter"
	"slices"
	"weak"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
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
func (p Past) doubts(r *snapshot.Resource) bool { return p.Unclean && r.Revision > p.Settled }

// doubtsAny reports whether that can be so of anything that a target has. Nothing of it is newer than itself.
func (p Past) doubtsAny(target *snapshot.Target) bool {
	return p.Unclean && target.Revision > p.Settled
}

// doubts is the same of what the target has under a name. What stands in for a refused
// version is as old as it is; the client may hold half of the version that was refused.
func (c *Client) doubts(t fleet.Type, r *snapshot.Resource, target *snapshot.Target) bool {
	refused := target.View[t].Get(r.Name)
	return c.origin.Past.doubts(r) || refused != nil && c.origin.Past.doubts(refused)
}

// belief is what a client holds by its own account, and what of that is in doubt.
type belief struct {
	held     *snapshot.Set
	doubts   *Doubts
	unspoken *snapshot.Set // names of the subscription that it said nothing of, in delta
	anew     bool          // it may have asked for some of it again, in state of the world
}

// beliefKey tells beliefs of one target apart. What is reported are versions in delta, else a set.
type beliefKey struct {
	fleet              fleet.Key
	delta              bool
	sub                *Subscription
	versions           snapshot.Count
	reported, arriving *snapshot.Set
	unknown            bool // a version was reported of which nothing is known
	trust
}

// believed is what work returns, which is done once for all who report the same and are trusted alike. The first whose report may be its own alone
// (first) is worked out by itself, so a test of what is shared needs three of them.
func (c *Client) believed(k beliefKey, target *snapshot.Target, work func() belief) belief {
	k.fleet, k.delta, k.trust = c.in.key, c.pos.Kind.Delta, c.origin.trust()
	m := c.in.memoOf(target)
	if m == nil || k.sub.typ == fleet.VirtualHost || (c.origin.Before != nil || k.unclean || k.unknown) && first(c.in, m, k) {
		return work()
	}
	return remembered(&m.mu, &m.beliefs, k, func() belief {
		b := work()
		c.in.grow(m, 256+64*k.versions.N+k.sub.keeps()+b.doubts.keeps()+c.in.beside(k.sub.typ, b.held, target))
		return b
	})
}

// trust is what of a client's origin decides how far it is believed; those that held the same have the same. What it is remembered by keeps nothing of the past
// in memory: that may be a whole fleet, and goes with those who came back.
type trust struct {
	before  weak.Pointer[snapshot.Snapshot]
	between weak.Pointer[snapshot.Snapshot]
	unclean bool
	settled fleet.Revision // when it is unclean
}

func (o *Origin) trust() trust {
	t := trust{before: weak.Make(o.Before), between: weak.Make(o.Between), unclean: o.Past.Unclean}
	if t.unclean {
		t.settled = o.Past.Settled
	}
	return t
}

// resumeDelta takes in what the first request of a type reports.
func (c *Client) resumeDelta(r *Request, target *snapshot.Target, believe bool) {
	t, tr := r.Type, &c.pos.Types[r.Type]
	unspoken := tr.Sub.names
	if believe {
		unspoken = c.believe(r, target)
	} else {
		c.doubtDeleted(r, target)
	}
	c.ask(t, unspoken)
	// The first request of a wildcard that reports nothing is answered even if there is
	// nothing to say: unanswered it costs Envoy 15 s of its start (PROTOCOL rule 6). And
	// one type is answered on every stream (rule 13).
	one := t == fleet.Cluster || t == fleet.Listener || c.pos.Kind.SingleType && !c.wouldMislead(t, target)
	tr.Answer = tr.Sub.wildcard && r.Versions.N == 0 || one && !c.counts.sent
}

// doubtDeleted casts doubt on names that a client reports, that is believed nothing, and that are no more: they are taken away until
// it ACKs that. That they do not exist is only told.
func (c *Client) doubtDeleted(r *Request, target *snapshot.Target) {
	if r.Versions.N == 0 {
		return
	}
	_, missing := c.inputs(target).wanted(r.Type)
	if missing.Len() == 0 {
		return
	}
	var doubts []doubtEdit
	for n, v := range r.Versions.Each {
		if name := missing.Get(string(n)); name != nil {
			doubts = append(doubts, doubtEdit{name.Name, &Doubt{Certainty: Something, Version: string(v)}})
		}
	}
	c.in.cast(r.Type, &c.pos.Types[r.Type], doubts)
}

// wouldMislead reports whether an empty answer would end an Envoy's patience with a route
// or an extension that does not exist: its listener would warm for ever.
func (c *Client) wouldMislead(t fleet.Type, target *snapshot.Target) bool {
	if !c.pos.Kind.patient(t) {
		return false
	}
	_, missing := c.inputs(target).wanted(t)
	return missing.Len() > 0
}

// believe takes in what a client holds by the versions that it reports, and returns the names
// that it asks for and reports no version of. What is reported just as it is wanted is believed at once, if nothing that there is
// came after the client settled. What else all of a fleet report is worked out for the first of them.
func (c *Client) believe(r *Request, target *snapshot.Target) (unspoken *snapshot.Set) {
	t, tr := r.Type, &c.pos.Types[r.Type]
	if r.Versions.N == 0 && !c.origin.Past.doubtsAny(target) {
		return tr.Sub.names // a new process, or one that has settled all that there is
	}
	l := c.inputs(target)
	want, missing := l.wanted(t)
	if !c.origin.Past.doubtsAny(target) && want.Len() > 0 && want.Entries() == r.Versions.Count {
		if tr.Held = want; tr.Sub.wildcard || t == fleet.VirtualHost {
			return c.unspoken(t)
		}
		return missing
	}
	b := c.believed(beliefKey{sub: tr.Sub, versions: r.Versions.Count}, target, func() belief {
		c.believeEach(r, target)
		return belief{held: tr.Held, doubts: tr.Doubts, unspoken: c.unspoken(t)}
	})
	tr.Held, tr.Doubts = b.held, b.doubts
	return b.unspoken
}

// unspoken are the names of the subscription of which the client is not known to have
// reported anything.
func (c *Client) unspoken(t fleet.Type) *snapshot.Set {
	tr := &c.pos.Types[t]
	if tr.Doubts.Len() == 0 && tr.Held.Names() == tr.Sub.names.Names() {
		return nil
	}
	var edits []snapshot.Edit
	for n := range tr.Sub.names.All() {
		if d := tr.Doubts.of(n.Name); tr.Held.Get(n.Name) == nil && (d == nil || d.Certainty != Something) {
			edits = append(edits, snapshot.Edit{New: n})
		}
	}
	return c.in.apply(t, nil, edits)
}

// believeEach looks at every version that is reported.
func (c *Client) believeEach(r *Request, target *snapshot.Target) {
	t := r.Type
	known := func(name, version string) *snapshot.Resource { return c.known(t, name, version, target) }
	has := make(map[string]*snapshot.Resource, r.Versions.N) // nil: it is in doubt, or not asked for
	want, _ := c.inputs(target).wanted(t)
	var doubts []doubtEdit
	if r.Versions.N > 0 {
		for n, v := range r.Versions.Each {
			if _, again := has[string(n)]; again {
				continue
			}
			name, version := string(n), string(v)
			is, doubt := c.believeOne(t, name, version, want.Get(name), target, known)
			if has[name] = is; doubt != nil {
				doubts = append(doubts, doubtEdit{name, doubt})
			}
		}
	}
	tr := &c.pos.Types[t]
	tr.Held = c.in.heldLike(t, want, has)
	c.in.cast(t, tr, doubts)
	c.in.cast(t, tr, c.unreported(t, target))
}

// heldLike is the set of what is held, made of what is wanted: nearly all of it is the same, and shared with it.
func (in interner) heldLike(t fleet.Type, want *snapshot.Set, has map[string]*snapshot.Resource) *snapshot.Set {
	if len(has) == 0 {
		return nil
	}
	var edits []snapshot.Edit
	for r := range want.All() {
		if has[r.Name] == nil {
			edits = append(edits, snapshot.Edit{Old: r})
		}
	}
	for name, r := range has {
		if wanted := want.Get(name); r != nil && r != wanted {
			edits = append(edits, snapshot.Edit{Old: wanted, New: r})
		}
	}
	return in.apply(t, want, edits)
}

// believeOne returns what the client has of a name by its own account, or what is in doubt of it; neither if it is
// not asked for. find returns older resources, nil for those that are not known.
func (c *Client) believeOne(t fleet.Type, name, version string, want *snapshot.Resource, target *snapshot.Target, find func(name, version string) *snapshot.Resource) (*snapshot.Resource, *Doubt) {
	same := want != nil && want.Version == version
	switch {
	case same && !c.doubts(t, want, target):
		return want, nil
	case !c.pos.Types[t].Sub.Has(name) && t != fleet.VirtualHost: // which is asked for by an alias
		return nil, nil
	case same:
		last, known := c.settledWith(t, name, target)
		if last == nil || !known {
			last = want
		}
		return nil, &Doubt{Certainty: Something, Last: last, Refs: slices.Concat(want.Refs, last.Refs)}
	case c.origin.Past.Unclean:
		d := &Doubt{Certainty: Something, Version: version}
		if d.Last = find(name, version); d.Last != nil {
			d.Refs = d.Last.Refs
		}
		return nil, d
	}
	if old := find(name, version); old != nil {
		return old, nil
	}
	return snapshot.Reported(name, version), nil
}

// newer yields what came into the view, or left it, since the client settled, if its last stream did not end clean. What is withheld from the node
// was refused.
func (c *Client) newer(t fleet.Type, target *snapshot.Target) iter.Seq[*snapshot.Resource] {
	return func(yield func(*snapshot.Resource) bool) {
		if !c.origin.Past.doubtsAny(target) {
			return
		}
		for _, s := range []*snapshot.Set{target.Gone[t], target.View[t]} {
			for r := range s.All() {
				if c.origin.Past.doubts(r) && !yield(r) {
					return
				}
			}
		}
	}
}

// unreported is what the client may have taken from a response that it refused, and does
// not report. What is gone since goes when nothing of the client names it any more.
func (c *Client) unreported(t fleet.Type, target *snapshot.Target) (doubts []doubtEdit) {
	l, had := c.inputs(target), c.had(t, target)
	for r := range c.newer(t, target) {
		if !c.pos.Types[t].Sub.Has(r.Name) || !l.held(t, r.Name).nothing() {
			continue
		}
		d := new(Doubt)
		if target.Types[t].Get(r.Name) == nil {
			if d.Offered = had(r.Name); d.Offered != nil {
				d.Refs = d.Offered.Refs
			}
		}
		doubts = append(doubts, doubtEdit{r.Name, d})
	}
	return doubts
}

// unchanged reports whether nothing of what the client wants has changed since it settled,
// if its last stream did not end clean: then an equal version means equal content.
func (c *Client) unchanged(t fleet.Type, want *snapshot.Set, target *snapshot.Target) bool {
	if !c.origin.Past.doubtsAny(target) {
		return true
	}
	for r := range want.All() {
		if c.doubts(t, r, target) {
			return false
		}
	}
	for r := range c.newer(t, target) {
		if c.pos.Types[t].Sub.Has(r.Name) {
			return false
		}
	}
	return true
}
