package snapshot_test

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	_ "fairlead/test/pinned" // the same histories each time
)

func res(name, version string) *snapshot.Resource {
	return snapshot.NewResource(fleet.Runtime, fleet.Row{Name: name, Version: version}, []byte(version))
}

// contents is a set as a plain map from names to versions.
func contents(s *snapshot.Set) map[string]string {
	m := map[string]string{}
	for r := range s.All() {
		m[r.Name] = r.Version
	}
	return m
}

func TestSetBehavesAsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom(manyNames(200))
		var s *snapshot.Set
		model := map[string]string{}
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			n := names.Draw(t, "name")
			before, was := s, contents(s)
			if rapid.Bool().Draw(t, "put") {
				v := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "version")
				if s = s.With(res(n, v)); model[n] == v && s != before {
					t.Fatalf("putting %s@%s again made another set", n, v)
				}
				model[n] = v
			} else {
				s = s.Without(n)
				delete(model, n)
			}
			if !maps.Equal(contents(before), was) {
				t.Fatal("an older set changed")
			}
		}
		if s.Len() != len(model) || !maps.Equal(contents(s), model) {
			t.Fatalf("set %v, want %v", contents(s), model)
		}
		var again *snapshot.Set // another order, the same sum
		for _, r := range s.Sorted() {
			again = again.With(r)
		}
		if !again.Equal(s) || again.Sum().String() != s.Sum().String() {
			t.Fatal("the sum depends on the way")
		}
		for _, n := range manyNames(200) {
			if r := s.Get(n); (r != nil) != (model[n] != "") || r != nil && r.Version != model[n] {
				t.Fatalf("get %s: %v, want %q", n, r, model[n])
			}
		}
	})
}

func TestDiffIsTheDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *snapshot.Set {
			var s *snapshot.Set
			for n, v := range rapid.MapOf(rapid.SampledFrom(manyNames(100)), rapid.SampledFrom([]string{"1", "2"})).Draw(t, label) {
				s = s.With(res(n, v))
			}
			return s
		}
		a, b := draw("a"), draw("b")
		if rapid.Bool().Draw(t, "share") {
			b = a
			for n, v := range rapid.MapOf(rapid.SampledFrom(manyNames(100)), rapid.SampledFrom([]string{"", "3"})).Draw(t, "edit") {
				if v == "" {
					b = b.Without(n)
				} else {
					b = b.With(res(n, v))
				}
			}
		}
		got := a
		seen := map[string]bool{}
		for old, new := range snapshot.Diff(a, b) {
			name := ""
			switch {
			case new == nil:
				name, got = old.Name, got.Without(old.Name)
			case old != nil && old.Name != new.Name:
				t.Fatalf("%s beside %s", old.Name, new.Name)
			default:
				name, got = new.Name, got.With(new)
			}
			if seen[name] || snapshot.Same(old, new) {
				t.Fatalf("%s came twice or does not differ", name)
			}
			seen[name] = true
		}
		if !maps.Equal(contents(got), contents(b)) {
			t.Fatalf("a with the difference is %v, want %v", contents(got), contents(b))
		}
	})
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("name-%d", i)
	}
	return names
}

// BenchmarkDiff is one change among 10,000 resources.
func BenchmarkDiff(b *testing.B) {
	var s *snapshot.Set
	for _, n := range manyNames(10_000) {
		s = s.With(res(n, "1"))
	}
	next := s.With(res("name-77", "2"))
	b.ReportAllocs()
	for b.Loop() {
		for range snapshot.Diff(s, next) {
		}
	}
}
