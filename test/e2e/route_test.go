package e2e

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// routed is a world with a server, a tap, an Envoy and a route to the backend "a".
type routed struct {
	*installation
	xds   *world.XDS
	tap   *world.Tap
	envoy *localenvoy.Envoy
	proxy string // URL
	last  int64  // revision
}

func setupRouted(t testing.TB, w *installation, delta bool, xdsArgs ...string) *routed {
	t.Helper()
	r := &routed{installation: w, xds: w.XDS(xdsArgs...)}
	r.tap = world.NewTap(t, r.xds.Address)
	address := world.FreePort(t)
	r.proxy = "http://" + address
	r.last = w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
	r.envoy = w.Envoy("n1", r.tap.Address, delta)
	r.awaitBody("a")
	w.AwaitLive("n1")
	return r
}

func (r *routed) awaitBody(want string) time.Duration {
	r.T.Helper()
	return world.Eventually(r.T, world.Soon, "no answer from "+want, func() bool {
		code, body := world.Get(r.proxy)
		return code == http.StatusOK && body == want
	})
}

// TestClustersAreSwappedUnderLoad swaps the route twenty times between clusters that come
// and go, while every byte of Envoy's arrives 100 ms late, ACKs and requests. In the
// second half the endpoints and the routes come late as well: without a gap an order
// that is wrong would fail next to nothing, with it all requests of that time.
func TestClustersAreSwappedUnderLoad(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.tap.Delay(late)
		load := startLoad(t, r.proxy)
		var last int64
		for i := range 20 {
			if i == 10 {
				r.tap.HoldBack(func(s world.Sent) time.Duration {
					if s.Type == fleet.Endpoint || s.Type == fleet.Route {
						return late
					}
					return 0
				})
			}
			from, to := "a", "b"
			if i%2 == 1 {
				from, to = to, from
			}
			last = r.Apply(world.Together(world.Route("r", to), world.Cluster(to, "1s"), world.Endpoints(to, world.Backend(t, to))) +
				sprintf("delete: [{type: clusters, name: %s}, {type: endpoints, name: %s}]\n", from, from))
			r.awaitBody(to)
		}
		r.AwaitState(last, "delivered")
		done, failed := load.stop()
		t.Logf("%d requests, %d failed", done, failed)
		if failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

// late is how much later than at once an Envoy far away is heard.
const late = 100 * time.Millisecond

func TestPoisonListenerIsSeenAndHarmsNothing(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		load := startLoad(t, r.proxy)
		poison := world.Listener("poison", strings.TrimPrefix(r.proxy, "http://"), "r") // the address of l
		revision := r.Put(poison)
		receipt := r.Receipt(revision)
		if receipt.State != "rejected" || receipt.Counts.Nacked != 1 {
			t.Fatalf("receipt %+v, want rejected by 1", receipt)
		}
		if n := receipt.Nodes[0]; n.Id != "n1" || n.Detail == nil || !strings.Contains(*n.Detail, "has duplicate address") {
			t.Errorf("node %+v, want n1 with Envoy's words", n)
		}
		if refusals := r.Node("n1").Refusals; len(refusals) != 1 || refusals[0].Name != "poison" {
			t.Errorf("the node's refusals %+v, want the poison", refusals)
		}
		// What comes after it arrives.
		good := r.Apply(world.Together(world.Route("r", "b"), world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b"))))
		r.awaitBody("b")
		r.AwaitState(good, "delivered")
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
		fixed := r.Put(world.Listener("poison", world.FreePort(t), "r"))
		r.AwaitState(fixed, "delivered")
	})
}

// TestPoisonThatComesBack: deleted and applied again it is refused again, in words; and
// once its port is free it is taken, without a restart of anything.
func TestPoisonThatComesBack(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		world.Must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		poison := world.Listener("poison", taken.Addr().String(), "r")
		remove := "delete: [{type: listeners, name: poison}]\n"
		for range 2 {
			r.AwaitState(r.Put(poison), "rejected")
			r.AwaitState(r.Apply(remove), "delivered")
		}
		world.Must(t, taken.Close())
		r.AwaitState(r.Put(poison), "delivered")
		world.Eventually(t, world.Soon, "the listener did not come up", func() bool { _, body := world.Get("http://" + taken.Addr().String()); return body == "a" })
	})
}

// load sends requests over kept connections until it is stopped.
type load struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
	done   atomic.Int64
	failed atomic.Int64
	first  atomic.Value // what failed first
}

// startLoad sends 500 requests a second from five workers.
func startLoad(t testing.TB, url string) *load {
	t.Helper()
	return startLoads(t, func(int64) string { return url })
}

// startLoads is startLoad with an URL for each request, which are numbered.
func startLoads(t testing.TB, url func(n int64) string) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{cancel: cancel}
	l.first.Store("")
	transport := &http.Transport{MaxIdleConnsPerHost: 5}
	for i := range 5 {
		// Spread in time, the requests find the shortest gap.
		start := time.After(time.Duration(i) * 2 * time.Millisecond)
		l.wg.Go(func() {
			<-start
			l.work(ctx, url, &http.Client{Transport: transport, Timeout: world.Soon})
		})
	}
	t.Cleanup(func() {
		l.stop()
		transport.CloseIdleConnections()
	})
	return l
}

func (l *load) work(ctx context.Context, url func(n int64) string, c *http.Client) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		resp, err := c.Get(url(l.done.Add(1)))
		switch {
		case err != nil:
			l.fail(err.Error())
		case resp.StatusCode != http.StatusOK:
			l.fail(resp.Status)
			_ = resp.Body.Close()
		default:
			_ = resp.Body.Close()
		}
	}
}

func (l *load) fail(why string) {
	if l.failed.Add(1) == 1 {
		l.first.Store(why)
	}
}

func (l *load) stop() (done, failed int64) {
	l.cancel()
	l.wg.Wait()
	return l.done.Load(), l.failed.Load()
}
