package findings_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
)

// drawn are a graph's names with what they lead to: "routes/r -> clusters/c! x2", a missing one with a mark.
func drawn(g findings.Graph) (out []string) {
	called := func(i int) string {
		n := g.Names[i]
		return fmt.Sprintf("%s/%s%s", n.Type, n.Name, map[findings.GraphState]string{findings.GraphMissing: "!", findings.GraphBootstrap: "^"}[n.State])
	}
	for i := range g.Names {
		line := called(i)
		for _, e := range g.Edges {
			if e.From == i {
				line += " -> " + called(e.To)
				if e.Mentions != 1 {
					line += fmt.Sprintf(" x%d", e.Mentions)
				}
			}
		}
		out = append(out, line)
	}
	return out
}

func graphOf(t *testing.T, f findings.Fleet, focus *fleet.Ref, most int) (findings.Graph, bool) {
	t.Helper()
	g, there, err := findings.GraphOf(f, focus, most)
	if err != nil {
		t.Fatal(err)
	}
	return g, there
}

// srds is a listener that takes scoped routes.
func srds(name string) string {
	return listener(name, hcmType+", scoped_routes: {name: s, scope_key_builder: {fragments: [{header_value_extractor: {name: x, element_separator: ',', index: 0}}]}, scoped_rds: {scoped_rds_config_source: {ads: {}}}}")
}

func scopedRoute(name string) string {
	return fmt.Sprintf("{type: scoped-routes, name: %s, body: {name: %[1]s, route_configuration_name: r, key: {fragments: [{string_key: %[1]s}]}}}", name)
}

func TestGraphOfScopedRoutes(t *testing.T) {
	t.Parallel()
	f := findings.Fleet{Resources: stored(t, srds("l"), srds("m"), rds("o", "r"), scopedRoute("s"), scopedRoute("t"), route("r", "cluster: c"))}
	for _, c := range []struct {
		focus *fleet.Ref
		most  int
		want  []string
		more  [2]int
	}{
		{most: 100, want: []string{
			"listeners/l -> scoped-routes/s x0 -> scoped-routes/t x0", "scoped-routes/s -> routes/r", "scoped-routes/t -> routes/r", "routes/r -> clusters/c!", "clusters/c!",
			"listeners/m -> scoped-routes/s x0 -> scoped-routes/t x0", "listeners/o -> routes/r",
		}},
		{most: 2, want: []string{"listeners/l -> scoped-routes/s x0", "scoped-routes/s"}, more: [2]int{5, 7}},
		{focus: &fleet.Ref{Type: fleet.ScopedRoute, Name: "t"}, most: 100, want: []string{
			"listeners/l -> scoped-routes/t x0", "scoped-routes/t -> routes/r", "routes/r -> clusters/c!", "clusters/c!", "listeners/m -> scoped-routes/t x0",
		}},
		{focus: &fleet.Ref{Type: fleet.Listener, Name: "m"}, most: 100, want: []string{
			"scoped-routes/s -> routes/r", "scoped-routes/t -> routes/r", "routes/r -> clusters/c!", "clusters/c!", "listeners/m -> scoped-routes/s x0 -> scoped-routes/t x0",
		}},
		{focus: &fleet.Ref{Type: fleet.Route, Name: "r"}, most: 1, want: []string{"listeners/l"}, more: [2]int{6, 8}},
	} {
		g, there := graphOf(t, f, c.focus, c.most)
		if d := cmp.Diff(c.want, drawn(g)); d != "" || !there || [2]int{g.MoreNames, g.MoreEdges} != c.more {
			t.Errorf("focus %v, %d: %d and %d more, there: %t: %s", c.focus, c.most, g.MoreNames, g.MoreEdges, there, d)
		}
	}
}

// TestT44_ManyScopedRoutesDrawNoGraphOfTheirProduct: each listener that takes scoped routes leads to all of them. What is told of that, and what
// it takes, does not grow with the one multiplied by the other. It runs alone: it counts what is allocated.
func TestT44_ManyScopedRoutesDrawNoGraphOfTheirProduct(t *testing.T) {
	const many = 1000
	var f findings.Fleet
	one := stored(t, srds("l"), scopedRoute("s"))
	for i := range many {
		for _, r := range one {
			r.Name = fmt.Sprint(r.Name, i)
			f.Resources = append(f.Resources, r)
		}
	}
	for _, focus := range []*fleet.Ref{nil, {Type: fleet.ScopedRoute, Name: "s7"}, {Type: fleet.Listener, Name: "l7"}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		g, _ := graphOf(t, f, focus, 5000)
		runtime.ReadMemStats(&after)
		all := many * many
		if focus != nil {
			all = many
		}
		if len(g.Edges) > 20_000 || len(g.Edges) == 0 {
			t.Errorf("focus %v: %d edges are told", focus, len(g.Edges))
		}
		if scoped := len(g.Edges) - len(slices.DeleteFunc(slices.Clone(g.Edges), func(e findings.GraphEdge) bool { return e.Mentions == 0 })); scoped+g.MoreEdges != all {
			t.Errorf("focus %v: %d edges to scoped routes, and %d more, of %d", focus, scoped, g.MoreEdges, all)
		}
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 16 {
			t.Errorf("focus %v: %d MiB were allocated for %d names", focus, n, len(f.Resources))
		}
	}
}

// TestGraphEndsWithItsClient, as all that computes.
func TestGraphEndsWithItsClient(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	f := findings.Fleet{Resources: stored(t, srds("l"), scopedRoute("s")), Step: func() error { return gone }}
	if _, _, err := findings.GraphOf(f, nil, 1); !errors.Is(err, gone) {
		t.Errorf("it ended with %v", err)
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	const (
		action = "weighted_clusters: {clusters: [{name: c, weight: 1}, {name: c, weight: 1}, {name: d, weight: 1}, {name: s, weight: 1}]}"
		vhds   = "{type: routes, name: q, body: {name: q, vhds: {config_source: {ads: {}}}}}"
		host   = "{type: virtual-hosts, name: q/h, body: {name: q/h, domains: [h]}}"
	)
	f := findings.Fleet{StaticClusters: []string{"s"}, Resources: stored(t, rds("l", "r"), route("r", action), edsCluster("c"), endpoints("c"), cluster("unused"), vhds, host,
		variant(route("r", "cluster: e"), "canary", "metadata.canary=true"))}
	for _, c := range []struct {
		focus *fleet.Ref
		most  int
		want  []string
		more  [2]int
	}{
		{most: 100, want: []string{
			"listeners/l -> routes/r", "routes/r -> clusters/c x2 -> clusters/d! -> clusters/s^ -> clusters/e!",
			"clusters/c -> endpoints/c", "clusters/d!", "clusters/s^", "clusters/e!", "endpoints/c", "clusters/unused", "routes/q -> virtual-hosts/q/h x0", "virtual-hosts/q/h",
		}},
		{most: 3, want: []string{"listeners/l -> routes/r", "routes/r -> clusters/c x2", "clusters/c"}, more: [2]int{7, 5}},
		{focus: &fleet.Ref{Type: fleet.Cluster, Name: "c"}, most: 100, want: []string{"listeners/l -> routes/r", "routes/r -> clusters/c x2", "clusters/c -> endpoints/c", "endpoints/c"}},
		{focus: &fleet.Ref{Type: fleet.Cluster, Name: "e"}, most: 100, want: []string{"listeners/l -> routes/r", "routes/r -> clusters/e!", "clusters/e!"}},
	} {
		slices.Reverse(f.Resources) // their order says nothing
		g, there := graphOf(t, f, c.focus, c.most)
		if d := cmp.Diff(c.want, drawn(g)); d != "" || !there || [2]int{g.MoreNames, g.MoreEdges} != c.more {
			t.Errorf("focus %v, %d: %d and %d more, there: %t: %s", c.focus, c.most, g.MoreNames, g.MoreEdges, there, d)
		}
	}
	g, _ := graphOf(t, f, nil, 100)
	if e := g.Edges[0]; e.Pointer != at+"/rds/route_config_name" || g.Names[1].Variants != 2 {
		t.Errorf("%+v, %+v", e, g.Names[1])
	}
	if _, there := graphOf(t, f, &fleet.Ref{Type: fleet.Secret, Name: "none"}, 1); there {
		t.Error("a graph around nothing")
	}
}
