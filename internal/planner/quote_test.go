package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// blamedFor are the names that are blamed at once for the refusal of all that a target has of a type.
func blamedFor(t *testing.T, typ fleet.Type, words string, names ...string) (blamed []string) {
	t.Helper()
	snap := &snapshot.Snapshot{Revision: 1}
	for _, n := range names {
		snap.Types[typ] = snap.Types[typ].With(snapshot.NewResource(typ, row(n, "1"), nil))
	}
	target := snapshot.NewTarget(snap, nil)
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	r := request{Type: typ}
	if !typ.FullSet() {
		r.Names = names
	}
	s.c.Subscribe(r, target)
	sent := s.send(target)
	s.c.Refuse(typ, sent.Nonce, words)
	for _, v := range s.c.Verdicts() {
		for _, b := range v.Blame {
			blamed = append(blamed, b.Refused.Name)
		}
	}
	return blamed
}

// TestNamesAreReadWhereTheClientPutsThem: words that Envoy 1.36 to 1.40 and gRPC's clients were seen to say, and names that they hold elsewhere.
func TestNamesAreReadWhereTheClientPutsThem(t *testing.T) {
	t.Parallel()
	clusters, listeners, scopes := "Error adding/updating cluster(s) ", "Error adding/updating listener(s) ", "Error adding/updating scoped route(s): "
	for name, c := range map[string]struct {
		typ   fleet.Type
		words string
		names []string
		want  []string
	}{
		"a cluster": {fleet.Cluster, clusters + "shop:8080: cluster manager: cluster provided LB specified but cluster 'shop:8080' did not provide one. Check cluster documentation.",
			[]string{"cluster", "manager", "one", "provided", "shop", "shop:8080"}, []string{"shop:8080"}},
		"the first of two, then the other": {fleet.Cluster, clusters + "b: no, c: no", []string{"a", "b", "c"}, []string{"b"}},
		"words that look like a name":      {fleet.Cluster, clusters + "b: Failed to load private key from <inline>, Cause: KEY_VALUES_MISMATCH", []string{"Cause", "a", "b"}, []string{"b"}},
		"a name out of another resource":   {fleet.Cluster, clusters + "b: Didn't find a registered implementation for name: 'x, a: y'", []string{"a", "b"}, []string{"b"}},
		"a name that goes on like words":   {fleet.Cluster, clusters + "b: no: b is bad", []string{"a", "b", "b: no"}, nil},
		"a name as another one begins":     {fleet.Cluster, clusters + "bb: no", []string{"b", "bb"}, []string{"bb"}},
		"no name":                          {fleet.Cluster, "Invalid duration: Expected positive duration: goo.gle/debugstr a: -1", []string{"a", "b", "duration"}, nil},
		"a listener": {fleet.Listener, listeners + "poison: error adding listener: 'poison' has duplicate address '127.0.0.1:8080' as existing listener\n",
			[]string{"127.0.0.1:8080", "8080", "address", "listener", "poison"}, []string{"poison"}},
		"a dump of several lines": {fleet.Listener, listeners + "b: Proto constraint validation failed (x): config {\n}\nstat_prefix: \"a\"\n", []string{"a", "b", "stat_prefix"}, []string{"b"}},
		"a route":                 {fleet.Route, "Only unique values for domains are permitted. Duplicate entry of domain a in route b", []string{"a", "b", "domain", "route"}, []string{"b"}},
		"none of the routes":      {fleet.Route, "route: unknown cluster 'nope'", []string{"a", "cluster", "nope", "route"}, nil},
		"scopes":                  {fleet.ScopedRoute, scopes + "scope key conflict found, first scope is 'a', second scope is 'c'", []string{"a", "b", "c", "scope"}, []string{"c"}},
		"a scope that is not new": {fleet.ScopedRoute, scopes + "scope key conflict found, first scope is 'a', second scope is 'old'", []string{"a", "b", "scope"}, []string{"a"}},
		"endpoints":               {fleet.Endpoint, "malformed IP address: a. Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'", []string{"a", "b", "cluster"}, nil},
		"a secret":                {fleet.Secret, "Failed to load private key from <inline>, Cause: KEY_VALUES_MISMATCH", []string{"Cause", "key", "private"}, nil},
		"gRPC in C++":             {fleet.Cluster, "xDS response validation errors: [resource index 1: b: INVALID_ARGUMENT: errors validating Cluster resource: [field:type error:unknown discovery type]]", []string{"a", "b", "type"}, []string{"b"}},
		"gRPC in Go":              {fleet.Endpoint, `error parsing "EndpointsResource" response: resource "b": endpoint a, resource "a": no`, []string{"a", "b", "endpoint"}, []string{"b"}},
		"gRPC in Go of none":      {fleet.Endpoint, `error parsing "EndpointsResource" response: top level errors: unexpected resource type: "a"`, []string{"a", "b"}, nil},
		"another client":          {fleet.Cluster, "a: no", []string{"a", "b"}, nil},
		"the only one":            {fleet.Cluster, "a: no", []string{"b"}, []string{"b"}},
	} {
		if got := blamedFor(t, c.typ, c.words, c.names...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q are blamed, want %q", name, got, c.want)
		}
	}
}

// TestManyThatAreNamedAreBlamedTogether: told apart each costs a response of its own.
func TestManyThatAreNamedAreBlamedTogether(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 8, 9, 40} {
		names := []string{"good"}
		for i := range n {
			names = append(names, fmt.Sprintf("bad%02d", i))
		}
		want := names[1:2]
		if n > 8 {
			want = names[1:]
		}
		if got := blamedFor(t, fleet.Cluster, says(fleet.Cluster, names[1:]...), names...); !slices.Equal(got, want) {
			t.Errorf("%d are named, %q are blamed", n, got)
		}
	}
}

// TestWhatIsToldApart: each that is named goes out until it was named first, and what was named beside it is taken.
func TestWhatIsToldApart(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		target := world(t, 1, "clusters a@1 b@1 c@1 d@1")
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster}, target)
		var blamed []string
		for range 10 {
			r := s.send(target)
			for _, v := range s.c.Verdicts() {
				for _, b := range v.Blame {
					blamed = append(blamed, b.Refused.Name)
					target = target.Except([]snapshot.Exception{{Type: v.Type, Refused: snapshot.Reported(b.Refused.Name, "1")}})
				}
			}
			if r == nil {
				continue
			}
			var bad []string
			for _, x := range r.Resources {
				if x.Name == "b" || x.Name == "c" {
					bad = append(bad, x.Name)
				}
			}
			if len(bad) > 0 {
				s.c.Refuse(r.Type, r.Nonce, says(r.Type, append(bad, "d")...))
			} else {
				s.c.Acknowledge(r.Type, r.Nonce)
			}
		}
		if want := []string{"b", "c"}; !slices.Equal(blamed, want) {
			t.Errorf("delta %v: %q are blamed, want %q", delta, blamed, want)
		}
		if got := s.c.Settled(); got != target.Revision {
			t.Errorf("delta %v: settled at %d", delta, got)
		}
	}
}

// TestAScopeIsOfferedAgain when the one of the same key has another version: the stream refused that very content.
func TestAScopeIsOfferedAgain(t *testing.T) {
	t.Parallel()
	scopes := func(rev fleet.Revision, a string, without bool) *snapshot.Target {
		snap := &snapshot.Snapshot{Revision: rev}
		for name, version := range map[string]string{"a": a, "b": "1"} {
			snap.Types[fleet.ScopedRoute] = snap.Types[fleet.ScopedRoute].With(snapshot.NewResource(fleet.ScopedRoute, row(name, version), nil))
		}
		if without {
			return snapshot.NewTarget(snap, []snapshot.Exception{{Type: fleet.ScopedRoute, Refused: snapshot.Reported("b", "1")}})
		}
		return snapshot.NewTarget(snap, nil)
	}
	const words = "Error adding/updating scoped route(s): scope key conflict found, first scope is 'a', second scope is 'b'"
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Past: planner.Past{}}}
		one := scopes(1, "1", false)
		s.c.Subscribe(request{Type: fleet.ScopedRoute}, one)
		r := s.send(one)
		s.c.Refuse(r.Type, r.Nonce, words)
		vs := s.c.Verdicts()
		if len(vs) != 1 || len(vs[0].Blame) != 1 || vs[0].Blame[0].Refused.Name != "b" || vs[0].Blame[0].Rival == nil || vs[0].Blame[0].Rival.Name != "a" {
			t.Fatalf("delta %v: verdicts %+v, want b for a", delta, vs)
		}
		s.steps(scopes(1, "1", true))
		for i, version := range []string{"2", "3"} {
			next := scopes(fleet.Revision(i+2), version, false)
			r := s.send(next)
			if r == nil || !slices.ContainsFunc(r.Resources, func(x *snapshot.Resource) bool { return x.Name == "b" }) {
				t.Fatalf("delta %v: sent %v, want b offered again", delta, r)
			}
			s.c.Refuse(r.Type, r.Nonce, words)
			if vs := s.c.Verdicts(); len(vs) != 1 || vs[0].Blame[0].Refused.Name != "b" {
				t.Fatalf("delta %v: verdicts %+v, want b again", delta, vs)
			}
			s.steps(scopes(fleet.Revision(i+2), version, true))
		}
	}
}
