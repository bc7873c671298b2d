package store_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// SEMANTICS 3.6 and 8.3: a retry ends the refusals and moves the epoch, and every server
// hears of it once.
func TestRetryNode(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	refusal := func(node, name string) fleet.Refusal {
		return fleet.Refusal{Node: node, Type: fleet.Cluster, Name: name, Version: "v", Revision: 1, Detail: "no"}
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b"), on("c")}, Refusals: []fleet.Refusal{refusal("a", "c"), refusal("a", "d"), refusal("b", "c")}})
	fresh := w.load()
	held := fleet.Known{Key: w.key(), At: fresh.At}

	refs, err := w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, "a")
	w.ok(err)
	if d := cmp.Diff([]fleet.Ref{{Type: fleet.Cluster, Name: "c"}, {Type: fleet.Cluster, Name: "d"}}, refs); d != "" {
		t.Error(d)
	}
	cs := w.catchUp(held)
	if len(cs) != 1 || !cs[0].EpochMoved || cs[0].Reload || len(cs[0].Rows) > 0 || !cmp.Equal(cs[0].Retries, []string{"a"}) {
		t.Fatalf("the catch-up brings %+v", cs)
	}
	if c := w.load(); len(c.Retries) != 0 {
		t.Errorf("a server that loads the fleet has nothing to retry: %v", c.Retries)
	}
	held.At = cs[0].At
	if cs := w.catchUp(held); len(cs) != 0 {
		t.Errorf("told twice: %+v", cs)
	}
	if p := w.past("a", fleet.ServerID{}); len(p.Refusals) != 0 {
		t.Errorf("what stands of it: %+v", p.Refusals)
	}
	if n := w.count(`SELECT count(*) FROM refusals WHERE node_id = 'b' AND resolved_at IS NULL`); n != 1 {
		t.Error("the other node's refusal is touched")
	}
	// Refused again, and again retried.
	more := refusal("a", "c")
	more.Offer = 1
	s.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{more}})
	if _, err := w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, "a"); err != nil {
		t.Error(err)
	}
	_, err = w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, "b")
	w.ok(err)
	if cs := w.catchUp(held); len(cs) != 1 || !cmp.Equal(cs[0].Retries, []string{"a", "b"}) {
		t.Errorf("the catch-up brings %+v", cs)
	}
	if cs := w.catchUp(held, fleet.Known{Key: w.key(), At: fleet.Position{Revision: 1, Token: fleet.NewToken(), Epoch: fresh.At.Epoch}}); len(cs) != 2 || len(cs[1].Retries) != 2 {
		t.Errorf("beside a reload: %+v", cs)
	}

	epoch := w.count(`SELECT epoch FROM fleet_heads`)
	if _, err := w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, "c"); !errors.Is(err, store.ErrNothingRefused) {
		t.Errorf("a node that refuses nothing: %v", err)
	}
	for _, node := range []string{"nobody", "x\x00"} {
		_, err := w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, node)
		w.is(err, fleet.ErrNotFound)
	}
	_, err = w.app.RetryNode(t.Context(), w.db.Tenant(t), w.fleet, actor, "a")
	w.is(err, fleet.ErrNotFound)
	if w.count(`SELECT epoch FROM fleet_heads`) != epoch || w.count(`SELECT count(*) FROM audit_events WHERE action = 'node.retry'`) != 3 {
		t.Error("a retry that was refused left something behind")
	}
}

// SEMANTICS 3.6: a type of which too much is refused is shown on the node's pages until that ends.
func TestFrozenTypesAreShown(t *testing.T) {
	w := setup(t)
	bad := put(fleet.Cluster, "c", "1")
	w.apply(bad)
	s := w.server("s")
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{
		{Node: "a", Type: fleet.Cluster, Name: "c", Version: bad.Version, Revision: 1, Detail: "no", Action: fleet.ActionFrozen}}})
	want := []fleet.Type{fleet.Cluster}
	n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "a")
	w.ok(err)
	c := w.config("a", store.ConfigFilter{State: store.ConfigAbsent})
	if !cmp.Equal(n.Frozen, want) || !cmp.Equal(c.Node.Frozen, want) || len(c.Resources) != 1 {
		t.Errorf("frozen %v, %v, absent %d", n.Frozen, c.Node.Frozen, len(c.Resources))
	}
	_, err = w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, "a")
	w.ok(err)
	if n, err = w.app.Node(t.Context(), w.tenant, w.fleet, "a"); err != nil || n.Frozen != nil {
		t.Errorf("after a retry: %v, %v", n.Frozen, err)
	}
}
