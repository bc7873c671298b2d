package findings_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
	"fairlead/internal/selector"
)

// TestWhoGetsNothingEqualsAskingEachNode: what is said of nodes is what comes out when each node is
// asked for the variant that it has, by the code that the servers choose with.
func TestWhoGetsNothingEqualsAskingEachNode(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := findings.Fleet{Now: now}
		for i := range r.IntN(150) {
			f.Nodes = append(f.Nodes, fleet.Node{ID: fmt.Sprintf("n%03d", i), Cluster: fmt.Sprint(r.IntN(4)), Region: fmt.Sprint(r.IntN(4))})
		}
		for _, ref := range []fleet.Ref{{Type: fleet.Listener, Name: "l"}, {Type: fleet.Route, Name: "r"}} {
			facts := &resource.Facts{}
			if ref.Type == fleet.Listener {
				facts.Mentions = []resource.Mention{{Ref: fleet.Ref{Type: fleet.Route, Name: "r"}}}
			}
			if r.IntN(2) == 0 {
				f.Resources = append(f.Resources, findings.Resource{Ref: ref, Facts: facts})
			}
			for v := range 1 + r.IntN(5) {
				f.Resources = append(f.Resources, findings.Resource{Ref: ref, Variant: fmt.Sprint("v", v), Selector: someSelector(r), Priority: int32(r.IntN(3)), Facts: facts})
			}
		}
		var got []findings.Finding
		for _, x := range check(f) {
			if x.Code == findings.MissingForNodes || x.Code == findings.VariantUnmatched || x.Code == findings.VariantShadowed {
				got = append(got, findings.Finding{Code: x.Code, Ref: x.Ref, Variant: x.Variant, Nodes: x.Nodes})
			}
		}
		if diff := cmp.Diff(asked(f), byPlace(got)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func someSelector(r *rand.Rand) string {
	return fmt.Sprintf([]string{"node.cluster=%d", "locality.region=%d", "node.cluster!=%d", "node.cluster in (%d, 3)", "node.id=n00%d", "node.id^=n0%d", "node.cluster=%d, locality.region=1"}[r.IntN(7)], r.IntN(5))
}

func byPlace(fs []findings.Finding) []findings.Finding {
	slices.SortFunc(fs, func(a, b findings.Finding) int {
		x, y := fmt.Sprint(a.Type, a.Name, a.Variant, a.Code), fmt.Sprint(b.Type, b.Name, b.Variant, b.Code)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return fs
}

// asked tells the same by asking each node.
func asked(f findings.Fleet) (out []findings.Finding) {
	var selectors []selector.Selector
	parsed := make([]selector.Selector, len(f.Resources))
	for i, r := range f.Resources {
		if s, err := selector.Parse(r.Selector); err == nil && r.Variant != "" {
			parsed[i], selectors = s, append(selectors, s)
		}
	}
	index := selector.NewIndex(selectors)
	has := func(n fleet.Node, t fleet.Type) int {
		var variants []selector.Variant
		var at []int
		for i, r := range f.Resources {
			if r.Type == t {
				variants, at = append(variants, selector.Variant{Name: r.Variant, Priority: r.Priority, Selector: index.Position(parsed[i])}), append(at, i)
			}
		}
		w, _ := selector.Winner(variants, index.Match(selector.LabelsOf(n)))
		if w < 0 {
			return -1
		}
		return at[w]
	}
	without, won, matched := map[int]int{}, map[int]int{}, map[int]int{}
	for _, n := range f.Nodes {
		l, r := has(n, fleet.Listener), has(n, fleet.Route)
		won[l]++
		won[r]++
		if l >= 0 && r < 0 {
			without[l]++
		}
		for i := range f.Resources {
			if parsed[i].Match(n) {
				matched[i]++
			}
		}
	}
	for i, r := range f.Resources {
		one := findings.Finding{Ref: r.Ref, Variant: r.Variant}
		if one.Nodes = without[i]; one.Nodes > 0 {
			one.Code = findings.MissingForNodes
			out = append(out, one)
		}
		one.Nodes = matched[i]
		switch {
		case r.Variant == "" || len(f.Nodes) == 0:
		case matched[i] == 0:
			one.Code = findings.VariantUnmatched
			out = append(out, one)
		case won[i] == 0:
			one.Code = findings.VariantShadowed
			out = append(out, one)
		}
	}
	return byPlace(out)
}
