package findings

import (
	"fmt"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// polled finds what nodes that poll over REST are to ask for over ADS. They have none: an Envoy refuses the resource, or
// confirms it and asks nobody for what it names.
func (c *checker) polled() {
	poll := c.nodesWhere(func(n *fleet.Node) bool { return n.Polls && !c.Unlabeled[n.ID] })
	if poll.all.nodes == 0 {
		return
	}
	for _, n := range c.order {
		if !c.on() {
			return
		}
		every := len(n.variants) == 1 && n.fallback()
		if !every {
			c.wins(n, func(*variant, int, int) {})
		}
		for _, v := range n.variants {
			nodes := poll.all
			if !every {
				nodes = poll.among(v.won)
			}
			v.won = nil // it is as large as there are views
			if m := overADS(v.facts.Mentions); m != nil && nodes.nodes > 0 {
				c.add(v, Finding{Code: MissingForNodes, Severity: Error, Pointer: m.Pointer, To: m.Ref, Nodes: nodes.nodes, Detail: fmt.Sprintf(
					"%s has proxies ask for %s%s over ADS, and there is none over REST: %s no stream, so it never comes there, though the receipt may say ACKed; "+
						"give it an api_config_source of REST, or write it as a variant for the nodes that have a stream", v.named(), called(m.Ref), again(m.More), nodes.text())})
			}
		}
	}
}

// overADS is the first mention of what is asked for over ADS; nil if there is none. What a scoped route names is asked for as its listener says.
func overADS(mentions []resource.Mention) *resource.Mention {
	for i := range mentions {
		switch m := &mentions[i]; m.Type {
		case fleet.Endpoint, fleet.Route, fleet.Secret, fleet.Extension:
			if !m.Apart && m.Field != "envoy.config.route.v3.ScopedRouteConfiguration.route_configuration_name" {
				return m
			}
		}
	}
	return nil
}
