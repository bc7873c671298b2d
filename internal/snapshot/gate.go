package snapshot

import (
	"iter"

	"fairlead/internal/fleet"
)

// naming are the types whose resources name clusters.
var naming = []fleet.Type{fleet.Listener, fleet.Route, fleet.ScopedRoute, fleet.VirtualHost, fleet.Extension}

// wanted is the set that the client should hold of a type.
func (c *Client) wanted(t fleet.Type, target *Target) *Set {
	tr := &c.types[t]
	if tr.sub.wildcard {
		return target.Types[t]
	}
	var s *Set
	for n := range tr.sub.names {
		if r := c.lookup(t, n, target); r != nil {
			s = s.With(r)
		}
	}
	return s
}

// lookup finds what the target has under a name. In state of the world a cluster's
// endpoints that nobody wrote, and that the client does not have, are an empty
// ClusterLoadAssignment (PROTOCOL rule 5).
func (c *Client) lookup(t fleet.Type, name string, target *Target) *Resource {
	if r := target.find(t, name); r != nil || t != fleet.Endpoint || c.Delta {
		return r
	}
	if held := c.types[t].held.Get(name); held != nil && !held.doubt {
		return nil
	}
	if target.hasEDSName(name) || c.warming(name) {
		return EmptyEndpoint(name)
	}
	return nil
}

// warming reports whether a cluster that waits for the endpoints of that name is on its
// way to the client, though the fleet may have lost it meanwhile.
func (c *Client) warming(edsName string) bool {
	f := c.types[fleet.Cluster].inFlight
	return f != nil && f.after.lookInto().eds[edsName]
}

// differences yields every name of the subscription whose resource is another one in
// the target than with the client.
func (c *Client) differences(t fleet.Type, target *Target) iter.Seq[change] {
	tr := &c.types[t]
	return func(yield func(change) bool) {
		if tr.sub.wildcard || t == fleet.VirtualHost { // an alias stands for another name
			for old, new := range Diff(tr.held, c.wanted(t, target)) {
				if !yield(change{old: old, new: new}) {
					return
				}
			}
			return
		}
		if c.follows(t, target) {
			for old, new := range Diff(tr.inStepWith, target.Types[t]) {
				name := change{old: old, new: new}.name()
				if !tr.sub.Named(name) {
					continue
				}
				ch := change{old: tr.held.Get(name), new: c.lookup(t, name, target)}
				if !Same(ch.old, ch.new) && !yield(ch) {
					return
				}
			}
			return
		}
		for n := range tr.sub.names {
			old, new := tr.held.Get(n), c.lookup(t, n, target)
			if !Same(old, new) && !yield(change{old: old, new: new}) {
				return
			}
		}
	}
}

// follows reports whether the client was in step with an earlier set of the type and
// nothing but that set has moved: then the cost follows what changed, and not what the
// client is subscribed to.
func (c *Client) follows(t fleet.Type, target *Target) bool {
	tr := &c.types[t]
	synthetic := !c.Delta && t == fleet.Endpoint // which depend on the clusters as well
	return tr.inStep && !synthetic && tr.repairs == target.repairs
}

// waitsForCluster reports whether a resource names a cluster that the client is to have
// and does not have yet, or one that this node refused. A changed cluster keeps nothing
// waiting: the old one serves (SEMANTICS 3.3, 3.9).
func (c *Client) waitsForCluster(t fleet.Type, ch change, target *Target) bool {
	clusters := &c.types[fleet.Cluster]
	for _, ref := range ch.new.Refs {
		if ref.Type != fleet.Cluster {
			continue
		}
		if target.withholds(ref) && (ch.old == nil || !ch.old.Names(ref)) {
			return true
		}
		if t == fleet.Cluster { // clusters come together, and may name each other
			continue
		}
		if c.mayWarm() && target.Types[fleet.Cluster].Get(ref.Name) != nil && (ch.old == nil || !ch.old.Names(ref)) {
			return true
		}
		if !clusters.subscribed || !clusters.sub.Has(ref.Name) || target.Types[fleet.Cluster].Get(ref.Name) == nil {
			continue
		}
		if !clusters.surely(ref.Name) {
			return true
		}
	}
	return false
}

// earlier returns what goes out in the place of a resource that waits for a cluster: the
// one that stood in the target whose clusters the client ACKed last, so that changes
// without end cannot keep it at an old version for ever. nil if there is none.
func (c *Client) earlier(t fleet.Type, ch change) *Resource {
	if c.warm == nil || ch.new == nil {
		return nil
	}
	r := c.warm.find(t, ch.new.Name)
	if r == nil || ch.old != nil && r.Revision <= ch.old.Revision || Same(r, ch.old) || c.waitsForCluster(t, change{old: ch.old, new: r}, c.warm) {
		return nil
	}
	return r
}

// mayWarm reports whether the stream began with its endpoints, as one does that took the
// place of a stream which was lost while clusters warmed: what it holds of clusters is
// known when it asks for them, which it does when they are warm.
func (c *Client) mayWarm() bool {
	return !c.lostAt.IsZero() && !c.types[fleet.Cluster].subscribed && c.Now.Before(c.lostAt.Add(overtakeAfter))
}

// surely reports whether the client has the resource of that name, of whatever version,
// whether or not it has taken in what is in flight.
func (tr *track) surely(name string) bool {
	held := tr.held.Get(name)
	if held == nil || held.doubt && !held.had {
		return false
	}
	return tr.inFlight == nil || tr.inFlight.after.Get(name) != nil
}

// leavesWithCluster reports whether endpoints belong to a cluster that is about to be
// taken away from the client: they stay until then, for it serves until then.
func (c *Client) leavesWithCluster(edsName string, target *Target) bool {
	return !target.hasEDSName(edsName) && c.types[fleet.Cluster].held.lookInto().eds[edsName]
}

// namedBy is who in the client names a cluster that is to go.
type namedBy int

const (
	byNone   namedBy = iota
	byKept           // only what is withheld: it stays until somebody writes something
	byMoving         // what is about to stop
)

// stillNamed returns what tells whether a cluster is named by something in the client
// that will not name it once the client is in step: such a cluster stays until that was
// ACKed. What a client merely reported, at a version that the fleet no longer has, may
// name any cluster; so may the routes of a listener that is about to leave them, if they
// are not known.
func (c *Client) stillNamed(target *Target) func(cluster string) namedBy {
	names := map[string]namedBy{}
	var any namedBy
	if c.Young {
		any = byMoving
	}
	routes := &c.types[fleet.Route]
	note := func(cluster string, by namedBy) { names[cluster] = max(names[cluster], by) }
	leaves := func(old, new *Resource, by namedBy) {
		if old.reported() || old.doubt && old.last == nil && old.had {
			any = max(any, by)
		}
		for _, ref := range old.Refs {
			switch {
			case new != nil && new.Names(ref):
			case ref.Type == fleet.Cluster:
				note(ref.Name, by)
			case ref.Type == fleet.Route:
				for r := range routes.versions(ref.Name) {
					if r.reported() || r.doubt && r.last == nil && r.had {
						any = max(any, by)
					}
					for _, x := range r.Refs {
						note(x.Name, by)
					}
				}
				if !routes.subscribed || routes.unknown {
					any = max(any, by)
				}
			}
		}
	}
	for _, t := range naming {
		tr := &c.types[t]
		if !tr.subscribed {
			continue
		}
		by := byMoving
		if tr.inFlight == nil && tr.confirmed >= target.Revision { // what is left of it is kept back
			by = byKept
		}
		for ch := range c.differences(t, target) {
			if ch.new != nil && c.waitsForCluster(t, ch, target) {
				if r := c.earlier(t, ch); r != nil {
					leaves(r, ch.new, by)
				}
			}
			if ch.old == nil || ch.new == nil && !c.Delta && !t.FullSet() {
				continue // state of the world cannot take it away: what names it does
			}
			leaves(ch.old, ch.new, by)
		}
		if tr.inFlight == nil {
			continue
		}
		for _, ch := range tr.inFlight.changes { // the client may have taken it in
			if ch.new != nil {
				leaves(ch.new, target.Types[t].Get(ch.new.Name), byMoving)
			}
		}
	}
	return func(cluster string) namedBy { return max(names[cluster], any) }
}

// versions yields what the client may have under a name.
func (tr *track) versions(name string) iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		if r := tr.held.Get(name); r != nil && !yield(r) {
			return
		}
		if f := tr.inFlight; f != nil {
			if r := f.after.Get(name); r != nil {
				yield(r)
			}
		}
	}
}
