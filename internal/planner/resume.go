package planner

import (
	"iter"
	"slices"
	"weak"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// known returns the resource of that name and version that the client may hold, nil if
// that is none that it is known to have been sent.
func (c *Client) known(t fleet.Type, name, version string, target *snapshot.Target) *snapshot.Resource {
	if c.origin.Before != nil {
		if r := c.origin.Before.Types[t].Get(name); r != nil && r.Version == version {
			return r
		}
	}
	return target.Recent.Find(t, name, version)
}

// recent yields what the view held before, newest first: what this server has seen, and what came before that.
func (o *Origin) recent(target *snapshot.Target) iter.Seq[*snapshot.Earlier] {
	return func(yield func(*snapshot.Earlier) bool) {
		for _, e := range target.Recent {
			if !yield(e) {
				return
			}
		}
		b := o.Between
		if b == nil || !yield(&snapshot.Earlier{At: b.Revision, Types: b.Types}) {
			return
		}
		for _, e := range b.Recent {
			if !yield(e) {
				return
			}
		}
	}
}

// settledWith returns what the client had of a name when it settled last, nil for nothing.
// known is false if that cannot be told.
func (c *Client) settledWith(t fleet.Type, name string, target *snapshot.Target) (r *snapshot.Resource, known bool) {
	past, before := c.origin.Past, c.origin.Before
	switch {
	case before != nil && before.Unsure(fleet.Ref{Type: t, Name: name}):
		return nil, false
	case before != nil:
		return before.Types[t].Get(name), true
	case past.Settled >= target.Revision:
		return target.Types[t].Get(name), true
	}
	for _, e := range target.Recent {
		if e.At <= past.Settled {
			return e.Types[t].Get(name), past.Settled > 0
		}
	}
	return nil, past.Settled == 0
}

// resumeSotW takes in what the first request of a type reports.
func (c *Client) resumeSotW(r *Request, target *snapshot.Target) {
	t, tr := r.Type, &c.pos.Types[r.Type]
	held, known := c.resume(t, r.Version, target)
	anew := false
	if known {
		b := c.believeReported(t, held, target)
		tr.Held, tr.Doubts, anew = b.held, b.doubts, b.anew
	}
	tr.Unknown = !known && r.Version != ""
	if c.reports[t] = held; tr.Unknown {
		c.reports[t] = tr.Sub.names // it may be of all of them
		if t == fleet.Endpoint || t == fleet.Cluster {
			tr.Doubts = c.doubtAll(t, target)
		}
	}
	// A set that the client does not hold is sent even when it is empty. And one type is
	// always answered, or Envoy's backoff is never reset: the listeners, whose set is
	// small (PROTOCOL rule 13).
	if c.pos.Kind.Polls {
		tr.Answer = !known
		return
	}
	tr.Answer = t.FullSet() && (!known || c.pos.Kind.SingleType) || t == fleet.Listener && !c.counts.sent
	if c.pos.Kind.SingleType || c.pos.startsWarming(t) || anew {
		c.ask(t, tr.Sub.names)
	}
}

// doubtAll has in doubt what a client may hold of a set that is not known. Of endpoints that is every name: what there is goes out, and of what there is not
// the client is told nothing that takes it away, as it may go on with it. Of clusters it is what the view has, and what it had: what the client's routes may go to
// is offered until they go elsewhere, with its endpoints. For streams with one subscription it is worked out once: all of a fleet may come back like that.
func (c *Client) doubtAll(t fleet.Type, target *snapshot.Target) *Doubts {
	sub := c.pos.Types[t].Sub
	return c.believed(beliefKey{sub: sub, unknown: true}, target, func() belief {
		var doubts []doubtEdit
		if t == fleet.Cluster {
			doubts = c.lately(target)
		} else {
			had := c.had(t, target)
			for n := range sub.names.All() {
				doubts = append(doubts, doubtEdit{n.Name, &Doubt{Offered: had(n.Name)}})
			}
		}
		return belief{doubts: c.in.doubts(t, nil, doubts)}
	}).doubts
}

// lately are the clusters that the view has, and those that it had or the node had when it settled, and that are there no more, if something
// named them at one of those times: only what may go to one misses it. Each is offered as it was last, named or not: the client may have that.
func (c *Client) lately(target *snapshot.Target) (doubts []doubtEdit) {
	l, seen, newest := c.inputs(target), map[string]bool{}, map[string]*snapshot.Resource{}
	offer := func(r *snapshot.Resource) {
		seen[r.Name] = true
		doubts = append(doubts, doubtEdit{r.Name, &Doubt{Refs: r.Refs, Offered: r}})
	}
	offerNamed := func(had *snapshot.Target) {
		for r := range l.wantedOf(fleet.Cluster, had).All() {
			if seen[r.Name] {
				continue
			}
			if newest[r.Name] == nil {
				newest[r.Name] = r
			}
			if named(&had.Types, r) {
				offer(newest[r.Name])
			}
		}
	}
	for r := range l.wantedOf(fleet.Cluster, target).All() {
		offer(r)
	}
	last, tried := target.Types[fleet.Cluster], 0
	for e := range c.origin.recent(target) {
		if e.Types[fleet.Cluster] == last {
			continue
		}
		last = e.Types[fleet.Cluster]
		if tried += last.Len(); tried > maxTried {
			break
		}
		offerNamed(target.Before(fleet.Cluster, e.Types)[0])
	}
	if before := c.origin.Before; before != nil {
		offerNamed(target.WithTypes(before.Types))
	}
	return doubts
}

// mostHad is how many names that are gone are looked for in earlier views. What is beyond is not offered.
const mostHad = 1_000

// had finds what a client may have of a name: what the target has or, where that is nothing, a cluster as the view had it last, or the node when it settled, if
// something named it at one of those times. Of endpoints it is that in any case. nil: that is not known.
func (c *Client) had(t fleet.Type, target *snapshot.Target) func(name string) *snapshot.Resource {
	looked := 0
	return func(name string) *snapshot.Resource {
		r := target.Types[t].Get(name)
		if r != nil || t != fleet.Cluster && t != fleet.Endpoint || looked >= mostHad {
			return r
		}
		looked++
		then := func(types *[fleet.NumTypes]*snapshot.Set) bool {
			had := types[t].Get(name)
			if r == nil {
				r = had
			}
			return had != nil && (t == fleet.Endpoint || named(types, had))
		}
		for e := range c.origin.recent(target) {
			if then(&e.Types) {
				return r
			}
		}
		if c.origin.Before != nil && then(&c.origin.Before.Types) {
			return r
		}
		return nil
	}
}

// named reports whether something of a view names a cluster.
func named(types *[fleet.NumTypes]*snapshot.Set, r *snapshot.Resource) bool {
	return slices.ContainsFunc(fleet.Types(), func(t fleet.Type) bool {
		return len(types[t].Naming(fleet.Ref{Type: fleet.Cluster, Name: r.Name})) > 0
	})
}

// mayHaveAskedAnew reports whether the client may have given names up and asked for them again, and lost
// the answer with its stream: what it names came or went since it settled. The version that it reports is
// still that of before, when it had them.
func (c *Client) mayHaveAskedAnew(t fleet.Type, target *snapshot.Target) bool {
	if t.FullSet() {
		return false
	}
	for _, by := range []fleet.Type{fleet.Listener, fleet.Cluster, fleet.ScopedRoute} {
		for range c.newer(by, target) {
			return true
		}
	}
	return false
}

// believeReported is how far a set is believed that the client reports, and whose resources are known. For streams that end
// unclean together it is worked out once.
func (c *Client) believeReported(t fleet.Type, reported *snapshot.Set, target *snapshot.Target) belief {
	l := c.inputs(target)
	if !c.origin.Past.Unclean {
		if want := l.wantedOf(t, target); reported.Equal(want) {
			return belief{held: want}
		}
		return belief{held: reported}
	}
	return c.believed(beliefKey{sub: c.pos.Types[t].Sub, reported: reported, arriving: l.arrivingClusters(t)}, target, func() belief {
		b := belief{anew: c.mayHaveAskedAnew(t, target)}
		if want := l.wantedOf(t, target); reported.Equal(want) && c.unchanged(t, want, target) {
			b.held = want
			return b
		}
		return c.believeSet(t, reported, target, b)
	})
}

// believeSet is believeEach of a set whose resources are known.
func (c *Client) believeSet(t fleet.Type, held *snapshot.Set, target *snapshot.Target, b belief) belief {
	want := c.inputs(target).wantedOf(t, target)
	find := func(name, _ string) *snapshot.Resource { return held.Get(name) }
	var edits []snapshot.Edit
	var doubts []doubtEdit
	for r := range held.All() {
		has, doubt := c.believeOne(t, r.Name, r.Version, want.Get(r.Name), target, find)
		if has != r {
			edits = append(edits, snapshot.Edit{Old: r, New: has})
		}
		if doubt != nil {
			doubts = append(doubts, doubtEdit{r.Name, doubt})
		}
	}
	tr := &c.pos.Types[t]
	tr.Held = c.in.apply(t, held, edits)
	c.in.cast(t, tr, doubts)
	c.in.cast(t, tr, c.unreported(t, target))
	b.held, b.doubts = tr.Held, tr.Doubts
	return b
}

// maxTried is how many resources are looked at to find the set of a version.
const maxTried = 50_000

// resume returns what a state-of-the-world client holds of its subscription by the
// version that it reports: the target's own set, or one that the view held before.
func (c *Client) resume(t fleet.Type, version string, target *snapshot.Target) (held *snapshot.Set, ok bool) {
	if version == "" {
		return nil, false
	}
	l := c.inputs(target)
	if held, ok = l.setOf(t, target, version); ok {
		return held, true
	}
	m := c.in.memoOf(target)
	k := resumeKey{c.in.key, c.pos.Types[t].Sub, l.arrivingClusters(t), version, weak.Make(c.origin.Before), weak.Make(c.origin.Between)}
	if m == nil || (c.origin.Before != nil || c.origin.Between != nil) && first(c.in, m, k) {
		return l.earlierSet(t, version, target, &c.origin)
	}
	found := remembered(&m.mu, &m.resumes, k, func() resumed {
		held, ok := l.earlierSet(t, version, target, &c.origin)
		c.in.grow(m, 512+len(version)+c.pos.Types[t].Sub.keeps()+c.in.beside(t, held, target))
		return resumed{held, ok}
	})
	return found.held, found.ok
}

// resumeKey tells apart what resume finds for one target, and resumed is that.
type resumeKey struct {
	fleet    fleet.Key
	sub      *Subscription
	arriving *snapshot.Set
	version  string

	before, between weak.Pointer[snapshot.Snapshot] // see trust
}

type resumed struct {
	held *snapshot.Set
	ok   bool
}

// arrivingClusters are those on their way, which endpoints that nobody wrote depend on.
func (l *inputs) arrivingClusters(t fleet.Type) *snapshot.Set {
	if tr := &l.pos.Types[fleet.Cluster]; t == fleet.Endpoint && tr.InFlight {
		return tr.Next
	}
	return nil
}

// earlierSet looks for the set of a version in what the node held before, and in what the view did, or holds without what is withheld.
func (l *inputs) earlierSet(t fleet.Type, version string, target *snapshot.Target, o *Origin) (held *snapshot.Set, ok bool) {
	if before := o.Before; before != nil {
		for _, b := range target.Before(t, before.Types) {
			if held, ok = l.setOf(t, asHeld(b, t), version); ok {
				return held, true
			}
		}
	}
	if now := asHeld(target, t); now != target {
		if held, ok = l.setOf(t, now, version); ok {
			return held, true
		}
	}
	last, tried := &target.Types, 0
	for e := range o.recent(target) {
		if e.Types[t] == last[t] && (t != fleet.Endpoint || e.Types[fleet.Cluster] == last[fleet.Cluster]) { // endpoints that nobody wrote depend on the clusters
			continue
		}
		last = &e.Types
		for _, b := range target.Before(t, e.Types) {
			if held, ok = l.setOf(t, b, version); ok {
				return held, true
			}
		}
		if tried += l.pos.Types[t].Sub.Len(); tried > maxTried {
			break
		}
	}
	return nil, false
}

// setOf is what the client should hold of a type, and whether it has a version.
func (l *inputs) setOf(t fleet.Type, target *snapshot.Target, version string) (held *snapshot.Set, is bool) {
	held = l.wantedOf(t, target)
	return held, held.Sum().String() == version
}
