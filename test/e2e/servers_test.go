package e2e

import (
	"net/http"
	"os"
	"testing"
	"time"

	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// server is an xDS server behind a tap of its own.
type server struct {
	*world.XDS
	tap *world.Tap
}

func (w *installation) server() *server {
	w.T.Helper()
	s := &server{XDS: w.XDS()}
	s.tap = world.NewTap(w.T, s.Address)
	return s
}

// kill ends the server's process, and nothing listens at its address any more.
func (s *server) kill() {
	s.Kill()
	s.tap.Down()
}

// again starts a server at the address of one that was killed.
func (w *installation) again(s *server) {
	w.T.Helper()
	s.XDS = w.XDS()
	s.tap.Move(w.T, s.Address)
	s.tap.Up()
}

// served is an Envoy of two servers, and a route to the backend "a".
type served struct {
	*installation
	first, second *server
	envoy         *localenvoy.Envoy
	proxy         string // URL
}

// setupServed starts the Envoy with the bootstrap that c is filled in for, once before has made the servers what they are to be.
func setupServed(t testing.TB, delta bool, c func(s *served) bootstrap.Config, before func(s *served)) *served {
	t.Helper()
	w := setup(t)
	s := &served{installation: w, first: w.server(), second: w.server()}
	address := world.FreePort(t)
	s.proxy = "http://" + address
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")),
		static("spare", "1s")))
	before(s)
	config := c(s)
	config.NodeID, config.NodeCluster, config.Delta, config.Plaintext, config.TokenEnv = "n1", "edge", delta, true, "FAIRLEAD_NODE_TOKEN"
	config.AdminAddress, config.RetryBase = world.AnyPort, 500*time.Millisecond
	text, err := bootstrap.Envoy(config)
	world.Must(t, err)
	dir, err := os.MkdirTemp(w.Dir, "envoy-")
	world.Must(t, err)
	s.envoy = w.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: dir, Env: []string{"FAIRLEAD_NODE_TOKEN=" + w.NodeToken}})
	w.AwaitReady(s.envoy, 4*world.Soon)
	s.awaitBody("a")
	w.AwaitLive("n1")
	s.awaitDelivered(s.Put(world.Endpoints("a", world.Backend(t, "a")))) // what it has is known from here on, whatever becomes of its server
	return s
}

func (s *served) awaitBody(want string) {
	s.T.Helper()
	world.Eventually(s.T, 4*world.Soon, "no answer from "+want, func() bool {
		code, body := world.Get(s.proxy)
		return code == http.StatusOK && body == want
	})
}

// awaitDelivered waits for a receipt. The lease of a server that was killed may have to end first.
func (s *served) awaitDelivered(revision int64) {
	s.T.Helper()
	world.Eventually(s.T, 4*world.Soon, "the receipt does not become delivered", func() bool { return s.Receipt(revision).State == "delivered" })
}

// wantOnly fails unless all that the server has sent since is the endpoints a, so often at most, beside what a stream is answered with to be
// answered at all: in delta nothing, in state of the world one set of listeners or clusters.
func (s *served) wantOnly(from *server, since, most int, delta bool) {
	s.T.Helper()
	endpoints, sets := 0, 0
	for _, r := range from.tap.Since(since) {
		switch {
		case len(r.Names) == 0 && len(r.Removed) == 0:
		case r.Type == fleet.Endpoint && len(r.Names) == 1:
			endpoints++
		case !delta && (r.Type == fleet.Listener || r.Type == fleet.Cluster):
			sets++
		default:
			s.T.Errorf("the server sent %s", r)
		}
	}
	if endpoints == 0 || endpoints > most || sets > 1 {
		s.T.Errorf("the server sent %s, want the endpoints %d times at most", from.tap.Since(since), most)
	}
}

// TestAnEnvoyOfTwoServers: with both in its cluster it goes on with the other one when its own is killed. That sends what has changed, and
// nothing else: versions are the same everywhere. And back, where what changed since the first one died may come twice: the lease of that one
// ended later than the node came to the second, so that it counts for what the node is believed.
func TestAnEnvoyOfTwoServers(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		s := setupServed(t, delta, func(s *served) bootstrap.Config {
			return bootstrap.Config{XDSAddresses: []string{s.first.tap.Address, s.second.tap.Address}}
		}, func(*served) {})
		load := startLoad(t, s.proxy)
		dies, lives := s.first, s.second
		if dies.tap.Opened() == 0 {
			dies, lives = lives, dies
		}
		for i, backend := range []string{"b", "c"} {
			since, opened := lives.tap.Count(), lives.tap.Opened()
			dies.kill()
			world.Eventually(t, 4*world.Soon, "Envoy does not come to the other server", func() bool { return lives.tap.Opened() > opened })
			s.awaitDelivered(s.Put(world.Endpoints("a", world.Backend(t, backend))))
			s.awaitBody(backend)
			s.wantOnly(lives, since, 1+i, delta)
			s.again(dies)
			dies, lives = lives, dies
		}
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

func withFailover(s *served) bootstrap.Config {
	return bootstrap.Config{XDSAddresses: []string{s.first.tap.Address}, FailoverAddresses: []string{s.second.tap.Address}}
}

// TestAnEnvoyThatStartsOnItsFailover: its server is down as it starts, so it is served by the failover, and changes reach it there. It stays
// when its own is back, until the failover ends its stream. In delta it does not say there what it holds: it is sent everything, and no request
// fails of that. What was deleted in between is taken away.
func TestAnEnvoyThatStartsOnItsFailover(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		s := setupServed(t, delta, withFailover, func(s *served) { s.first.kill() })
		s.awaitDelivered(s.Put(world.Endpoints("a", world.Backend(t, "b"))))
		s.awaitBody("b")
		load := startLoad(t, s.proxy)
		s.again(s.first)
		s.awaitDelivered(s.Put(world.Endpoints("a", world.Backend(t, "c"))))
		s.awaitBody("c")
		if n := s.first.tap.Opened(); n > 0 {
			t.Errorf("%d streams to its own server while the failover serves", n)
		}
		s.second.kill()
		gone := s.Apply("delete: [{type: clusters, name: spare}]\n")
		world.Eventually(t, 8*world.Soon, "Envoy does not come to its own server", func() bool { return s.first.tap.Count() > 0 })
		s.awaitDelivered(s.Put(world.Endpoints("a", world.Backend(t, "d"))))
		s.awaitBody("d")
		s.awaitDelivered(gone)
		if _, has := activeClusters(t, s.envoy)["spare"]; has {
			t.Error("Envoy has the cluster that was deleted")
		}
		t.Logf("its own server sent %s", s.first.tap.Since(0))
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

// TestAnEnvoyThatKnowsItsServerHasNoFailover: once its own server has answered, an Envoy that loses it tries that one alone. What runs goes on.
func TestAnEnvoyThatKnowsItsServerHasNoFailover(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		s := setupServed(t, delta, withFailover, func(*served) {})
		load := startLoad(t, s.proxy)
		s.first.kill()
		world.Eventually(t, 8*world.Soon, "Envoy does not try its server again", func() bool { return s.first.tap.Refused() >= 3 })
		if n := s.second.tap.Opened(); n > 0 {
			t.Errorf("%d streams to the failover", n)
		}
		moved := s.Put(world.Endpoints("a", world.Backend(t, "b")))
		s.again(s.first)
		s.awaitBody("b")
		s.awaitDelivered(moved)
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}
