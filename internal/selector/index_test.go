package selector_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// asked is a requirement as the property tests know it: how it is written, and what it
// means, both said a second time.
type asked struct {
	key    string
	op     string
	values []string
}

// Few keys and short texts, so that they meet.
var someKeys = []string{"node.id", "node.cluster", "locality.region", "metadata.a", "metadata.b.c", `metadata."a.b"`}

func someText() *rapid.Generator[string] { return rapid.StringMatching(`[ab~ ]{1,3}`) }

func someRules() *rapid.Generator[[]asked] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) asked {
		return asked{
			key:    rapid.SampledFrom(someKeys).Draw(t, "key"),
			op:     rapid.SampledFrom([]string{"=", "!=", "^=", "^=", "in", "in", "notin", "", "!"}).Draw(t, "op"),
			values: rapid.SliceOfN(someText(), 1, 3).Draw(t, "values"),
		}
	}), 1, 3)
}

func (a asked) String() string {
	var quoted []string
	for _, v := range a.values {
		quoted = append(quoted, strconv.Quote(v))
	}
	switch a.op {
	case "":
		return a.key
	case "!":
		return "!" + a.key
	case "in", "notin":
		return a.key + " " + a.op + " (" + strings.Join(quoted, " , ") + ")"
	}
	return a.key + a.op + quoted[0]
}

func (a asked) holds(labels map[string]string) bool {
	text, ok := labels[a.key]
	switch a.op {
	case "=":
		return ok && text == a.values[0]
	case "!=":
		return !ok || text != a.values[0]
	case "^=":
		return ok && strings.HasPrefix(text, a.values[0])
	case "in":
		return ok && slices.Contains(a.values, text)
	case "notin":
		return !ok || !slices.Contains(a.values, text)
	case "":
		return ok
	}
	return !ok
}

func write(rules []asked) string {
	var texts []string
	for _, a := range rules {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, ", ")
}

// drawNode draws a node, and its labels beside it.
func drawNode(t *rapid.T) (fleet.Node, map[string]string) {
	labels, text := map[string]string{}, someText()
	for _, k := range someKeys {
		if rapid.IntRange(0, 3).Draw(t, "has "+k) > 0 {
			labels[k] = text.Draw(t, k)
		}
	}
	metadata := map[string]any{}
	if v, ok := labels["metadata.a"]; ok {
		metadata["a"] = v
	}
	if v, ok := labels["metadata.b.c"]; ok {
		metadata["b"] = map[string]string{"c": v}
	}
	if v, ok := labels[`metadata."a.b"`]; ok {
		metadata["a.b"] = v
	}
	encoded, err := json.Marshal(metadata)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Node{ID: labels["node.id"], Cluster: labels["node.cluster"], Region: labels["locality.region"], MetadataJSON: encoded}, labels
}

func TestIndexEqualsTryingAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(someRules(), 0, 40).Draw(t, "selectors")
		var selectors []selector.Selector
		distinct := map[string]bool{}
		for _, rules := range all {
			s, err := selector.Parse(write(rules))
			if err != nil {
				t.Fatal(err)
			}
			selectors = append(selectors, s)
			distinct[s.String()] = true
		}
		x := selector.NewIndex(selectors)
		if x.Len() != len(distinct) {
			t.Fatalf("%d different selectors, %d in the index", len(distinct), x.Len())
		}
		for range 5 {
			node, labels := drawNode(t)
			l := selector.LabelsOf(node)
			v := x.Match(l)
			for i, s := range selectors {
				want := true
				for _, a := range all[i] {
					want = want && a.holds(labels)
				}
				at := x.Position(s)
				if at < 0 || x.At(at).String() != s.String() {
					t.Fatalf("%s stands at %d", s, at)
				}
				if v.Has(at) != want || s.MatchLabels(l) != want {
					t.Fatalf("%s and %v: %t by the index, %t by itself, should be %t", s, labels, v.Has(at), s.MatchLabels(l), want)
				}
			}
		}
	})
}

// Prefixes of prefixes, and ids that end between two of them.
func TestIndexFindsEveryPrefix(t *testing.T) {
	t.Parallel()
	nested := rapid.StringMatching(`[ab]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		begins := rapid.SliceOfN(nested, 1, 30).Draw(t, "prefixes")
		var selectors []selector.Selector
		for _, p := range begins {
			s, err := selector.Parse("node.id^=" + p)
			if err != nil {
				t.Fatal(err)
			}
			selectors = append(selectors, s)
		}
		x := selector.NewIndex(selectors)
		for range 5 {
			id := nested.Draw(t, "id")
			v := x.Match(selector.LabelsOf(fleet.Node{ID: id}))
			for i, p := range begins {
				if v.Has(x.Position(selectors[i])) != strings.HasPrefix(id, p) {
					t.Fatalf("%s begins with %s: %t", id, p, !strings.HasPrefix(id, p))
				}
			}
		}
	})
}

// The order of requirements, values and selectors, and repetitions of them, mean nothing.
func TestOrderMeansNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := someRules().Draw(t, "rules")
		var shuffled []asked
		for _, a := range rapid.Permutation(append(slices.Clone(rules), rules[0])).Draw(t, "order") {
			if a.op == "in" || a.op == "notin" {
				a.values = rapid.Permutation(append(slices.Clone(a.values), a.values[0])).Draw(t, "values")
			}
			shuffled = append(shuffled, a)
		}
		one, errOne := selector.Parse(write(rules))
		other, errOther := selector.Parse(write(shuffled))
		if errOne != nil || errOther != nil || one.String() != other.String() {
			t.Fatalf("%s and %s are not the same (%v, %v)", one, other, errOne, errOther)
		}
		third, err := selector.Parse("node.id")
		if err != nil {
			t.Fatal(err)
		}
		node, _ := drawNode(t)
		l := selector.LabelsOf(node)
		a := selector.NewIndex([]selector.Selector{one, third}).Match(l)
		b := selector.NewIndex([]selector.Selector{third, other, {}, one}).Match(l)
		if a != b {
			t.Fatalf("the vector depends on the order: %q and %q", a, b)
		}
	})
}

func TestVector(t *testing.T) {
	t.Parallel()
	var selectors []selector.Selector
	for i := range 20 {
		selectors = append(selectors, parse(t, fmt.Sprintf("node.id=n%02d", i)))
	}
	x := selector.NewIndex(selectors)
	for i := range 20 {
		v := x.Match(selector.LabelsOf(fleet.Node{ID: fmt.Sprintf("n%02d", i)}))
		for j := -9; j < 40; j++ {
			if v.Has(j) != (j == i) {
				t.Errorf("node %d, position %d: %t", i, j, v.Has(j))
			}
		}
	}
	if v := x.Match(selector.LabelsOf(fleet.Node{ID: "other"})); v != "" {
		t.Errorf("a node that nothing matches has the vector %q", v)
	}
	if x.Position(parse(t, "node.id=n")) != -1 || x.Position(selector.Selector{}) != -1 {
		t.Error("a selector that is not in the index has a position")
	}
	none := selector.NewIndex(nil)
	if none.Len() != 0 || none.Match(selector.LabelsOf(edge)) != "" {
		t.Error("an index of nothing decides something")
	}
}

// The caller's list stays as it is.
func TestNewIndexLeavesItsArgumentAlone(t *testing.T) {
	t.Parallel()
	selectors := []selector.Selector{parse(t, "node.id=b"), {}, parse(t, "node.id=a"), parse(t, "node.id=b")}
	want := slices.Clone(selectors)
	selector.NewIndex(selectors)
	for i := range want {
		if selectors[i].String() != want[i].String() {
			t.Errorf("place %d holds %q now", i, selectors[i])
		}
	}
}

// BenchmarkMatch: one node against 1,000 selectors, by the index and by trying each.
func BenchmarkMatch(b *testing.B) {
	for name, form := range map[string]string{
		"ByID":       "node.id=edge-%d",
		"ByPrefix":   "node.id^=edge-%d",
		"InCrowd":    "locality.region=eu,node.id=edge-%d",
		"ByMetadata": "metadata.labels.app in (a%d,shop)",
		"Unanchored": "metadata.role!=x%d",
	} {
		var selectors []selector.Selector
		for i := range 1000 {
			selectors = append(selectors, parse(b, fmt.Sprintf(form, i)))
		}
		node := edge
		node.ID = "edge-500"
		l := selector.LabelsOf(node)
		b.Run(name+"/Index", func(b *testing.B) {
			x := selector.NewIndex(selectors)
			b.ReportAllocs()
			for b.Loop() {
				x.Match(l)
			}
		})
		b.Run(name+"/Each", func(b *testing.B) {
			for b.Loop() {
				for _, s := range selectors {
					s.MatchLabels(l)
				}
			}
		})
		b.Run(name+"/Build", func(b *testing.B) {
			for b.Loop() {
				selector.NewIndex(selectors)
			}
		})
	}
}
