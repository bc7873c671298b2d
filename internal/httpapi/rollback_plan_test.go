package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// planRollback plans as the owner and checks that nothing was written.
func (w *world) planRollback(body string) oapi.Plan {
	w.t.Helper()
	before := w.everything()
	var p oapi.Plan
	w.do(http.MethodPost, w.at("rollback")+"/plan", body).is(200, &p)
	if now := w.everything(); now != before {
		w.t.Errorf("a plan wrote:\nbefore %s\nnow    %s", before, now)
	}
	return p
}

func TestAPlanTellsWhatARollbackWouldDo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := `{"name": "s", "generic_secret": {"secret": {"inline_string": "%s"}}}`
	w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "a", cluster("a")), named("clusters", "gone", cluster("gone")),
		named("secrets", "s", fmt.Sprintf(secret, "one")), named("clusters", "same", cluster("same")))).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), withMember(applyOf(named("clusters", "a", clusterWith("a", "5s")), named("clusters", "new", cluster("new")),
		named("secrets", "s", fmt.Sprintf(secret, "two"))), "delete", []map[string]string{{"type": "clusters", "name": "gone"}})).is(200, nil)

	p := w.planRollback(`{"revision": 1}`)
	if p.Revision != 2 || p.Counts != (oapi.PlanCounts{Create: 1, Update: 2, Delete: 1}) || p.Confirm == nil || p.Findings == nil {
		t.Errorf("%+v", p)
	}
	var got []string
	for _, r := range p.Resources {
		got = append(got, fmt.Sprintf("%s %s/%s of %d, hidden %v", r.Action, r.Type, r.Name, deref(r.Revision), deref(r.Hidden)))
	}
	if d := cmp.Diff([]string{
		"update clusters/a of 2, hidden false", "create clusters/gone of 0, hidden false", "delete clusters/new of 2, hidden false", "update secrets/s of 2, hidden true",
	}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(`--- clusters/a (revision 2)
+++ clusters/a (planned)
@@ -7,4 +7,4 @@
     eds_config:
       ads: {}
       resource_api_version: V3
-  connect_timeout: "5s"
+  connect_timeout: "1s"
`, deref(p.Resources[0].Diff)); d != "" {
		t.Error(d)
	}
	if d := deref(p.Resources[1].Diff); !strings.HasPrefix(d, "--- /dev/null\n+++ clusters/gone (planned)\n") {
		t.Error(d)
	}
	if d := deref(p.Resources[3].Diff); strings.Contains(d, "one") || strings.Contains(d, "two") {
		t.Errorf("the secret is shown: %s", d)
	}
	if some := w.planRollback(`{"revision": 1, "resources": [{"type": "clusters", "name": "new"}]}`); some.Counts != (oapi.PlanCounts{Delete: 1}) || some.Token == p.Token {
		t.Errorf("of one: %+v", some)
	}
	if got, want := reachOf(p), "0 of 0 (): ; a 0, gone 0, new 0, s 0"; got != want {
		t.Errorf("without nodes: %s, want %s", got, want)
	}
	w.labeled(2, map[string]*fleet.NodeLabels{"n1": {}, "n2": {}})
	if got, want := reachOf(w.planRollback(`{"revision": 1}`)), "3 of 3 (3 as n1): n1 n2 unlabeled; a 3, gone 3, new 3, s 3"; got != want {
		t.Errorf("with nodes: %s, want %s", got, want)
	}
	var page oapi.Plan
	w.do(http.MethodPost, w.at("rollback")+"/plan?limit=2", `{"revision": 1}`).is(200, &page)
	second := w.at("rollback") + "/plan?cursor=" + *page.Reach.NextCursor
	page = oapi.Plan{}
	w.do(http.MethodPost, second, `{"revision": 1}`).is(200, &page)
	if d := cmp.Diff([]string{"unlabeled"}, page.Reach.Ids); d != "" || page.Reach.NextCursor != nil {
		t.Errorf("the second page: %s", d)
	}
	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("rollback"), withMember(`{"revision": 1}`, "plan", p.Token)).is(200, &out)
	if out.Revision != 3 || out.Changed != 4 {
		t.Errorf("rolled back: %+v", out)
	}
	if p = w.planRollback(`{"revision": 1}`); p.Counts != (oapi.PlanCounts{}) || len(p.Resources) > 0 {
		t.Errorf("planned again: %+v", p)
	}
}

// What is rolled back is what was planned: what others wrote since stays, and is in the way where it is of what was planned.
func TestWhatIsRolledBackIsWhatWasPlanned(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "5s"))).isWritten(nil) // 2
	all, one := `{"revision": 1}`, `{"revision": 1, "resources": [{"type": "clusters", "name": "a"}]}`
	ofAll, ofOne := w.planRollback(all).Token, w.planRollback(one).Token
	if ofAll != ofOne {
		t.Errorf("the same change has two tokens: %s, %s", ofAll, ofOne)
	}
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "7s"))).isWritten(nil) // 3: it is not what was seen
	for _, path := range []string{w.at("rollback"), w.at("rollback") + "/plan"} {
		for _, member := range []string{"plan", "confirm"} {
			q := w.do(http.MethodPost, path, withMember(all, member, ofAll)).isProblem(412, "precondition_failed", "/"+member)
			if (*q.Errors)[0].Code != "other_content" {
				t.Errorf("%+v", *q.Errors)
			}
			w.do(http.MethodPost, path, withMember(all, member, "x")).isProblem(400, "invalid_request", "/"+member)
		}
		w.do(http.MethodPost, path, `{"revision": 1, "expected_revision": 2}`).isProblem(412, "precondition_failed", "/expected_revision")
		w.do(http.MethodPost, path, `{"revision": 9}`).isProblem(404, "not_found", "")
		w.do(http.MethodPost, path, `{"revision": 1, "resources": [{"type": "clusters", "name": "typo"}]}`).isProblem(422, "unknown_resource", "/resources/0")
	}
	ofAll, ofOne = w.planRollback(all).Token, w.planRollback(one).Token
	w.put("b") // 4: a rollback of all would delete it, and the plan did not show it
	w.do(http.MethodPost, w.at("rollback"), withMember(`{"revision": 3}`, "plan", ofAll)).isProblem(412, "precondition_failed", "/plan")
	if again := w.planRollback(withMember(all, "plan", ofAll)); again.Counts != (oapi.PlanCounts{Update: 1}) {
		t.Errorf("what was planned comes to %+v", again.Counts)
	}
	var out [2]oapi.WriteResult
	for i := range out {
		w.do(http.MethodPost, w.at("rollback"), withMember([]string{all, one}[i], "plan", ofOne)).is(200, &out[i])
		if out[i].Changed != 1 {
			t.Errorf("%+v", out[i])
		}
		w.do(http.MethodGet, w.at("resources", "clusters", "b"), "").is(200, nil)
		w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "9s"))).isWritten(nil)
		ofOne = w.planRollback(one).Token
	}
	for i := range out {
		w.do(http.MethodPost, w.at("rollback"), withMember(one, "plan", ofOne), "Idempotency-Key", "k").is(200, &out[i])
	}
	if out[0].Changed != 1 || out[1].Revision != out[0].Revision {
		t.Errorf("%+v", out)
	}
}

// A plan asks what the rollback asks, and tells what is to be confirmed; its token confirms that.
func TestAPlanOfARollbackAsksWhatItAsks(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPost, w.at("apply"), applied(element("listeners", "l", luaListener("l", "x")))).is(200, nil)
	w.do(http.MethodDelete, w.at("resources", "listeners", "l"), "").is(200, nil)
	w.fourClusters()
	editor := "Bearer " + w.token(w.tenant, auth.RoleEditor, nil)
	w.do(http.MethodPost, w.at("rollback")+"/plan", `{"revision": 1}`, "Authorization", editor).isProblem(403, "guarded", "/resources/listeners/l/body"+luaAt)
	p := w.planRollback(`{"revision": 2}`)
	if d := cmp.Diff([]string{"most_of_type clusters 4/4/0 4 of the fleet's 4 clusters would be deleted"}, reasonLines(p.Confirm)); d != "" {
		t.Error(d)
	}
	w.do(http.MethodPost, w.at("rollback"), withMember(`{"revision": 2}`, "plan", p.Token)).asks()
	w.do(http.MethodPost, w.at("rollback"), withMember(`{"revision": 2}`, "confirm", p.Token)).is(200, nil)
}

// What was planned and changes while the rollback waits for its turn is in its way too.
func TestAPlannedRollbackIsRefusedWhatChangesWhileItWaits(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "5s"))).isWritten(nil) // 2
	token := w.planRollback(`{"revision": 1}`).Token
	other, otherDone := w.sent(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "7s")))
	back, backDone := w.beside().sent(http.MethodPost, w.at("rollback"), withMember(`{"revision": 1}`, "plan", token))
	w.queued(other, back)
	otherDone().is(200, nil)
	backDone().isProblem(412, "precondition_failed", "/plan")
	if r := w.planRollback(`{"revision": 1}`).Resources; len(r) != 1 || deref(r[0].Revision) != 3 {
		t.Errorf("%+v", r)
	}
}
