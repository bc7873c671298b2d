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

	"fairlead/internal/client"
	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
)

// routed is a world with a server, a tap, an Envoy and a route to the backend "a".
type routed struct {
	*world
	xds   *xds
	tap   *tap
	envoy *localenvoy.Envoy
	proxy string // URL
	last  int64  // revision
}

func setupRouted(t testing.TB, w *world, delta bool, xdsArgs ...string) *routed {
	t.Helper()
	r := &routed{world: w, xds: w.xds(xdsArgs...)}
	r.tap = newTap(t, r.xds.address)
	address := freePort(t)
	r.proxy = "http://" + address
	r.last = w.apply(together(listener("l", address, "r"), route("r", "a"), cluster("a", "1s"), endpoints("a", backend(t, "a"))))
	r.envoy = w.envoy("n1", r.tap.address, delta)
	r.awaitBody("a")
	w.awaitLive("n1")
	return r
}

// awaitLive waits until a node is known to be connected: it is told after its stream is
// served, and the receipt of a fleet without nodes is "delivered".
func (w *world) awaitLive(id string) {
	w.t.Helper()
	eventually(w.t, soon, "the node is not shown as live", func() bool {
		n, err := w.rest.GetNodeWithResponse(w.t.Context(), "acme", "edge", id)
		return err == nil && n.StatusCode() == http.StatusOK && n.JSON200.State == client.NodeStateLive
	})
}

func (r *routed) awaitBody(want string) time.Duration {
	r.t.Helper()
	return eventually(r.t, soon, "no answer from "+want, func() bool {
		code, body := get(r.proxy)
		return code == http.StatusOK && body == want
	})
}

// awaitState waits for a receipt and fails if it is another one.
func (r *routed) awaitState(revision int64, want string) {
	r.t.Helper()
	if got := r.receipt(revision); string(got.State) != want {
		r.t.Fatalf("revision %d is %s, want %s: %+v", revision, got.State, want, got)
	}
}

// TestClustersAreSwappedUnderLoad swaps the route twenty times between clusters that come
// and go, while every byte of Envoy's arrives 100 ms late, ACKs and requests. In the
// second half the endpoints and the routes come late as well: without a gap an order
// that is wrong would fail next to nothing, with it all requests of that time.
func TestClustersAreSwappedUnderLoad(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.tap.delay(late)
		load := startLoad(t, r.proxy)
		var last int64
		for i := range 20 {
			if i == 10 {
				r.tap.holdBack(func(s sent) time.Duration {
					if s.typ == fleet.Endpoint || s.typ == fleet.Route {
						return late
					}
					return 0
				})
			}
			from, to := "a", "b"
			if i%2 == 1 {
				from, to = to, from
			}
			last = r.apply(together(route("r", to), cluster(to, "1s"), endpoints(to, backend(t, to))) +
				sprintf("delete: [{type: clusters, name: %s}, {type: endpoints, name: %s}]\n", from, from))
			r.awaitBody(to)
		}
		r.awaitState(last, "delivered")
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
		poison := listener("poison", strings.TrimPrefix(r.proxy, "http://"), "r") // the address of l
		revision := r.put(poison)
		receipt := r.receipt(revision)
		if receipt.State != "rejected" || receipt.Counts.Nacked != 1 {
			t.Fatalf("receipt %+v, want rejected by 1", receipt)
		}
		if n := receipt.Nodes[0]; n.Id != "n1" || n.Detail == nil || !strings.Contains(*n.Detail, "has duplicate address") {
			t.Errorf("node %+v, want n1 with Envoy's words", n)
		}
		node, err := r.rest.GetNodeWithResponse(t.Context(), "acme", "edge", "n1")
		r.made(node, err)
		if len(node.JSON200.Refusals) != 1 || node.JSON200.Refusals[0].Name != "poison" {
			t.Errorf("the node's refusals %+v, want the poison", node.JSON200.Refusals)
		}
		// What comes after it arrives.
		good := r.apply(together(route("r", "b"), cluster("b", "1s"), endpoints("b", backend(t, "b"))))
		r.awaitBody("b")
		r.awaitState(good, "delivered")
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
		mended := r.put(listener("poison", freePort(t), "r"))
		r.awaitState(mended, "delivered")
	})
}

// TestPoisonThatComesBack: deleted and applied again it is refused again, in words; and
// once its port is free it is taken, without a restart of anything.
func TestPoisonThatComesBack(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		poison := listener("poison", taken.Addr().String(), "r")
		remove := "delete: [{type: listeners, name: poison}]\n"
		for range 2 {
			r.awaitState(r.put(poison), "rejected")
			r.awaitState(r.apply(remove), "delivered")
		}
		must(t, taken.Close())
		r.awaitState(r.put(poison), "delivered")
		eventually(t, soon, "the listener did not come up", func() bool { _, body := get("http://" + taken.Addr().String()); return body == "a" })
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
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{cancel: cancel}
	l.first.Store("")
	transport := &http.Transport{MaxIdleConnsPerHost: 5}
	for i := range 5 {
		// Spread in time, the requests find the shortest gap.
		start := time.After(time.Duration(i) * 2 * time.Millisecond)
		l.wg.Go(func() {
			<-start
			l.work(ctx, url, &http.Client{Transport: transport, Timeout: soon})
		})
	}
	t.Cleanup(func() {
		l.stop()
		transport.CloseIdleConnections()
	})
	return l
}

func (l *load) work(ctx context.Context, url string, c *http.Client) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		resp, err := c.Get(url)
		l.done.Add(1)
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
