package planner_test

import (
	"maps"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// sets is what somebody has, or is to have, of each type by name.
type sets [fleet.NumTypes]map[string]*snapshot.Resource

// naive plans for one delta client that refuses nothing, with maps alone and without a memory
// but of what happened.
type naive struct {
	world, warm *sets
	sent        bool
	types       [fleet.NumTypes]naiveType
}

type naiveType struct {
	on, wild, flying, answer bool
	names, pending           map[string]bool
	held, next               map[string]*snapshot.Resource
	warmth                   *sets // the world at which what flies was sent
}

// naiveAnswer is a response: nil is taken away.
type naiveAnswer struct {
	t    fleet.Type
	says map[string]*snapshot.Resource
}

func (n *naive) want(t fleet.Type) map[string]*snapshot.Resource {
	want := map[string]*snapshot.Resource{}
	for name, r := range n.world[t] {
		if n.gets(t, r) {
			want[name] = r
		}
	}
	return want
}

// gets reports whether the client is to have what there is.
func (n *naive) gets(t fleet.Type, r *snapshot.Resource) bool {
	return n.types[t].wild && !r.ByName || n.types[t].names[r.Name]
}

// differing are the names of which the client has not what it is to have, in order.
func (n *naive) differing(t fleet.Type) (names []string) {
	held, want := n.types[t].held, n.want(t)
	all := maps.Clone(held)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !snapshot.Same(held[name], want[name]) {
			names = append(names, name)
		}
	}
	return names
}

func names(r *snapshot.Resource, ref fleet.Ref) bool { return r != nil && r.Names(ref) }

func (n *naive) lacks(t fleet.Type, old, new *snapshot.Resource) bool {
	return t == fleet.Listener && new != nil && slices.ContainsFunc(new.Refs, func(ref fleet.Ref) bool {
		return n.world[ref.Type][ref.Name] == nil && !names(old, ref)
	})
}

func (n *naive) waits(world *sets, t fleet.Type, old, r *snapshot.Resource) bool {
	clusters, endpoints := &n.types[fleet.Cluster], &n.types[fleet.Endpoint]
	return t == fleet.Route && r != nil && slices.ContainsFunc(r.Refs, func(ref fleet.Ref) bool {
		r := world[fleet.Cluster][ref.Name]
		return r != nil && (clusters.on && n.gets(fleet.Cluster, r) &&
			(clusters.held[ref.Name] == nil || clusters.flying && clusters.next[ref.Name] == nil) ||
			!names(old, ref) && endpoints.flying && endpoints.names[r.EDSName] && world[fleet.Endpoint][r.EDSName] != nil && !n.sentEndpoints(r.EDSName))
	})
}

// sentEndpoints reports whether the client has, or was sent, endpoints of a name.
func (n *naive) sentEndpoints(name string) bool {
	tr := &n.types[fleet.Endpoint]
	r := tr.held[name]
	if tr.flying {
		r = tr.next[name]
	}
	return r != nil && !r.Empty
}

func (n *naive) earlier(t fleet.Type, name string, old *snapshot.Resource) *snapshot.Resource {
	if n.warm == nil {
		return nil
	}
	r := n.warm[t][name]
	if r == nil || old != nil && r.Revision <= old.Revision || snapshot.Same(r, old) || n.waits(n.warm, t, old, r) {
		return nil
	}
	for _, ref := range r.Refs { // it has no endpoints any more, and the client never had some
		c := n.warm[fleet.Cluster][ref.Name]
		if ref.Type == fleet.Cluster && c != nil && c.EDSName != "" && n.world[fleet.Endpoint][c.EDSName] == nil && !n.sentEndpoints(c.EDSName) {
			return nil
		}
	}
	return r
}

// needed are the routes that a listener uses which is withheld.
func (n *naive) needed(route string) bool {
	for _, l := range n.differing(fleet.Listener) {
		old := n.types[fleet.Listener].held[l]
		if n.lacks(fleet.Listener, old, n.world[fleet.Listener][l]) && names(old, fleet.Ref{Type: fleet.Route, Name: route}) {
			return true
		}
	}
	return false
}

// goesOn reports whether a listener that stays names a route that was deleted.
func (n *naive) goesOn(t fleet.Type, route string) bool {
	listeners, ref := &n.types[fleet.Listener], fleet.Ref{Type: fleet.Route, Name: route}
	for name, r := range n.world[fleet.Listener] {
		if t == fleet.Route && names(r, ref) && (names(listeners.held[name], ref) || names(listeners.next[name], ref)) {
			return true
		}
	}
	return false
}

// emptied is what is said of endpoints that the client has and the world has not.
func (n *naive) emptied(t fleet.Type, name string, old *snapshot.Resource) *snapshot.Resource {
	if t != fleet.Endpoint || old == nil || n.world[fleet.Cluster][name] == nil {
		return nil
	}
	return snapshot.Absent(t, name)
}

// hasCluster reports whether the client has a cluster, or is being sent it.
func (n *naive) hasCluster(name string) bool {
	clusters := &n.types[fleet.Cluster]
	return clusters.held[name] != nil || clusters.flying && clusters.next[name] != nil
}

// named reports whether something in the client names a cluster and will not.
func (n *naive) named(cluster string) bool {
	found := false
	leaves := func(old, new *snapshot.Resource) {
		for _, ref := range old.Refs {
			switch {
			case names(new, ref):
			case ref.Type == fleet.Cluster:
				found = found || ref.Name == cluster
			case ref.Type == fleet.Route:
				routes := &n.types[fleet.Route]
				for _, r := range []*snapshot.Resource{routes.held[ref.Name], routes.next[ref.Name]} {
					found = found || names(r, fleet.Ref{Type: fleet.Cluster, Name: cluster})
				}
				found = found || !routes.on
			}
		}
	}
	for _, t := range []fleet.Type{fleet.Listener, fleet.Route} {
		tr, want := &n.types[t], n.want(t)
		for _, name := range n.differing(t) {
			if want[name] != nil && n.waits(n.world, t, tr.held[name], want[name]) {
				if r := n.earlier(t, name, tr.held[name]); r != nil {
					leaves(r, want[name])
				}
			}
			if tr.held[name] != nil {
				leaves(tr.held[name], want[name])
			}
		}
		for name, r := range tr.next {
			if !snapshot.Same(r, tr.held[name]) {
				leaves(r, n.world[t][name])
			}
		}
	}
	return found
}

func (n *naive) plan(t fleet.Type, last bool) *naiveAnswer {
	tr, want := &n.types[t], n.want(t)
	if !tr.on || tr.flying {
		return nil
	}
	a := &naiveAnswer{t, map[string]*snapshot.Resource{}}
	rest := true
	for _, name := range n.differing(t) {
		old, new := tr.held[name], want[name]
		if new == nil {
			if new = n.emptied(t, name, old); new != nil && snapshot.Same(old, new) {
				continue
			}
		}
		switch {
		case new == nil && t == fleet.Cluster && (!last || n.named(name)),
			new == nil && t == fleet.Route && n.needed(name),
			new == nil && n.goesOn(t, name),
			new == nil && t == fleet.Endpoint && n.world[fleet.Cluster][name] == nil && n.hasCluster(name),
			n.lacks(t, old, new):
			rest = false
			continue
		case n.waits(n.world, t, old, new):
			rest = false
			if new = n.earlier(t, name, old); new == nil {
				continue
			}
		}
		a.says[name] = new
	}
	for name := range tr.pending {
		old, new := tr.held[name], want[name]
		if new == nil {
			new = n.emptied(t, name, old)
		}
		if new == nil && old != nil && t == fleet.Endpoint && n.world[fleet.Cluster][name] == nil && n.hasCluster(name) {
			new = old // its cluster changed, and waits for it
		}
		if _, said := a.says[name]; said || new == nil && old != nil && t == fleet.Route && (n.needed(name) || n.goesOn(t, name)) || n.waits(n.world, t, old, new) {
			continue
		}
		a.says[name] = new
	}
	if len(a.says) > 0 || tr.answer {
		return a
	}
	if t == fleet.Cluster && rest {
		n.warm = n.world
	}
	return nil
}

// step is what goes out next, nil for nothing.
func (n *naive) step() *naiveAnswer {
	for _, t := range fleet.Types() {
		if a := n.plan(t, false); a != nil {
			return a
		}
	}
	if a := n.plan(fleet.Cluster, true); a != nil {
		return a
	}
	return n.plan(fleet.Endpoint, false)
}

func (n *naive) send(a *naiveAnswer) {
	tr := &n.types[a.t]
	tr.next, tr.flying, tr.answer, tr.warmth = maps.Clone(tr.held), true, false, n.world
	n.sent = true
	endpoints := &n.types[fleet.Endpoint]
	for name, r := range a.says {
		delete(tr.pending, name)
		if tr.next[name] = r; r == nil {
			delete(tr.next, name)
		} else if a.t == fleet.Cluster && endpoints.names[r.EDSName] {
			endpoints.pending[r.EDSName] = true
		}
	}
}

func (n *naive) ack(t fleet.Type) {
	tr := &n.types[t]
	tr.held, tr.next, tr.flying = tr.next, nil, false
	if t == fleet.Cluster {
		n.warm = tr.warmth
	}
}

// ask is the first request of a type, or one more. It reports false if what the client then has
// is not known to the naive.
func (n *naive) ask(t fleet.Type, wild bool, add, drop []string, versions map[string]string) bool {
	tr := &n.types[t]
	first := !tr.on
	if first {
		*tr = naiveType{on: true, wild: wild, names: map[string]bool{}, pending: map[string]bool{}, held: map[string]*snapshot.Resource{}}
		for name, version := range versions {
			r := n.world[t][name]
			if r == nil || r.Version != version {
				return false
			}
			tr.held[name] = r
		}
		tr.answer = wild && len(versions) == 0 || wild && !n.sent
	}
	for _, name := range drop {
		if delete(tr.names, name); tr.wild {
			tr.pending[name] = true
			continue
		}
		delete(tr.held, name)
		delete(tr.next, name)
		delete(tr.pending, name)
	}
	for _, name := range add {
		tr.names[name] = true
		if _, reported := versions[name]; !first || !reported {
			tr.pending[name] = true
		}
	}
	return true
}

// same compares a response with the naive one.
func (a *naiveAnswer) same(r *planner.Response) bool {
	if a == nil || r == nil {
		return a == nil && r == nil
	}
	says := map[string]*snapshot.Resource{}
	for _, x := range r.Resources {
		says[x.Name] = x
	}
	for _, name := range r.Removed {
		says[name] = nil
	}
	return a.t == r.Type && maps.EqualFunc(says, a.says, snapshot.Same)
}
