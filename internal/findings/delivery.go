package findings

import (
	"fmt"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// deliveredByName finds what names a cluster that no proxy has as long as it has not asked for it by its name. Where something in the fleet has
// proxies do that, requests find it; what Envoy refuses for want of a cluster it refuses all the same.
func (c *checker) deliveredByName() {
	asked := false
	named := map[fleet.Ref]bool{}
	for _, n := range c.order {
		for _, v := range n.variants {
			asked = asked || v.facts.OnDemand
			if v.ByName {
				named[n.Ref] = true
			}
		}
	}
	if len(named) == 0 {
		return
	}
	for _, n := range c.order {
		if !c.on() {
			return
		}
		for _, v := range n.variants {
			for i := range v.facts.Mentions {
				if m := &v.facts.Mentions[i]; named[m.Ref] && m.Missing != resource.MissingBootstrap && (!asked || m.Missing != resource.MissingFails) {
					c.withoutAsking(v, m)
				}
			}
		}
	}
}

func (c *checker) withoutAsking(v *variant, m *resource.Mention) {
	severity, effect := Error, fmt.Sprintf("a proxy that has not asked for the cluster refuses %s", called(v.Ref))
	remedy := "take the delivery away from the cluster"
	switch m.Missing {
	case resource.MissingRefused:
	default:
		severity, effect = consequence(v.Ref, m)
		effect = "as long as a proxy has not asked for it, " + effect
	}
	if m.Missing == resource.MissingFails {
		remedy = "put the filter on_demand, with odcds, in front of the listener's router, or " + remedy
	}
	c.add(v, Finding{Code: DeliveredByName, Severity: severity, Pointer: m.Pointer, To: m.Ref, Detail: fmt.Sprintf(
		"%s names %s%s, which is delivered by name alone: %s; %s", v.named(), called(m.Ref), again(m.More), effect, remedy)})
}
