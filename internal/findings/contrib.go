package findings

import (
	"fmt"
	"slices"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
)

// contrib finds what uses an extension of contrib and goes to nodes whose build has it not: they refuse it. It costs what the nodes cost once more for
// each package that something uses, and a look at the views for each variant.
func (c *checker) contrib() {
	lack := map[string]*nodesByView{}
	for _, n := range c.order {
		if !c.on() {
			return
		}
		if !slices.ContainsFunc(n.variants, func(v *variant) bool { return len(v.facts.Contrib) > 0 }) {
			continue
		}
		every := len(n.variants) == 1 && n.fallback()
		if !every {
			c.wins(n, func(*variant, int, int) {})
		}
		for _, v := range n.variants {
			if !c.on() {
				return
			}
			c.contribOf(v, every, lack)
			v.won = nil // it is as large as there are views
		}
	}
}

// contribOf is about one variant; every: it is what all nodes get.
func (c *checker) contribOf(v *variant, every bool, lack map[string]*nodesByView) {
	for _, uses := range v.facts.Contrib {
		of := lack[string(uses.Package)]
		if of == nil {
			of = c.nodesWhere(func(n *fleet.Node) bool {
				return n.Contrib&fleet.ContribTold != 0 && !c.Unlabeled[n.ID] && envoyversion.LacksContrib(n.Contrib, string(uses.Package))
			})
			lack[string(uses.Package)] = of
		}
		nodes := of.all
		if !every {
			nodes = of.among(v.won)
		}
		if nodes.nodes == 0 {
			continue
		}
		c.add(v, Finding{Code: NeedsContrib, Severity: Error, Pointer: uses.Pointer, Nodes: nodes.nodes, Detail: fmt.Sprintf(
			"%s uses %s, which needs a build of Envoy with contrib: %s one without it, and Envoy refuses this there; run a build that has it, such as Envoy's contrib image, or write it as a variant for the nodes that do",
			v.named(), uses.Message, nodes.text())})
	}
}
