package e2e

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/client"
)

// variantOf is a resource's variant for the nodes that a selector matches.
func variantOf(r res, name, selector string) string {
	return sprintf("- {type: %s, name: %q, variant: %s, selector: %q, body: %s}\n", r.typ, r.name, name, selector, r.body)
}

// own is the listener "l" as each of two nodes has it: on a port of its own.
func own(first, second string) string {
	return "resources:\n" + variantOf(listener("l", first, "r"), "first", "node.id=n1") + variantOf(listener("l", second, "r"), "second", "node.id = n2")
}

// TestTwoEnvoysEachWithItsVariant: what one refuses of its own variant does not concern the
// other, and the receipt tells them apart.
func TestTwoEnvoysEachWithItsVariant(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		server := w.xds()
		w.apply(together(route("r", "a"), cluster("a", "1s"), endpoints("a", backend(t, "a"))))
		was1, was2 := freePort(t), freePort(t)
		w.apply(own(was1, was2))
		w.envoy("n1", server.address, delta)
		w.envoy("n2", server.address, delta)
		w.awaitServed(was1)
		w.awaitServed(was2)
		w.awaitLive("n1")
		w.awaitLive("n2")

		taken, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		now1, now2 := freePort(t), taken.Addr().String()
		revision := w.apply(own(now1, now2))
		r := w.receipt(revision)
		if r.State != client.ReceiptStateRejected || r.Counts.Acked != 1 || r.Counts.Nacked != 1 {
			r = w.receiptOfAll(revision)
		}
		n := r.Nodes[0]
		if r.State != client.ReceiptStateRejected || r.Counts.Acked != 1 || r.Counts.Nacked != 1 || n.Id != "n2" || !strings.Contains(strings.ToLower(*n.Detail), "address already in use") {
			t.Errorf("the receipt is %+v, want n1 acked and n2 nacked in Envoy's words", r)
		}
		w.awaitServed(now1)
		w.awaitServed(was2)

		must(t, taken.Close())
		again, err := w.rest.RetryNodeWithResponse(t.Context(), "acme", "edge", "n2")
		w.made(again, err)
		w.awaitServed(now2)
		w.awaitServed(now1)
		eventually(t, soon, "n2 has not settled", func() bool {
			n, err := w.rest.GetNodeWithResponse(t.Context(), "acme", "edge", "n2")
			return err == nil && n.StatusCode() == http.StatusOK && n.JSON200.Settled >= revision && n.JSON200.State == client.NodeStateLive
		})
		w.wantVariant("n1", "first")
		w.wantVariant("n2", "second")
	})
}

func (w *world) awaitServed(address string) {
	w.t.Helper()
	eventually(w.t, 2*soon, "nothing was served at "+address, func() bool { _, body := get("http://" + address); return body == "a" })
}

// receiptOfAll waits until nobody is pending: the wait of a receipt ends with the first
// refusal.
func (w *world) receiptOfAll(revision int64) (r *client.Receipt) {
	w.t.Helper()
	eventually(w.t, soon, "nodes are pending", func() bool { r = w.receipt(revision); return r.Counts.Pending == 0 })
	return r
}

func (w *world) wantVariant(node, want string) {
	w.t.Helper()
	c, err := w.rest.GetNodeConfigWithResponse(w.t.Context(), "acme", "edge", node, nil)
	w.made(c, err)
	for _, r := range c.JSON200.Items {
		if r.Type == "listeners" && (r.Variant == nil || *r.Variant != want || r.State != client.NodeResourceStateSynced) {
			w.t.Errorf("%s holds %+v, want the variant %s, synced", node, r, want)
		}
	}
}
