package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

func TestTopologyDrawsWhatNamesWhat(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, w.at("resources", "routes", "r"), `{"body": {"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [
		{"match": {"prefix": "/a"}, "route": {"cluster": "a"}}, {"match": {"prefix": "/"}, "route": {"cluster": "gone"}}]}]}}`).isWritten(nil)
	w.put("a") // of type EDS, without endpoints
	var got oapi.Topology
	edges := func(query string) (out []string) {
		t.Helper()
		got = oapi.Topology{}
		w.do(http.MethodGet, w.at("topology")+query, "").is(200, &got)
		for _, e := range got.Edges {
			from, to := got.Resources[e.From], got.Resources[e.To]
			out = append(out, fmt.Sprintf("%s/%s -> %s/%s %s", from.Type, from.Name, to.Type, to.Name, to.State))
		}
		slices.Sort(out)
		return out
	}
	all := []string{"clusters/a -> endpoints/a missing", "routes/r -> clusters/a stored", "routes/r -> clusters/gone missing"}
	if out := edges(""); !slices.Equal(out, all) || got.Revision != 2 || got.MoreResources != 0 {
		t.Errorf("%q, %+v", out, got)
	}
	w.do(http.MethodPatch, w.at(), `{"static_clusters": ["gone"]}`).is(200, nil)
	if out := edges("?type=clusters&name=gone"); !slices.Equal(out, []string{"routes/r -> clusters/gone bootstrap"}) || len(got.Resources) != 2 {
		t.Errorf("around it: %q, %+v", out, got)
	}
	if out := edges("?most=1"); len(out) != 0 || len(got.Resources) != 1 || got.MoreResources != 3 || got.MoreEdges != 3 {
		t.Errorf("%+v", got)
	}
	w.do(http.MethodGet, w.at("topology")+"?type=clusters", "").isProblem(400, "invalid_request", "?name")
	w.do(http.MethodGet, w.at("topology")+"?name=a", "").isProblem(400, "invalid_request", "?type")
	w.do(http.MethodGet, w.at("topology")+"?most=0", "").isProblem(400, "invalid_request", "?most")
	if p := w.do(http.MethodGet, w.at("topology")+"?type=clusters&name=none", "").isProblem(404, "not_found", ""); *p.Missing != oapi.MissingResource {
		t.Errorf("%+v", p)
	}
}
