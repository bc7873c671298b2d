package findings

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// Version is a variant of a name as nodes get it.
type Version struct {
	Variant  string // "" for the default variant
	Selector string // "" for the default variant
	Priority int32
	Content  string // not empty; who gets another version of the same content sees no difference
}

// Rewrite is all variants of a name, before a write and after it.
type Rewrite struct{ Before, After []Version }

// Reach is whom a write reaches: the nodes that get something else than before. Which of it they ask for is not looked at.
type Reach struct {
	// Nodes of each rewrite, by the variant: how many get it now and did not have it so, or had it and do not have it so now.
	Nodes []map[string]int
	// Views are the nodes that are reached, by what selectors decide about them, the largest first.
	Views []ReachedNodes
	// Cut: not all nodes were looked at.
	Cut bool

	views   views
	reached set
}

// ReachedNodes are nodes of one view.
type ReachedNodes struct {
	Nodes   int
	Example string // the first by id
}

// Reached finds whom a write reaches. For each name it costs as many steps as its selectors match views, and a step for
// every 64 views. The error is one of step, which is called on the way.
func Reached(names []Rewrite, nodes []fleet.Node, step func() error) (*Reach, error) {
	var ended error
	on := func() bool {
		if ended == nil {
			ended = step()
		}
		return ended == nil
	}
	parsed := map[string]selector.Selector{}
	var selectors []selector.Selector
	for _, n := range names {
		if !on() {
			break
		}
		for _, v := range slices.Concat(n.Before, n.After) {
			if _, ok := parsed[v.Selector]; ok || v.Variant == "" {
				continue
			}
			s, err := selector.Parse(v.Selector)
			if err != nil { // no server serves by it
				continue
			}
			parsed[v.Selector], selectors = s, append(selectors, s)
		}
	}
	r := &Reach{Nodes: make([]map[string]int, len(names)), views: newViews(selectors, nodes, on)}
	r.Cut, r.reached = r.views.cut, r.views.none()
	for i, n := range names {
		if !on() {
			break
		}
		r.Nodes[i] = r.rewrite(r.winners(n.Before, parsed, on), r.winners(n.After, parsed, on), on)
	}
	all := r.views.all()
	all.shares(r.reached, func(i int) { r.Views = append(r.Views, ReachedNodes{r.views.nodes[i], r.views.example[i]}) })
	slices.SortFunc(r.Views, func(a, b ReachedNodes) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Example, b.Example))
	})
	return r, ended
}

// winner is a variant with the views that have it. The zero variant, without content, is: nothing.
type winner struct {
	Version
	views set
}

// winners tells who has which of a name's variants.
func (r *Reach) winners(versions []Version, parsed map[string]selector.Selector, on func() bool) (ws []winner) {
	left := r.views.all()
	var fallback Version
	for _, v := range ranked(versions) {
		if !on() {
			break
		}
		if v.Variant == "" {
			fallback = v
			continue
		}
		w := winner{v, r.views.none()}
		for _, i := range r.views.matching(&variant{selector: parsed[v.Selector]}) {
			if left.has(i) {
				left.remove(i)
				w.views.add(i)
			}
		}
		ws = append(ws, w)
	}
	return append(ws, winner{fallback, left})
}

// ranked puts first what wins where several match (SEMANTICS 2.1).
func ranked(versions []Version) []Version {
	return slices.SortedFunc(slices.Values(versions), func(a, b Version) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), strings.Compare(a.Variant, b.Variant))
	})
}

// rewrite counts who is reached by one name.
func (r *Reach) rewrite(before, after []winner, on func() bool) map[string]int {
	had := map[string]set{} // by content
	for _, w := range before {
		if s := had[w.Content]; s != nil {
			s.join(w.views)
		} else {
			had[w.Content] = slices.Clone(w.views)
		}
	}
	changed := r.views.all()
	for _, w := range after {
		if s := had[w.Content]; s != nil {
			w.views.shares(s, func(i int) { changed.remove(int32(i)) }) //nolint:gosec // fewer than nodes
		}
	}
	r.reached.join(changed)
	of := map[string]set{} // by variant
	for _, w := range slices.Concat(before, after) {
		if !on() {
			break
		}
		if w.Content == "" {
			continue
		}
		if of[w.Variant] == nil {
			of[w.Variant] = r.views.none()
		}
		of[w.Variant].join(w.views)
	}
	nodes := map[string]int{}
	for name, s := range of {
		if !on() {
			break
		}
		s.shares(changed, func(i int) { nodes[name] += r.views.nodes[i] })
	}
	return nodes
}

// Total is how many nodes are reached.
func (r *Reach) Total() (n int) {
	for _, v := range r.Views {
		n += v.Nodes
	}
	return n
}

// Has reports whether a node is reached that was among the nodes.
func (r *Reach) Has(n fleet.Node) bool {
	i, ok := r.views.known[r.views.vector(n)]
	return ok && r.reached.has(int32(i)) //nolint:gosec // fewer than nodes
}
