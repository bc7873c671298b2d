package main

import (
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
)

func ptr[T any](v T) *T { return &v }

func node(id string, state client.ReceiptNodeState) client.ReceiptNode {
	return client.ReceiptNode{Id: id, State: state}
}

func refusing(id, name, words, action string) client.ReceiptNode {
	n := node(id, client.ReceiptNodeStateNacked)
	n.Resource = &client.ResourceRef{Type: "listeners", Name: name}
	n.Detail, n.Action = &words, &action
	return n
}

func TestReceiptLines(t *testing.T) {
	t.Parallel()
	still := node("node-1", client.ReceiptNodeStateAcked)
	still.StillRefusing = &[]client.ResourceRef{{Type: "listeners", Name: "old\x1b"}}
	resolved := refusing("node-1", "poison", "bad", "kept the last known good version")
	resolved.Ended, resolved.ResolvedBy = ptr(client.RefusalEndReplaced), ptr(int64(9))
	offered, taken := refusing("node-1", "poison", "bad", "kept the last known good version"), refusing("node-1", "", "bad", "nothing sent")
	offered.Ended, taken.Ended = ptr(client.RefusalEndOffered), ptr(client.RefusalEndTaken)
	went := func(id string) client.ReceiptNode {
		n := node(id, client.ReceiptNodeStateOffline)
		n.Left = ptr(true)
		return n
	}
	both, y := refusing("a", "x", "1", ""), refusing("a", "y", "2", "")
	both.AlsoRefused = &[]client.ReceiptRefusal{{Resource: y.Resource, Detail: y.Detail}}
	several := both
	several.MoreRefused = ptr(4)
	var many []client.ReceiptNode
	for _, id := range strings.Split("abcdefgh", "") {
		many = append(many, refusing(id, "poison", "bad", ""))
	}
	for _, c := range []struct {
		name   string
		r      client.Receipt
		waited time.Duration
		status int
		want   string
	}{
		{"all", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 1}, LastAckMs: ptr(18.2)}, 0, exitOK, "revision 7 ACKed by 1/1 nodes in 18 ms"},
		{"none is affected", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 3, Unaffected: 3}, LastAckMs: ptr(2.0)}, 0, exitOK, "revision 7 changes nothing for 3 nodes"},
		{"one of many is affected", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 301, Unaffected: 300}, LastAckMs: ptr(18.2)}, 0, exitOK, "revision 7 ACKed by 1/1 nodes in 18 ms; it changes nothing for 300 nodes"},
		{"the affected one is pending", client.Receipt{State: "pending", Counts: client.ReceiptCounts{Acked: 300, Pending: 1, Unaffected: 300}, Nodes: []client.ReceiptNode{node("a", "pending")}}, 0, exitPending, "revision 7 pending: 0/1 nodes ACKed; it changes nothing for 300 nodes; pending: a"},
		{"the affected one refuses", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Acked: 300, Nacked: 1, Unaffected: 300}, Nodes: []client.ReceiptNode{refusing("a", "x", "no", "")}}, 0, exitRejected, "revision 7 rejected: a refused listeners/x: no\n  revision 7 changes nothing for 300 nodes"},
		{"none of those that are here is affected", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 2, Unaffected: 2, Offline: 1}, Nodes: []client.ReceiptNode{node("c", "offline")}}, 0, exitOK, "revision 7 changes nothing for 2 nodes; offline: c"},
		{"some offline", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 2, Offline: 1}, LastAckMs: ptr(1200.5), Nodes: []client.ReceiptNode{node("c", "offline")}}, 0, exitOK, "revision 7 ACKed by 2/3 nodes in 1201 ms; offline: c"},
		{"one left since", client.Receipt{State: "pending", Counts: client.ReceiptCounts{Acked: 1, Offline: 2, Left: 1}, Nodes: []client.ReceiptNode{node("b", "offline"), went("c")}}, 0, exitPending, "revision 7 pending: 1/3 nodes ACKed; offline: b, c\n  not delivered to c: connected since the revision was made, and gone without it"},
		{"one left, and is waited for", client.Receipt{State: "pending", Counts: client.ReceiptCounts{Acked: 1, Offline: 1, Left: 1}, Nodes: []client.ReceiptNode{went("c")}}, 5 * time.Second, exitPending, "revision 7 pending after 5s: 1/2 nodes ACKed; offline: c\n  not delivered to c: connected since the revision was made, and gone without it"},
		{"more left than are listed", client.Receipt{State: "pending", Counts: client.ReceiptCounts{Offline: 101, Left: 101}, Nodes: []client.ReceiptNode{went("c")}}, 0, exitPending, "revision 7 pending: 0/101 nodes ACKed; offline: c and 100 more\n  not delivered to c and 100 more: connected since the revision was made, and gone without it"},
		{"one refused, one left", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1, Offline: 1, Left: 1}, Nodes: []client.ReceiptNode{refusing("a", "x", "no", ""), went("c")}}, 0, exitRejected, "revision 7 rejected: a refused listeners/x: no\n  revision 7 ACKed by 0/2 nodes; offline: c\n  not delivered to c: connected since the revision was made, and gone without it"},
		{"left since, and it took it", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 2}}, 0, exitOK, "revision 7 ACKed by 2/2 nodes"},
		{"came later", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Late: 2, Offline: 1}, LastAckMs: ptr(28.0), Nodes: []client.ReceiptNode{node("c", "offline")}}, 0, exitOK, "revision 7 ACKed by 0/1 nodes and 2 that came later; offline: c"},
		{"only nodes that came later", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Late: 2}}, 0, exitOK, "revision 7 ACKed by 2 nodes that came later"},
		{"one came later", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Late: 1}}, 0, exitOK, "revision 7 ACKed by 1 node that came later"},
		{"some came later", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 1, Late: 2}, LastAckMs: ptr(18.2)}, 0, exitOK, "revision 7 ACKed by 1/1 nodes and 2 that came later in 18 ms"},
		{"all offline", client.Receipt{State: "stored", Counts: client.ReceiptCounts{Offline: 1}, Nodes: []client.ReceiptNode{node("c\n", "offline")}}, 0, exitPending, "revision 7 stored; no node has it yet; offline: c"},
		{"no node", client.Receipt{State: "stored"}, 0, exitOK, "revision 7 stored; no node has it yet"},
		{"still refusing", client.Receipt{State: "delivered", Counts: client.ReceiptCounts{Acked: 1}, LastAckMs: ptr(3.0), Nodes: []client.ReceiptNode{still}}, 0, exitOK, "revision 7 ACKed by 1/1 nodes in 3 ms\n  node-1 still refuses listeners/old of an earlier revision"},
		{"pending", client.Receipt{State: "pending", Counts: client.ReceiptCounts{Pending: 7}, Nodes: []client.ReceiptNode{node("a", "pending"), node("b", "pending")}}, 0, exitPending, "revision 7 pending: 0/7 nodes ACKed; pending: a, b and 5 more"},
		{"pending after", client.Receipt{State: "pending", Counts: client.ReceiptCounts{Pending: 2, Acked: 1}}, 90 * time.Second, exitPending, "revision 7 pending after 1m30s: 1/3 nodes ACKed; pending: 2 nodes"},
		{"rejected", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1}, Nodes: []client.ReceiptNode{refusing("node-1", "poison", "no such\r\nfilter", "")}}, 0, exitRejected, "revision 7 rejected: node-1 refused listeners/poison: no such  filter"},
		{"rejected without words", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1}, Nodes: []client.ReceiptNode{node("node-1", "nacked")}}, 0, exitRejected, "revision 7 rejected: node-1 refused it"},
		{"offered again", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1}, Nodes: []client.ReceiptNode{offered}}, 0, exitRejected, "revision 7 rejected: node-1 refused listeners/poison: bad\n  offered to it again since then"},
		{"taken since", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1}, Nodes: []client.ReceiptNode{taken}}, 0, exitRejected, "revision 7 rejected: node-1 refused listeners/: bad\n  it has what it is to have since then"},
		{"rejected by one of two", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1, Acked: 1}, LastAckMs: ptr(5.0), Nodes: []client.ReceiptNode{resolved}}, 0, exitRejected, "revision 7 rejected: node-1 refused listeners/poison: bad\n  kept the last known good version; ended by revision 9\n  revision 7 ACKed by 1/2 nodes in 5 ms"},
		{"nobody took it, and the rest of it was confirmed", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1, Offline: 1}, LastAckMs: ptr(28.0), Nodes: []client.ReceiptNode{offered, node("c", "offline")}}, 0, exitRejected, "revision 7 rejected: node-1 refused listeners/poison: bad\n  offered to it again since then\n  revision 7 ACKed by 0/2 nodes; offline: c"},
		{"the same words share a line", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 8}, Nodes: many}, 0, exitRejected, "revision 7 rejected: a, b, c, d, e and 3 more refused listeners/poison: bad"},
		{"more than are listed", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 9}, Nodes: many[:1]}, 0, exitRejected, "revision 7 rejected: a refused listeners/poison: bad\nrevision 7 rejected: 8 more nodes refused something of it"},
		{"two of one node", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 2}, Nodes: []client.ReceiptNode{both, refusing("b", "y", "2", "")}}, 0, exitRejected, "revision 7 rejected: a refused listeners/x: 1\nrevision 7 rejected: a, b refused listeners/y: 2"},
		{"very many of one node", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 1}, Nodes: []client.ReceiptNode{several}}, 0, exitRejected, "revision 7 rejected: a refused listeners/x: 1\nrevision 7 rejected: a refused listeners/y: 2\nrevision 7 rejected: a refused more of it: fairlead nodes a tells all"},
		{"other words, other lines", client.Receipt{State: "rejected", Counts: client.ReceiptCounts{Nacked: 2}, Nodes: []client.ReceiptNode{refusing("a", "x", "1", ""), refusing("b", "y", "2", "")}}, 0, exitRejected, "revision 7 rejected: a refused listeners/x: 1\nrevision 7 rejected: b refused listeners/y: 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.r.Revision = 7
			if got := strings.Join(receiptLines(c.r, c.waited), "\n"); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			if got := receiptStatus(c.r); got != c.status {
				t.Errorf("exit status %d, want %d", got, c.status)
			}
		})
	}
}
