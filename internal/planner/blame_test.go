package planner_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
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

// The place is that in the response, which in state of the world has what the client holds as well.
func TestACulpritIsFoundByItsPlaceInAWholeSet(t *testing.T) {
	t.Parallel()
	one, two := world(t, 1, "clusters a@1 b@1 c@1"), world(t, 2, "clusters a@1 b@2 c@2")
	s := &script{t: t, c: client{t: t, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.step(one, "clusters a@1 b@1 c@1", "")
	r := s.send(two)
	if got := describe(r); got != "clusters a@1 b@2 c@2" {
		t.Fatalf("got %s", got)
	}
	s.c.Refuse(r.Type, r.Nonce, "xDS response validation errors: [resource index 1: no]")
	vs := s.c.Verdicts()
	if len(vs) != 1 || len(vs[0].Blame) != 1 || vs[0].Blame[0].Refused.Name != "b" {
		t.Errorf("it is told %+v, want b", vs)
	}
}

// TestARefusedRepairIsToldOfAllThatItPutBack: a client that refuses p and q is sent what they were before, and refuses that as well.
func TestARefusedRepairIsToldOfAllThatItPutBack(t *testing.T) {
	t.Parallel()
	one, two := world(t, 1, "clusters p@1 q@1"), world(t, 2, "clusters p@2 q@2")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.step(one, "clusters p@1 q@1", "")
	s.step(two, "clusters p@2 q@2", "no")
	var es []snapshot.Exception
	for _, name := range []string{"p", "q"} {
		es = append(es, snapshot.Exception{Type: fleet.Cluster, Refused: two.View[fleet.Cluster].Get(name), Good: one.View[fleet.Cluster].Get(name)})
	}
	r := s.send(two.Except(es))
	if got := describe(r); got != "clusters p@1 q@1" {
		t.Fatalf("got %s, want what was there before", got)
	}
	s.c.Refuse(r.Type, r.Nonce, "no")
	vs := s.c.Verdicts()
	if len(vs) != 1 || len(vs[0].Blame) != 2 || vs[0].Detail != "no" {
		t.Errorf("it is told %+v, want both", vs)
	}
}
