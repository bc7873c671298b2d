package planner_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// SEMANTICS 3.5: what another node refused alone is tried last, so that one response tells
// whether it is the culprit here too; a lie costs that response and nothing else.
func TestWhatAFellowNodeRefusedIsTriedLast(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "listeners a@1 b@1 c@1 d@1")
	none := world(t, 2, "listeners")
	for _, c := range []struct{ says, culprit string }{{"c", "c"}, {"c", "a"}} {
		target := target.Except(nil)
		target.Rejected = map[refusal.Key]struct{}{{Type: fleet.Listener, Name: c.says, Version: "1"}: {}}
		s := &script{t: t, c: client{Delta: true}}
		s.c.Subscribe(request{Type: fleet.Listener}, none)
		s.step(none, "listeners", "")
		var blamed []string
		sent := 0
		for range 20 {
			r := s.send(target)
			for _, v := range s.c.Verdicts() {
				for _, b := range v.Blame {
					blamed = append(blamed, b.Refused.Name)
				}
			}
			if r == nil {
				break
			}
			sent++
			bad := false
			for _, x := range r.Resources {
				bad = bad || x.Name == c.culprit
			}
			if bad {
				s.c.Refuse(r.Type, r.Nonce, "no")
			} else {
				s.c.Acknowledge(r.Type, r.Nonce)
			}
		}
		if len(blamed) != 1 || blamed[0] != c.culprit {
			t.Errorf("%s: %q are blamed after %d responses", c.culprit, blamed, sent)
		}
		if truth := c.says == c.culprit; truth && sent > 3 {
			t.Errorf("%d responses, though the peer was right", sent)
		}
	}
}

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
		s := &script{t: t, c: client{Delta: true}}
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
