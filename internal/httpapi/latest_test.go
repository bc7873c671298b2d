package httpapi

import (
	"net/http"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

func TestLatestIsARevision(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodGet, w.at("revisions", "latest"), "").isProblem(404, "not_found", "")
	w.put("a")
	w.put("b")
	var rev oapi.Revision
	var receipt oapi.Receipt
	w.do(http.MethodGet, w.at("revisions", "latest"), "").is(200, &rev)
	w.do(http.MethodGet, w.at("revisions", "latest", "receipt")+"?state=acked", "").is(200, &receipt)
	if rev.Revision != 2 || receipt.Revision != 2 {
		t.Errorf("revision %d, receipt of %d", rev.Revision, receipt.Revision)
	}
	w.do(http.MethodGet, "/v1/tenants/%61cme/fleets/%65dge/revisions/l%61test", "").isProblem(400, "invalid_request", "?revision")
	for _, bad := range []string{"newest", "-1", "1.0", "07", "Latest", "9999999999999999999"} {
		w.do(http.MethodGet, w.at("revisions", bad), "").isProblem(400, "invalid_request", "?revision")
	}
	// A fleet of that name is no revision.
	latest := w.newFleet(w.tenant, "latest")
	_ = latest
	w.do(http.MethodGet, "/v1/tenants/acme/fleets/latest/revisions/latest", "").isProblem(404, "not_found", "")
	w.do(http.MethodGet, "/v1/tenants/acme/fleets/latest", "").is(200, nil)
}
