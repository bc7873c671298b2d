package findings

import (
	"fmt"

	"fairlead/internal/fleet"
)

// reachable goes from what clients ask for by themselves to all that it leads to.
type reachable struct {
	*checker
	reached map[*name]bool
	next    []*name
	hosts   map[string][]*name // the virtual hosts of each route
	scopes  bool               // scoped routes are asked for
	any     bool               // clusters are chosen by requests
}

// reach finds resources that nothing leads to. Without listeners the proxies have their own,
// and what these name is not known.
func (c *checker) reach() {
	if len(c.byType[fleet.Listener]) == 0 {
		return
	}
	w := &reachable{checker: c, reached: make(map[*name]bool, len(c.order)), hosts: map[string][]*name{}}
	namedBy := map[fleet.Ref]fleet.Ref{}
	for _, n := range c.order {
		if !c.on() {
			return
		}
		if n.Type == fleet.VirtualHost {
			w.hosts[routeOf(n.Name)] = append(w.hosts[routeOf(n.Name)], n)
		}
		for _, v := range n.variants {
			for _, m := range v.facts.Mentions {
				if _, known := namedBy[m.Ref]; !known && m.Ref != n.Ref {
					namedBy[m.Ref] = n.Ref
				}
			}
		}
	}
	w.run()
	for _, n := range c.order {
		if !c.on() {
			return
		}
		if !w.reached[n] {
			v := n.variants[0]
			by, named := namedBy[n.Ref]
			c.add(v, Finding{Code: Unreachable, Severity: Info, To: by, Detail: w.unreached(n, by, named)})
		}
	}
}

func (w *reachable) run() {
	for _, n := range w.order {
		if n.Type == fleet.Listener || n.Type == fleet.Runtime {
			w.reach(n)
		}
	}
	for name := range w.static { // of a cluster in the bootstrap, its endpoints may be asked for
		w.to(fleet.Ref{Type: fleet.Endpoint, Name: name})
		w.to(fleet.Ref{Type: fleet.Cluster, Name: name})
	}
	for len(w.next) > 0 && w.on() {
		n := w.next[len(w.next)-1]
		w.next = w.next[:len(w.next)-1]
		for _, v := range n.variants {
			w.from(v)
		}
	}
}

func (w *reachable) reach(n *name) {
	if !w.reached[n] {
		w.reached[n] = true
		w.next = append(w.next, n)
	}
}

func (w *reachable) to(r fleet.Ref) {
	if n := w.names[r]; n != nil {
		w.reach(n)
	}
}

func (w *reachable) all(t fleet.Type) {
	for _, n := range w.byType[t] {
		w.to(fleet.Ref{Type: t, Name: n})
	}
}

// from goes to all that a variant leads to.
func (w *reachable) from(v *variant) {
	for _, m := range v.facts.Mentions {
		w.to(m.Ref)
	}
	if v.facts.EDSName != "" {
		w.to(fleet.Ref{Type: fleet.Endpoint, Name: v.facts.EDSName})
	}
	if v.Type == fleet.Route && v.facts.VHDS {
		for _, h := range w.hosts[v.Name] {
			w.reach(h)
		}
		delete(w.hosts, v.Name) // its other variants lead there too
	}
	if v.facts.Scopes && !w.scopes {
		w.scopes = true
		w.all(fleet.ScopedRoute)
	}
	if v.facts.AnyCluster && !w.any {
		w.any = true
		w.all(fleet.Cluster)
	}
}

// unreached says why nothing leads to a name, and what to do.
func (w *reachable) unreached(n *name, by fleet.Ref, named bool) string {
	const otherwise = ", or delete it"
	switch {
	case n.Type == fleet.ScopedRoute:
		return fmt.Sprintf("no listener takes scoped routes from here, so %s is not used: set scoped_rds in a listener%s", called(n.Ref), otherwise)
	case n.Type == fleet.VirtualHost:
		route := fleet.Ref{Type: fleet.Route, Name: routeOf(n.Name)}
		switch {
		case w.names[route] == nil:
			return fmt.Sprintf("%s belongs to %s, which does not exist: write the route with vhds in it%s", called(n.Ref), called(route), otherwise)
		case !w.fetches(route.Name):
			return fmt.Sprintf("%s belongs to %s, which fetches no virtual hosts: set vhds in it%s", called(n.Ref), called(route), otherwise)
		}
		return fmt.Sprintf("%s belongs to %s, which nothing leads to: name that in a listener%s", called(n.Ref), called(route), otherwise)
	case named:
		return fmt.Sprintf("%s is named by what nothing leads to, such as %s: name one of them in a listener or a route%s", called(n.Ref), called(by), otherwise)
	}
	return fmt.Sprintf("nothing in the fleet names %s, so it is not used: name it where it is wanted%s", called(n.Ref), otherwise)
}
