package snapshot

import (
	"fairlead/internal/fleet"
)

// A client subscribes to virtual hosts once per stream and names no route. Each route
// that fetches them on demand keeps its listener warming until it has got one, or the
// word that one is not there: so whenever such a route goes out an entry of it is owed
// (PROTOCOL rule 8).

// oweEntries owes an entry to the routes of a response that the client did not have: one
// that it had keeps its virtual hosts.
func (c *Client) oweEntries(r *Response) {
	if !c.types[fleet.VirtualHost].subscribed {
		return
	}
	for _, ch := range r.changes {
		if ch.new == nil || !ch.new.VHDS {
			continue
		}
		if ch.old == nil || ch.old.doubt || !ch.old.VHDS && !ch.old.reported() {
			c.oweEntry(ch.new.Name, r.target)
		}
	}
}

// enterRoutes owes an entry to every route that the client has already, or is about to,
// but those of which it reports a virtual host.
func (c *Client) enterRoutes(reported map[string]string, target *Target) {
	known := map[string]bool{}
	for n := range reported {
		route, _ := splitHost(n)
		known[route] = true
	}
	routes := &c.types[fleet.Route]
	sets := []*Set{routes.held}
	if routes.inFlight != nil {
		sets = append(sets, routes.inFlight.after)
	}
	for _, s := range sets {
		for r := range s.All() {
			if r.VHDS && !known[r.Name] {
				c.oweEntry(r.Name, target)
			}
		}
	}
}

// oweEntry owes the virtual hosts of a route or, if it has none, the removal of a name
// that it never had, which ends the wait as well.
func (c *Client) oweEntry(route string, target *Target) {
	tr := &c.types[fleet.VirtualHost]
	tr.inStep = false
	found := false
	for _, h := range target.Types[fleet.VirtualHost].hostsOf(route) {
		if tr.sub.Has(h.Name) {
			tr.owe(h.Name, c.Now)
			found = true
		}
	}
	if !found {
		tr.owe(route+"/-", c.Now)
	}
}

// find returns what the target has under a name or, of a virtual host, under an alias.
func (t *Target) find(typ fleet.Type, name string) *Resource {
	if typ == fleet.VirtualHost {
		return t.Types[typ].host(name)
	}
	return t.Types[typ].Get(name)
}

// alias notes that the client asked for a resource by another name.
func (r *Response) alias(of, name string) {
	if of == name {
		return
	}
	if r.Aliases == nil {
		r.Aliases = make(map[string][]string)
	}
	r.Aliases[of] = append(r.Aliases[of], name)
}
