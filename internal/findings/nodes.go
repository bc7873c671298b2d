package findings

import (
	"math/bits"

	"fairlead/internal/fleet"
)

// nodesByView are some of the nodes, by what they get.
type nodesByView struct {
	all   someNodes
	views []someNodes // of each view
	some  set         // the views that have some
}

// nodesWhere are those of which something holds.
func (c *checker) nodesWhere(holds func(*fleet.Node) bool) *nodesByView {
	out := &nodesByView{views: make([]someNodes, len(c.views.nodes)), some: c.views.none()}
	for i := range c.Nodes {
		if !c.on() {
			break
		}
		n := &c.Nodes[i]
		if !holds(n) {
			continue
		}
		view, known := c.views.known[c.views.vector(*n)]
		if !known {
			continue
		}
		one := &someNodes{1, n.ID}
		out.all.join(one)
		out.views[view].join(one)
		out.some.add(int32(view)) //nolint:gosec // fewer than nodes
	}
	return out
}

// among are those of the views of a set; nil has none.
func (w *nodesByView) among(views set) (nodes someNodes) {
	for i, word := range views {
		for rest := word & w.some[i]; rest != 0; rest &= rest - 1 {
			nodes.join(&w.views[i*64+bits.TrailingZeros64(rest)])
		}
	}
	return nodes
}

// join takes others in.
func (c *someNodes) join(others *someNodes) {
	if c.nodes == 0 || others.example < c.example {
		c.example = others.example
	}
	c.nodes += others.nodes
}
