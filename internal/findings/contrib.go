package findings

import (
	"fmt"
	"slices"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
)

// build is nodes that get the same, and of whose build the same is known.
type build struct {
	view int32
	has  fleet.Contrib
}

// contrib finds what uses an extension of contrib and goes to nodes whose build has it not: they refuse it. It costs what the nodes cost once more,
// where something uses one at all.
func (c *checker) contrib() {
	var builds map[build]*someNodes
	for _, n := range c.order {
		if !c.on() {
			return
		}
		if !slices.ContainsFunc(n.variants, func(v *variant) bool { return len(v.facts.Contrib) > 0 }) {
			continue
		}
		if builds == nil {
			builds = c.builds()
		}
		every := len(n.variants) == 1 && n.fallback()
		if !every {
			c.wins(n, func(*variant, int, int) {})
		}
		for _, v := range n.variants {
			c.contribOf(v, every, builds)
			v.won = nil // it is as large as there are views
		}
	}
}

// contribOf is about one variant; every: it is what all nodes get.
func (c *checker) contribOf(v *variant, every bool, builds map[build]*someNodes) {
	for _, uses := range v.facts.Contrib {
		var lack someNodes
		for b, nodes := range builds {
			if envoyversion.LacksContrib(b.has, string(uses.Package)) && (every || v.won != nil && v.won.has(b.view)) {
				lack.join(nodes)
			}
		}
		if lack.nodes == 0 {
			continue
		}
		c.add(v, Finding{Code: NeedsContrib, Severity: Error, Pointer: uses.Pointer, Nodes: lack.nodes, Detail: fmt.Sprintf(
			"%s uses %s, which needs a build of Envoy with contrib: %s one without it, and Envoy refuses this there; run a build that has it, such as Envoy's contrib image, or write it as a variant for the nodes that do",
			v.named(), uses.Message, lack.text())})
	}
}

// builds counts the nodes that tell what their build has.
func (c *checker) builds() map[build]*someNodes {
	out := map[build]*someNodes{}
	for _, n := range c.Nodes {
		if !c.on() {
			break
		}
		if n.Contrib&fleet.ContribTold == 0 || c.Unlabeled[n.ID] {
			continue
		}
		view, known := c.views.known[c.views.vector(n)]
		if !known {
			continue
		}
		b := build{int32(view), n.Contrib} //nolint:gosec // fewer than nodes
		if out[b] == nil {
			out[b] = &someNodes{}
		}
		out[b].join(&someNodes{1, n.ID})
	}
	return out
}

// join takes others in.
func (c *someNodes) join(others *someNodes) {
	if c.nodes == 0 || others.example < c.example {
		c.example = others.example
	}
	c.nodes += others.nodes
}
