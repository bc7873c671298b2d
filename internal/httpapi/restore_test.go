package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func TestADeletedFleetIsRestored(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	fleets, edge := "/v1/tenants/acme/fleets", w.at()
	list := func(query string) (out oapi.FleetList) {
		w.t.Helper()
		w.do(http.MethodGet, fleets+query, "").is(200, &out)
		return out
	}
	restore := func(path string) answer {
		w.t.Helper()
		return w.do(http.MethodPost, path, "")
	}
	restore(edge+"/restore").isProblem(409, "not_deleted", "")
	w.do(http.MethodDelete, edge, "").is(204, nil)
	if l := list(""); len(l.Items) != 0 {
		t.Errorf("%+v", l)
	}
	first := list("?state=deleted").Items
	if len(first) != 1 || first[0].Name != "edge" || first[0].DeletedAt == nil || first[0].Id != w.fleet.ID.String() {
		t.Fatalf("%+v", first)
	}
	var f oapi.Fleet
	restore(edge+"/restore").is(200, &f)
	if f.Id != w.fleet.ID.String() || f.Revision != 1 || f.DeletedAt != nil {
		t.Errorf("%+v", f)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, nil)
	w.put("b")

	// Where the name is taken the answer says what to do.
	w.do(http.MethodDelete, edge, "").is(204, nil)
	second := w.newFleet(w.tenant, "edge")
	p := restore(edge+"/restore").isProblem(409, "already_exists", "")
	if want := "delete that one and restore this one with id=" + w.fleet.ID.String(); !strings.Contains(deref(p.Detail), want) {
		t.Errorf("%s", deref(p.Detail))
	}
	w.do(http.MethodDelete, edge, "").is(204, nil)
	l := list("?state=deleted&limit=1")
	if len(l.Items) != 1 || l.NextCursor == nil {
		t.Fatalf("%+v", l)
	}
	rest := list("?state=deleted&limit=1&cursor=" + *l.NextCursor)
	if len(rest.Items) != 1 || rest.Items[0].Id == l.Items[0].Id || rest.NextCursor != nil {
		t.Errorf("%+v", rest)
	}
	if l = list("?state=deleted&prefix=x"); len(l.Items) != 0 {
		t.Errorf("%+v", l)
	}
	restore(edge+"/restore?id="+w.fleet.ID.String()).is(200, &f)
	if f.Id != w.fleet.ID.String() || f.Revision != 2 {
		t.Errorf("%+v", f)
	}
	restore(edge+"/restore?id="+second.ID.String()).isProblem(409, "already_exists", "")
	restore(edge+"/restore?id="+fleet.NewID().String()).isProblem(409, "not_deleted", "")
	restore(edge+"/restore?id=x").isProblem(400, "invalid_request", "?id")
	if p := restore(fleets+"/nobody/restore").isProblem(404, "not_found", ""); *p.Missing != oapi.MissingFleet || !strings.Contains(*p.Detail, "state=deleted") {
		t.Errorf("%+v", p)
	}
	w.do(http.MethodGet, fleets+"?state=live", "").isProblem(400, "invalid_request", "?state")
}

func TestADeletedTenantIsRestored(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := "Bearer " + w.operator()
	as := func(method, path string) answer {
		w.t.Helper()
		return w.do(method, path, "", "Authorization", operator)
	}
	w.put("a")
	before := w.newFleet(w.tenant, "before")
	must(t, w.store.DeleteFleet(t.Context(), w.tenant.ID, tester, before.ID))
	tenant := "/v1/tenants/acme"
	as(http.MethodPost, tenant+"/restore").isProblem(409, "not_deleted", "")
	var list oapi.TenantList
	as(http.MethodDelete, tenant).is(204, nil)
	as(http.MethodGet, "/v1/tenants?state=deleted").is(200, &list)
	if len(list.Items) != 1 || list.Items[0].Slug != "acme" || list.Items[0].DeletedAt == nil {
		t.Errorf("%+v", list)
	}
	var back oapi.Tenant
	as(http.MethodPost, tenant+"/restore").is(200, &back)
	if back.Id != w.tenant.ID.String() || back.DeletedAt != nil {
		t.Errorf("%+v", back)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, nil) // by the token of before
	w.do(http.MethodGet, tenant+"/fleets/before", "").isProblem(404, "not_found", "")
	w.do(http.MethodGet, "/v1/tenants?state=deleted", "").is(200, &list)
	if len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
	if p := as(http.MethodPost, "/v1/tenants/nobody/restore").isProblem(404, "not_found", ""); *p.Missing != oapi.MissingTenant {
		t.Errorf("%+v", p)
	}
}

func TestTheDeletionOfATenantWithNodesIsConfirmed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.settledNode(w.fleet.ID, "n", 1)
	w.settledNode(w.newFleet(w.tenant, "other").ID, "n", 0)
	gone := w.newFleet(w.tenant, "gone")
	w.settledNode(gone.ID, "n", 0)
	must(t, w.store.DeleteFleet(t.Context(), w.tenant.ID, tester, gone.ID))
	why, token := w.do(http.MethodDelete, "/v1/tenants/acme", "").asks()
	if len(why) != 1 || why[0] != "live_nodes  2/0/0 2 nodes are connected: the streams end, and the proxies go on with what they have" {
		t.Errorf("%v", why)
	}
	_, ofFleet := w.do(http.MethodDelete, w.at(), "").asks()
	w.do(http.MethodDelete, "/v1/tenants/acme?confirm="+ofFleet, "").isProblem(412, "precondition_failed", "?confirm")
	w.do(http.MethodDelete, "/v1/tenants/acme?confirm="+token, "").is(204, nil)
}
