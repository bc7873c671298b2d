package findings_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
)

// TestT44_ChecksStepWithinAName: a fleet may have all its variants, domains and mentions in one name. A check lets others have the processor, and
// ends with its client, within a name too: it steps for each of them.
func TestT44_ChecksStepWithinAName(t *testing.T) {
	t.Parallel()
	const many = 400
	var variants, hosts, mentions []string
	for i := range many {
		name := fmt.Sprint("v", i)
		variants = append(variants, variant(cluster("c"), name, "node.id="+name))
		hosts = append(hosts, fmt.Sprintf("h%d.example", i))
		mentions = append(mentions, fmt.Sprintf("{name: c%d, weight: 1}", i))
	}
	for what, f := range map[string]findings.Fleet{
		"variants":            {Resources: stored(t, variants...)},
		"variants with nodes": {Resources: stored(t, append(variants, route("r", "cluster: c"))...), Nodes: nodes("v1", "v2")},
		"domains":             {Resources: stored(t, fmt.Sprintf("{type: routes, name: r, body: {name: r, virtual_hosts: [{name: v, domains: [%s]}]}}", strings.Join(hosts, ", ")))},
		"mentions":            {Resources: stored(t, route("r", "weighted_clusters: {clusters: ["+strings.Join(mentions, ", ")+"]}"))},
	} {
		for how, run := range map[string]func(findings.Fleet) error{
			"the fleet": func(f findings.Fleet) error { _, err := findings.Check(f); return err },
			"a write": func(f findings.Fleet) error {
				_, err := findings.CheckWrite(f, map[fleet.Ref]bool{{Type: fleet.Cluster, Name: "c"}: true})
				return err
			},
		} {
			whole, left, ended := len(f.Resources), many/2, errors.New("ended")
			names := map[fleet.Ref]bool{}
			for _, r := range f.Resources {
				names[r.Ref] = true
			}
			// As many steps as resources are read, and a few for each name, are taken however a name is gone through.
			left += whole + 20*len(names) + len(f.Nodes)
			f.Step = func() error {
				if left--; left < 0 {
					return ended
				}
				return nil
			}
			if err := run(f); !errors.Is(err, ended) {
				t.Errorf("%s of %s: it took %d steps fewer than it may", how, what, left)
			}
		}
	}
}

// TestManyVariantsOfARouteAreOneWay: where virtual hosts lead from is found once of a route, however many variants it has.
func TestManyVariantsOfARouteAreOneWay(t *testing.T) {
	t.Parallel()
	vhds := "{type: routes, name: r, body: {name: r, vhds: {config_source: {ads: {}}}}}"
	f := findings.Fleet{Resources: stored(t, rds("l", "r"), variant(vhds, "a", "node.id=a"), variant(vhds, "b", "node.id=b"), route("r", "cluster: c"), cluster("c"),
		"{type: virtual-hosts, name: r/h, body: {name: r/h, domains: [h]}}")}
	for _, found := range check(f) {
		t.Errorf("%+v", found)
	}
	g, _ := graphOf(t, f, nil, 10)
	for _, e := range g.Edges {
		if g.Names[e.To].Type == fleet.VirtualHost {
			return
		}
	}
	t.Errorf("nothing leads to the virtual host: %+v", g)
}

// TestT44_WhoGetsWhatIsBounded: selectors may be many, nodes too, and each node may be another one to all of them: what is known of who is matched by
// what would be as much as the ones multiplied by the others. Beyond a bound nothing is said of the nodes that are left. It runs alone: it counts what is allocated.
func TestT44_WhoGetsWhatIsBounded(t *testing.T) {
	const selectors, many = 12_000, 500
	rewrite := findings.Rewrite{}
	f := findings.Fleet{Nodes: nodes()}
	for i := range selectors {
		s := fmt.Sprintf("node.id!=n%d", i)
		f.Resources = append(f.Resources, findings.Resource{Ref: fleet.Ref{Type: fleet.Cluster, Name: "c"}, Variant: fmt.Sprint("v", i), Selector: s, Priority: int32(i)})
		rewrite.After = append(rewrite.After, findings.Version{Variant: fmt.Sprint("v", i), Selector: s, Priority: int32(i), Content: "x"})
	}
	for i := range many {
		f.Nodes = append(f.Nodes, fleet.Node{ID: fmt.Sprint("n", i)})
	}
	allocated := func(run func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) >> 20
	}
	if n := allocated(func() {
		for _, found := range check(f) {
			if found.Code == findings.VariantShadowed || found.Code == findings.VariantUnmatched {
				t.Fatalf("%+v, of nodes that were not all looked at", found)
			}
		}
	}); n > 100 {
		t.Errorf("%d MiB were allocated to check %d variants and %d nodes", n, selectors, many)
	}
	if n := allocated(func() {
		r, err := findings.Reached([]findings.Rewrite{rewrite}, f.Nodes, func() error { return nil })
		if err != nil || !r.Cut || r.Total() == 0 {
			t.Errorf("%d nodes are reached, cut: %t, %v", r.Total(), r.Cut, err)
		}
	}); n > 100 {
		t.Errorf("%d MiB were allocated to tell whom %d variants reach of %d nodes", n, selectors, many)
	}
}

// TestT44_WhomAWriteReachesEndsWithItsClient, as all that computes.
func TestT44_WhomAWriteReachesEndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := errors.New("ended")
	many := findings.Rewrite{}
	for i := range 100 {
		many.After = append(many.After, findings.Version{Variant: fmt.Sprint("v", i), Selector: "node.id", Priority: int32(i), Content: "x"})
	}
	left := 50
	step := func() error {
		if left--; left < 0 {
			return ended
		}
		return nil
	}
	if _, err := findings.Reached([]findings.Rewrite{many}, nodes("a"), step); !errors.Is(err, ended) {
		t.Errorf("it ended with %v", err)
	}
}
