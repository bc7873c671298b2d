package filesync

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"fairlead/internal/fleet"
)

// answer is what one response is to be answered with, once all that it brought stands in the folder.
type answer struct {
	t       fleet.Type
	nonce   string
	items   map[string]received
	removed []string
	faults  map[string]string // what is refused, and why
	words   string            // why the response is refused, where it is not known of which resource
}

// received is a resource of a response, and what stood in the folder of it.
type received struct{ item, before *item }

// take takes in a response. It says nothing of names that nobody asks for.
func (c *content) take(t fleet.Type, r *discovery.DeltaDiscoveryResponse) *answer {
	a := &answer{t: t, nonce: r.GetNonce(), items: map[string]received{}, faults: map[string]string{}}
	wanted := c.wanted()
	asked := func(name string) bool {
		_, whole := wholes[t]
		return whole || t == fleet.Runtime || wanted[fleet.Ref{Type: t, Name: name}]
	}
	for _, x := range r.GetResources() {
		ref := fleet.Ref{Type: t, Name: x.GetName()}
		if !asked(ref.Name) || x.GetResource() == nil {
			continue
		}
		it, err := c.item(t, x.GetVersion(), x.GetResource())
		if err != nil {
			a.faults[ref.Name] = fleet.Sentence(err)
			continue
		}
		a.items[ref.Name] = received{it, c.standing(ref)}
		c.have[t][ref.Name] = it
		delete(c.gone[t], ref.Name)
	}
	for _, name := range r.GetRemovedResources() {
		ref := fleet.Ref{Type: t, Name: name}
		_, whole := wholes[t]
		switch had := c.have[t][name]; {
		case whole, t == fleet.Runtime:
			delete(c.have[t], name)
			c.gone[t][name] = true
			a.removed = append(a.removed, name)
		case !asked(name):
		case had == nil || t == fleet.Endpoint: // Envoy goes on with any other that it has, and so does the file
			it := none(ref)
			a.items[name] = received{it, c.standing(ref)}
			c.have[t][name] = it
		}
	}
	c.answered[t] = true
	c.answers = append(c.answers, a)
	return a
}

// written reports whether the folder has what the response brought, or something newer.
func (c *content) written(a *answer) bool {
	wanted := c.wanted()
	for name, x := range a.items {
		ref := fleet.Ref{Type: a.t, Name: name}
		_, whole := wholes[a.t]
		if c.have[a.t][name] == x.item && c.standing(ref) != x.item && (whole || wanted[ref]) {
			return false
		}
		if _, bad := a.faults[name]; (bad || a.words != "") && c.have[a.t][name] != x.item && c.standing(ref) == x.item && (whole || x.before != nil && wanted[ref]) {
			return false // what was there before is not back yet
		}
	}
	for _, name := range a.removed {
		if _, whole := wholes[a.t]; whole && c.have[a.t][name] == nil && c.whole[a.t][name] != nil {
			return false
		}
	}
	return true
}

// takeBack takes back what the response brought of a name, so that the folder will have what stood there before.
func (c *content) takeBack(a *answer, names ...string) {
	for _, name := range names {
		x := a.items[name]
		if c.have[a.t][name] != x.item {
			continue
		}
		if c.have[a.t][name] = x.before; x.before == nil {
			delete(c.have[a.t], name)
			c.gone[a.t][name] = true
		}
	}
}

// done forgets an answer that was given.
func (c *content) done(a *answer) {
	c.answers = slices.DeleteFunc(c.answers, func(b *answer) bool { return a == b })
}

// refusal is what the server is told of what was refused; "" if nothing was. The words are those by which gRPC's clients and Envoy name
// what they refuse, and from which the server reads it.
func (a *answer) refusal() string {
	if a.words != "" || len(a.faults) == 0 { // as a whole: the server finds by halves which it was
		return a.words
	}
	var each []string
	names := slices.Sorted(maps.Keys(a.faults))
	switch a.t {
	case fleet.Listener, fleet.Cluster:
		for _, name := range names {
			each = append(each, name+": "+a.faults[name])
		}
		if a.t == fleet.Listener {
			return "Error adding/updating listener(s) " + strings.Join(each, "\n")
		}
		return "Error adding/updating cluster(s) " + strings.Join(each, ", ")
	}
	for _, name := range names {
		each = append(each, fmt.Sprintf("resource %q: %s", name, a.faults[name]))
	}
	return fmt.Sprintf("error parsing %q response: %s", a.t.Message(), strings.Join(each, ";\n"))
}
