package world

import (
	"encoding/json"

	client "fairlead/clients/go"
)

// Receipt waits until a revision's receipt says something, at most Soon.
func (w *World) Receipt(revision int64) *client.Receipt {
	w.T.Helper()
	wait := Soon.String()
	r, err := w.REST.GetReceiptWithResponse(w.T.Context(), w.Tenant, w.Fleet, revision, &client.GetReceiptParams{Wait: &wait})
	w.Made(r, err)
	return r.JSON200
}

// AwaitState waits for a receipt, and ends the test if it is another one.
func (w *World) AwaitState(revision int64, want client.ReceiptState) *client.Receipt {
	w.T.Helper()
	r := w.Receipt(revision)
	if r.State != want {
		w.T.Fatalf("the receipt of revision %d is %s, want it %s", revision, AsJSON(r), want)
	}
	return r
}

// AwaitDelivered waits until that many nodes, and no other one, have the revision.
func (w *World) AwaitDelivered(revision int64, nodes int) {
	w.T.Helper()
	if r := w.AwaitState(revision, client.ReceiptStateDelivered); r.Counts.Acked != nodes || r.Counts.Offline > 0 {
		w.T.Fatalf("the receipt is %s, want it delivered to %d", AsJSON(r), nodes)
	}
}

// AwaitACKed waits until that many nodes have acknowledged the revision, also ones that have only just come back: until the API is told of it,
// their receipt says that they are offline.
func (w *World) AwaitACKed(revision int64, nodes int) {
	w.T.Helper()
	var got *client.Receipt
	defer func() {
		if w.T.Failed() {
			w.T.Logf("the receipt is %s", AsJSON(got))
		}
	}()
	Eventually(w.T, Soon, "it is not acknowledged", func() bool {
		got = w.Receipt(revision)
		return got.State == client.ReceiptStateDelivered && got.Counts.Acked == nodes
	})
}

// AwaitRejected waits until a node refuses the revision, and returns what the receipt
// tells of it.
func (w *World) AwaitRejected(revision int64) client.ReceiptNode {
	w.T.Helper()
	r := w.AwaitState(revision, client.ReceiptStateRejected)
	if len(r.Nodes) != 1 || r.Nodes[0].Detail == nil || r.Nodes[0].Resource == nil {
		w.T.Fatalf("the receipt is %s, want it rejected by one node, with its words", AsJSON(r))
	}
	return r.Nodes[0]
}

// AsJSON is an answer of the API as it was sent, but for the order of its fields.
func AsJSON(answer any) string {
	b, _ := json.Marshal(answer)
	return string(b)
}
