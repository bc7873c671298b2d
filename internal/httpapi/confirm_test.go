package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/store"
)

// asks checks that a request is to be confirmed, and returns why and the token.
func (a answer) asks() (why []string, token string) {
	a.t.Helper()
	p := a.isProblem(http.StatusPreconditionRequired, "confirmation_required", "")
	if p.Token == nil || !strings.HasSuffix(deref(p.Detail), ": if that is meant, send the same again with this answer's token as confirm") {
		a.t.Errorf("%s: %s", a.what, a.body)
	}
	return reasonLines(deref(p.Confirm)), deref(p.Token)
}

func reasonLines(reasons []oapi.ConfirmReason) (out []string) {
	for _, r := range reasons {
		out = append(out, fmt.Sprintf("%s %s %d/%d/%d %s", r.Code, deref(r.Type), r.Count, deref(r.Of), deref(r.Nodes), r.Detail))
	}
	return out
}

func deleting(names ...string) string {
	var all []string
	for _, n := range names {
		all = append(all, fmt.Sprintf(`{"type": "clusters", "name": %q}`, n))
	}
	return `{"delete": [` + strings.Join(all, ",") + `]}`
}

func (w *world) fourClusters() {
	w.t.Helper()
	w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "a", cluster("a")), named("clusters", "b", cluster("b")),
		named("clusters", "c", cluster("c")), named("clusters", "d", cluster("d")))).is(200, nil)
}

const mostOfFour = "most_of_type clusters 3/4/0 3 of the fleet's 4 clusters would be deleted"

func TestT37_AnApplyThatDeletesMostIsConfirmed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.fourClusters()
	body := deleting("a", "b", "c")
	apply := func(body string, headers ...string) answer {
		w.t.Helper()
		return w.do(http.MethodPost, w.at("apply"), body, headers...)
	}
	if p := w.plan(deleting("a", "b")); p.Confirm == nil || len(p.Confirm) > 0 {
		t.Errorf("half: %+v", p.Confirm)
	}
	p := w.plan(body)
	if d := cmp.Diff([]string{mostOfFour}, reasonLines(p.Confirm)); d != "" {
		t.Error(d)
	}
	before := w.everything()
	why, token := apply(body, "Idempotency-Key", "k").asks()
	if d := cmp.Diff([]string{mostOfFour}, why); d != "" || token != p.Token {
		t.Error(d, token, p.Token)
	}
	apply(withMember(body, "plan", p.Token)).asks() // a plan that nobody confirms
	half := w.plan(deleting("a", "b")).Token
	apply(withMember(body, "confirm", half)).isProblem(412, "precondition_failed", "/confirm")
	apply(withMember(body, "confirm", "x")).isProblem(422, "invalid_resource", "/confirm")
	if w.everything() != before {
		t.Error("something was written")
	}
	w.do(http.MethodDelete, w.at("resources", "clusters", "d"), "").is(200, nil) // one is no reason, and nobody's of these
	var out [2]oapi.WriteResult
	for i := range out {
		apply(withMember(withMember(body, "confirm", token), "plan", p.Token), "Idempotency-Key", "k").is(200, &out[i])
	}
	if out[0].Revision != 3 || out[0].Changed != 3 || out[1].Revision != 3 {
		t.Errorf("%+v", out)
	}
}

// A confirmation is of what was seen: what others changed since is told, and what has become a
// reason since is asked for.
func TestAConfirmationIsOfWhatWasSeen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.fourClusters()
	w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "e", cluster("e")), named("clusters", "f", cluster("f")))).is(200, nil)
	body := deleting("a", "b", "c")
	half := w.plan(body)
	if len(half.Confirm) > 0 {
		t.Errorf("%+v", half.Confirm)
	}
	w.do(http.MethodDelete, w.at("resources", "clusters", "f"), "").is(200, nil)
	_, token := w.do(http.MethodPost, w.at("apply"), withMember(body, "confirm", half.Token)).asks()
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "9s"))).isWritten(nil)
	w.do(http.MethodPost, w.at("apply"), withMember(body, "confirm", token)).isProblem(412, "precondition_failed", "/delete/0")
	_, token = w.do(http.MethodPost, w.at("apply"), body).asks()
	w.do(http.MethodPost, w.at("apply"), withMember(body, "confirm", token)).is(200, nil)
}

func TestT37_ARollbackIsConfirmed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	version := w.put("a").Resources[0].Version
	w.refusingNode(w.fleet.ID, "n", fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: deref(version), Revision: 1})
	var many []string
	for i := range 11 {
		many = append(many, named("routes", fmt.Sprint("r", i), fmt.Sprintf(`{"name": "r%d"}`, i)))
	}
	w.do(http.MethodPost, w.at("apply"), applyOf(append(many, named("clusters", "a", clusterWith("a", "2s")))...)).is(200, nil) // 2
	rollback := func(body string, headers ...string) answer {
		w.t.Helper()
		return w.do(http.MethodPost, w.at("rollback"), body, headers...)
	}
	before := w.everything()
	why, token := rollback(`{"revision": 1}`).asks()
	if d := cmp.Diff([]string{
		"most_of_type routes 11/11/0 11 of the fleet's 11 routes would be deleted", "removes_many  11/0/0 11 resources would be removed",
		"refused_version  1/0/1 1 resource would come back in a version that 1 node has refused",
	}, why); d != "" {
		t.Error(d)
	}
	rollback(`{"revision": 1, "confirm": "x"}`).isProblem(400, "invalid_request", "/confirm")
	rollback(withMember(`{"revision": 1, "resources": [{"type": "clusters", "name": "a"}]}`, "confirm", token)).isProblem(412, "precondition_failed", "/confirm")
	if w.everything() != before {
		t.Error("something was written")
	}
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "3s"))).isWritten(nil) // 3: to roll back would change it from what was not seen
	confirmed := withMember(`{"revision": 1}`, "confirm", token)
	rollback(confirmed).isProblem(412, "precondition_failed", "/confirm")
	_, token = rollback(`{"revision": 1}`).asks()
	confirmed = withMember(`{"revision": 1}`, "confirm", token)
	w.put("b") // 4: to roll back would delete it, and nobody has seen that
	var out [2]oapi.WriteResult
	for i := range out {
		rollback(confirmed, "Idempotency-Key", "k").is(200, &out[i])
	}
	if out[0].Changed != 12 || out[0].Revision != 5 || out[1].Revision != 5 {
		t.Errorf("%+v", out)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "b"), "").is(200, nil)
}

func TestT37_TheDeletionOfAFleetWithNodesIsConfirmed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.settledNode(w.fleet.ID, "n", 1)
	other := w.newFleet(w.tenant, "other")
	w.settledNode(other.ID, "n", 0)
	del := func(token string) answer {
		w.t.Helper()
		if token != "" {
			token = "?confirm=" + token
		}
		return w.do(http.MethodDelete, w.at()+token, "")
	}
	why, token := del("").asks()
	if d := cmp.Diff([]string{"live_nodes  1/0/0 1 node is connected: the streams end, and the proxies go on with what they have"}, why); d != "" {
		t.Error(d)
	}
	del("x").isProblem(400, "invalid_request", "?confirm")
	del(w.plan(deleting("a")).Token).isProblem(412, "precondition_failed", "?confirm")
	w.do(http.MethodDelete, strings.Replace(w.at(), "/edge", "/other", 1)+"?confirm="+token, "").isProblem(412, "precondition_failed", "?confirm")
	del(write.PlanToken{Seen: store.Seen{Revision: 1}, Content: write.DeletionOf(w.fleet.ID), Reasons: ^store.Reasons(0)}.String()).asks() // of no such head
	w.put("b")
	_, token = del(token).asks()
	del(token).is(204, nil)
	w.do(http.MethodGet, w.at(), "").isProblem(404, "not_found", "")
}
