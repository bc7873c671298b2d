package httpapi

import (
	"net/http"
	"net/url"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

// nasty are names that a router, a decoder or a database can get wrong.
var nasty = []string{
	"a/b", "100%", "a%2Fb", "a%252Fb", "a b", ".", "..", "../..", "+", ";", "a;b=c", "?", "#", "a&b", "a,b", "a=b", "[x]", "{name}", "*", "~", ":",
	"ü", "日本", "e\u0301", "\u00e9", "\u200b", "🚢", `"quoted"`, `back\slash`, "'", "%", "%%", "%zz", "tab\there", "grpc/server?xds.resource.listening_address=0.0.0.0:50051",
	"xdstp://authority/envoy.config.cluster.v3.Cluster/a?b=c", "apply", "receipt", " lead", "trail ",
}

func TestNamesOfResourcesMaySayAnything(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, name := range nasty {
		path := w.at("resources", "clusters", name)
		var out oapi.WriteResult
		w.do(http.MethodPut, path, asDocument(cluster(name))).isWritten(&out)
		if out.Changed != 1 || out.Resources[0].Name != name {
			t.Errorf("%q was written as %+v", name, out)
		}
		var got oapi.Resource
		w.do(http.MethodGet, path, "").is(200, &got)
		if got.Name != name {
			t.Errorf("%q was read as %q", name, got.Name)
		}
	}
	for _, name := range nasty {
		w.do(http.MethodDelete, w.at("resources", "clusters", name), "").is(200, nil)
		w.do(http.MethodGet, w.at("resources", "clusters", name), "").is(404, nil)
	}
	var left oapi.ResourceList
	w.do(http.MethodGet, w.at("resources"), "").is(200, &left)
	if len(left.Items) != 0 {
		t.Errorf("%d are left", len(left.Items))
	}
}

func TestNamesOfNodesMaySayAnything(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, name := range nasty {
		w.settledNode(w.fleet.ID, name, 0)
		var got oapi.Node
		w.do(http.MethodGet, w.at("nodes", name), "").is(200, &got)
		if got.Id != name || got.State != oapi.NodeStateLive {
			t.Errorf("%q was read as %+v", name, got)
		}
		if conf := w.nodeConfig(name, ""); conf.Node != name {
			t.Errorf("the configuration of %q is %+v", name, conf)
		}
	}
}

func TestNamesOfTenantsFleetsAndCredentialsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodGet, "/v1/tenants/%61cme/fleets/%65dge", "").is(200, nil)
	w.do(http.MethodGet, "/v1/tenants/%2561cme", "").isProblem(404, "not_found", "")
	for _, name := range nasty {
		q := url.PathEscape(name)
		for _, path := range []string{"/v1/tenants/" + q, "/v1/tenants/acme/fleets/" + q, "/v1/tenants/acme/fleets/" + q + "/resources"} {
			w.do(http.MethodGet, path, "").isProblem(404, "not_found", "")
		}
		w.do(http.MethodDelete, "/v1/tenants/acme/tokens/"+q, "").isProblem(404, "not_found", "")
		w.do(http.MethodDelete, w.at("credentials", name), "").isProblem(404, "not_found", "")
		w.do(http.MethodGet, w.at("resources", name), "").isProblem(400, "invalid_request", "?type")
	}
}

func TestVariantIsDecodedOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.do(http.MethodGet, w.at("resources", "clusters", "a")+"?variant=", "").is(200, nil)
	for _, name := range nasty {
		w.do(http.MethodGet, w.at("resources", "clusters", "a")+"?variant="+url.QueryEscape(name), "").isProblem(404, "not_found", "")
	}
}
