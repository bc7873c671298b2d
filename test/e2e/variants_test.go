package e2e

import (
	"net"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// variantOf is a resource's variant for the nodes that a selector matches.
func variantOf(r world.Resource, name, selector string) string {
	return sprintf("- {type: %s, name: %q, variant: %s, selector: %q, body: %s}\n", r.Type, r.Name, name, selector, r.Body)
}

// own is the listener "l" as each of two nodes has it: on a port of its own.
func own(first, second string) string {
	return "resources:\n" + variantOf(world.Listener("l", first, "r"), "first", "node.id=n1") + variantOf(world.Listener("l", second, "r"), "second", "node.id = n2")
}

// TestTwoEnvoysEachWithItsVariant: what one refuses of its own variant does not concern the
// other, and the receipt tells them apart.
func TestTwoEnvoysEachWithItsVariant(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		server := w.XDS()
		w.Apply(world.Together(world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
		was1, was2 := world.FreePort(t), world.FreePort(t)
		w.Apply(own(was1, was2))
		w.Envoy("n1", server.Address, delta)
		w.Envoy("n2", server.Address, delta)
		w.awaitServed(was1)
		w.awaitServed(was2)
		w.AwaitLive("n1")
		w.AwaitLive("n2")

		taken, err := net.Listen("tcp", "127.0.0.1:0")
		world.Must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		now1, now2 := world.FreePort(t), taken.Addr().String()
		revision := w.Apply(own(now1, now2))
		r := w.Receipt(revision)
		if r.State != client.ReceiptStateRejected || r.Counts.Acked != 1 || r.Counts.Nacked != 1 {
			r = w.receiptOfAll(revision)
		}
		n := r.Nodes[0]
		if r.State != client.ReceiptStateRejected || r.Counts.Acked != 1 || r.Counts.Nacked != 1 || n.Id != "n2" || !strings.Contains(strings.ToLower(*n.Detail), "address already in use") {
			t.Errorf("the receipt is %+v, want n1 acked and n2 nacked in Envoy's words", r)
		}
		w.awaitServed(now1)
		w.awaitServed(was2)

		world.Must(t, taken.Close())
		again, err := w.REST.RetryNodeWithResponse(t.Context(), "acme", "edge", "n2")
		w.Made(again, err)
		w.awaitServed(now2)
		w.awaitServed(now1)
		world.Eventually(t, world.Soon, "n2 has not settled", func() bool {
			n := w.Node("n2")
			return n != nil && n.Settled >= revision && n.State == client.NodeStateLive
		})
		w.wantVariant("n1", "first")
		w.wantVariant("n2", "second")
	})
}

func (w *installation) awaitServed(address string) {
	w.T.Helper()
	world.Eventually(w.T, 2*world.Soon, "nothing was served at "+address, func() bool { _, body := world.Get("http://" + address); return body == "a" })
}

// receiptOfAll waits until nobody is pending: the wait of a receipt ends with the first
// refusal.
func (w *installation) receiptOfAll(revision int64) (r *client.Receipt) {
	w.T.Helper()
	world.Eventually(w.T, world.Soon, "nodes are pending", func() bool { r = w.Receipt(revision); return r.Counts.Pending == 0 })
	return r
}

func (w *installation) wantVariant(node, want string) {
	w.T.Helper()
	c, err := w.REST.GetNodeConfigWithResponse(w.T.Context(), "acme", "edge", node, nil)
	w.Made(c, err)
	for _, r := range c.JSON200.Items {
		if r.Type == "listeners" && (r.Variant == nil || *r.Variant != want || r.State != client.NodeResourceStateSynced) {
			w.T.Errorf("%s holds %+v, want the variant %s, synced", node, r, want)
		}
	}
}
