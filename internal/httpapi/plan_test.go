package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

func applyOf(documents ...string) string {
	return `{"resources": [` + strings.Join(documents, ",") + `]}`
}

// with adds a member to an apply.
func withMember(body, name string, value any) string {
	b, _ := json.Marshal(value)
	return fmt.Sprintf(`%s, %q: %s}`, strings.TrimSuffix(body, "}"), name, b)
}

// plan plans as the owner and checks that nothing was written.
func (w *world) plan(body string, headers ...string) oapi.Plan {
	w.t.Helper()
	before := w.everything()
	var p oapi.Plan
	w.do(http.MethodPost, w.at("plan"), body, headers...).is(200, &p)
	if now := w.everything(); now != before {
		w.t.Errorf("a plan wrote:\nbefore %s\nnow    %s", before, now)
	}
	return p
}

func TestAPlanTellsWhatAnApplyWouldDo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "same", cluster("same")), named("clusters", "slow", cluster("slow")), named("clusters", "old", cluster("old")))).is(200, nil)
	w.put("other")
	body := applyOf(
		// Another order, another spelling, a field with its default: the same.
		`{"body": {"connectTimeout": "1.000s", "edsClusterConfig": {"edsConfig": {"resourceApiVersion": 2, "ads": {}}}, "type": 3, "name": "same", "alt_stat_name": ""}, "name": "same", "type": "clusters"}`,
		`{"type": "clusters", "name": "slow", "labels": {"team": "shop"}, "body": `+clusterWith("slow", "5s")+`}`,
		named("clusters", "new", `{"name": "new"}`),
	)
	body = strings.TrimSuffix(body, "}") + `, "delete": [{"type": "clusters", "name": "old"}, {"type": "clusters", "name": "never"}]}`
	p := w.plan(body)
	if p.Revision != 2 || p.Counts != (oapi.PlanCounts{Create: 1, Update: 1, Delete: 1, Unchanged: 2}) || len(deref(p.Warnings)) != 1 || (*p.Warnings)[0].Code != "absent" {
		t.Errorf("%+v", p)
	}
	var got []string
	for _, r := range p.Resources {
		got = append(got, fmt.Sprintf("%s %s of %d", r.Action, r.Name, deref(r.Revision)))
	}
	if d := cmp.Diff([]string{"unchanged same of 1", "update slow of 1", "create new of 0", "delete old of 1", "unchanged never of 0"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(`--- clusters/slow (revision 1)
+++ clusters/slow (planned)
@@ -1,5 +1,7 @@
 type: clusters
 name: slow
+labels:
+  team: shop
 body:
   name: slow
   type: EDS
@@ -7,4 +9,4 @@
     eds_config:
       ads: {}
       resource_api_version: V3
-  connect_timeout: "1s"
+  connect_timeout: "5s"
`, deref(p.Resources[1].Diff)); d != "" {
		t.Error(d)
	}
	changes, _ := json.Marshal(p.Resources[1].Changes)
	if want := `[{"after":{"team":"shop"},"op":"add","pointer":"/labels"},{"after":"5s","before":"1s","op":"replace","pointer":"/body/connect_timeout"}]`; string(changes) != want {
		t.Errorf("changes %s", changes)
	}
	if d := deref(p.Resources[2].Diff); d != "--- /dev/null\n+++ clusters/new (planned)\n@@ -0,0 +1,4 @@\n+type: clusters\n+name: new\n+body:\n+  name: new\n" {
		t.Error(d)
	}
	if d := deref(p.Resources[3].Diff); !strings.HasPrefix(d, "--- clusters/old (revision 1)\n+++ /dev/null\n@@ -1,10 +0,0 @@\n-type: clusters\n") {
		t.Error(d)
	}
	if p.Resources[0].Diff != nil || p.Resources[0].Changes != nil || p.Resources[4].Diff != nil {
		t.Error("what is unchanged has a difference")
	}
	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), withMember(body, "plan", p.Token)).is(200, &out)
	if out.Revision != 3 || out.Changed != 3 {
		t.Errorf("applied: %+v", out)
	}
	if p = w.plan(body); p.Counts != (oapi.PlanCounts{Unchanged: 5}) {
		t.Errorf("planned again: %+v", p)
	}
}

func TestWhatIsAppliedIsWhatWasPlanned(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.put("gone")
	body := strings.TrimSuffix(applyOf(named("clusters", "a", clusterWith("a", "2s")), named("clusters", "new", cluster("new"))), "}") + `, "delete": [{"type": "clusters", "name": "gone"}]}`
	p := w.plan(body)
	planned := withMember(body, "plan", p.Token)
	w.put("elsewhere") // 3: in nobody's way
	w.plan(planned)

	apply := func(body string) answer { w.t.Helper(); return w.do(http.MethodPost, w.at("apply"), body) }
	other := applyOf(named("clusters", "a", clusterWith("a", "3s")))
	notPlanned := func(a answer) {
		t.Helper()
		if p := a.isProblem(412, "precondition_failed", "/plan"); (*p.Errors)[0].Code != "other_content" {
			t.Errorf("%+v", *p.Errors)
		}
	}
	notPlanned(apply(withMember(other, "plan", p.Token)))
	notPlanned(w.do(http.MethodPost, w.at("plan"), withMember(other, "plan", p.Token)))
	notPlanned(apply(withMember(applyOf(named("clusters", "a", clusterWith("a", "2s")), named("clusters", "new", cluster("new"))), "plan", p.Token))) // without the deletion
	second := w.newFleet(w.tenant, "second")
	notPlanned(w.do(http.MethodPost, strings.Replace(w.at("apply"), "/edge", "/"+second.Name, 1), planned))
	for _, bad := range []string{"", "x", "plan-", "plan-AAAA", p.Token + "A", strings.Replace(p.Token, "plan-AQ", "plan-Ag", 1)} {
		for _, member := range []string{"plan", "confirm"} {
			apply(withMember(body, member, bad)).isProblem(422, "invalid_resource", "/"+member)
		}
	}
	apply(withMember(body, "plan", 1)).isProblem(422, "invalid_resource", "/plan")

	// Somebody else changes one, deletes one and makes one.
	ci := "Bearer " + w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleCI, Fleet: &w.fleet.ID, Name: "pipeline"})
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "9s")), "Authorization", ci).isWritten(nil) // 4
	w.do(http.MethodDelete, w.at("resources", "clusters", "gone"), "", "Authorization", ci).is(200, nil)                             // 5
	w.do(http.MethodPut, w.at("resources", "clusters", "new"), asDocument(cluster("new")), "Authorization", ci).isWritten(nil)       // 6
	for _, path := range []string{"apply", "plan"} {
		problem := w.do(http.MethodPost, w.at(path), planned).isProblem(412, "precondition_failed", "/delete/0")
		var told []string
		for _, f := range deref(problem.Errors) {
			told = append(told, fmt.Sprintf("%s %s %d %s", *f.Pointer, f.Code, f.LastChange.Revision, f.LastChange.Actor))
			if since := time.Since(f.LastChange.At); since < 0 || since > time.Minute || !strings.Contains(f.Detail, `by "pipeline" in revision`) {
				t.Errorf("%s: %+v", path, f)
			}
		}
		if d := cmp.Diff([]string{"/resources/0 changed 4 pipeline", "/resources/1 changed 6 pipeline", "/delete/0 changed 5 pipeline"}, told); d != "" {
			t.Error(path, d)
		}
	}
	if now := w.plan(body); now.Token == p.Token || now.Revision != 6 || now.Counts != (oapi.PlanCounts{Update: 1, Unchanged: 2}) {
		t.Errorf("planned anew: %+v", now)
	}
}

// A plan of before the tombstones that are kept does not know what was deleted since: it is too old, whatever it is of.
func TestAPlanOfBeforeTheTombstonesIsTooOld(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	body := applyOf(named("clusters", "new", cluster("new")))
	p := w.plan(body)
	w.put("b")
	super := w.db.Connect(t, w.db.Owner)
	defer func() { _ = super.Close(context.WithoutCancel(t.Context())) }()
	_, err := super.Exec(t.Context(), `UPDATE fleet_heads SET compacted = 2 WHERE fleet_id = $1`, w.fleet.ID.String())
	must(t, err)
	q := w.do(http.MethodPost, w.at("apply"), withMember(body, "plan", p.Token)).isProblem(412, "precondition_failed", "/plan")
	if (*q.Errors)[0].Code != "too_old" {
		t.Errorf("%+v", *q.Errors)
	}
	w.do(http.MethodPost, w.at("apply"), withMember(body, "plan", w.plan(body).Token)).is(200, nil)
}

// A repeat of an apply gets the first one's answer, although what was planned is not there
// any more: the first one has changed it.
func TestARepeatOfAPlannedApplyIsAnswered(t *testing.T) {
	t.Parallel()
	w := setup(t)
	body := applyOf(named("clusters", "a", cluster("a")))
	body = withMember(withMember(body, "plan", w.plan(body).Token), "expected_revision", 0)
	var out [2]oapi.WriteResult
	for i := range out {
		w.do(http.MethodPost, w.at("apply"), body, "Idempotency-Key", "deploy").is(200, &out[i])
	}
	if out[0].Revision != 1 || out[1].Revision != 1 {
		t.Errorf("%+v", out)
	}
	w.do(http.MethodPost, w.at("apply"), body).is(412, nil)
	for i := range out {
		w.do(http.MethodPost, w.at("rollback"), `{"revision": 1, "expected_revision": 1}`, "Idempotency-Key", "back").is(200, &out[i])
	}
	w.put("b")
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1, "expected_revision": 1}`, "Idempotency-Key", "back").is(200, nil)
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1, "expected_revision": 1}`, "Idempotency-Key", "back2").is(412, nil)
}

func TestWhoMovedTheFleetIsTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	body := applyOf(named("clusters", "a", cluster("a")))
	stale := withMember(body, "expected_revision", 3)
	if p := w.do(http.MethodPost, w.at("apply"), stale).isProblem(412, "precondition_failed", "/expected_revision"); p.Newest != nil || !strings.Contains(*p.Detail, "no revision yet") {
		t.Errorf("of an empty fleet: %+v", p)
	}
	w.do(http.MethodPost, w.at("apply"), withMember(withMember(body, "expected_revision", 0), "message", "first")).is(200, nil)
	w.put("b")
	for path, body := range map[string]string{"apply": stale, "plan": stale, "rollback": `{"revision": 1, "expected_revision": 3}`} {
		p := w.do(http.MethodPost, w.at(path), body).isProblem(412, "precondition_failed", "/expected_revision")
		if n := p.Newest; n == nil || n.Revision != 2 || *n.Actor != "owner" || n.Kind != "put" || n.CommittedAt.IsZero() || !strings.Contains(*p.Detail, `revision 2, made by "owner" at 2`) {
			t.Errorf("%s: %+v", path, p)
		}
	}
	w.do(http.MethodPost, w.at("apply"), withMember(body, "expected_revision", -1)).isProblem(422, "invalid_resource", "/expected_revision")
	w.do(http.MethodPost, w.at("apply"), withMember(body, "expected_revision", "2")).isProblem(422, "invalid_resource", "/expected_revision")
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1, "expected_revision": 2}`).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), withMember(body, "expected_revision", 3)).is(200, nil)

	path := w.at("resources", "clusters", "a")
	for headers, verb := range map[[2]string]string{{"If-Match", `"9-00000000"`}: "changed", {"If-None-Match", "*"}: "changed"} {
		p := w.do(http.MethodPut, path, asDocument(cluster("a")), headers[:]...).isProblem(412, "precondition_failed", "?"+headers[0])
		if c := (*p.Errors)[0].LastChange; c == nil || c.Revision != 1 || c.Actor != "owner" || !strings.Contains(*p.Detail, "clusters/a was "+verb) {
			t.Errorf("%v: %+v", headers, p)
		}
	}
	tag := w.do(http.MethodGet, path, "").header.Get("ETag")
	for _, bad := range []string{" ", "banana", "W/" + tag, tag + ", " + tag, strings.TrimSuffix(tag, `"`) + `0"`} {
		w.do(http.MethodPut, path, asDocument(clusterWith("a", "9s")), "If-Match", bad).isProblem(400, "invalid_request", "?If-Match")
		w.do(http.MethodDelete, path, "", "If-Match", bad).isProblem(400, "invalid_request", "?If-Match")
	}
	w.do(http.MethodDelete, path, "", "If-Match", strings.Trim(tag, `"`)).is(200, nil) // as a document may have it
	if p := w.do(http.MethodPut, path, asDocument(cluster("a")), "If-Match", tag).isProblem(412, "precondition_failed", "?If-Match"); !strings.Contains(*p.Detail, "clusters/a was deleted by") {
		t.Errorf("deleted: %+v", p)
	}
	if p := w.do(http.MethodPut, w.at("resources", "clusters", "never"), asDocument(cluster("never")), "If-Match", "*").isProblem(412, "precondition_failed", "?If-Match"); *p.Detail != "clusters/never does not exist" {
		t.Errorf("never there: %+v", p)
	}
}

// What an apply is refused its plan is refused, with the same words, and with the same role.
func TestAPlanIsRefusedAsItsApply(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	two := int64(2)
	must(t, w.store.SetLimits(t.Context(), w.tenant.ID, tester, map[store.LimitName]*int64{store.LimitResources: &two}))
	_, err := w.store.UpdateFleet(t.Context(), w.tenant.ID, tester, w.fleet.ID, store.FleetSettings{References: fleet.ReferencesStrict})
	must(t, err)
	ci := "Bearer " + w.token(w.tenant, auth.RoleCI, &w.fleet.ID)
	for name, c := range map[string]struct{ body, token, where, code string }{
		"a bad field":      {body: applyOf(named("clusters", "a", `{"name": "a", "x": 1}`)), where: "/resources/0/body/x", code: "invalid_resource"},
		"no YAML":          {body: "{", code: "invalid_document"},
		"a limit":          {body: applyOf(named("clusters", "b", cluster("b")), named("clusters", "c", cluster("c"))), code: "limit_reached"},
		"a reference":      {body: applyOf(named("listeners", "l", listener("l", "r"))), where: "/resources/0/body" + routeField, code: "missing_reference"},
		"a guard rule":     {body: applyOf(guardCases(t)[0].document()), token: ci, code: "guarded"},
		"a secret":         {body: applyOf(named("secrets", "s", `{"name": "s", "generic_secret": {"secret": {"inline_string": "x"}}}`)), token: ci, code: "forbidden"},
		"a viewer":         {body: applyOf(named("clusters", "a", cluster("a"))), token: "Bearer " + w.token(w.tenant, auth.RoleViewer, nil), code: "forbidden"},
		"named twice":      {body: applyOf(named("clusters", "a", cluster("a")), named("clusters", "a", cluster("a"))), where: "/resources/1", code: "invalid_resource"},
		"an unknown field": {body: withMember(applyOf(), "prune", true), where: "/prune", code: "invalid_resource"},
	} {
		if c.token == "" {
			c.token = "Bearer " + w.owner
		}
		before := w.everything()
		planned := w.do(http.MethodPost, w.at("plan"), c.body, "Authorization", c.token)
		applied := w.do(http.MethodPost, w.at("apply"), c.body, "Authorization", c.token)
		if planned.status < 400 || withoutID(planned) != withoutID(applied) {
			t.Errorf("%s: the plan is\n%s\nand the apply\n%s", name, withoutID(planned), withoutID(applied))
		}
		planned.isProblem(planned.status, c.code, c.where)
		if w.everything() != before {
			t.Errorf("%s: something was written", name)
		}
	}
}

// What is stored already may stand in the plan of who may not write it.
func TestAPlanOfWhatIsGuardedAndThere(t *testing.T) {
	t.Parallel()
	w := setup(t)
	doc := guardCases(t)[0].document()
	w.do(http.MethodPost, w.at("apply"), applyOf(doc)).is(200, nil)
	ci := "Bearer " + w.token(w.tenant, auth.RoleCI, &w.fleet.ID)
	body := applyOf(doc, named("clusters", "new", cluster("new")))
	p := w.plan(body, "Authorization", ci)
	if p.Counts != (oapi.PlanCounts{Create: 1, Unchanged: 1}) {
		t.Errorf("%+v", p.Counts)
	}
	w.do(http.MethodPost, w.at("apply"), withMember(body, "plan", p.Token), "Authorization", ci).is(200, nil)
}

func TestAPlanWarnsAsItsApply(t *testing.T) {
	t.Parallel()
	w := setup(t)
	two := func(name, variant, selector string) string {
		return fmt.Sprintf(`{"type": "clusters", "name": %q, "variant": %q, "selector": %q, "body": %s}`, name, variant, selector, cluster(name))
	}
	w.do(http.MethodPost, w.at("apply"), applyOf(two("a", "there", "node.cluster=x"), two("b", "moved", "node.cluster=x"))).is(200, nil)
	body := applyOf(named("listeners", "l", listener("l", "nowhere")), two("a", "eu", "locality.region=eu"), two("b", "moved", "locality.region=eu"), two("c", "one", "locality.region=eu"), two("c", "two", "locality.region=eu"),
		`{"type": "routes", "name": "r", "ttl": "30s", "body": {"name": "r"}}`)
	p := w.plan(body)
	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), body).is(200, &out)
	if d := cmp.Diff(deref(out.Warnings), deref(p.Warnings)); d != "" || len(deref(p.Warnings)) != 1 {
		t.Errorf("%d warnings: %s", len(deref(p.Warnings)), d)
	}
	got := each(p.Findings.Items, func(f oapi.Finding) string { return fmt.Sprintf("%s %s/%s %s", f.Code, f.Type, f.Name, deref(f.At)) })
	want := []string{
		"missing_reference listeners/l /resources/0/body" + routeField, "missing_reference clusters/a /resources/1/body/name", "variant_tie clusters/a /resources/1",
		"missing_reference clusters/b /resources/2/body/name", "missing_reference clusters/c /resources/3/body/name", "missing_reference clusters/c /resources/4/body/name",
		"variant_tie clusters/c /resources/4/priority",
	}
	if d := cmp.Diff(want, got); d != "" || p.Findings.Errors != 1 {
		t.Error(d)
	}
	if d := cmp.Diff(out.Findings, p.Findings); d != "" {
		t.Error("the apply and its plan:", d)
	}
}

// T27: a difference holds nothing of a secret, of neither side, and says that it is not all.
func TestT27_NoKeyInADifference(t *testing.T) {
	t.Parallel()
	w := setup(t)
	cert, key := pair(t)
	secret := func(value string) string {
		return named("secrets", "s", `{"name": "s", "generic_secret": {"secret": {"inline_string": `+quoted(value)+`}}}`)
	}
	tls := named("secrets", "tls", `{"name": "tls", "tls_certificate": {"certificate_chain": {"inline_string": `+quoted(cert)+`}, "private_key": {"inline_string": `+quoted(key)+`}}}`)
	first := applyOf(secret(canary), tls)
	var seen strings.Builder
	look := func(body string, counts oapi.PlanCounts) []oapi.PlannedResource {
		t.Helper()
		a := w.do(http.MethodPost, w.at("plan"), body)
		seen.Write(a.body)
		var p oapi.Plan
		if a.is(200, &p); p.Counts != counts {
			t.Errorf("%+v, want %+v", p.Counts, counts)
		}
		return p.Resources
	}
	rs := look(first, oapi.PlanCounts{Create: 2})
	if !deref(rs[0].Hidden) || !strings.Contains(deref(rs[1].Diff), "+  subject: \"CN=shop.example\"\n") {
		t.Errorf("%+v", rs)
	}
	w.do(http.MethodPost, w.at("apply"), first).is(200, nil)
	look(first, oapi.PlanCounts{Unchanged: 2})
	rs = look(applyOf(secret(canary+"-new")), oapi.PlanCounts{Update: 1})
	if d := deref(rs[0].Diff); !deref(rs[0].Hidden) || !strings.Contains(d, "-version: ") || !strings.Contains(d, `+version: "(another)"`) || strings.Contains(d, "fingerprint") {
		t.Errorf("%+v", rs)
	}
	// The same certificate and key, with something else beside: what may be shown is the same, and the versions tell.
	rs = look(applyOf(strings.Replace(tls, `"private_key"`, `"ocsp_staple": {"inline_bytes": "AAAA"}, "private_key"`, 1)), oapi.PlanCounts{Update: 1})
	if d := deref(rs[0].Diff); !deref(rs[0].Hidden) || !strings.Contains(d, "-version: ") || !strings.Contains(d, `+version: "(another)"`) {
		t.Errorf("%+v: %s", rs[0], d)
	}
	look(`{"delete": [{"type": "secrets", "name": "s"}, {"type": "secrets", "name": "tls"}]}`, oapi.PlanCounts{Delete: 2})
	for _, secret := range []string{canary, key} {
		for _, trace := range tracesLeft(secret) {
			if text := seen.String() + w.logs.String(); strings.Contains(text, trace) || strings.Contains(text, strings.Trim(quoted(trace), `"`)) {
				t.Errorf("a plan shows %.40q", trace)
			}
		}
	}
}

// Of two who read a resource, edit it and write it, the second is told of the first.
func TestWhatWasReadIsWrittenOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	path := w.at("resources", "clusters", "a")
	read := string(w.do(http.MethodGet, path, "").body)
	if !strings.Contains(read, `"revision":1`) {
		t.Fatal(read)
	}
	mine, theirs := strings.Replace(read, `"1s"`, `"2s"`, 1), strings.Replace(read, `"1s"`, `"3s"`, 1)
	w.do(http.MethodPut, path, theirs).isWritten(nil)
	told := func(a answer, where string) {
		t.Helper()
		p := a.isProblem(412, "precondition_failed", where)
		if f := (*p.Errors)[0]; f.LastChange == nil || f.LastChange.Revision != 2 || f.LastChange.Actor != "owner" || a.header.Get("ETag") == "" {
			t.Errorf("%s", a.body)
		}
	}
	told(w.do(http.MethodPut, path, mine), "/revision")
	told(w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "b", cluster("b")), mine)), "/resources/1/revision")
	told(w.do(http.MethodPost, w.at("plan"), applyOf(mine)), "/resources/0/revision")
	w.do(http.MethodPut, path, theirs).isWritten(nil) // it is what is there
	w.do(http.MethodPut, path, strings.Replace(mine, `"revision":1`, `"revision":2`, 1)).isProblem(412, "precondition_failed", "/etag")
	var now oapi.Resource
	w.do(http.MethodGet, path, "").is(200, &now)
	tags := func(tag string) string { b, _ := json.Marshal(tag); return `"etag":` + string(b) }
	var before oapi.Resource
	must(t, json.Unmarshal([]byte(read), &before))
	mine = strings.Replace(mine, tags(before.Etag), tags(now.Etag), 1)
	told(w.do(http.MethodPut, path, mine), "/revision")
	w.do(http.MethodPut, path, strings.Replace(mine, `"revision":1`, `"revision":2`, 1)).isWritten(nil)
	w.do(http.MethodPut, path, strings.Replace(mine, `"revision":1`, `"revision":"2"`, 1)).isProblem(422, "invalid_resource", "/revision")
	w.do(http.MethodPut, path, strings.Replace(mine, tags(now.Etag), `"etag":"x"`, 1)).isProblem(422, "invalid_resource", "/etag")
}
