package snapshot

import (
	"iter"

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
	r := target.Types[t].Get(name)
	if r == nil && t == fleet.Endpoint && !c.Delta && c.types[t].held.Get(name) == nil && hasEndpoints(target, name) {
		return EmptyEndpoint(name)
	}
	return r
}

func hasEndpoints(target *Target, edsName string) bool {
	clusters := target.Types[fleet.Cluster]
	if r := clusters.Get(edsName); r != nil && r.EDSName == edsName {
		return true
	}
	for r := range clusters.All() {
		if r.EDSName == edsName {
			return true
		}
	}
	return false
}

// differences yields every name of the subscription whose resource is another one in
// the target than with the client.
func (c *Client) differences(t fleet.Type, target *Target) iter.Seq[change] {
	tr := &c.types[t]
	return func(yield func(change) bool) {
		if tr.sub.wildcard {
			for old, new := range Diff(tr.held, target.Types[t]) {
				if !yield(change{old, new}) {
					return
				}
			}
			return
		}
		for n := range tr.sub.names {
			old, new := tr.held.Get(n), c.lookup(t, n, target)
			if !Same(old, new) && !yield(change{old, new}) {
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
		if target.withheldBy(ref) && (ch.old == nil || !ch.old.Names(ref)) {
			return true
		}
		if !clusters.subscribed || !clusters.sub.Has(ref.Name) || target.Types[fleet.Cluster].Get(ref.Name) == nil {
			continue
		}
		if held := clusters.held.Get(ref.Name); held == nil || held.doubt && !held.had {
			return true
		}
	}
	return false
}

// stillNamed returns what tells whether a cluster is named by something in the client
// that will not name it once the client is in step: such a cluster stays until that was
// ACKed. In state of the world a resource that is no more, of the types that are sent
// by name, stays with the client for good and keeps nothing. What a client merely
// reported, at a version that the fleet no longer has, may name any cluster.
func (c *Client) stillNamed(target *Target) func(cluster string) bool {
	names, unknown := map[string]struct{}{}, false
	for _, t := range naming {
		if !c.types[t].subscribed {
			continue
		}
		for ch := range c.differences(t, target) {
			if ch.old == nil || ch.new == nil && !c.Delta && !t.FullSet() {
				continue
			}
			unknown = unknown || ch.old.reported()
			for _, ref := range ch.old.Refs {
				if ref.Type == fleet.Cluster && (ch.new == nil || !ch.new.Names(ref)) {
					names[ref.Name] = struct{}{}
				}
			}
		}
	}
	return func(cluster string) bool {
		_, named := names[cluster]
		return named || unknown
	}
}
