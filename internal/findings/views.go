package findings

import (
	"fmt"
	"math/bits"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// views are the nodes by what selectors decide about them. Nodes of one view get the same.
type views struct {
	index   *selector.Index
	matched [][]int32 // by the selector's position: the views that it matches
	nodes   []int     // of each view
	example []string  // of each view, the first node by id
	known   map[selector.Vector]int
	cut     bool // nodes are left out, because of the others there is as much to know as is known of any fleet
}

// maxMatches is how often selectors match views, all together. What is known of them takes as much memory as that, and nodes that differ are as many
// as selectors are: one multiplied by the other would be thousands of millions.
const maxMatches = 4_000_000

func newViews(selectors []selector.Selector, nodes []fleet.Node, on func() bool) views {
	x := selector.NewIndex(selectors)
	vs := views{index: x, matched: make([][]int32, x.Len()), known: map[selector.Vector]int{}}
	matches := 0
	for _, n := range nodes {
		if !on() {
			break
		}
		vector := vs.vector(n)
		i, again := vs.known[vector]
		if !again {
			for at := range len(vector) {
				matches += bits.OnesCount8(vector[at])
			}
			if vs.cut = matches > maxMatches; vs.cut {
				break
			}
			i = len(vs.nodes)
			vs.known[vector] = i
			vs.nodes, vs.example = append(vs.nodes, 0), append(vs.example, n.ID)
			for at := range len(vector) {
				for rest := vector[at]; rest != 0; rest &= rest - 1 {
					p := at*8 + bits.TrailingZeros8(rest)
					vs.matched[p] = append(vs.matched[p], int32(i)) //nolint:gosec // fewer than nodes
				}
			}
		}
		vs.nodes[i]++
		vs.example[i] = min(vs.example[i], n.ID)
	}
	return vs
}

// vector is what the selectors decide about a node.
func (vs *views) vector(n fleet.Node) selector.Vector {
	if vs.index.Len() == 0 {
		return ""
	}
	return vs.index.Match(selector.LabelsOf(n))
}

// matching are the views that a variant's selector matches.
func (vs *views) matching(v *variant) []int32 {
	if p := vs.index.Position(v.selector); p >= 0 {
		return vs.matched[p]
	}
	return nil
}

// set is a set of views.
type set []uint64

func (vs *views) none() set { return make(set, (len(vs.nodes)+63)/64) }

func (vs *views) all() set {
	s := vs.none()
	for w := range s {
		s[w] = ^uint64(0)
	}
	if over := len(vs.nodes) % 64; over > 0 {
		s[len(s)-1] = 1<<over - 1
	}
	return s
}

func (s set) add(i int32)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int32) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s set) join(o set) {
	for w := range s {
		s[w] |= o[w]
	}
}
func (s set) remove(i int32) { s[i/64] &^= 1 << (i % 64) }

// shares gives the two sets' views in common to f.
func (s set) shares(o set, f func(i int)) {
	for w := range s {
		for rest := s[w] & o[w]; rest != 0; rest &= rest - 1 {
			f(w*64 + bits.TrailingZeros64(rest))
		}
	}
}

// lack says who gets none of a name's variants.
type lack struct {
	views set
	someNodes
}

// someNodes is some nodes.
type someNodes struct {
	nodes   int
	example string // the first by id
}

func (c *someNodes) take(vs *views, i int) {
	if c.nodes == 0 || vs.example[i] < c.example {
		c.example = vs.example[i]
	}
	c.nodes += vs.nodes[i]
}

// lacks is worked out once per name that has no default variant. Its cost follows the views that
// the selectors match.
func (c *checker) lacks(n *name) *lack {
	if n.lacks != nil {
		return n.lacks
	}
	n.lacks = &lack{}
	if n.fallback() || len(c.views.nodes) == 0 {
		return n.lacks
	}
	all := c.views.all()
	left := slices.Clone(all)
	for _, v := range n.variants {
		if !c.on() {
			break
		}
		for _, i := range c.views.matching(v) {
			left.remove(i)
		}
	}
	n.lacks.views = left
	all.shares(left, func(i int) { n.lacks.take(&c.views, i) })
	return n.lacks
}

// wins works out which views have which of a name's variants, and gives f of each that has a
// selector how many nodes that matches, and how many have the variant.
func (c *checker) wins(n *name, f func(v *variant, matched, won int)) {
	left := c.views.all()
	for _, v := range byRank(n.variants) {
		if !c.on() {
			return
		}
		v.won = c.views.none()
		matched, won := 0, 0
		for _, i := range c.views.matching(v) {
			matched += c.views.nodes[i]
			if left.has(i) {
				left.remove(i)
				v.won.add(i)
				won += c.views.nodes[i]
			}
		}
		if v.Variant != "" {
			f(v, matched, won)
		}
	}
	if n.fallback() {
		n.variants[0].won = left
	}
}

// byRank puts first what wins where several match (SEMANTICS 2.1); the default variant has no
// selector and wins what is left.
func byRank(variants []*variant) []*variant {
	return slices.SortedStableFunc(slices.Values(variants), func(a, b *variant) int {
		switch { // by name they are sorted already
		case a.Priority > b.Priority:
			return -1
		case a.Priority < b.Priority:
			return 1
		}
		return 0
	})
}

// text is how a sentence speaks of them.
func (c *someNodes) text() string {
	if c.nodes == 1 {
		return fmt.Sprintf("1 node, %q, has", c.example)
	}
	return fmt.Sprintf("%d nodes, such as %q, have", c.nodes, c.example)
}
