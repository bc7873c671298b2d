package planner

import (
	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Make before break (PROTOCOL rule 19, SEMANTICS 3.9): a resource that names a cluster
// which the client is to have and does not have yet waits for that cluster's ACK, and a
// cluster is taken away only when all that stopped naming it was ACKed.

// naming are the types whose resources name clusters.
var naming = []fleet.Type{fleet.Listener, fleet.Route, fleet.ScopedRoute, fleet.VirtualHost, fleet.Extension}

// waitsForCluster reports whether a resource names a cluster that the client is to have
// and does not have yet, or whose endpoints it awaits, or one that this node refused, while it has another version to go on
// with. A changed cluster keeps nothing waiting: the old one serves (SEMANTICS 3.3, 3.9).
func (l *inputs) waitsForCluster(t fleet.Type, ch change) bool {
	clusters, all := &l.pos.Types[fleet.Cluster], l.hasAllClusters() && !l.pos.Types[fleet.Endpoint].InFlight
	for _, ref := range ch.new.Refs {
		if ref.Type != fleet.Cluster || l.goesWithout(t, ch, ref) {
			continue
		}
		if l.target.Withholds(ref) && !ch.old.names(ref) {
			return true
		}
		if all || t == fleet.Cluster { // clusters come together, and may name each other
			continue
		}
		cluster := l.target.Types[fleet.Cluster].Get(ref.Name)
		if cluster == nil {
			continue
		}
		if l.pos.Warming && clusters.Sub == nil && !cluster.ByName && !ch.old.names(ref) {
			return true
		}
		if clusters.Sub.Gets(cluster) && !l.surelyHas(ref.Name) || !ch.old.names(ref) && l.awaitsEndpoints(cluster) {
			return true
		}
	}
	return false
}

// goesWithout reports whether a resource goes out although the client is not given a cluster that it names, until somebody writes
// something: a client that has none of its routes answers all of their requests with 404, which is worse than that those
// to one cluster fail. A listener that names such a cluster Envoy would refuse. While a culprit is looked for among the clusters it is not known which are
// not given.
func (l *inputs) goesWithout(t fleet.Type, ch change, cluster fleet.Ref) bool {
	if t != fleet.Route && t != fleet.VirtualHost || !ch.old.nothing() || l.rec.of(fleet.Cluster).search != nil {
		return false
	}
	r := l.base.Types[fleet.Cluster].Get(cluster.Name)
	if r == nil {
		return l.base.Withholds(cluster)
	}
	_, kept := lacking(fleet.Cluster, change{name: cluster.Name, old: l.held(fleet.Cluster, cluster.Name), new: r}, l.base)
	return kept
}

// hasAllClusters reports whether the client has just what it is to have of clusters, of each the
// version that it is to have: then no single one need be looked for.
func (l *inputs) hasAllClusters() bool {
	tr := &l.pos.Types[fleet.Cluster]
	if tr.Sub == nil || tr.InFlight || tr.Doubts.Len() > 0 {
		return false
	}
	return tr.Sub.answeredBy(l.target.Types[fleet.Cluster], tr.Held)
}

// surelyHas reports whether the client has the cluster of that name, of whatever version,
// whether or not it has taken in what is in flight.
func (l *inputs) surelyHas(cluster string) bool {
	if !l.held(fleet.Cluster, cluster).surely() {
		return false
	}
	return !l.pos.Types[fleet.Cluster].InFlight || !l.next(fleet.Cluster, cluster).nothing()
}

// earlier returns what goes out in the place of a resource that waits for a cluster: the
// one that stood in the target whose clusters the client ACKed last, so that changes
// without end cannot keep it at an old version for ever. nil if there is none.
func (l *inputs) earlier(t fleet.Type, ch change) *snapshot.Resource {
	if l.pos.Warm == nil || ch.new == nil {
		return nil
	}
	r := l.pos.Warm.Find(t, ch.name)
	if r == nil || ch.old.res != nil && r.Revision <= ch.old.res.Revision || ch.old.is(r) ||
		l.at(l.pos.Warm).waitsForCluster(t, change{name: ch.name, old: ch.old, new: r}) || l.unserved(r) {
		return nil
	}
	return r
}

// unserved reports whether an earlier version names a cluster that has no endpoints any more, and of which the client never had some: an
// Envoy answers its requests with 503.
func (l *inputs) unserved(r *snapshot.Resource) bool {
	for _, ref := range r.Refs {
		if ref.Type != fleet.Cluster {
			continue
		}
		c := l.pos.Warm.Types[fleet.Cluster].Get(ref.Name)
		if c != nil && c.EDSName != "" && l.target.Types[fleet.Endpoint].Get(c.EDSName) == nil && !l.sentEndpoints(c.EDSName) {
			return true
		}
	}
	return false
}

// awaitsEndpoints reports whether the client asks for endpoints that a cluster has, and was sent none: they follow the answer to those that are
// on their way. A cluster that comes back is one that the client may have, and have got none for, as there were none meanwhile.
func (l *inputs) awaitsEndpoints(cluster *snapshot.Resource) bool {
	tr, name := &l.pos.Types[fleet.Endpoint], cluster.EDSName
	return name != "" && tr.InFlight && tr.Sub.Has(name) && l.target.Types[fleet.Endpoint].Get(name) != nil && !l.sentEndpoints(name)
}

// sentEndpoints reports whether the last that was sent of endpoints leaves the client with some.
func (l *inputs) sentEndpoints(edsName string) bool {
	h := l.held(fleet.Endpoint, edsName)
	if l.pos.Types[fleet.Endpoint].InFlight {
		h = l.next(fleet.Endpoint, edsName)
	}
	return h.surely() && (h.res == nil || !h.res.Empty)
}

// leavesWithCluster reports whether endpoints belong to a cluster that is about to be
// taken away from the client, or on its way to it: they stay until it goes, for it serves until then.
func (p *plan) leavesWithCluster(edsName string) bool {
	if p.target.Types[fleet.Cluster].HasEDSName(edsName) {
		return false
	}
	tr := &p.pos.Types[fleet.Cluster]
	return tr.Held.HasEDSName(edsName) || p.arrives(edsName) || p.doubtsCluster(edsName)
}

// doubtsCluster reports whether a cluster in doubt gets its endpoints under that name. One of which no version is known gets them under its own.
func (p *plan) doubtsCluster(edsName string) bool {
	tr := &p.pos.Types[fleet.Cluster]
	if tr.Doubts.Len() == 0 && tr.NextDoubts.Len() == 0 {
		return false
	}
	if p.doubted == nil {
		p.doubted = make(map[string]struct{}, tr.Doubts.Len())
		for _, doubts := range []*Doubts{tr.Doubts, tr.NextDoubts} {
			for _, name := range doubts.names() {
				if last := doubts.of(name).Last; last != nil {
					name = last.EDSName
				}
				p.doubted[name] = struct{}{}
			}
		}
	}
	_, ok := p.doubted[edsName]
	return ok
}

// rested reports whether nothing is left to do of a type but what is kept back.
func (l *inputs) rested(t fleet.Type) bool {
	return !l.pos.Types[t].InFlight && l.rests[t] >= keptBack && l.rec.of(t).search == nil
}

// namedBy is who in the client names a cluster that is to go.
type namedBy int

const (
	byNone   namedBy = iota
	byKept           // only what is withheld: it stays until somebody writes something
	byMoving         // what is about to stop
)

// namers are who names what in the client, and will not once the client is in step.
type namers struct {
	clusters map[string]namedBy
	any      namedBy // of what the client has, that is not known
}

func (n *namers) of(cluster string) namedBy { return max(n.clusters[cluster], n.any) }

// stillNamed finds what names clusters in the client and will not name them once the client
// is in step: such a cluster stays until that was ACKed. What a client merely reported, at a
// version that the fleet no longer has, may name any cluster; so may the routes of a listener
// that is about to leave them, if they are not known.
func (l *inputs) stillNamed() *namers {
	n := &namers{clusters: map[string]namedBy{}}
	if l.pos.Opening {
		n.any = byMoving
	}
	for _, t := range naming {
		tr := &l.pos.Types[t]
		if tr.Sub == nil {
			continue
		}
		by := byMoving
		if l.rested(t) { // what is left of it is kept back
			by = byKept
		}
		for ch := range l.differences(t) {
			if ch.new != nil && l.waitsForCluster(t, ch) {
				if r := l.earlier(t, ch); r != nil {
					l.leaves(n, has{res: r}, ch.new, by)
				}
			}
			switch {
			case ch.old.nothing():
			case ch.new == nil && l.goesOn(t, ch.name): // and with what it names, as far as that is known
				if !ch.old.namesAnything() {
					l.leaves(n, ch.old, nil, by)
				}
			case ch.new == nil && !l.pos.Kind.Delta && !t.FullSet(): // state of the world cannot take it away: what names it does
			default:
				l.leaves(n, ch.old, ch.new, by)
			}
		}
		if tr.InFlight { // the client may have taken it in
			l.leaveArriving(n, t)
		}
	}
	return n
}

// leaveArriving notes what a response in flight may bring.
func (l *inputs) leaveArriving(n *namers, t fleet.Type) {
	tr, target := &l.pos.Types[t], l.target.Types[t]
	for _, r := range snapshot.Diff(tr.Held, tr.Next) {
		if r != nil {
			l.leaves(n, has{res: r}, target.Get(r.Name), byMoving)
		}
	}
	for _, name := range tr.NextDoubts.names() {
		l.leaves(n, has{doubt: tr.NextDoubts.of(name)}, target.Get(name), byMoving)
	}
}

// leaves notes what old names and new does not.
func (l *inputs) leaves(n *namers, old has, now *snapshot.Resource, by namedBy) {
	if old.namesAnything() {
		n.any = max(n.any, by)
	}
	note := func(cluster string) { n.clusters[cluster] = max(n.clusters[cluster], by) }
	routes := &l.pos.Types[fleet.Route]
	for _, ref := range old.refs() {
		switch {
		case now != nil && now.Names(ref):
		case ref.Type == fleet.Cluster:
			note(ref.Name)
		case ref.Type == fleet.Route:
			for _, r := range []has{l.held(fleet.Route, ref.Name), l.next(fleet.Route, ref.Name)} {
				if r.namesAnything() {
					n.any = max(n.any, by)
				}
				for _, x := range r.refs() {
					note(x.Name)
				}
			}
			if routes.Sub == nil || routes.Unknown {
				n.any = max(n.any, by)
			}
		}
	}
}
