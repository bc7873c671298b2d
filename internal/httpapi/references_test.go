package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

// listener is one that takes its route over ADS.
func listener(name, route string) string {
	return fmt.Sprintf(`{"name": %q, "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [{"name": "hcm",
		"typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "x",
		"rds": {"route_config_name": %q, "config_source": {"ads": {}, "resource_api_version": "V3"}}}}]}]}`, name, route)
}

const routeField = "/filter_chains/0/filters/0/typed_config/rds/route_config_name"

func named(typ, name, body string) string {
	return fmt.Sprintf(`{"type": %q, "name": %q, "body": %s}`, typ, name, body)
}

func warned(t *testing.T, r oapi.WriteResult) (pointer, detail string) {
	t.Helper()
	if r.Findings == nil || len(r.Findings.Items) != 1 || r.Findings.Errors != 1 || r.Findings.Items[0].Code != "missing_reference" {
		t.Fatalf("findings %+v", r.Findings)
	}
	return deref(r.Findings.Items[0].At), r.Findings.Items[0].Detail
}

// TestADeletionTellsOfWhoPolls: what a proxy asks for on a stream or by polls of its own is kept for nobody, and is told in other words. A strict fleet does not protect it.
func TestADeletionTellsOfWhoPolls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	polls := strings.Replace(listener("polls", "r"), `{"ads": {}, `, `{"api_config_source": {"api_type": "REST", "transport_api_version": "V3", "cluster_names": ["fairlead_xds"], "refresh_delay": "1s"}, `, 1)
	var r oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), applyOf(named("listeners", "polls", polls), named("routes", "r", `{"name": "r"}`))).is(200, nil)
	w.do(http.MethodPatch, w.at(), `{"references": "strict"}`).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), `{"resources": [], "delete": [{"type": "routes", "name": "r"}]}`).is(200, &r)
	want := "listeners/polls names routes/r, which this deletes: proxies that have it keep it, and one that starts answers what it routes with 404; keep it, or let nothing name it"
	if pointer, detail := warned(t, r); pointer != "/delete/0" || detail != want {
		t.Errorf("%s: %s", pointer, detail)
	}
	r = oapi.WriteResult{}
	w.do(http.MethodPut, w.at("resources", "listeners", "polls"), asDocument(strings.Replace(polls, `"x"`, `"y"`, 1))).isWritten(&r)
	if _, detail := warned(t, r); !strings.Contains(detail, "names routes/r, which does not exist: proxies that have it keep it") {
		t.Error(detail)
	}
}

// SEMANTICS 4.3: warn is the default; the warning names resource, field and what to do.
func TestMissingReferencesAreWarnedOf(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var r oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "listeners", "edge"), asDocument(listener("edge", "r"))).isWritten(&r)
	pointer, detail := warned(t, r)
	if want := "listeners/edge names routes/r, which does not exist: nodes keep what they have of listeners/edge, or go without it, until it is there; write it, or name another one"; pointer != "/body"+routeField || detail != want {
		t.Errorf("%s: %s", pointer, detail)
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [`+named("clusters", "c", `{"name": "c"}`)+`, `+named("listeners", "two", listener("two", "s"))+`]}`).is(200, &r)
	if pointer, _ := warned(t, r); pointer != "/resources/1/body"+routeField {
		t.Errorf("in an apply: %s", pointer)
	}
	r = oapi.WriteResult{}
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(`{"name": "r"}`)).isWritten(&r)
	if len(r.Findings.Items) != 0 {
		t.Errorf("a route: %+v", r.Findings)
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [], "delete": [{"type": "clusters", "name": "c"}, {"type": "routes", "name": "r"}]}`).is(200, &r)
	if pointer, detail := warned(t, r); pointer != "/delete/1" || !strings.Contains(detail, "names routes/r, which this deletes") {
		t.Errorf("%s: %s", pointer, detail)
	}
	r = oapi.WriteResult{}
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`).is(200, &r)
	if len(r.Findings.Items) != 0 {
		t.Errorf("a rollback that brings what is named: %+v", r.Findings)
	}
}

// SEMANTICS 4.3: a strict fleet refuses with 422, and says where and what to do.
func TestStrictReferencesAreRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, w.at("resources", "listeners", "old"), asDocument(listener("old", "gone"))).isWritten(nil) // 1
	var f oapi.Fleet
	w.do(http.MethodPatch, w.at(), `{"references": "strict"}`).is(200, &f)
	if f.References != oapi.Strict || f.Revision != 1 {
		t.Fatalf("%+v", f)
	}
	put := w.at("resources", "listeners", "edge")
	p := w.do(http.MethodPut, put, asDocument(listener("edge", "r"))).isProblem(422, "missing_reference", "/body"+routeField)
	if want := "listeners/edge names routes/r, which does not exist: write it in the same write, or set the fleet's references to warn"; (*p.Errors)[0].Detail != want {
		t.Errorf("%s", (*p.Errors)[0].Detail)
	}
	both := `{"resources": [` + named("listeners", "edge", listener("edge", "r")) + `, ` + named("routes", "r", `{"name": "r"}`) + `]}`
	w.do(http.MethodPost, w.at("apply"), both).is(200, nil) // 2
	w.do(http.MethodDelete, w.at("resources", "routes", "r"), "").isProblem(422, "missing_reference", "")
	w.do(http.MethodPost, w.at("apply"), `{"delete": [{"type": "routes", "name": "r"}]}`).isProblem(422, "missing_reference", "/delete/0")
	w.do(http.MethodDelete, w.at("resources", "listeners", "old"), "").is(200, nil) // 3
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`).isProblem(422, "missing_reference", "/revision")
	for range 2 { // with a key that makes a repeat harmless too
		w.do(http.MethodPost, w.at("apply"), `{"resources": [`+named("listeners", "other", listener("other", "none"))+`]}`, "Idempotency-Key", "a").
			isProblem(422, "missing_reference", "/resources/0/body"+routeField)
		w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Idempotency-Key", "b").isProblem(422, "missing_reference", "/revision")
	}
	// The deletion of a cluster in use names who uses it; one of the bootstrap may go.
	use := strings.Replace(fmt.Sprintf(toCluster, "c"), `"r"`, `"uses"`, 1)
	w.do(http.MethodPut, w.at("resources", "routes", "uses"), asDocument(use)).isProblem(422, "missing_reference", "/body/virtual_hosts/0/routes/0/route/cluster")
	w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "c", `{"name": "c"}`), named("routes", "uses", use))).is(200, nil) // 4
	p = w.do(http.MethodDelete, w.at("resources", "clusters", "c"), "").isProblem(422, "missing_reference", "")
	if want := "routes/uses names clusters/c, which this deletes: keep it, or let nothing name it in the same write, or set the fleet's references to warn"; (*p.Errors)[0].Detail != want {
		t.Errorf("%s", (*p.Errors)[0].Detail)
	}
	w.do(http.MethodPost, w.at("apply"), `{"delete": [{"type": "clusters", "name": "c"}]}`).isProblem(422, "missing_reference", "/delete/0")
	w.do(http.MethodPost, w.at("plan"), `{"delete": [{"type": "clusters", "name": "c"}]}`).isProblem(422, "missing_reference", "/delete/0")
	w.do(http.MethodPatch, w.at(), `{"static_clusters": ["c"]}`).is(200, nil)
	w.do(http.MethodDelete, w.at("resources", "clusters", "c"), "").is(200, nil) // 5
	w.do(http.MethodPatch, w.at(), `{"references": "warn", "static_clusters": []}`).is(200, nil)
	w.do(http.MethodDelete, w.at("resources", "routes", "uses"), "").is(200, nil) // 6
	var r oapi.WriteResult
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`).is(200, &r)
	if pointer, _ := warned(t, r); pointer != "/revision" {
		t.Errorf("at %s", pointer)
	}
}

// One part of a change that is sent in several is planned without what the parts before it bring; its apply is asked as always.
func TestAPlanMayTellOfStrictReferences(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPatch, w.at(), `{"references": "strict"}`).is(200, nil)
	w.do(http.MethodPut, w.at("resources", "routes", "there"), asDocument(`{"name": "there"}`)).isWritten(nil)
	w.do(http.MethodPut, w.at("resources", "listeners", "old"), asDocument(listener("old", "there"))).isWritten(nil)
	for body, pointer := range map[string]string{
		`{"resources": [` + named("listeners", "edge", listener("edge", "r")) + `]}`: "/resources/0/body" + routeField,
		`{"delete": [{"type": "routes", "name": "there"}]}`:                          "/delete/0",
	} {
		for _, query := range []string{"", "?references=checked"} {
			w.do(http.MethodPost, w.at("plan")+query, body).isProblem(422, "missing_reference", pointer)
		}
		var p oapi.Plan
		w.do(http.MethodPost, w.at("plan")+"?references=told", body).is(200, &p)
		if at, _ := warned(t, oapi.WriteResult{Findings: p.Findings}); at != pointer {
			t.Errorf("told at %s, want %s", at, pointer)
		}
		body = strings.TrimSuffix(body, "}") + fmt.Sprintf(`, "plan": %q}`, p.Token)
		w.do(http.MethodPost, w.at("apply"), body).isProblem(422, "missing_reference", pointer)
	}
	w.do(http.MethodPost, w.at("plan")+"?references=none", `{"resources": []}`).isProblem(400, "invalid_request", "")
}

// A name that is nearly one that is there, or is written beside it, is told.
func TestAStrictFleetSaysWhatMayBeMeant(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPatch, w.at(), `{"references": "strict"}`).is(200, nil)
	w.put("checkout")
	says := func(a answer, want string) {
		t.Helper()
		if p := a.isProblem(422, "missing_reference", ""); !strings.Contains((*p.Errors)[0].Detail, want) {
			t.Errorf("%+v", *p.Errors)
		}
	}
	const meant = "names clusters/chekout, which does not exist: is clusters/checkout meant? Else write it in the same write, or set the fleet's references to warn"
	route := fmt.Sprintf(toCluster, "chekout")
	says(w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(route)), meant)
	for _, path := range []string{"apply", "plan"} {
		says(w.do(http.MethodPost, w.at(path), applyOf(named("routes", "r", route))), meant)
		says(w.do(http.MethodPost, w.at(path), applyOf(named("clusters", "backend", cluster("backend")), named("routes", "r", fmt.Sprintf(toCluster, "backnd")))), "is clusters/backend meant?")
	}
}

func TestFleetSettingsAreChecked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPatch, w.at(), `{"references": "sometimes"}`).isProblem(400, "invalid_request", "/references")
	w.do(http.MethodPatch, w.at(), `{"colour": "red"}`).isProblem(400, "invalid_request", "/colour")
	w.do(http.MethodPatch, w.at(), `{}`).isProblem(400, "invalid_request", "")
	var f oapi.Fleet
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	if f.References != oapi.Warn {
		t.Errorf("a fleet is %q", f.References)
	}
	w.do(http.MethodPost, "/v1/tenants/acme/fleets", `{"name": "strict", "references": "strict"}`).is(201, &f)
	if f.References != oapi.Strict {
		t.Errorf("made %q", f.References)
	}
}
