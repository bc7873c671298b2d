package xds_test

import (
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// TestServerWithoutClustersSettles: a gRPC server asks for its listener and never for clusters. Where its last stream was cut with
// something unanswered it is not stuck for that, and settles.
func TestServerWithoutClustersSettles(t *testing.T) {
	t.Parallel()
	for _, v := range xdstest.Protocols {
		t.Run(v.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t)
				w.Left(xds.LastStream{Known: true, Settled: 1})
				w.Publish(xdstest.Put(fleet.Listener, "l", "1"))
				s := xdstest.Open(t, w.Conn(), v, xdstest.GRPC("n1"))
				s.Subscribe(fleet.Listener, "l")
				s.Ack(s.Want("listeners l@1"))
				w.Publish(xdstest.Put(fleet.Listener, "l", "2"))
				s.Ack(s.Want("listeners l@2"))
				time.Sleep(time.Minute)
				w.AwaitSettled(t, 2)
			})
		})
	}
}

// TestEnvoyOfStaticClustersSettles: an Envoy all clusters of which are in its bootstrap comes back after a cut with something unanswered. It is sent
// clusters, which it ignores, and settles without them. Another process, which comes with nothing, is sent none.
func TestEnvoyOfStaticClustersSettles(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(append(cluster("a", "1"), xdstest.Put(fleet.Listener, "l", "1"))...)
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners l@1"))
		s.Close()
		w.Left(xds.LastStream{Known: true})
		same := s.Again()
		same.Return(fleet.Listener)
		asked := func(c *xdstest.Client) bool {
			time.Sleep(time.Minute)
			return slices.ContainsFunc(same.Settle(), func(r *xdstest.Response) bool { return r.Type == fleet.Cluster })
		}
		if !asked(same) {
			t.Error("it is sent no clusters, and may be stuck")
		}
		w.AwaitSettled(t, 1)
		same.Close()
		another := w.Open(s.Protocol(), "n1")
		another.Subscribe(fleet.Listener)
		time.Sleep(time.Second)
		for _, r := range another.Settle() {
			if r.Type == fleet.Cluster {
				t.Errorf("another process is sent %s", r)
			}
		}
		w.AwaitSettled(t, 1)
	})
}

// TestRequestThatCrossesUnaskedClusters: an Envoy's own first request for clusters crosses those that it is sent unasked, which take one
// away that it still has by that request. It is sent that one again.
func TestRequestThatCrossesUnaskedClusters(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(append(cluster("a", "1"), cluster("b", "1")...)...)
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters a@1 b@1"))
		s.Subscribe(fleet.Endpoint, "a", "b")
		s.Ack(s.Want("endpoints a@1 b@1"))
		w.Left(xds.LastStream{Known: true, Settled: 1}) // its stream was cut with something unanswered
		s.Close()
		c := s.Again()
		c.Send(xdstest.Request{Type: fleet.Endpoint, Names: []string{"b"}}) // it is busy
		endpoints := c.Want("endpoints b@1")
		if s.Protocol().Delta {
			c.Ack(endpoints)
		} else {
			c.AckAs(endpoints, "b")
		}
		time.Sleep(10 * time.Second)
		c.Return(fleet.Cluster) // without a nonce: nothing was read yet
		c.Ack(c.Next())
		for r, ok := c.NextOrQuiet(); ok; r, ok = c.NextOrQuiet() {
			c.Ack(r)
		}
		c.Holds(fleet.Cluster, "a@1 b@1")
	})
}

// TestNackThatIsTheFirstWord: what an Envoy says first of clusters that it was sent unasked is that it refuses them. Its words are
// recorded, and the same is not sent again. In delta a refused removal is nobody's fault.
func TestNackThatIsTheFirstWord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		s := w.Open(xdstest.SotWADS, "n1")
		w.Left(xds.LastStream{Known: true, Settled: 1})
		w.Publish(append(cluster("a", "1"), cluster("b", "1")...)...)
		s.Subscribe(fleet.Endpoint, "b")
		s.Ack(s.Want("endpoints b@1"))
		time.Sleep(10 * time.Second)
		unasked := s.Next()
		s.Send(xdstest.Request{Type: fleet.Cluster, Nonce: unasked.Nonce, Error: "Error adding/updating cluster(s) b: no good"})
		if r, ok := s.NextOrQuiet(); ok && r.String() == unasked.String() {
			t.Errorf("%s was refused, and sent again", r)
		}
		told := false
		for _, r := range w.Refusals() {
			told = told || r.Detail == "Error adding/updating cluster(s) b: no good"
		}
		if !told {
			t.Errorf("the words of the refusal are lost: %+v", w.Refusals())
		}
	})
}

// hadBoth is an Envoy that had clusters a and b, and their endpoints, and comes back after a cut with b's endpoints alone; unasked is what it is
// sent: a may be what it is stuck on.
func hadBoth(t *testing.T, w *xdstest.World, s *xdstest.Client) (c *xdstest.Client, unasked *xdstest.Response) {
	t.Helper()
	w.Publish(append(cluster("a", "1"), cluster("b", "1")...)...)
	s.Subscribe(fleet.Cluster)
	s.Ack(s.Want("clusters a@1 b@1"))
	s.Subscribe(fleet.Endpoint, "a", "b")
	s.Ack(s.Want("endpoints a@1 b@1"))
	w.Left(xds.LastStream{Known: true, Settled: 1})
	s.Close()
	c = s.Again()
	c.Send(xdstest.Request{Type: fleet.Endpoint, Names: []string{"b"}})
	endpoints := c.Want("endpoints b@1")
	if s.Protocol().Delta {
		c.Ack(endpoints)
	} else {
		c.AckAs(endpoints, "b")
	}
	time.Sleep(10 * time.Second)
	unasked = c.Next()
	return c, unasked
}

// TestNackOfUnaskedClustersAccusesNobody: an Envoy is slow and not stuck. It refuses the set that it is sent unasked, in which a is kept back, and says
// by its version that it holds a and b, which it had settled. Its words are recorded, nobody is to blame, as nothing in that set was new to it,
// and when b changes it does not lose a.
func TestNackOfUnaskedClustersAccusesNobody(t *testing.T) {
	for _, words := range []string{"out of memory", "Error adding/updating cluster(s) b: no good"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t)
				s := w.Open(xdstest.SotWADS, "n1")
				c, unasked := hadBoth(t, w, s)
				c.Send(xdstest.Request{Type: fleet.Cluster, Nonce: unasked.Nonce, Error: words, Version: s.Version(fleet.Cluster)})
				c.Settle()
				w.Publish(append(cluster("b", "2"), xdstest.Put(fleet.Cluster, "d", "2"))...)
				c.Settle()
				if _, has := c.Held(fleet.Cluster)["a"]; !has {
					t.Errorf("it has lost a: it holds %v", c.Labels(fleet.Cluster))
				}
				told := false
				for _, r := range w.Refusals() {
					told = told || r.Detail == words
					if len(r.Blame) > 0 {
						t.Errorf("blamed: %+v, %q", r.Blame, r.Detail)
					}
				}
				if !told {
					t.Errorf("the words of the refusal are lost: %+v", w.Refusals())
				}
			})
		})
	}
}
