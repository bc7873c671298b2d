package findings_test

import (
	"fmt"
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
		g, there := findings.GraphOf(f, c.focus, c.most)
		if d := cmp.Diff(c.want, drawn(g)); d != "" || !there || [2]int{g.MoreNames, g.MoreEdges} != c.more {
			t.Errorf("focus %v, %d: %d and %d more, there: %t: %s", c.focus, c.most, g.MoreNames, g.MoreEdges, there, d)
		}
	}
	g, _ := findings.GraphOf(f, nil, 100)
	if e := g.Edges[0]; e.Pointer != at+"/rds/route_config_name" || g.Names[1].Variants != 2 {
		t.Errorf("%+v, %+v", e, g.Names[1])
	}
	if _, there := findings.GraphOf(f, &fleet.Ref{Type: fleet.Secret, Name: "none"}, 1); there {
		t.Error("a graph around nothing")
	}
}
