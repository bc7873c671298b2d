package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

// What is not there is named, to whoever may see the fleet.
func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	for _, c := range []struct {
		method, path, body, names string
		missing                   oapi.Missing
	}{
		{http.MethodPost, w.at("rollback"), `{"revision": 77}`, "no revision 77", oapi.MissingRevision},
		{http.MethodGet, w.at("revisions", "77"), "", "no revision 77", oapi.MissingRevision},
		{http.MethodGet, w.at("revisions", "77", "receipt"), "", "no revision 77", oapi.MissingRevision},
		{http.MethodGet, w.at("resources", "clusters", "b"), "", `no clusters "b"`, oapi.MissingResource},
		{http.MethodGet, w.at("resources", "clusters", "a") + "?variant=eu", "", `no clusters "a" with the variant "eu"`, oapi.MissingResource},
		{http.MethodGet, w.at("resources", "endpoints", "b"), "", `no endpoints "b"; "fairlead endpoints list b" has those that are kept as data`, oapi.MissingResource},
		{http.MethodGet, w.at("nodes", "n"), "", "forget_nodes_after", oapi.MissingNode},
		{http.MethodGet, "/v1/tenants/nobody/fleets/edge/nodes", "", "no tenant", oapi.MissingTenant},
		{http.MethodGet, "/v1/tenants/" + w.tenant.Slug + "/fleets/nothing/nodes", "", "no fleet", oapi.MissingFleet},
		{http.MethodDelete, "/v1/tenants/acme/tokens/01936f5e-8c1b-7d2a-9f00-4a5b6c7d8e9f", "", "no token", oapi.MissingToken},
		{http.MethodDelete, "/v1/tenants/acme/tokens/x", "", "no token", oapi.MissingToken},
		{http.MethodPost, "/v1/tenants/acme/tokens/01936f5e-8c1b-7d2a-9f00-4a5b6c7d8e9f/hand-over", "", "no token", oapi.MissingToken},
		{http.MethodDelete, w.at("credentials", "01936f5e-8c1b-7d2a-9f00-4a5b6c7d8e9f"), "", "no credential", oapi.MissingCredential},
		{http.MethodDelete, w.at("credentials", "x"), "", "no credential", oapi.MissingCredential},
		{http.MethodGet, "/v1/nothing", "", "no such path", oapi.MissingPath},
	} {
		p := w.do(c.method, c.path, c.body).isProblem(404, "not_found", "")
		if p.Detail == nil || !strings.Contains(*p.Detail, c.names) || deref(p.Missing) != c.missing {
			t.Errorf("%s %s: %+v, want it to name %s", c.method, c.path, p, c.names)
		}
	}
}
