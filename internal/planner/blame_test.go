package planner_test

import (
	"testing"

	"fairlead/internal/fleet"
)

// gRPC names a resource that it cannot read by its place.
func TestAResourceIsBlamedByItsPlace(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "listeners a@1 b@1 c@1")
	for text, want := range map[string][]string{
		"xDS response validation errors: [resource index 1: no listener]":                       {"b"},
		"xDS response validation errors: [resource index 2: c: no; resource index 0: a: no]":    {"c"},
		"xDS response validation errors: [resource index 7: no]":                                nil,
		"xDS response validation errors: [resource index 10: no; subresource index 1: no; res]": nil,
		"resource index 1: no": nil,
	} {
		s := &script{t: t, c: client{t: t, Delta: true}}
		s.c.Subscribe(request{Type: fleet.Listener}, target)
		r := s.send(target)
		s.c.Refuse(fleet.Listener, r.Nonce, text)
		var got []string
		for _, v := range s.c.Verdicts() {
			for _, b := range v.Blame {
				got = append(got, b.Refused.Name)
			}
		}
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%q blames %q, want %q", text, got, want)
		}
	}
}
