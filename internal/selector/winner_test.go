package selector_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"fairlead/internal/selector"
	_ "fairlead/test/pinned" // the same histories each time
)

// vector has the positions.
func vector(positions ...int) selector.Vector {
	b := make([]byte, 4)
	for _, i := range positions {
		b[i/8] |= 1 << (i % 8)
	}
	return selector.Vector(b)
}

func TestWinner(t *testing.T) {
	t.Parallel()
	def := selector.Variant{Name: "", Priority: 1 << 30, Selector: -1}
	eu := selector.Variant{Name: "eu", Selector: 0}
	canary := selector.Variant{Name: "canary", Selector: 1}
	urgent := selector.Variant{Name: "urgent", Priority: 7, Selector: 9}
	last := selector.Variant{Name: "last", Priority: -1 << 31, Selector: 3}
	type variants = []selector.Variant
	for name, c := range map[string]struct {
		variants variants
		vector   selector.Vector
		want     int
		tied     []string
	}{
		"none at all":                          {nil, vector(0), -1, nil},
		"none matches, no default":             {variants{eu, canary}, vector(5), -1, nil},
		"none matches, default":                {variants{eu, def, canary}, vector(5), 1, nil},
		"the default loses to every match":     {variants{def, last}, vector(3), 1, nil},
		"wherever it stands":                   {variants{last, def}, vector(3), 0, nil},
		"the default's selector means nothing": {variants{{Name: "", Selector: 0}, eu}, vector(0), 1, nil},
		"the highest priority":                 {variants{eu, urgent, canary}, vector(0, 1, 9), 1, nil},
		"only of those that match":             {variants{eu, urgent}, vector(0), 0, nil},
		"priorities below zero":                {variants{last, {Name: "low", Priority: -1, Selector: 4}}, vector(3, 4), 1, nil},
		"a tie: the smallest name":             {variants{eu, canary, def}, vector(0, 1), 1, []string{"eu"}},
		"a tie of three":                       {variants{eu, {Name: "b", Selector: 0}, canary}, vector(0, 1), 1, []string{"canary", "eu"}},
		"a tie below the winner is none":       {variants{eu, canary, urgent}, vector(0, 1, 9), 2, nil},
		"no selector known":                    {variants{{Name: "x", Selector: -1}}, vector(0), -1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, tied := selector.Winner(c.variants, c.vector)
			if got != c.want || !slices.Equal(tied, c.tied) {
				t.Errorf("got %d, tied with %q; want %d, %q", got, tied, c.want, c.tied)
			}
		})
	}
}

// Sorting all that match says the same.
func TestWinnerEqualsSorting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e"}), rapid.ID).Draw(t, "names")
		var variants []selector.Variant
		for _, n := range names {
			variants = append(variants, selector.Variant{Name: n, Priority: rapid.Int32Range(-1, 1).Draw(t, "priority"), Selector: rapid.IntRange(0, 31).Draw(t, "selector")})
		}
		v := vector(rapid.SliceOf(rapid.IntRange(0, 31)).Draw(t, "matched")...)
		var match []selector.Variant
		for _, c := range variants {
			if c.Name != "" && v.Has(c.Selector) {
				match = append(match, c)
			}
		}
		slices.SortFunc(match, func(a, b selector.Variant) int {
			return cmp.Or(-cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
		})
		want, wantTied := slices.Index(names, ""), []string(nil)
		if len(match) > 0 {
			want = slices.Index(names, match[0].Name)
			for _, c := range match[1:] {
				if c.Priority == match[0].Priority {
					wantTied = append(wantTied, c.Name)
				}
			}
		}
		if got, tied := selector.Winner(variants, v); got != want || !slices.Equal(tied, wantTied) {
			t.Fatalf("got %d, tied with %q; want %d, %q", got, tied, want, wantTied)
		}
	})
}
