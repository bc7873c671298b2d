package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// What is not there is named, to whoever may see the fleet.
func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	for _, c := range []struct{ method, path, body, names string }{
		{http.MethodPost, w.at("rollback"), `{"revision": 77}`, "no revision 77"},
		{http.MethodGet, w.at("revisions", "77"), "", "no revision 77"},
		{http.MethodGet, w.at("revisions", "77", "receipt"), "", "no revision 77"},
		{http.MethodGet, w.at("resources", "clusters", "b"), "", `no clusters "b"`},
		{http.MethodGet, w.at("resources", "clusters", "a") + "?variant=eu", "", `no clusters "a" with the variant "eu"`},
		{http.MethodGet, w.at("nodes", "n"), "", "forget_nodes_after"},
		{http.MethodGet, "/v1/tenants/nobody/fleets/edge/nodes", "", "no tenant"},
		{http.MethodGet, "/v1/tenants/" + w.tenant.Slug + "/fleets/nothing/nodes", "", "no fleet"},
	} {
		p := w.do(c.method, c.path, c.body).isProblem(404, "not_found", "")
		if p.Detail == nil || !strings.Contains(*p.Detail, c.names) {
			t.Errorf("%s %s: %+v, want it to name %s", c.method, c.path, p, c.names)
		}
	}
}
