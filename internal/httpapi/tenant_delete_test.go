package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/auth"
)

func TestADeletedTenantIsNotThere(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := w.operator()
	viewer := w.token(w.tenant, auth.RoleViewer, nil)
	tenant := "/v1/tenants/" + w.tenant.Slug
	as := func(token, method, path string) answer {
		return w.do(method, path, "", "Authorization", "Bearer "+token)
	}
	as(operator, http.MethodDelete, tenant).is(204, nil)
	for _, token := range []string{w.owner, viewer} {
		for _, path := range []string{"/v1/whoami", "/v1/tenants", tenant, w.at("resources")} {
			as(token, http.MethodGet, path).isProblem(401, "unauthenticated", "")
		}
	}
	gone, nowhere := as(operator, http.MethodGet, tenant), as(operator, http.MethodGet, "/v1/tenants/nobody")
	gone.isProblem(404, "not_found", "")
	if withoutID(gone) != withoutID(nowhere) {
		t.Errorf("gone %s, nowhere %s", withoutID(gone), withoutID(nowhere))
	}
	as(operator, http.MethodDelete, tenant).isProblem(404, "not_found", "")
	a := w.do(http.MethodPost, "/v1/tenants", `{"slug": "`+w.tenant.Slug+`"}`, "Authorization", "Bearer "+operator)
	if a.isProblem(409, "already_exists", ""); !strings.Contains(string(a.body), "deleted less than 30 days ago") {
		t.Errorf("nothing says why a slug that leads nowhere is taken: %s", a.body)
	}
}
