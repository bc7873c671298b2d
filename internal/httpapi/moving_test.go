package httpapi

import (
	"net/http"
	"testing"

	"fairlead/internal/auth"
)

// TestATenantThatIsMovingIsTold: its writes are to be repeated at once, by whichever way they come; what is read is answered.
func TestATenantThatIsMovingIsTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.db.Exec(t, `UPDATE tenants SET place = 'leaving' WHERE id = $1`, w.tenant.ID.String())
	for _, a := range []answer{
		w.do(http.MethodPut, w.at("resources", "clusters", "b"), asDocument(cluster("b"))),
		w.do(http.MethodDelete, w.at("resources", "clusters", "a"), ""),
		w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"role": "viewer", "name": "reader"}`),
	} {
		a.isProblem(503, "tenant_moving", "")
		if a.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %s", a.header.Get("Retry-After"))
		}
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, nil)
}

// TestASignInBesideATenantThatIsMoving: the session whose cookie came along cannot be ended now, and keeps nobody from signing in to another tenant.
func TestASignInBesideATenantThatIsMoving(t *testing.T) {
	t.Parallel()
	w := setup(t)
	old := w.signedIn(w.owner)
	other := w.token(w.newTenant("initech"), auth.RoleOwner, nil)
	w.db.Exec(t, `UPDATE tenants SET place = 'leaving' WHERE id = $1`, w.tenant.ID.String())
	w.do(http.MethodPost, "/v1/session", `{"token": "`+other+`"}`, old.headers()...).is(204, nil)
	old.whoami()
}
