package httpapi

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
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
	w.api.denied.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
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
	ahead.Store(int64(denialsTold - time.Minute))
	for range 50 {
		w.do(http.MethodDelete, w.at(), "", viewer...).isProblem(403, "forbidden", "")
	}
	if es := w.deniedOf(false); len(es) != 2 {
		t.Errorf("within the hour: %d events", len(es))
	}
	ahead.Store(int64(denialsTold + time.Minute))
	if es := w.deniedOf(false); len(es) != 3 || (*es[0].Detail)["attempts"] != 50.0 {
		t.Errorf("after the hour: %+v", es)
	}
	if len(w.api.denied.all) != 0 || len(w.api.denied.of) != 0 {
		t.Errorf("after the hour %v is kept", w.api.denied.all)
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

// Whatever is denied, there is a bound on what is kept of it, of one tenant and of all.
func TestDenialsAreBounded(t *testing.T) {
	t.Parallel()
	d := newDenials(time.Now)
	loud := fleet.NewTenantID()
	for i := range 2 * mostDenialsOf {
		d.add(denialKey{tenant: loud, operation: fmt.Sprint(i), code: "forbidden"}, store.Actor{Name: "loud"}, fleet.ID{})
	}
	due, lost := d.due(false)
	var attempts int64
	for _, x := range due[loud] {
		attempts += x.Attempts
	}
	if len(due[loud]) != mostDenialsOf || attempts != 2*mostDenialsOf || lost != 0 {
		t.Errorf("%d events of %d attempts, %d lost", len(due[loud]), attempts, lost)
	}
	for range mostDenials {
		d.add(denialKey{tenant: fleet.NewTenantID(), operation: "x", code: "forbidden"}, store.Actor{}, fleet.ID{})
	}
	if _, lost := d.due(false); len(d.all) != mostDenials || lost != mostDenialsOf {
		t.Errorf("%d are kept, %d lost", len(d.all), lost)
	}
}
