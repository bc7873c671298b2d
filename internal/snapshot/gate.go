package snapshot

import (
	"iter"
	"slices"

	"fairlead/internal/fleet"
)

// naming are the types whose resources name clusters.
var naming = []fleet.Type{fleet.Listener, fleet.Route, fleet.ScopedRoute, fleet.VirtualHost}

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
	if r := target.Types[t].Get(name); r != nil || t != fleet.Endpoint || c.Delta {
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
	return f != nil && slices.ContainsFunc(f.Resources, func(r *Resource) bool { return r.EDSName == edsName })
}

// differences yields every name of the subscription whose resource is another one in
// the target than with the client.
func (c *Client) differences(t fleet.Type, target *Target) iter.Seq[change] {
	tr := &c.types[t]
	return func(yield func(change) bool) {
		if tr.sub.wildcard {
			for old, new := range Diff(tr.held, target.Types[t]) {
				if !yield(change{old: old, new: new}) {
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

// waitsForCluster reports whether a resource names a cluster that the client is to have
// and does not have yet, or one that this node refused. A changed cluster keeps nothing
// waiting: the old one serves (SEMANTICS 3.3, 3.9).
func (c *Client) waitsForCluster(ch change, target *Target) bool {
	clusters := &c.types[fleet.Cluster]
	for _, ref := range ch.new.Refs {
		if ref.Type != fleet.Cluster {
			continue
		}
		if target.withholds(ref) && (ch.old == nil || !ch.old.Names(ref)) {
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

// surely reports whether the client has the resource of that name, of whatever version,
// whether or not it has taken in what is in flight.
func (tr *track) surely(name string) bool {
	held := tr.held.Get(name)
	if held == nil || held.doubt && !held.had {
		return false
	}
	return tr.inFlight == nil || tr.inFlight.after.Get(name) != nil
}

// stillNamed returns what tells whether a cluster is named by something in the client
// that will not name it once the client is in step: such a cluster stays until that was
// ACKed. What a client merely reported, at a version that the fleet no longer has, may
// name any cluster; so may the routes of a listener that is about to leave them.
func (c *Client) stillNamed(target *Target) func(cluster string) bool {
	names, any := map[string]struct{}{}, c.Young
	leaves := func(old, new *Resource) {
		for _, ref := range old.Refs {
			switch {
			case new != nil && new.Names(ref):
			case ref.Type == fleet.Cluster:
				names[ref.Name] = struct{}{}
			case ref.Type == fleet.Route:
				any = true
			}
		}
	}
	for _, t := range naming {
		tr := &c.types[t]
		if !tr.subscribed {
			continue
		}
		for ch := range c.differences(t, target) {
			if ch.old == nil || ch.new == nil && !c.Delta && !t.FullSet() {
				continue // state of the world cannot take it away: what names it does
			}
			any = any || ch.old.reported()
			leaves(ch.old, ch.new)
		}
		if tr.inFlight == nil {
			continue
		}
		for _, ch := range tr.inFlight.changes { // the client may have taken it in
			if ch.new != nil {
				leaves(ch.new, target.Types[t].Get(ch.new.Name))
			}
		}
	}
	return func(cluster string) bool {
		_, named := names[cluster]
		return named || any
	}
}
