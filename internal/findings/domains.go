package findings

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// domainOf is a domain of one route table; Envoy compares domains in lower case.
type domainOf struct{ route, domain string }

// claim is one place where a domain stands.
type claim struct {
	*variant
	host, domain int
}

func (c claim) pointer() string {
	if c.Type == fleet.VirtualHost {
		return fmt.Sprintf("/body/domains/%d", c.domain)
	}
	return fmt.Sprintf("/body/virtual_hosts/%d/domains/%d", c.host, c.domain)
}

// maxClaims bounds how many of a domain's places each other one is compared with.
const maxClaims = 16

// domains finds those that stand twice in one route table, of whose virtual hosts some may
// stand alone.
func (c *checker) domains() {
	claims := map[domainOf][]claim{}
	for _, n := range c.order {
		if !c.on() {
			return
		}
		route, ok := c.tableOf(n)
		if !ok {
			continue
		}
		for _, v := range n.variants {
			apart := apartFrom(v)
			for i, host := range v.facts.Hosts {
				for j, d := range host {
					if !c.on() {
						return
					}
					key := domainOf{route, strings.ToLower(d)}
					one := claim{v, i, j}
					if other, twice := rival(claims[key], one, apart); twice {
						c.add(v, twiceIn(one, other, route, d))
					}
					claims[key] = append(claims[key], one)
				}
			}
		}
	}
}

// tableOf is the route that a name has virtual hosts for. A virtual host whose route does
// not fetch any stands in none.
func (c *checker) tableOf(n *name) (string, bool) {
	switch n.Type {
	case fleet.Route:
		return n.Name, true
	case fleet.VirtualHost:
		route := routeOf(n.Name)
		return route, c.fetches(route)
	}
	return "", false
}

// routeOf is the route of a virtual host that is called <route>/<host>.
func routeOf(host string) string { return host[:max(0, strings.LastIndexByte(host, '/'))] }

// fetches reports whether some variant of the route fetches virtual hosts.
func (c *checker) fetches(route string) bool {
	fetches, known := c.fetching[route]
	if !known {
		if n := c.names[fleet.Ref{Type: fleet.Route, Name: route}]; n != nil {
			fetches = slices.ContainsFunc(n.variants, func(v *variant) bool { return v.facts.VHDS })
		}
		c.fetching[route] = fetches
	}
	return fetches
}

// apartFrom tells of other variants whether no node can have one of them beside v. Of each it is found once, however many domains both have.
func apartFrom(v *variant) func(*variant) bool {
	known := map[*variant]bool{}
	return func(o *variant) bool {
		if v.Variant == "" || o.Variant == "" {
			return false
		}
		apart, again := known[o]
		if !again {
			apart = selector.Disjoint(v.selector, o.selector)
			known[o] = apart
		}
		return apart
	}
}

// rival is another place that a node may have beside one: variants of one name exclude
// each other, and so may selectors.
func rival(claims []claim, one claim, apart func(*variant) bool) (claim, bool) {
	for _, other := range claims[:min(len(claims), maxClaims)] {
		switch {
		case other.variant == one.variant:
			return other, true
		case other.Ref == one.Ref:
		case apart(other.variant):
		default:
			return other, true
		}
	}
	return claim{}, false
}

func twiceIn(one, other claim, route, domain string) Finding {
	f := Finding{Code: DuplicateDomain, Severity: Error, Pointer: one.pointer(), To: other.Ref, ToVariant: other.Variant}
	where := "at " + other.pointer()
	if other.variant != one.variant {
		where = "in " + other.named() + " at " + other.pointer()
	}
	f.Detail = fmt.Sprintf("the domain %q stands %s as well: Envoy takes each once in all of routes/%s, and refuses what brings it again; take it out of one of them",
		domain, where, route)
	return f
}
