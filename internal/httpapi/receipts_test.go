package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// waiting asks for a receipt and returns the channel of its answer.
func (w *world) waiting(rev, wait string) <-chan answer {
	out := make(chan answer, 1)
	var request = w.at("revisions", rev, "receipt") + "?wait=" + wait
	go func() { out <- w.do(http.MethodGet, request, "") }()
	return out
}

func TestReceiptWithoutNodesIsStored(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	var r oapi.Receipt
	w.do(http.MethodGet, w.at("revisions", "1", "receipt")+"?wait=60s", "").is(200, &r)
	if r.State != oapi.ReceiptStateStored || r.Revision != 1 || r.Counts.Acked != 0 || r.CommittedAt.IsZero() || r.Nodes == nil {
		t.Errorf("%+v", r)
	}
	w.do(http.MethodGet, w.at("revisions", "2", "receipt")+"?wait=60s", "").isProblem(404, "not_found", "")
}

func TestReceiptWaitsForTheLastNode(t *testing.T) {
	t.Parallel()
	w := setup(t)
	status := w.settledNode(w.fleet.ID, "router-1", 0)
	w.put("a")
	var r oapi.Receipt
	w.do(http.MethodGet, w.at("revisions", "1", "receipt"), "").is(200, &r)
	if r.State != oapi.ReceiptStatePending || r.Counts.Pending != 1 || r.Nodes[0].Id != "router-1" || r.Nodes[0].State != oapi.ReceiptNodeStatePending {
		t.Fatalf("before it: %+v", r)
	}
	w.do(http.MethodGet, w.at("revisions", "1", "receipt")+"?wait=100ms", "").is(200, &r)
	if r.State != oapi.ReceiptStatePending {
		t.Fatalf("after a short wait: %+v", r)
	}
	answered := w.waiting("1", "30s")
	now := time.Now()
	status.Settled = 1
	status.Nodes[0].Settled = nil
	status.Delivered = []fleet.Delivered{{Revision: 1, Affected: 1, Acked: 1, FirstAck: now, LastAck: now}}
	must(t, w.nodes.Report(t.Context(), status))
	(<-answered).is(200, &r)
	if r.State != oapi.ReceiptStateDelivered || r.Counts.Acked != 1 || r.FirstAckMs == nil || *r.FirstAckMs < 0 || len(r.Nodes) != 0 {
		t.Errorf("after it: %+v", r)
	}
	var n oapi.Node
	w.do(http.MethodGet, w.at("nodes", "router-1"), "").is(200, &n)
	if n.State != oapi.NodeStateLive || n.Settled != 1 || *n.UserAgent != "envoy" || *n.Protocol != "delta ADS" {
		t.Errorf("the node: %+v", n)
	}
}

// A failover that loses a revision gives its number to another one: who waits for the lost one is not told that that is delivered.
func TestReceiptOfARevisionThatIsLostMeanwhile(t *testing.T) {
	t.Parallel()
	w := setup(t)
	status := w.settledNode(w.fleet.ID, "router-1", 0)
	w.put("a")
	answered := w.waiting("1", "60s")
	for w.api.polls.Used(access.Counted{Whose: w.tenant.ID, What: store.LimitWaitingPolls}) == 0 {
		w.do(http.MethodGet, w.at(), "").is(200, nil)
	}
	w.db.Exec(t, `UPDATE fleet_history SET at = at + interval '1 second', token = gen_random_uuid() WHERE fleet_id = $1`, w.fleet.ID.String())
	status.Settled = 1
	status.Nodes[0].Settled = nil
	must(t, w.nodes.Report(t.Context(), status))
	(<-answered).isProblem(404, "not_found", "")
}

// TestT25_AReceiptIsNotWaitedForWithWhatHasEnded: a token that is revoked, or a session that is ended, while it waits is told nothing more, and waits no longer.
func TestT25_AReceiptIsNotWaitedForWithWhatHasEnded(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func(w *world) (ask func(path string) answer, end func()){
		"a token": func(w *world) (func(string) answer, func()) {
			id, token, hash := auth.NewAPIToken(auth.RoleViewer.TokenKind())
			_, err := w.store.CreateToken(t.Context(), w.tenant.ID, tester, store.APIToken{ID: id, Hash: hash, Role: auth.RoleViewer, Name: "v"})
			must(t, err)
			return func(path string) answer { return w.do(http.MethodGet, path, "", "Authorization", "Bearer "+token) },
				func() {
					must(t, w.store.RevokeToken(t.Context(), w.tenant.ID, tester, id, store.Revocation{Within: auth.Roles()}))
				}
		},
		"a session": func(w *world) (func(string) answer, func()) {
			page := w.signedIn(w.owner)
			return func(path string) answer { return page.do(http.MethodGet, path, "") },
				func() { w.do(http.MethodPost, "/v1/session/end-others", "").is(200, nil) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.settledNode(w.fleet.ID, "router-1", 0)
			w.put("a")
			ask, end := by(w)
			begun, answered := time.Now(), make(chan answer, 1)
			go func() { answered <- ask(w.at("revisions", "1", "receipt") + "?wait=60s") }()
			for w.api.polls.Used(access.Counted{Whose: w.tenant.ID, What: store.LimitWaitingPolls}) == 0 {
				w.do(http.MethodGet, w.at(), "").is(200, nil)
			}
			end()
			(<-answered).isProblem(401, "unauthenticated", "")
			if took := time.Since(begun); took > 50*time.Second {
				t.Errorf("it waited on for %v", took)
			}
		})
	}
}

func TestReceiptAnswersAtTheFirstRefusal(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settledNode(w.fleet.ID, "router-2", 0)
	status := w.settledNode(w.fleet.ID, "router-1", 0)
	version := *w.put("a").Resources[0].Version
	answered := w.waiting("1", "30s")
	status.Refusals = []fleet.Refusal{{
		Node: "router-1", Type: fleet.Cluster, Name: "a", Version: version, Revision: 1, Detail: "<b>no such luck</b>", Action: fleet.ActionRemoved, At: time.Now(),
	}}
	must(t, w.nodes.Report(t.Context(), status))
	var r oapi.Receipt
	a := (<-answered).is(200, &r)
	if r.State != oapi.ReceiptStateRejected || r.Counts.Nacked != 1 || r.Counts.Pending != 1 || len(r.Nodes) != 2 {
		t.Fatalf("%s", a.body)
	}
	n := r.Nodes[0]
	if n.Id != "router-1" || *n.Detail != "<b>no such luck</b>" || n.Resource.Name != "a" || n.Resource.Type != oapi.Clusters || *n.Action != "removed from this node: no version of it was ever accepted" || *n.ActionCode != oapi.Removed {
		t.Errorf("%s", a.body)
	}
	if strings.Contains(string(a.body), "<b>") {
		t.Error("T23: markup stands in the answer unescaped")
	}
	var list oapi.NodeList
	w.do(http.MethodGet, w.at("nodes"), "").is(200, &list)
	if len(list.Items) != 2 || list.Items[0].State != oapi.NodeStateRefusing || list.Items[0].Refusals[0].Detail != "<b>no such luck</b>" {
		t.Errorf("the nodes: %+v", list)
	}
}

func TestDrainEndsLongPolls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settledNode(w.fleet.ID, "router-1", 0)
	w.put("a")
	answered := w.waiting("1", "60s")
	w.api.Drain() // before or while it waits: it is answered at once
	w.api.Drain()
	var r oapi.Receipt
	(<-answered).is(200, &r)
	if r.State != oapi.ReceiptStatePending {
		t.Errorf("%+v", r)
	}
}

// TestWhoLeavesWithoutTheRevisionIsWaitedFor: the revision may be why it went, so nobody is told that it was delivered until it is back and has it.
func TestWhoLeavesWithoutTheRevisionIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settledNode(w.fleet.ID, "router-2", 1)
	status := w.settledNode(w.fleet.ID, "router-1", 0)
	w.put("a")
	status.Nodes[0].Connected, status.Nodes[0].Since = false, time.Now()
	must(t, w.nodes.Report(t.Context(), status))
	var r oapi.Receipt
	w.do(http.MethodGet, w.at("revisions", "1", "receipt"), "").is(200, &r)
	if r.State != oapi.ReceiptStatePending || r.Counts.Acked != 1 || r.Counts.Pending != 0 || r.Counts.Offline != 1 || r.Counts.Left != 1 || len(r.Nodes) != 1 || !deref(r.Nodes[0].Left) {
		t.Fatalf("without it: %+v", r)
	}
	answered := w.waiting("1", "60s")
	status.Nodes[0].Connected, status.Settled = true, 1
	must(t, w.nodes.Report(t.Context(), status))
	r = oapi.Receipt{}
	(<-answered).is(200, &r)
	if r.State != oapi.ReceiptStateDelivered || r.Counts.Acked != 2 || r.Counts.Left != 0 || len(r.Nodes) != 0 {
		t.Errorf("back with it: %+v", r)
	}
}
