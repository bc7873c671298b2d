package findings

import (
	"maps"
	"slices"

	"fairlead/internal/fleet"
)

// Graph is what of a fleet names what.
type Graph struct {
	Names []GraphName // listeners and what they lead to first, so that what is cut is at the far ends
	Edges []GraphEdge
	// MoreNames and MoreEdges are how many were left off.
	MoreNames, MoreEdges int
}

// GraphName is a resource with all its variants, or a name that is used.
type GraphName struct {
	fleet.Ref
	State    GraphState
	Variants int
	// AnyCluster: which clusters it uses is decided by requests, connections or code.
	AnyCluster bool
}

// GraphState is where a name comes from.
type GraphState string

// The states.
const (
	GraphStored    GraphState = "stored"
	GraphMissing   GraphState = "missing"   // it is named and not there
	GraphBootstrap GraphState = "bootstrap" // the proxies have it themselves
)

// GraphEdge is that one name leads to another: both by their places in Names.
type GraphEdge struct {
	From, To int
	// Variant and Pointer are the first place where it stands; "" where it follows from something else, as of the virtual hosts of a route.
	Variant, Pointer string
	Mentions         int
}

// grapher collects a graph.
type grapher struct {
	*checker
	names []GraphName
	place map[fleet.Ref]int
	out   [][]GraphEdge // of each name, in the order in which they stand in it
	known map[[2]int]int
	// scopes are the listeners that take scoped routes, which are all of scoped: as edges they would be as many as both multiplied.
	scopes map[int]bool
	scoped []int
}

// mostScoped is how many edges from listeners to scoped routes a graph has at most: each of the ones leads to each of the others.
const mostScoped = 10_000

// GraphOf is the fleet's graph, with at most so many names; of a focus that which leads to it and to which it leads. False: the
// focus is neither there nor named.
//
// It costs what the names and their mentions come to. The error is one of f.Step.
func GraphOf(f Fleet, focus *fleet.Ref, most int) (Graph, bool, error) {
	g := &grapher{checker: newChecker(f), place: map[fleet.Ref]int{}, known: map[[2]int]int{}, scopes: map[int]bool{}}
	for _, n := range g.order {
		if at := g.name(n.Ref); n.Type == fleet.ScopedRoute {
			g.scoped = append(g.scoped, at)
		}
	}
	hosts := map[string][]fleet.Ref{}
	for _, n := range g.order {
		if n.Type == fleet.VirtualHost {
			hosts[routeOf(n.Name)] = append(hosts[routeOf(n.Name)], n.Ref)
		}
	}
	for _, n := range g.order {
		if !g.on() {
			return Graph{}, false, g.ended
		}
		for _, v := range n.variants {
			g.variant(v, hosts)
		}
	}
	var near map[int]bool
	if focus != nil {
		at, there := g.place[*focus]
		if !there {
			return Graph{}, false, g.ended
		}
		near = g.around(at)
	}
	kept := g.ordered(func(i int) bool { return near == nil || near[i] })
	return g.cut(kept, most), true, g.ended
}

func (g *grapher) name(r fleet.Ref) int {
	if at, there := g.place[r]; there {
		return at
	}
	out := GraphName{Ref: r, State: GraphMissing}
	if n := g.checker.names[r]; n != nil {
		out.State, out.Variants = GraphStored, len(n.variants)
	} else if r.Type == fleet.Cluster && g.static[r.Name] {
		out.State = GraphBootstrap
	}
	g.place[r] = len(g.names)
	g.names, g.out = append(g.names, out), append(g.out, nil)
	return g.place[r]
}

// variant adds all that it leads to.
func (g *grapher) variant(v *variant, hosts map[string][]fleet.Ref) {
	from := g.name(v.Ref)
	for _, m := range v.facts.Mentions {
		g.edge(from, m.Ref, v.Variant, m.Pointer, 1+m.More)
	}
	if v.facts.EDSName != "" {
		g.follows(from, fleet.Ref{Type: fleet.Endpoint, Name: v.facts.EDSName})
	}
	if v.Type == fleet.Route && v.facts.VHDS {
		for _, h := range hosts[v.Name] {
			g.follows(from, h)
		}
		delete(hosts, v.Name) // its other variants lead there too
	}
	if v.facts.Scopes {
		g.scopes[from] = true
	}
	g.names[from].AnyCluster = g.names[from].AnyCluster || v.facts.AnyCluster
}

// follows adds an edge that stands nowhere, unless it does.
func (g *grapher) follows(from int, to fleet.Ref) {
	if _, there := g.known[[2]int{from, g.name(to)}]; !there {
		g.edge(from, to, "", "", 0)
	}
}

func (g *grapher) edge(from int, ref fleet.Ref, variant, pointer string, mentions int) {
	to := g.name(ref)
	key := [2]int{from, to}
	if i, there := g.known[key]; there {
		g.out[from][i].Mentions += mentions
		return
	}
	g.known[key] = len(g.out[from])
	g.out[from] = append(g.out[from], GraphEdge{From: from, To: to, Variant: variant, Pointer: pointer, Mentions: mentions})
}

// ordered are the names, each way that begins with a listener first, as far as they are kept.
func (g *grapher) ordered(keep func(int) bool) (order []int) {
	seen := make([]bool, len(g.names))
	down := g.down()
	from := func(i int) {
		for next := []int{i}; len(next) > 0; next = next[1:] {
			if i := next[0]; !seen[i] {
				seen[i] = true
				if keep(i) {
					order = append(order, i)
				}
				next = append(next, down(i)...)
			}
		}
	}
	for i, n := range g.names {
		if n.Type == fleet.Listener {
			from(i)
		}
	}
	for i := range g.names {
		from(i)
	}
	return order
}

// down returns what tells where a name leads, asked of each name once. Of the scoped routes, which all that take some lead to, the first one tells.
func (g *grapher) down() func(i int) []int {
	scoped := g.scoped
	return func(i int) (next []int) {
		for _, e := range g.out[i] {
			next = append(next, e.To)
		}
		if g.scopes[i] {
			next, scoped = append(next, scoped...), nil
		}
		return next
	}
}

// around is what leads to a name, and to what it leads.
func (g *grapher) around(at int) map[int]bool {
	in := make([][]int, len(g.names))
	for _, edges := range g.out {
		for _, e := range edges {
			in[e.To] = append(in[e.To], e.From)
		}
	}
	scopes := slices.Sorted(maps.Keys(g.scopes)) // what leads to the first scoped route that is asked for leads to all
	near := closure(at, g.down())
	for i := range closure(at, func(i int) []int {
		next := in[i]
		if g.names[i].Type == fleet.ScopedRoute {
			next, scopes = slices.Concat(next, scopes), nil
		}
		return next
	}) {
		near[i] = true
	}
	return near
}

// closure is all that step leads to; it is asked of each once.
func closure(at int, step func(int) []int) map[int]bool {
	seen := map[int]bool{at: true}
	for next := []int{at}; len(next) > 0; next = next[1:] {
		for _, i := range step(next[0]) {
			if !seen[i] {
				seen[i] = true
				next = append(next, i)
			}
		}
	}
	return seen
}

// cut is the graph of the first names.
func (g *grapher) cut(order []int, most int) (out Graph) {
	out.MoreNames = max(0, len(order)-most)
	whole := make(map[int]bool, len(order))
	for _, i := range order {
		whole[i] = true
	}
	at := make(map[int]int, len(order))
	for _, i := range order[:len(order)-out.MoreNames] {
		at[i] = len(out.Names)
		out.Names = append(out.Names, g.names[i])
	}
	all := 0 // scoped routes that each listener which takes some leads to
	var scoped []int
	for _, i := range g.scoped {
		if whole[i] {
			all++
		}
		if place, first := at[i]; first {
			scoped = append(scoped, place)
		}
	}
	room := mostScoped
	for _, i := range order {
		from, first := at[i]
		for _, e := range g.out[i] {
			to, second := at[e.To]
			switch {
			case first && second:
				e.From, e.To = from, to
				out.Edges = append(out.Edges, e)
			case whole[e.To]:
				out.MoreEdges++
			}
		}
		if !g.scopes[i] {
			continue
		}
		told := 0
		if first {
			told = min(len(scoped), room)
		}
		for _, to := range scoped[:told] {
			out.Edges = append(out.Edges, GraphEdge{From: from, To: to})
		}
		room, out.MoreEdges = room-told, out.MoreEdges+all-told
	}
	slices.SortStableFunc(out.Edges, func(a, b GraphEdge) int { return a.From - b.From })
	return out
}
