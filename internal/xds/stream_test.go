package xds_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// bubble runs f with a clock that jumps when nothing else is to be done.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// both runs a script in both protocols on aggregated streams.
func both(t *testing.T, script func(t *testing.T, w *xdstest.World, s *xdstest.Client)) {
	t.Parallel()
	for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
		t.Run(v.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t)
				script(t, w, w.Open(v, "n1"))
			})
		})
	}
}

// cluster returns a cluster that gets its endpoints over ADS, with those endpoints.
func cluster(name, version string) []xdstest.Change {
	return []xdstest.Change{
		xdstest.Put(fleet.Cluster, name, version, xdstest.EDS),
		xdstest.Put(fleet.Endpoint, name, version),
	}
}

func route(name, version string, clusters ...string) xdstest.Change {
	return xdstest.Put(fleet.Route, name, version, xdstest.Naming(clusters...))
}

func TestPoisonStopsItself(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Listener, "good", "1"))
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners good@1"))
		w.Publish(
			xdstest.Put(fleet.Listener, "bad", "1"),
			xdstest.Put(fleet.Listener, "good", "2"),
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
		if len(refusals) != 1 || len(refusals[0].Blame) != 1 {
			t.Fatalf("refusals %+v, want one with one culprit", refusals)
		}
		if c := refusals[0].Blame[0]; c.Refused.Name != "bad" || c.Good != nil {
			t.Errorf("culprit %s, good %v; want bad, never confirmed", c.Refused.Name, c.Good)
		}
		if want := "Error adding/updating listener(s) bad: no such extension"; refusals[0].Detail != want {
			t.Errorf("detail %q, want %q", refusals[0].Detail, want)
		}

		// The poison is fixed: it is offered again.
		w.Publish(xdstest.Put(fleet.Listener, "bad", "2"))
		r = s.Next()
		if got := r.String(); got != "listeners bad@2" && got != "listeners bad@2 good@2" {
			t.Fatalf("got %s, want the fixed one", got)
		}
		s.Ack(r)
		s.Quiet()
	})
}

func TestSettledFollowsTheAcks(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
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
		s.QuietFor(time.Second)
		w.AwaitSettled(t, first)
		// What the client does not subscribe to is settled as soon as it is seen.
		other := w.Publish(xdstest.Put(fleet.Runtime, "layer", "1"))
		w.AwaitSettled(t, other)
	})
}

// TestWhatKeepsAClientBehindIsTold: what is withheld at once, since it counts as settled, what
// warms when that takes long; and that it does not any more.
func TestWhatKeepsAClientBehindIsTold(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(append(cluster("a", "1"), xdstest.Put(fleet.Listener, "l", "1", xdstest.Needing(fleet.Route, "r")))...)
		s.Subscribe(fleet.Cluster)
		clusters := s.Want("clusters a@1")
		s.Subscribe(fleet.Endpoint, "a")
		endpoints := s.Want("endpoints a@1")
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners"))
		s.QuietFor(200 * time.Millisecond)
		want := fleet.Waits{
			Withheld: []fleet.Withheld{{Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}, By: fleet.Ref{Type: fleet.Route, Name: "r"}, Revision: 1}},
		}
		if got := w.Waits(); !got.Equal(want) {
			t.Errorf("it is told to wait for %+v at once, want %+v", got, want)
		}
		s.QuietFor(100 * time.Millisecond)
		want.Warming = []fleet.Ref{{Type: fleet.Cluster, Name: "a"}, {Type: fleet.Endpoint, Name: "a"}}
		if got := w.Waits(); !got.Equal(want) {
			t.Errorf("it is told to wait for %+v, want %+v", got, want)
		}
		s.Ack(endpoints)
		s.Ack(clusters)
		s.Quiet()
		want.Warming = nil
		if got := w.Waits(); !got.Equal(want) {
			t.Errorf("it is told to wait for %+v, want %+v", got, want)
		}
		last := w.Publish(route("r", "1", "a"))
		s.Ack(s.Want("listeners l@1"))
		s.QuietFor(time.Second) // its youth
		w.AwaitSettled(t, last)
		if got := w.Waits(); !got.Empty() {
			t.Errorf("it is told to wait for %+v at the end", got)
		}
	})
}

// TestAFreedEnvoySaysWhatItHolds (SEMANTICS 3.8c): it was sent clusters unasked, and then asks
// for them: that request is its first, and what it reports counts.
func TestAFreedEnvoySaysWhatItHolds(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Left(xds.LastStream{Known: true})
		w.Publish(append(cluster("a", "1"), cluster("b", "1")...)...)
		s.Subscribe(fleet.Endpoint, "a")
		s.Ack(s.Want("endpoints a@1"))
		time.Sleep(2 * time.Second)
		unasked := s.Next()
		first := xdstest.Request{Type: fleet.Cluster, Nonce: unasked.Nonce, Version: unasked.Version}
		if s.Protocol().Delta {
			first.Versions, first.Version = map[string]string{"a": "another", "zombie": "1"}, ""
		}
		s.Send(first)
		var sent string
		for {
			r, ok := s.NextOrQuiet()
			if !ok {
				break
			}
			sent += r.String() + "; "
			s.Ack(r)
		}
		if s.Protocol().Delta && !strings.Contains(sent, "-zombie") {
			t.Errorf("it was sent %s and keeps what the fleet does not have", sent)
		}
		time.Sleep(10 * time.Second)
		for r, ok := s.NextOrQuiet(); ok; r, ok = s.NextOrQuiet() {
			s.Ack(r)
		}
		w.AwaitSettled(t, 1)
	})
}

// TestAVersionOfAServerThatWasAhead: a server that has not read the fleet's newest revision yet gives a client no older set in the place of one that it does
// not know. What it does know, and what a client that holds nothing asks for, waits for nothing.
func TestAVersionOfAServerThatWasAhead(t *testing.T) {
	t.Parallel()
	for _, v := range []xdstest.Protocol{xdstest.SotWADS, xdstest.SotW} {
		for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.ScopedRoute} {
			t.Run(fmt.Sprint(v, " ", typ), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := xdstest.New(t)
					w.Publish(xdstest.Put(typ, "a", "1"))
					known := w.Open(v, "known")
					known.Subscribe(typ)
					known.Ack(known.Next())
					known.Close()
					w.Behind(true)
					ahead := w.Open(v, "ahead")
					ahead.Send(xdstest.Request{Type: typ, Version: "of a later revision"})
					ahead.QuietFor(time.Minute)
					w.Open(v, "new").Subscribe(typ)
					again := known.Again()
					again.Return(typ)
					synctest.Wait()
					w.Publish(xdstest.Put(typ, "b", "2"))
					again.Settle()
					again.Holds(typ, "a@1 b@2")
					ahead.QuietFor(time.Minute)
					w.Behind(false)
					ahead.Ack(ahead.Want(typ.Slug() + " a@1 b@2"))
					w.Behind(true)
					w.Publish(xdstest.Put(typ, "c", "3"))
					ahead.Want(typ.Slug() + " a@1 b@2 c@3")
				})
			})
		}
	}
}

// TestAPollOfAServerThatWasAhead is answered as soon as the database was read, and told after a second that it was not.
func TestAPollOfAServerThatWasAhead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		w.Publish(xdstest.Put(fleet.Cluster, "a", "1"))
		w.Behind(true)
		p := w.Poller("n", fleet.Cluster)
		p.Version = "of a later revision"
		begun := time.Now()
		if a := p.Poll(); a.Code != http.StatusServiceUnavailable || !strings.Contains(a.Words, "there is no answer yet") || time.Since(begun) != time.Second {
			t.Errorf("after %s: %s", time.Since(begun), a)
		}
		time.AfterFunc(time.Second/2, func() {
			w.Publish(xdstest.Put(fleet.Cluster, "b", "2"))
			w.Behind(false)
		})
		p.Want("200 clusters a@1 b@2")
		p.Want("304")
	})
}

func TestWhatIsGoneWasRemovedMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		w.Publish(append(cluster("a", "2"), route("r", "2", "a"))...)
		s := w.Open(xdstest.DeltaADS, "n1")
		// A cluster that went away meanwhile stays until the client has said what names it,
		// and no longer does.
		s.Send(xdstest.Request{Type: fleet.Cluster, Versions: map[string]string{"a": "1", "gone": "1"}})
		s.Ack(s.Want("clusters a@2"))
		s.Send(xdstest.Request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}})
		r := s.Want("routes r@2")
		s.QuietFor(time.Second)
		s.Ack(r)
		s.Ack(s.Want("clusters -gone"))
		s.Quiet()
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
		"no token":            {"", xdstest.Request{}, codes.Unauthenticated, "no credential"},
		"unknown token":       {"bad", xdstest.Request{}, codes.Unauthenticated, "unauthenticated"},
		"foreign node":        {"edge-*", xdstest.Request{Node: xdstest.Envoy("core-1")}, codes.PermissionDenied, `"core-1"`},
		"no id":               {"*", xdstest.Request{Node: xdstest.Envoy("")}, codes.InvalidArgument, "node.id is empty"},
		"no type":             {"*", xdstest.Request{TypeURL: "none"}, codes.InvalidArgument, "type_url is empty"},
		"v2":                  {"*", xdstest.Request{TypeURL: "type.googleapis.com/envoy.api.v2.Cluster"}, codes.InvalidArgument, "V3"},
		"a long id":           {"*", xdstest.Request{Node: xdstest.Envoy(strings.Repeat("n", 513))}, codes.ResourceExhausted, "node.id"},
		"a control character": {"*", xdstest.Request{Node: xdstest.Envoy("n\n1")}, codes.InvalidArgument, "control character"},
		"too large a node":    {"*", xdstest.Request{Node: heavyNode()}, codes.ResourceExhausted, "node.metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t, func(c *xds.Config) { c.Limits.Names = 10 })
				s := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, xdstest.Envoy("n1"), xdstest.Token(c.token))
				s.Send(c.first)
				err := s.End()
				if got := status.Code(err); got != c.code {
					t.Errorf("ended with %v, want %s", err, c.code)
				}
				if !strings.Contains(err.Error(), c.says) {
					t.Errorf("ended with %q, want a text with %q", err, c.says)
				}
			})
		})
	}
}

func TestRevokedStreamEnds(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters"))
		synctest.Wait() // nothing else wakes the stream
		revoked := time.Now()
		w.End(fleet.ErrForbidden)
		if err := s.End(); status.Code(err) != codes.PermissionDenied {
			t.Errorf("ended with %v, want PermissionDenied", err)
		}
		if waited := time.Since(revoked); waited > 0 {
			t.Errorf("ended after %s, want at once", waited)
		}
	})
}

func TestDrainEndsStreamsWithOK(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters"))
		synctest.Wait() // nothing else wakes the stream
		drained := time.Now()
		w.Server.Drain()
		if err := s.End(); !errors.Is(err, io.EOF) {
			t.Errorf("ended with %v, want OK", err)
		}
		if waited := time.Since(drained); waited > 0 {
			t.Errorf("ended after %s, want at once", waited)
		}
	})
}

// TestHalfClose: a client that has no more to say ends its stream with OK, also before it
// has asked for anything.
func TestHalfClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		for _, ask := range []bool{false, true} {
			ss, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Conn()).DeltaAggregatedResources(xdstest.As(t.Context(), "*"))
			if err != nil {
				t.Fatal(err)
			}
			if ask {
				err := ss.Send(&discoveryv3.DeltaDiscoveryRequest{Node: xdstest.Envoy("n1"), TypeUrl: fleet.Cluster.URL()})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := ss.Recv(); err != nil {
					t.Fatal(err)
				}
			}
			if err := ss.CloseSend(); err != nil {
				t.Fatal(err)
			}
			if _, err := ss.Recv(); !errors.Is(err, io.EOF) {
				t.Errorf("asked %v: ended with %v, want OK", ask, err)
			}
			synctest.Wait()
			if n := w.Streams(); n != 0 {
				t.Errorf("asked %v: %d streams are left, want 0", ask, n)
			}
		}
	})
}

// TestPartialRefusalOfGRPC: in state of the world gRPC's clients say the new version and
// an error when they took a part of a response. From them it is a NACK; from an Envoy the
// error is an older one's.
func TestPartialRefusalOfGRPC(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, x := range []struct {
			node *corev3.Node
			want int
		}{{xdstest.GRPC("n1"), 1}, {xdstest.Envoy("n1"), 0}} {
			w := xdstest.New(t)
			w.Publish(xdstest.Put(fleet.Cluster, "a", "1"), xdstest.Put(fleet.Cluster, "b", "1"))
			c := xdstest.Open(t, w.Conn(), xdstest.SotWADS, x.node)
			c.Subscribe(fleet.Cluster, "a", "b")
			r := c.Want("clusters a@1 b@1")
			c.Send(xdstest.Request{Type: fleet.Cluster, Names: []string{"a", "b"}, Version: r.Version, Nonce: r.Nonce, Error: "xDS response validation errors: [resource index 1: b: no such policy]"})
			c.Settle()
			if got := w.Refusals(); len(got) != x.want {
				t.Errorf("%s: refusals %+v, want %d", x.node.GetUserAgentName(), got, x.want)
			}
		}
	})
}
