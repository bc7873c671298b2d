package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/seal"
	"fairlead/internal/store"
)

// TestAWrongSealKeyIsToldAndPutRight: secrets that are sealed with a key that no xDS server has are findings, of the write too; when the API has the right key the
// same write seals them again, and a plan says so.
func TestAWrongSealKeyIsToldAndPutRight(t *testing.T) {
	t.Parallel()
	w := setup(t)
	right, err := seal.NewSealer(w.keys.Public)
	must(t, err)
	_, err = w.nodes.LeaseWith(t.Context(), fleet.NewServerID(), "s", time.Hour, store.ServerLoad{SealKey: right.KeyID()})
	must(t, err)
	other, err := seal.Generate()
	must(t, err)
	wrong, err := seal.NewSealer(other.Public)
	must(t, err)
	const doc = `{"type": "secrets", "name": "s", "body": {"name": "s", "generic_secret": {"secret": {"inline_string": "x"}}}}`
	const finding = "error sealed_for_another_key secrets/s "
	badly := *w
	badly.serve(wrong)
	var result oapi.WriteResult
	badly.do(http.MethodPost, badly.at("apply"), `{"resources": [`+doc+`]}`).is(200, &result)
	if result.Changed != 1 || result.Findings == nil || len(result.Findings.Items) != 1 || result.Findings.Items[0].Code != oapi.FindingCode(findings.SealedForAnother) ||
		!strings.Contains(result.Findings.Items[0].Detail, "give the API servers the public key") {
		t.Errorf("the write: %+v", result)
	}
	if got := found(w.findings("")); !slices.Contains(got, finding) {
		t.Errorf("the fleet: %v", got)
	}
	plan := w.plan(`{"resources": [` + doc + `]}`)
	if plan.Counts.Update != 1 || !strings.Contains(deref(plan.Resources[0].Diff), "sealed_for") {
		t.Errorf("the plan: %+v", plan)
	}
	if result = w.apply(`{"resources": [` + doc + `]}`); result.Changed != 1 || result.Findings.Errors != 0 {
		t.Errorf("written again: %+v", result)
	}
	if got := found(w.findings("")); slices.Contains(got, finding) {
		t.Errorf("the fleet afterwards: %v", got)
	}
	w.opens("s", "x")
	if result = w.apply(`{"resources": [` + doc + `]}`); result.Changed != 0 {
		t.Errorf("and once more: %+v", result)
	}
	var shown oapi.Resource
	w.do(http.MethodGet, w.at("resources", "secrets", "s"), "").is(200, &shown)
	if deref(shown.Secret.SealedFor) != right.KeyID() {
		t.Errorf("%+v", shown.Secret)
	}
}

// TestWhatWaitsForASealedSecretSaysSo.
func TestWhatWaitsForASealedSecretSaysSo(t *testing.T) {
	t.Parallel()
	s, r := fleet.Ref{Type: fleet.Secret, Name: "s"}, fleet.Ref{Type: fleet.Route, Name: "r"}
	l := fleet.Ref{Type: fleet.Listener, Name: "l"}
	out := waitsOf(fleet.Waits{Withheld: []fleet.Withheld{{Ref: s, By: s, Sealed: true}, {Ref: l, By: s, Sealed: true}, {Ref: l, By: r}}}, nil)
	var reasons []oapi.WithheldReason
	for _, h := range out.Withheld {
		reasons = append(reasons, h.Reason)
	}
	if want := []oapi.WithheldReason{oapi.WithheldReasonSealed, oapi.WithheldReasonSealed, oapi.WithheldReasonMissing}; !slices.Equal(reasons, want) {
		t.Errorf("%v, want %v", reasons, want)
	}
}

// TestAFullDiskIsTold: nothing was done, and who asks again at once is of no use. Reads go on.
func TestAFullDiskIsTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.db.Exec(t, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`)
	w.db.Exec(t, `CREATE TRIGGER full_disk BEFORE INSERT ON fleet_history FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	if at := w.store.FullAt(); !at.IsZero() {
		t.Errorf("it is full at %v before anything was tried", at)
	}
	a := w.do(http.MethodPut, w.at("resources", "clusters", "b"), asDocument(cluster("b")))
	if p := a.isProblem(503, "database_full", ""); !strings.Contains(deref(p.Detail), "no room on its disk, and nothing was done") || a.header.Get("Retry-After") != "60" {
		t.Errorf("%+v, Retry-After %s", p, a.header.Get("Retry-After"))
	}
	if at := w.store.FullAt(); at.IsZero() {
		t.Error("the store does not know of it")
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, nil)
}

// TestARouteWithContextExtensionsGoesRound: what is read can be edited and written, here or in another fleet.
func TestARouteWithContextExtensionsGoesRound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const route = `{"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "direct_response": {"status": 200}, "typed_per_filter_config": {"ext_authz":
		{"@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute", "check_settings": {"context_extensions": {"tier": "gold"}}}}}]}]}`
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(route)).isWritten(nil)
	var shown oapi.Resource
	w.do(http.MethodGet, w.at("resources", "routes", "r"), "").is(200, &shown)
	if body := string(*shown.Body); !strings.Contains(body, `"context_extensions":{"tier":"gold"}`) {
		t.Fatalf("it is shown as %s", body)
	}
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(string(*shown.Body))).is(200, nil)
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(strings.Replace(string(*shown.Body), "gold", "silver", 1))).is(200, nil)
}

// TestTheDeletionOfAnInternalListenerIsToldBeforeAndAfter.
func TestTheDeletionOfAnInternalListenerIsToldBeforeAndAfter(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const finding = "warning missing_reference clusters/c /body/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/envoy_internal_address/server_listener_name"
	w.do(http.MethodPut, w.at("resources", "clusters", "c"), asDocument(
		`{"name": "c", "load_assignment": {"cluster_name": "c", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"envoy_internal_address": {"server_listener_name": "i"}}}}]}]}}`)).isWritten(nil)
	if got := found(w.findings("")); !slices.Contains(got, finding) {
		t.Errorf("before there is one: %v", got)
	}
	w.do(http.MethodPut, w.at("resources", "listeners", "i"), asDocument(`{"name": "i", "internal_listener": {}, "filter_chains": [{"filters": []}]}`)).isWritten(nil)
	if got := found(w.findings("")); slices.Contains(got, finding) {
		t.Errorf("while it is there: %v", got)
	}
	plan := w.plan(`{"resources": [], "delete": [{"type": "listeners", "name": "i"}]}`)
	var result oapi.WriteResult
	w.do(http.MethodDelete, w.at("resources", "listeners", "i"), "").is(200, &result)
	for when, f := range map[string]*oapi.WriteFindings{"plan": plan.Findings, "deletion": result.Findings} {
		if f == nil || f.Warnings != 1 || f.Items[0].To == nil || f.Items[0].To.Name != "i" {
			t.Errorf("the %s: %+v", when, f)
		}
	}
	if got := found(w.findings("")); !slices.Contains(got, finding) {
		t.Errorf("when it is gone: %v", got)
	}
}
