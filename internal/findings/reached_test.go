package findings_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// TestWhomAWriteReachesEqualsAskingEachNode: who is reached is who gets another content, when each node is asked for what it
// has before and after, by the code that the servers choose with.
func TestWhomAWriteReachesEqualsAskingEachNode(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		var nodes []fleet.Node
		for i := range r.IntN(150) {
			nodes = append(nodes, fleet.Node{ID: fmt.Sprintf("n%03d", i), Cluster: fmt.Sprint(r.IntN(4)), Region: fmt.Sprint(r.IntN(4))})
		}
		names := make([]findings.Rewrite, 1+r.IntN(3))
		for i := range names {
			names[i] = findings.Rewrite{Before: someVersions(r), After: someVersions(r)}
		}
		got, err := findings.Reached(names, nodes, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		wantNodes, want := make([]map[string]int, len(names)), map[string]bool{}
		for i, n := range names {
			wantNodes[i] = map[string]int{}
			for _, node := range nodes {
				before, after := versionOf(n.Before, node), versionOf(n.After, node)
				if before.Content == after.Content {
					continue
				}
				want[node.ID] = true
				for variant := range map[string]bool{before.Variant: before.Content != "", after.Variant: after.Content != ""} {
					if variant == before.Variant && before.Content != "" || variant == after.Variant && after.Content != "" {
						wantNodes[i][variant]++
					}
				}
			}
		}
		if d := cmp.Diff(wantNodes, got.Nodes); d != "" {
			t.Fatalf("seed %d: of each variant: %s", seed, d)
		}
		reached, inViews := map[string]bool{}, 0
		for _, n := range nodes {
			if got.Has(n) {
				reached[n.ID] = true
			}
		}
		for _, v := range got.Views {
			inViews += v.Nodes
			if !want[v.Example] {
				t.Errorf("seed %d: %s is not reached", seed, v.Example)
			}
		}
		if d := cmp.Diff(want, reached); d != "" || inViews != len(want) || got.Total() != len(want) {
			t.Fatalf("seed %d: %d in views, %d in all: %s", seed, inViews, got.Total(), d)
		}
	}
}

func someVersions(r *rand.Rand) (vs []findings.Version) {
	content := func() string { return fmt.Sprint(r.IntN(3)) }
	if r.IntN(2) == 0 {
		vs = append(vs, findings.Version{Content: content()})
	}
	for v := range r.IntN(4) {
		vs = append(vs, findings.Version{Variant: fmt.Sprint("v", v), Selector: someSelector(r), Priority: int32(r.IntN(3)), Content: content()})
	}
	return vs
}

// versionOf is what a node gets of a name.
func versionOf(vs []findings.Version, n fleet.Node) findings.Version {
	var selectors []selector.Selector
	parsed := make([]selector.Selector, len(vs))
	for i, v := range vs {
		if s, err := selector.Parse(v.Selector); err == nil && v.Variant != "" {
			parsed[i], selectors = s, append(selectors, s)
		}
	}
	index := selector.NewIndex(selectors)
	var variants []selector.Variant
	for i, v := range vs {
		variants = append(variants, selector.Variant{Name: v.Variant, Priority: v.Priority, Selector: index.Position(parsed[i])})
	}
	if w, _ := selector.Winner(variants, index.Match(selector.LabelsOf(n))); w >= 0 {
		return vs[w]
	}
	return findings.Version{}
}
