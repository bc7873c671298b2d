package planner_test

import (
	"slices"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// world reads a fleet out of words: "clusters a@1 b@1; routes r@2>a,b". A cluster gets its
// endpoints under its own name; what stands behind > is what a resource names, clusters
// or, of a listener and a scope, routes.
func world(t *testing.T, rev fleet.Revision, words string) *snapshot.Target {
	t.Helper()
	s := &snapshot.Snapshot{Revision: rev}
	for part := range strings.SplitSeq(words, ";") {
		fields := strings.Fields(part)
		typ, ok := fleet.TypeFromSlug(fields[0])
		if !ok {
			t.Fatalf("no type is called %q", fields[0])
		}
		for _, f := range fields[1:] {
			f, refs, _ := strings.Cut(f, ">")
			name, version, _ := strings.Cut(f, "@")
			row := fleet.Row{Name: name, Version: version, Revision: rev}
			if typ == fleet.Cluster {
				row.Derived.EDSName = name
			}
			for ref := range strings.SplitSeq(refs, ",") {
				to := fleet.Cluster
				if typ == fleet.Listener || typ == fleet.ScopedRoute {
					to = fleet.Route
				}
				if ref != "" {
					row.Derived.Refs = append(row.Derived.Refs, fleet.Ref{Type: to, Name: ref})
				}
			}
			s.Types[typ] = s.Types[typ].With(snapshot.NewResource(typ, row, []byte(f)))
		}
	}
	return snapshot.NewTarget(s, nil)
}

// steps plays a change and returns the responses in order, each ACKed at once; but of the
// clusters, as Envoy does it, when nothing else is left to send. "|" stands where that
// ACK was waited for.
func (s *script) steps(target *snapshot.Target) []string {
	s.t.Helper()
	var out []string
	var held *response
	for range 100 {
		r := s.send(target)
		switch {
		case r != nil && r.Type == fleet.Cluster:
			held = r
		case r != nil:
			s.c.Acknowledge(r.Type, r.Nonce)
		case held == nil:
			return out
		default:
			s.c.Acknowledge(fleet.Cluster, held.Nonce)
			held = nil
			out = append(out, "|")
			continue
		}
		out = append(out, describe(r))
	}
	s.t.Fatalf("no end: %v", out)
	return nil
}

// TestOrder is make before break, step by step (PROTOCOL rule 19).
func TestOrder(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		before, after string
		delta, sotw   string
	}{
		"a route moves to a new cluster": {
			"clusters a@1; endpoints a@1; routes r@1>a", "clusters b@1; endpoints b@1; routes r@2>b",
			"clusters b@1, endpoints b@1, |, routes r@2, clusters -a, |, endpoints -a",
			"clusters a@1 b@1, endpoints b@1, |, routes r@2, clusters b@1, |",
		},
		"a changed cluster keeps nothing waiting, and is sent its endpoints": {
			"clusters a@1; endpoints a@1; routes r@1>a", "clusters a@2; endpoints a@1; routes r@2>a",
			"clusters a@2, endpoints a@1, routes r@2, |",
			"clusters a@2, endpoints a@1, routes r@2, |",
		},
		"all that names a cluster waits for it, listeners first": {
			"clusters a@1; endpoints a@1; listeners l@1>r; routes r@1>a; scoped-routes s@1>r; virtual-hosts r/h@1>a",
			"clusters a@1 b@1; endpoints a@1 b@1; listeners l@2>r m@1>r; routes r@2>b; scoped-routes s@2>r; virtual-hosts r/h@2>b",
			"clusters b@1, endpoints b@1, listeners l@2 m@1, scoped-routes s@2, |, routes r@2, virtual-hosts r/h@2",
			"clusters a@1 b@1, endpoints b@1, listeners l@2 m@1, scoped-routes s@2, |, routes r@2",
		},
		"a cluster goes when the route that named it is gone, the rest in between": {
			"clusters a@1; endpoints a@1; listeners l@1>r; routes r@1>a; runtimes x@1; extensions e@1", "routes r@2; runtimes x@2; extensions e@2",
			"listeners -l, routes r@2, runtimes x@2, extensions e@2, clusters -a, |, endpoints -a",
			"listeners, routes r@2, runtimes x@2, extensions e@2, clusters, |",
		},
		"a route names a cluster that the fleet does not have: it may be in the bootstrap": {
			"clusters a@1; endpoints a@1; routes r@1>a", "clusters a@1; endpoints a@1; routes r@2>static",
			"routes r@2", "routes r@2",
		},
		"two routes swap their clusters": {
			"clusters a@1 b@1; endpoints a@1 b@1; routes r@1>a s@1>b", "clusters a@1 b@1; endpoints a@1 b@1; routes r@2>b s@2>a",
			"routes r@2 s@2", "routes r@2 s@2",
		},
		"a secret and endpoints change by themselves": {
			"clusters a@1; endpoints a@1; secrets k@1", "clusters a@1; endpoints a@2; secrets k@2",
			"endpoints a@2, secrets k@2", "endpoints a@2, secrets k@2",
		},
	} {
		for _, delta := range []bool{true, false} {
			want := x.sotw
			if delta {
				want = x.delta
			}
			s := &script{t: t, c: client{Delta: delta, Envoy: true}}
			before := world(t, 1, x.before)
			for typ, names := range map[fleet.Type][]string{
				fleet.Cluster: nil, fleet.Listener: nil, fleet.ScopedRoute: nil, fleet.VirtualHost: nil,
				fleet.Endpoint: {"a", "b"}, fleet.Route: {"r", "s"}, fleet.Secret: {"k"}, fleet.Runtime: {"x"}, fleet.Extension: {"e"},
			} {
				if typ == fleet.VirtualHost && !delta {
					continue
				}
				s.c.Subscribe(request{Type: typ, Names: names}, before)
			}
			s.steps(before)
			got := strings.Join(s.steps(world(t, 2, x.after)), ", ")
			if got != want {
				t.Errorf("%s (delta=%v):\ngot  %s\nwant %s", name, delta, got, want)
			}
		}
	}
}

// TestWaitingRouteDoesNotGoBack: what stands in for a route that waits is never older than
// what the client has.
func TestWaitingRouteDoesNotGoBack(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{Delta: true, Envoy: true}}
	first := world(t, 1, "clusters a@1; routes r@1>a")
	s.c.Subscribe(request{Type: fleet.Cluster}, first)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, first)
	if got := s.steps(first); !slices.Contains(got, "routes r@1") {
		t.Fatalf("got %v, want r@1 among it", got)
	}
	second := world(t, 2, "clusters a@1 b@1; routes r@2>a")
	if got := describe(s.send(second)); got != "clusters b@1" { // and is not answered
		t.Fatalf("got %s, want b@1", got)
	}
	s.step(second, "routes r@2", "")
	s.step(world(t, 3, "clusters a@1 b@1 c@1; routes r@3>c"), "nothing", "")
}
