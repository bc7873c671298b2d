package grpcclients

import (
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// server is an xDS server behind a tap of its own, which adds the token.
type server struct {
	*world.XDS
	tap *world.Tap
}

func (w *installation) server() *server {
	w.T.Helper()
	s := &server{XDS: w.XDS()}
	s.tap = world.NewTap(w.T, s.Address)
	s.tap.AddToken(w.NodeToken)
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

// twoServers are two servers, and the bootstrap of a client of both, as the command writes it.
func (w *installation) twoServers(node string) (first, second *server, bootstrap []byte) {
	w.T.Helper()
	first, second = w.server(), w.server()
	return first, second, world.Read(w.T, w.writeBootstrap("--client", "grpc", "--plaintext", "--node-id", node, "--xds", first.tap.Address+","+second.tap.Address))
}

// fallingBack runs a test once with each implementation that goes to the next server.
func fallingBack(t *testing.T, test func(t *testing.T, impl implementation)) {
	t.Parallel()
	for _, impl := range []implementation{grpcGo, cCore} {
		t.Run(impl.name, func(t *testing.T) {
			t.Parallel()
			test(t, impl)
		})
	}
}

// shop is a target "shop" with one backend.
func shop(backend string) string {
	return world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend), route("r", "a"), target("shop", byName("r")))
}

// TestTheFirstServerIsDown: a client that starts while the first of its servers is down is served by the second, which changes reach it
// through. It goes back by itself as soon as the first answers. grpc-go asks that for its listener alone, and hears of no other change any
// more: a program that is started anew does. The receipt of what it does not hear of is not delivered.
func TestTheFirstServerIsDown(t *testing.T) {
	fallingBack(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		first, second, text := w.twoServers("n1")
		w.Apply(shop(backend(t, "one")))
		first.kill()
		a := impl.start(t, text)
		a.open("shop", "xds:///shop")
		a.awaitReply("shop", "one")
		w.AwaitLive("n1")
		w.AwaitDelivered(w.Put(endpoints("a", backend(t, "two"))), 1)
		a.awaitReply("shop", "two")

		stop := a.traffic("shop")
		w.again(first)
		world.Eventually(t, 8*world.Soon, "the client does not come back to the first server", func() bool { return first.tap.Count() > 0 })
		world.Eventually(t, world.Soon, "the client does not leave the second server", func() bool { return second.tap.Connections() == 0 })
		missed := w.Put(endpoints("a", backend(t, "three")))
		anew := impl.start(t, text)
		anew.open("shop", "xds:///shop")
		anew.awaitReply("shop", "three")
		if impl.name == grpcGo.name {
			if got := a.call("shop"); got.Reply != "two" {
				t.Errorf("a call is answered by %s: grpc-go asks the first server for more than it did, docs/clients.md says otherwise", got)
			}
			if r := w.Receipt(missed); r.State != client.ReceiptStatePending {
				t.Errorf("the receipt of what it does not hear of is %s, want it pending", r.State)
			}
		} else {
			a.awaitReply("shop", "three")
		}
		stop()
		t.Logf("the first server sent %s", first.tap.Since(0))
	})
}

// TestGRPCJSHasOneServer: it asks the first of its servers alone.
func TestGRPCJSHasOneServer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first, second, text := w.twoServers("n1")
	w.Apply(shop(backend(t, "one")))
	first.kill()
	a := grpcJS.start(t, text)
	a.open("shop", "xds:///shop")
	a.call("shop") // until it is called it connects to nothing
	world.Eventually(t, 4*world.Soon, "the client does not try the first server again", func() bool { return first.tap.Refused() >= 2 })
	if n := second.tap.Opened(); n > 0 {
		t.Errorf("%d streams to the second server: docs/clients.md says otherwise", n)
	}
	w.again(first)
	world.Eventually(t, 8*world.Soon, "the client does not come to the first server", func() bool { return first.tap.Count() > 0 })
	a.awaitReply("shop", "one")
}

// TestTheFirstServerIsKilled: a client that has all that it asks for stays with the first of its servers and tries it again and again (gRFC
// A71). Calls go on, and the second is asked when something is needed that is not there yet.
func TestTheFirstServerIsKilled(t *testing.T) {
	fallingBack(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		first, second, text := w.twoServers("n1")
		w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"), target("shop", byName("r")),
			cluster("b", "ROUND_ROBIN"), endpoints("b", backend(t, "two")), target("bank", inline(routeBody("i", toCluster("b"))))))
		a := impl.start(t, text)
		a.open("shop", "xds:///shop")
		a.awaitReply("shop", "one")
		w.AwaitLive("n1")

		stop := a.traffic("shop")
		first.kill()
		world.Eventually(t, 4*world.Soon, "the client does not try the first server again", func() bool { return first.tap.Refused() >= 3 })
		if n := second.tap.Opened(); n > 0 {
			t.Errorf("%d streams to the second server of a client that lacks nothing", n)
		}
		a.open("bank", "xds:///bank")
		a.awaitReply("bank", "two")
		w.AwaitLive("n1")
		moved := w.Put(endpoints("b", backend(t, "three")))
		a.awaitReply("bank", "three")
		stop()
		t.Logf("the second server was asked for %v", second.asked(fleet.Listener))

		w.again(first)
		world.Eventually(t, 8*world.Soon, "the receipt does not tell that all streams have it", func() bool {
			return w.Receipt(moved).State == client.ReceiptStateDelivered
		})
		a.awaitReply("shop", "one")
	})
}

// asked are the names of a type that clients asked the server for, in the order of the requests.
func (s *server) asked(typ fleet.Type) (names [][]string) {
	for _, q := range s.tap.Requests(0) {
		if q.Type == typ {
			names = append(names, q.Names)
		}
	}
	return names
}
