package httpapi

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
)

// deniedOf are the tenant's events of denied requests, newest first, after all are written.
func (w *world) deniedOf(end bool) []oapi.AuditEvent {
	w.t.Helper()
	must(w.t, w.api.RecordDenials(w.t.Context(), end))
	var list oapi.AuditList
	w.do(http.MethodGet, "/v1/tenants/"+w.tenant.Slug+"/audit?kind=access.denied", "").is(200, &list)
	return list.Items
}

func TestDeniedRequestsAreInTheAudit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	viewer := []string{"Authorization", "Bearer " + w.token(w.tenant, auth.RoleViewer, nil)}
	var ahead atomic.Int64
	w.api.denied.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	for range 3 {
		w.do(http.MethodDelete, w.at(), "", viewer...).isProblem(403, "forbidden", "")
	}
	w.do(http.MethodPost, "/v1/tenants", `{"slug": "mine"}`, viewer...).isProblem(403, "forbidden", "")
	es := w.deniedOf(false)
	if len(es) != 2 {
		t.Fatalf("%+v", es)
	}
	if es[0].Object != "deleteFleet" {
		es[0], es[1] = es[1], es[0]
	}
	if e := es[0]; e.Object != "deleteFleet" || deref(e.Fleet) != "edge" || e.By.Name != "viewer" || e.By.Id == nil || deref(e.Address) != "127.0.0.1" || deref(e.RequestId) == "" ||
		(*e.Detail)["attempts"] != 3.0 || (*e.Detail)["code"] != "forbidden" {
		t.Errorf("%+v %v", e, *e.Detail)
	}
	if e := es[1]; e.Object != "createTenant" || e.Fleet != nil { // of no tenant's path: it stands in the token's own
		t.Errorf("%+v", e)
	}

	// A loop is a number, told when the hour is over.
	ahead.Store(int64(access.DenialsTold - time.Minute))
	for range 50 {
		w.do(http.MethodDelete, w.at(), "", viewer...).isProblem(403, "forbidden", "")
	}
	if es := w.deniedOf(false); len(es) != 2 {
		t.Errorf("within the hour: %d events", len(es))
	}
	ahead.Store(int64(access.DenialsTold + time.Minute))
	if es := w.deniedOf(false); len(es) != 3 || (*es[0].Detail)["attempts"] != 50.0 {
		t.Errorf("after the hour: %+v", es)
	}
	if n := w.api.denied.Len(); n != 0 {
		t.Errorf("after the hour %d are kept", n)
	}
	// A server that stops tells what it has.
	for range 2 {
		w.do(http.MethodDelete, w.at(), "", viewer...).isProblem(403, "forbidden", "")
		must(t, w.api.RecordDenials(t.Context(), false))
	}
	if es := w.deniedOf(true); len(es) != 5 {
		t.Errorf("at the end: %d events", len(es))
	}
}

func TestWhatIsNoDeniedAttempt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	core := w.newFleet(w.tenant, "core")
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	w.do(http.MethodDelete, w.at(), "", "Authorization", "Bearer "+unknown).isProblem(401, "unauthenticated", "")
	w.do(http.MethodGet, w.at(), "", "Authorization", "Bearer "+w.token(w.tenant, auth.RoleCI, &core.ID)).isProblem(404, "not_found", "")
	w.do(http.MethodDelete, w.at("credentials", "nothing"), "").isProblem(404, "not_found", "")
	if es := w.deniedOf(true); len(es) != 0 {
		t.Errorf("%+v", es)
	}
}

// A guard rule and a role of a token are refused in the handler.
func TestWhatAHandlerDeniesIsInTheAudit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	admin := "Bearer " + w.token(w.tenant, auth.RoleAdmin, nil)
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "owner"}`, "Authorization", admin).isProblem(403, "forbidden", "")
	if es := w.deniedOf(false); len(es) != 1 || es[0].Object != "createToken" || es[0].By.Name != "admin" {
		t.Errorf("%+v", es)
	}
}
