package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func TestEventsArePaged(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	var refusals []fleet.Refusal
	for i := range 5 {
		refusals = append(refusals, fleet.Refusal{Type: fleet.Cluster, Name: fmt.Sprint("c", i), Version: "v", Revision: 1, Detail: "<b>no", Action: fleet.ActionNoSuspect})
	}
	w.refusingNode(w.fleet.ID, "a/b", refusals...)
	w.refusingNode(w.fleet.ID, "other", fleet.Refusal{Type: fleet.Listener, Revision: 1, Detail: "no"})
	seen, at, pages := map[string]bool{}, time.Now().Add(time.Hour), 0
	for cursor := ""; ; pages++ {
		var list oapi.EventList
		w.do(http.MethodGet, w.at("events")+"?node=a%2Fb&limit=2&cursor="+cursor, "").is(200, &list)
		for _, e := range list.Items {
			if e.Kind != oapi.EventKindRefused || e.Node != "a/b" || *e.Detail != "<b>no" || *e.Action != "nothing sent: no resource could be held responsible" || *e.ActionCode != oapi.NoSuspect || *e.Revision != 1 || e.At.After(at) {
				t.Errorf("%+v", e)
			}
			seen[e.Resource.Name], at = true, e.At
		}
		if list.NextCursor == nil {
			break
		}
		cursor = *list.NextCursor
	}
	if len(seen) != 5 || pages != 2 {
		t.Errorf("%d events on %d pages", len(seen), pages+1)
	}
	var list oapi.EventList
	w.do(http.MethodGet, w.at("events"), "").is(200, &list)
	if len(list.Items) != 6 || list.Items[0].Resource != nil && list.Items[5].Resource != nil {
		t.Errorf("of all nodes: %+v", list)
	}
}

// Events of one kind: in a list, in groups, from a place on, and in a stream.
func TestEventsOfAKind(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	s := w.follow("?kind=kept_back&node=n")
	kept := fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 1, Detail: "no", Good: "g", Action: fleet.ActionKept}
	w.refusingNode(w.fleet.ID, "n", fleet.Refusal{Type: fleet.Cluster, Name: "b", Version: "v", Revision: 1, Detail: "no", Action: fleet.ActionNoSuspect})
	w.refusingNode(w.fleet.ID, "n", kept)
	w.refusingNode(w.fleet.ID, "other", kept)
	for query, want := range map[string]int{
		"?kind=kept_back": 2, "?kind=refused": 3, "?kind=kept_back&node=n": 1, "?kind=recovered": 0, "?kind=kept_back&grouped=true": 1, "?kind=refused&grouped=true": 2,
		"?kind=kept_back&after=0": 2, "?kind=refused&after=0": 3, "?kind=recovered&after=0": 0,
	} {
		var list oapi.EventList
		w.do(http.MethodGet, w.at("events")+query, "").is(200, &list)
		for _, e := range list.Items {
			if !strings.Contains(query, string(e.Kind)) {
				t.Errorf("%s: %+v", query, e)
			}
		}
		if len(list.Items) != want {
			t.Errorf("%s: %d events, want %d", query, len(list.Items), want)
		}
	}
	if e := s.event(); e.Kind != oapi.EventKindKeptBack || e.Node != "n" || e.Resource.Name != "a" {
		t.Errorf("the stream tells %+v", e)
	}
	w.do(http.MethodGet, w.at("events")+"?kind=strange", "").isProblem(400, "invalid_request", "?kind")
}

func TestEventsBadInput(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, name := range []string{"", "x", "1", "1 ", "1 zz", "-5 " + strings.Repeat("00", 16), "9999999999999999999 " + strings.Repeat("00", 16), "9000000000000000000 " + strings.Repeat("00", 16)} {
		c := cursor{List: "events", Name: name}.String()
		w.do(http.MethodGet, w.at("events")+"?cursor="+c, "").isProblem(400, "invalid_request", "?cursor")
	}
	w.do(http.MethodGet, w.at("events")+"?cursor="+cursor{List: "nodes", Name: "n"}.String(), "").isProblem(400, "invalid_request", "?cursor")
	w.do(http.MethodGet, w.at("events")+"?limit=0", "").isProblem(400, "invalid_request", "?limit")
	w.do(http.MethodGet, w.at("events")+"?node=", "").isProblem(400, "invalid_request", "?node")
	w.do(http.MethodGet, w.at("events")+"?node=a%00", "").isProblem(400, "invalid_request", "?node")
}

// SEMANTICS 5.3, 5.5: what a pending node waits for, and why; a wait ends when waiting is
// for nothing.
func TestReceiptSaysWhatIsWithheld(t *testing.T) {
	t.Parallel()
	w := setup(t)
	status := w.settledNode(w.fleet.ID, "n", 0)
	w.put("a")
	edge, missing, bad := fleet.Ref{Type: fleet.Listener, Name: "edge"}, fleet.Ref{Type: fleet.Route, Name: "r"}, fleet.Ref{Type: fleet.Secret, Name: "s"}
	old := fleet.Revision(0)
	status.Nodes[0].Settled = &old
	status.Nodes[0].Waits = fleet.Waits{Withheld: []fleet.Withheld{{Ref: edge, By: bad}, {Ref: edge, By: missing}}, More: 3}
	status.Refusals = []fleet.Refusal{{Node: "n", Type: bad.Type, Name: bad.Name, Version: "v", Revision: 2, Good: "g", Action: fleet.ActionKept}}
	must(t, w.nodes.Report(t.Context(), status))
	var r oapi.Receipt
	begun := time.Now()
	a := w.do(http.MethodGet, w.at("revisions", "1", "receipt")+"?wait=60s", "").is(200, &r)
	if time.Since(begun) > 30*time.Second {
		t.Error("it waited for nothing")
	}
	n := r.Nodes[0]
	if r.State != oapi.ReceiptStatePending || r.Counts.Pending != 1 || r.Counts.Withheld != 1 || n.Warming != nil || len(deref(n.Withheld)) != 2 || *n.MoreWaits != 3 {
		t.Fatalf("%s", a.body)
	}
	reasons := map[string]oapi.WithheldReason{}
	for _, h := range *n.Withheld {
		reasons[h.By.Name] = h.Reason
	}
	if reasons["r"] != oapi.WithheldReasonMissing || reasons["s"] != oapi.WithheldReasonRefused || len(deref(n.WithheldBy)) != 2 {
		t.Errorf("%s", a.body)
	}
	var node oapi.Node
	a = w.do(http.MethodGet, w.at("nodes", "n"), "").is(200, &node)
	if node.Waits == nil || len(node.Waits.Withheld) != 2 || len(node.Waits.WithheldBy) != 2 || *node.Waits.More != 3 {
		t.Errorf("the node: %s", a.body)
	}
	if f := node.Refusals[0]; *f.StandsIn != "g" || *f.LiftedBy != "another version of it, or retry" || f.At.IsZero() {
		t.Errorf("%+v", f)
	}
	w.do(http.MethodPost, w.at("nodes", "n", "retry"), "").is(200, nil)
	node = oapi.Node{}
	w.do(http.MethodGet, w.at("nodes", "n"), "").is(200, &node)
	if f := node.Refusals[0]; f.LiftedBy != nil || f.ResolvedAt == nil {
		t.Errorf("it has ended: %+v", f)
	}
}

// SEMANTICS 5.3: what is withheld belongs to its revision; a later harmless one is acked.
func TestReceiptOfARevisionBeyondWhatIsWithheld(t *testing.T) {
	t.Parallel()
	w := setup(t)
	status := w.settledNode(w.fleet.ID, "n", 0)
	w.put("a")
	w.put("b")
	at := fleet.Revision(2)
	status.Settled, status.Nodes[0].Settled = at, &at
	edge := fleet.Ref{Type: fleet.Listener, Name: "edge"}
	status.Nodes[0].Waits = fleet.Waits{Withheld: []fleet.Withheld{{Ref: edge, By: fleet.Ref{Type: fleet.Route, Name: "r"}, Revision: 1}}}
	must(t, w.nodes.Report(t.Context(), status))
	var r oapi.Receipt
	begun := time.Now()
	a := w.do(http.MethodGet, w.at("revisions", "1", "receipt")+"?wait=60s", "").is(200, &r)
	if r.State != oapi.ReceiptStatePending || r.Counts.Withheld != 1 || len(deref(r.Nodes[0].Withheld)) != 1 || *(*r.Nodes[0].Withheld)[0].Revision != 1 || time.Since(begun) > 30*time.Second {
		t.Errorf("%s", a.body)
	}
	r = oapi.Receipt{}
	a = w.do(http.MethodGet, w.at("revisions", "2", "receipt"), "").is(200, &r)
	if r.State != oapi.ReceiptStateDelivered || r.Counts.Acked != 1 || len(r.Nodes) != 0 {
		t.Errorf("%s", a.body)
	}
}

// SEMANTICS 5.6: the nodes of one state, page by page.
func TestReceiptIsPagedByState(t *testing.T) {
	t.Parallel()
	w := setup(t)
	status := w.settledNode(w.fleet.ID, "n", 0)
	status.Nodes = nil
	for i := range 7 {
		status.Nodes = append(status.Nodes, fleet.NodeStatus{Node: fmt.Sprint("n", i), Connected: true, Since: time.Now()})
	}
	must(t, w.nodes.Report(t.Context(), status))
	w.put("a")
	status.Settled = 1
	must(t, w.nodes.Report(t.Context(), status))
	path := w.at("revisions", "1", "receipt") + "?state=acked&limit=3&wait=100ms"
	seen := 0
	var r oapi.Receipt
	for cursor := ""; ; {
		r = oapi.Receipt{}
		w.do(http.MethodGet, path+"&cursor="+cursor, "").is(200, &r)
		if seen += len(r.Nodes); r.NextCursor == nil {
			break
		}
		cursor = *r.NextCursor
	}
	if seen != 8 || r.Counts.Acked != 8 {
		t.Errorf("%d nodes of %d", seen, r.Counts.Acked)
	}
	w.do(http.MethodGet, w.at("revisions", "1", "receipt")+"?state=lost", "").isProblem(400, "invalid_request", "?state")
	good := cursor{List: "receipt", Type: "acked", Name: "n1", Revision: 1}
	for _, c := range []cursor{{List: "nodes", Name: "n"}, {List: "receipt", Type: "nacked", Name: "n1", Revision: 1}, {List: "receipt", Type: "acked", Name: "n1", Revision: 2}} {
		w.do(http.MethodGet, path+"&cursor="+c.String(), "").isProblem(400, "invalid_request", "?cursor")
	}
	w.do(http.MethodGet, w.at("revisions", "1", "receipt")+"?cursor="+good.String(), "").isProblem(400, "invalid_request", "?cursor")
}

// T27: a Secret's refusal shows no secret, in events neither.
func TestEventsShowNoSecret(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, w.at("resources", "secrets", "s"), asDocument(`{"name": "s", "generic_secret": {"secret": {"inline_string": "hush-hush"}}}`)).isWritten(nil)
	w.refusingNode(w.fleet.ID, "n", fleet.Refusal{Type: fleet.Secret, Name: "s", Version: "v", Revision: 1, Detail: "Failed to load", Good: "g", Action: fleet.ActionKept})
	for _, path := range []string{w.at("events"), w.at("nodes", "n"), w.at("revisions", "1", "receipt")} {
		var any json.RawMessage
		if a := w.do(http.MethodGet, path, "").is(200, &any); strings.Contains(string(a.body), "hush") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

// TestWhatIsWithheldIsNotCalledDenied: an event about a client that was let in, and from which a resource is kept, is of another kind wherever events are
// told.
func TestWhatIsWithheldIsNotCalledDenied(t *testing.T) {
	t.Parallel()
	w := setup(t)
	now, key := time.Now(), fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}
	s, only := w.follow(""), w.follow("?kind=withheld")
	reasons := fleet.DeniedReasons()
	var all []fleet.Denied
	for i, r := range reasons {
		all = append(all, fleet.Denied{Key: key, Reason: r, Node: string(r), Address: "10.0.0.1", Attempts: 1, First: now, Last: now.Add(time.Duration(i) * time.Millisecond)})
	}
	must(t, w.nodes.TellDenied(t.Context(), all))
	withheld := 0
	right := func(where string, e oapi.Event) {
		t.Helper()
		want := oapi.EventKindDenied
		if strings.HasPrefix(string(*e.Reason), "withheld_") {
			want = oapi.EventKindWithheld
		}
		if e.Kind != want {
			t.Errorf("%s: %s is %s", where, *e.Reason, e.Kind)
		}
	}
	for range reasons {
		e := s.event()
		if right("stream", e); e.Kind == oapi.EventKindWithheld {
			withheld++
			right("stream of a kind", only.event())
		}
	}
	if withheld != 4 {
		t.Errorf("%d are withheld", withheld)
	}
	for query, want := range map[string]int{
		"": len(reasons), "?grouped=true": len(reasons), "?kind=withheld": 4, "?kind=denied": len(reasons) - 4, "?kind=withheld&grouped=true": 4, "?kind=denied&grouped=true": len(reasons) - 4,
	} {
		var list oapi.EventList
		w.do(http.MethodGet, w.at("events")+query, "").is(200, &list)
		if len(list.Items) != want {
			t.Errorf("%s: %d events, want %d", query, len(list.Items), want)
		}
		for _, e := range list.Items {
			right(query, e)
		}
	}
}

func TestEventsTellWhoWasNotLetIn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	now := time.Now()
	key := fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}
	credential := fleet.NewCredentialID()
	s := w.follow("?grouped=true")
	must(t, w.nodes.TellDenied(t.Context(), []fleet.Denied{
		{Key: key, Reason: fleet.DeniedNodeID, Credential: credential, Node: "core-1", Address: "10.0.0.1", Attempts: 2, First: now.Add(-time.Hour), Last: now},
		{Key: key, Reason: fleet.DeniedNodeID, Node: "core-2", Address: "10.0.0.2", Attempts: 5, First: now, Last: now.Add(-time.Second)},
	}))
	var list oapi.EventList
	w.do(http.MethodGet, w.at("events")+"?node=core-1", "").is(200, &list)
	if len(list.Items) != 1 {
		t.Fatalf("%+v", list)
	}
	e := list.Items[0]
	if e.Kind != "denied" || *e.Reason != "node_id_forbidden" || *e.Attempts != 2 || *e.Address != "10.0.0.1" || *e.Credential != credential.String() ||
		*e.Action != "not let in: its node credential is not for nodes of this id, from 10.0.0.1, 2 times" || e.At.Sub(*e.FirstAt).Round(time.Minute) != time.Hour {
		t.Errorf("%+v", e)
	}
	// Grouped, in a list and in a stream: of both, since the first.
	list = oapi.EventList{}
	w.do(http.MethodGet, w.at("events")+"?grouped=true", "").is(200, &list)
	for where, e := range map[string]oapi.Event{"list": list.Items[0], "stream": s.event()} {
		if *e.Nodes != 2 || *e.Attempts != 7 || time.Since(*e.FirstAt) < 59*time.Minute {
			t.Errorf("%s: %+v", where, e)
		}
	}
}

// Every reason has words.
func TestDeniedWords(t *testing.T) {
	t.Parallel()
	for _, r := range fleet.DeniedReasons() {
		if got := deniedWords(fleet.Denied{Reason: r, Attempts: 1}, ""); strings.Contains(got, string(r)) {
			t.Errorf("%s: %s", r, got)
		}
	}
}

// TestEventsTellWhatWasAskedForInVain: of a client that was let in nobody says that it was not.
func TestEventsTellWhatWasAskedForInVain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	now := time.Now()
	for reason, want := range map[fleet.DeniedReason]string{
		fleet.DeniedType:    "it asks for a type of resource that is not served, and gets no answer: this and that, from 10.0.0.1, 2 times",
		fleet.DeniedNames:   "it asks for more than it may, and is told that the rest does not exist: this and that, from 10.0.0.1, 2 times",
		fleet.DeniedRequest: "its stream is refused for what it asks: this and that, from 10.0.0.1, 2 times",
	} {
		must(t, w.nodes.TellDenied(t.Context(), []fleet.Denied{{Key: fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}, Reason: reason, Node: string(reason), Address: "10.0.0.1", Note: "this and that", Attempts: 2, First: now, Last: now}}))
		var list oapi.EventList
		w.do(http.MethodGet, w.at("events")+"?node="+string(reason), "").is(200, &list)
		if len(list.Items) != 1 || string(*list.Items[0].Reason) != string(reason) || *list.Items[0].Action != want {
			t.Errorf("%s: %+v", reason, list.Items)
		}
	}
}
