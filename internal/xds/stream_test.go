package xds_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// both runs a script in both protocols.
func both(t *testing.T, script func(t *testing.T, w *xdstest.World, s *xdstest.Stream)) {
	t.Run("delta", func(t *testing.T) {
		t.Parallel()
		w := xdstest.New(t)
		script(t, w, w.Delta(t, "n1"))
	})
	t.Run("SotW", func(t *testing.T) {
		t.Parallel()
		w := xdstest.New(t)
		script(t, w, w.SotW(t, "n1"))
	})
}

// cluster returns a cluster that gets its endpoints over ADS, with those endpoints.
func cluster(name, version string) []xdstest.Change {
	return []xdstest.Change{
		xdstest.Put(fleet.Cluster, xdstest.Resource(fleet.Cluster, name, version, xdstest.EDS)),
		xdstest.Put(fleet.Endpoint, xdstest.Resource(fleet.Endpoint, name, version)),
	}
}

func route(name, version string, clusters ...string) xdstest.Change {
	return xdstest.Put(fleet.Route, xdstest.Resource(fleet.Route, name, version, xdstest.Naming(clusters...)))
}

func TestEmptyWildcardIsAnswered(t *testing.T) {
	t.Parallel()
	both(t, func(_ *testing.T, _ *xdstest.World, s *xdstest.Stream) {
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters"))
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners"))
		s.Quiet()
	})
}

func TestEndpointsFollowTheirClusterBeforeItsAck(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Stream) {
		w.Publish(cluster("a", "1")...)
		s.Subscribe(fleet.Cluster)
		clusters := s.Want("clusters a@1")
		s.Subscribe(fleet.Endpoint, "a") // Envoy asks before it ACKs, and ACKs when it is warm
		s.Ack(s.Want("endpoints a@1"))
		s.Ack(clusters)
		s.Quiet()

		// The cluster changes and its endpoints do not: they are sent again all the same.
		w.Publish(xdstest.Put(fleet.Cluster, xdstest.Resource(fleet.Cluster, "a", "2", xdstest.EDS)))
		clusters = s.Want("clusters a@2")
		s.Ack(s.Want("endpoints a@1"))
		s.Ack(clusters)
		s.Quiet()
	})
}

func TestRouteWaitsForItsNewClusterAndTheOldOneForTheRoute(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Stream) {
		w.Publish(append(cluster("a", "1"), route("r", "1", "a"))...)
		s.Subscribe(fleet.Cluster)
		clusters := s.Want("clusters a@1")
		s.Subscribe(fleet.Endpoint, "a")
		s.Ack(s.Want("endpoints a@1"))
		s.Ack(clusters)
		s.Subscribe(fleet.Route, "r")
		s.Ack(s.Want("routes r@1"))
		s.Quiet()

		w.Publish(append(cluster("b", "1"), route("r", "2", "b"), xdstest.Delete(fleet.Cluster, "a"))...)
		clusters = s.Next() // the union
		if got := clusters.String(); got != "clusters b@1" && got != "clusters a@1 b@1" {
			t.Fatalf("got %s, want b added and a kept", got)
		}
		s.Quiet() // the route waits: b is not warm yet
		s.Subscribe(fleet.Endpoint, "b")
		s.Ack(s.Want("endpoints b@1"))
		s.Quiet()
		s.Ack(clusters)
		r := s.Want("routes r@2")
		s.Quiet() // a stays until the route that left it is ACKed
		s.Ack(r)
		clusters = s.Next()
		if got := clusters.String(); got != "clusters -a" && got != "clusters b@1" {
			t.Fatalf("got %s, want a taken away", got)
		}
		s.Ack(clusters)
		s.Quiet()
	})
}

func TestPoisonStopsItself(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Stream) {
		w.Publish(xdstest.Put(fleet.Listener, xdstest.Resource(fleet.Listener, "good", "1")))
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners good@1"))
		w.Publish(
			xdstest.Put(fleet.Listener, xdstest.Resource(fleet.Listener, "bad", "1")),
			xdstest.Put(fleet.Listener, xdstest.Resource(fleet.Listener, "good", "2")),
		)
		s.Nack(s.Want("listeners bad@1 good@2"), "Error adding/updating listener(s) bad: no such extension\n")
		// Envoy may have applied any of it: the good one is sent again, the poison taken away.
		r := s.Next()
		if got := r.String(); got != "listeners good@2 -bad" && got != "listeners good@2" {
			t.Fatalf("got %s, want the good one without the poison", got)
		}
		s.Ack(r)
		s.Quiet()
		refusals := w.Refusals()
		if len(refusals) != 1 || len(refusals[0].Culprits) != 1 {
			t.Fatalf("refusals %+v, want one with one culprit", refusals)
		}
		if c := refusals[0].Culprits[0]; c.Refused.Name != "bad" || c.Good != nil {
			t.Errorf("culprit %s, good %v; want bad, never confirmed", c.Refused.Name, c.Good)
		}
		if want := "Error adding/updating listener(s) bad: no such extension"; refusals[0].Detail != want {
			t.Errorf("detail %q, want %q", refusals[0].Detail, want)
		}

		// The poison is mended: it is offered again.
		w.Publish(xdstest.Put(fleet.Listener, xdstest.Resource(fleet.Listener, "bad", "2")))
		r = s.Next()
		if got := r.String(); got != "listeners bad@2" && got != "listeners bad@2 good@2" {
			t.Fatalf("got %s, want the mended one", got)
		}
		s.Ack(r)
		s.Quiet()
	})
}

func TestRefusedChangeGoesBackToItsLastGoodVersion(t *testing.T) {
	t.Parallel()
	both(t, func(_ *testing.T, w *xdstest.World, s *xdstest.Stream) {
		w.Publish(route("r", "1"))
		s.Subscribe(fleet.Route, "r")
		s.Ack(s.Want("routes r@1"))
		w.Publish(route("r", "2"))
		s.Nack(s.Want("routes r@2"), "Only a single wildcard domain is permitted in route r")
		s.Ack(s.Want("routes r@1"))
		s.Quiet()
	})
}

func TestClientThatRefusesEverythingGetsNoContentTwice(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Stream) {
		for _, n := range []string{"a", "b", "c"} {
			w.Publish(xdstest.Put(fleet.Cluster, xdstest.Resource(fleet.Cluster, n, "1")))
		}
		seen := map[string]bool{}
		s.Subscribe(fleet.Cluster)
		for range 10 {
			r, ok := s.NextOrQuiet()
			if !ok {
				return
			}
			if seen[r.String()] {
				t.Fatalf("%s came twice", r)
			}
			seen[r.String()] = true
			s.Nack(r, "no")
		}
		t.Fatalf("no end after %d responses: %v", len(seen), seen)
	})
}

func TestSettledFollowsTheAcks(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Stream) {
		first := w.Publish(cluster("a", "1")...)
		s.Subscribe(fleet.Cluster)
		clusters := s.Want("clusters a@1")
		s.Subscribe(fleet.Endpoint, "a")
		s.Ack(s.Want("endpoints a@1"))
		s.Quiet()
		if got := w.Settled(); got != 0 {
			t.Errorf("settled %d while the clusters are not ACKed, want 0", got)
		}
		s.Ack(clusters)
		s.Quiet()
		w.AwaitSettled(t, first)
		// What the client does not subscribe to is settled as soon as it is seen.
		other := w.Publish(xdstest.Put(fleet.Runtime, xdstest.Resource(fleet.Runtime, "layer", "1")))
		w.AwaitSettled(t, other)
	})
}

func TestReconnectSendsNothingAgain(t *testing.T) {
	t.Parallel()
	t.Run("delta", func(t *testing.T) {
		t.Parallel()
		w := xdstest.New(t)
		w.Publish(append(cluster("a", "1"), route("r", "1", "a"))...)
		s := w.Delta(t, "n1")
		s.Send(xdstest.Request{Type: fleet.Cluster, Versions: map[string]string{"a": "1"}})
		s.Ack(s.Want("clusters")) // empty: resets the client's backoff
		s.Send(xdstest.Request{Type: fleet.Endpoint, Names: []string{"a"}, Versions: map[string]string{"a": "1"}})
		s.Send(xdstest.Request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}})
		s.Quiet()
		// The next change arrives alone.
		w.Publish(route("r", "2", "a"))
		s.Ack(s.Want("routes r@2"))
		s.Quiet()
	})
	t.Run("SotW", func(t *testing.T) {
		t.Parallel()
		w := xdstest.New(t)
		w.Publish(append(cluster("a", "1"), xdstest.Put(fleet.Listener, xdstest.Resource(fleet.Listener, "l", "1")))...)
		s := w.SotW(t, "n1")
		s.Subscribe(fleet.Cluster)
		clusters := s.Want("clusters a@1")
		s.Ack(clusters)

		s = w.SotW(t, "n1")
		s.Send(xdstest.Request{Type: fleet.Cluster, Version: clusters.Version})
		s.Quiet()
		s = w.SotW(t, "n1")
		s.Send(xdstest.Request{Type: fleet.Cluster, Version: clusters.Version})
		s.Send(xdstest.Request{Type: fleet.Listener, Version: "of another life"})
		s.Ack(s.Want("listeners l@1")) // one set
		s.Quiet()
	})
}

func TestWhatIsGoneWasRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	w := xdstest.New(t, func(c *xds.Config) { c.Limits.Youth = 20 * time.Millisecond })
	w.Publish(append(cluster("a", "2"), route("r", "2", "a"))...)
	s := w.Delta(t, "n1")
	// A cluster that went away meanwhile stays until the client has said what names it,
	// and no longer does.
	s.Send(xdstest.Request{Type: fleet.Cluster, Versions: map[string]string{"a": "1", "gone": "1"}})
	s.Ack(s.Want("clusters a@2"))
	s.Send(xdstest.Request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}})
	r := s.Want("routes r@2")
	s.Quiet()
	s.Ack(r)
	s.Ack(s.Want("clusters -gone"))
	s.Quiet()
}

func TestMissingNames(t *testing.T) {
	t.Parallel()
	t.Run("delta says so once", func(t *testing.T) {
		t.Parallel()
		w := xdstest.New(t)
		s := w.Delta(t, "n1")
		s.Subscribe(fleet.Endpoint, "a")
		s.Ack(s.Want("endpoints -a"))
		s.Quiet()
		w.Publish(cluster("a", "1")...)
		s.Ack(s.Want("endpoints a@1"))
	})
	t.Run("delta leaves an Envoy's route unanswered", func(t *testing.T) {
		t.Parallel()
		w := xdstest.New(t)
		s := w.Delta(t, "n1")
		s.Subscribe(fleet.Route, "r")
		s.Quiet()
		w.Publish(route("r", "1"))
		s.Ack(s.Want("routes r@1"))
	})
	t.Run("SotW sends an empty assignment", func(t *testing.T) {
		t.Parallel()
		w := xdstest.New(t)
		w.Publish(xdstest.Put(fleet.Cluster, xdstest.Resource(fleet.Cluster, "a", "1", xdstest.EDS)))
		s := w.SotW(t, "n1")
		s.Subscribe(fleet.Endpoint, "a", "of no cluster")
		s.Ack(s.Want("endpoints a@empty"))
		s.Quiet()
		w.Publish(xdstest.Put(fleet.Endpoint, xdstest.Resource(fleet.Endpoint, "a", "1")))
		s.Ack(s.Want("endpoints a@1"))
	})
}

func TestRefusedStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token string
		first xdstest.Request
		code  codes.Code
		says  string
	}{
		"no token":                 {"", xdstest.Request{}, codes.Unauthenticated, "no credential"},
		"unknown token":            {"bad", xdstest.Request{}, codes.Unauthenticated, "unauthenticated"},
		"foreign node":             {"edge-*", xdstest.Request{Node: xdstest.Node("core-1")}, codes.PermissionDenied, `"core-1"`},
		"no id":                    {"*", xdstest.Request{Node: xdstest.Node("")}, codes.InvalidArgument, "node.id is empty"},
		"unknown type":             {"*", xdstest.Request{TypeURL: "type.googleapis.com/x.Y"}, codes.InvalidArgument, "not served"},
		"no type":                  {"*", xdstest.Request{TypeURL: " "}, codes.InvalidArgument, "not served"},
		"v2":                       {"*", xdstest.Request{TypeURL: "type.googleapis.com/envoy.api.v2.Cluster"}, codes.InvalidArgument, "V3"},
		"a name too long":          {"*", xdstest.Request{Names: []string{strings.Repeat("x", 513)}}, codes.ResourceExhausted, "512 is the limit"},
		"too many names":           {"*", xdstest.Request{Type: fleet.Endpoint, Names: manyNames(11)}, codes.ResourceExhausted, "10 names is the limit"},
		"too many names reported":  {"*", xdstest.Request{Type: fleet.Cluster, Versions: manyVersions(11)}, codes.ResourceExhausted, "10 is the limit"},
		"too many names dropped":   {"*", xdstest.Request{Type: fleet.Cluster, Unsubscribe: manyNames(11)}, codes.ResourceExhausted, "10 is the limit"},
		"a reported name too long": {"*", xdstest.Request{Type: fleet.Cluster, Versions: map[string]string{strings.Repeat("x", 513): "1"}}, codes.ResourceExhausted, "512 is the limit"},
		"a long id":                {"*", xdstest.Request{Node: xdstest.Node(strings.Repeat("n", 513))}, codes.ResourceExhausted, "node.id"},
		"a control character":      {"*", xdstest.Request{Node: xdstest.Node("n\n1")}, codes.InvalidArgument, "control character"},
		"too large a node":         {"*", xdstest.Request{Node: heavyNode()}, codes.ResourceExhausted, "node.metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := xdstest.New(t, func(c *xds.Config) { c.Limits.Names = 10 })
			s := w.DeltaAs(t, c.token, "n1")
			s.Send(c.first)
			err := s.End()
			if got := status.Code(err); got != c.code {
				t.Errorf("ended with %v, want %s", err, c.code)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("ended with %q, want a text with %q", err, c.says)
			}
		})
	}
}

func TestNodeIsPinned(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Stream) {
		w.Publish(cluster("a", "1")...)
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters a@1"))
		s.Send(xdstest.Request{Type: fleet.Endpoint, Names: []string{"a"}, Node: xdstest.Node("n1")})
		s.Ack(s.Want("endpoints a@1"))
		s.Send(xdstest.Request{Type: fleet.Listener, Node: xdstest.Node("n2")})
		if err := s.End(); status.Code(err) != codes.PermissionDenied {
			t.Errorf("ended with %v, want PermissionDenied", err)
		}
	})
}

func TestRevokedStreamEnds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Stream) {
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters"))
		w.End(fleet.ErrForbidden)
		if err := s.End(); status.Code(err) != codes.PermissionDenied {
			t.Errorf("ended with %v, want PermissionDenied", err)
		}
	})
}

func TestDrainEndsStreamsWithOK(t *testing.T) {
	t.Parallel()
	w := xdstest.New(t)
	s := w.Delta(t, "n1")
	s.Subscribe(fleet.Cluster)
	s.Ack(s.Want("clusters"))
	w.Server.Drain()
	if err := s.End(); status.Code(err) != codes.Unknown || err.Error() != "EOF" {
		t.Errorf("ended with %v, want OK", err)
	}
}
