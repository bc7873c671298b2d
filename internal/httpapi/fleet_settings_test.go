package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/internal/httpapi/oapi"
)

func TestFleetSettings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var f oapi.Fleet
	want := func(what string, references oapi.References, window, forget string) {
		t.Helper()
		if f.References != references || f.ReceiptWindow != window || f.ForgetNodesAfter != forget {
			t.Errorf("%s: %+v", what, f)
		}
	}
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	want("by default", oapi.Warn, "1d", "7d")
	w.do(http.MethodPatch, w.at(), `{"receipt_window": "90m"}`).is(200, &f)
	want("one", oapi.Warn, "90m", "7d")
	w.do(http.MethodPatch, w.at(), `{"forget_nodes_after": "336h", "references": "strict"}`).is(200, &f)
	want("two", oapi.Strict, "90m", "14d")
	w.do(http.MethodPost, "/v1/tenants/"+w.tenant.Slug+"/fleets", `{"name": "new", "receipt_window": "60s", "forget_nodes_after": "90d"}`).is(201, &f)
	want("of a new one", oapi.Warn, "1m", "90d")
	for body, pointer := range map[string]string{
		`{"receipt_window": "59s"}`: "/receipt_window", `{"receipt_window": "31d"}`: "/receipt_window", `{"receipt_window": "1h30m"}`: "/receipt_window",
		`{"receipt_window": "-5m"}`: "/receipt_window", `{"receipt_window": "5"}`: "/receipt_window", `{"receipt_window": ""}`: "/receipt_window",
		`{"forget_nodes_after": "59m"}`: "/forget_nodes_after", `{"forget_nodes_after": "91d"}`: "/forget_nodes_after", `{"forget_nodes_after": "9999999d"}`: "/forget_nodes_after",
	} {
		for _, a := range []answer{w.do(http.MethodPatch, w.at(), body), w.do(http.MethodPost, "/v1/tenants/"+w.tenant.Slug+"/fleets", `{"name": "bad", `+body[1:])} {
			a.isProblem(400, "invalid_request", pointer)
			if !strings.Contains(string(a.body), "such as 12h, from 1") {
				t.Errorf("%s: %s", body, a.body)
			}
		}
	}
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	want("after all that", oapi.Strict, "90m", "14d")
}

// The names that each stream of load reports is told are bounded, all together.
func TestNamesOfLoadReportsAreBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	names := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%q", fmt.Sprintf("%0512d", i)))
		}
		return `{"load_report_clusters": [` + strings.Join(all, ",") + `]}`
	}
	w.do(http.MethodPatch, w.at(), names(65)).isProblem(400, "invalid_request", "/load_report_clusters")
	w.do(http.MethodPatch, w.at(), names(64)).is(200, nil)
}

// Who changes settings that somebody else has changed meanwhile is told, and undoes nothing.
func TestSettingsAreChangedAsTheyWereSeen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var f oapi.Fleet
	seen := w.do(http.MethodGet, w.at(), "").is(200, &f).header.Get("ETag")
	if seen == "" || f.Etag != seen {
		t.Fatalf("the header has %s, the fleet %s", seen, f.Etag)
	}
	w.put("a")
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`).is(201, nil)
	tags := map[string]string{seen: "at first"}
	for _, body := range []string{
		`{"description": "new"}`, `{"references": "strict"}`, `{"receipt_window": "90m"}`, `{"forget_nodes_after": "14d"}`, `{"node_ids": "exclusive"}`, `{"static_clusters": ["s"]}`, `{"private_clusters": ["s"]}`, `{"local_ports": [1]}`, `{"values": {"a": "b"}}`,
		`{"load_report_interval": "30s"}`, `{"load_report_clusters": ["c"]}`, `{"load_report_endpoints": true}`,
	} {
		a := w.do(http.MethodPatch, w.at(), body, "If-Match", seen).is(200, &f)
		if before := tags[f.Etag]; before != "" || f.Etag != a.header.Get("ETag") {
			t.Errorf("after %s the settings are called %s, as after %s; the header has %s", body, f.Etag, before, a.header.Get("ETag"))
		}
		seen, tags[f.Etag] = f.Etag, body
	}
	w.do(http.MethodPatch, w.at(), `{"description": "newer"}`).is(200, &f)
	a := w.do(http.MethodPatch, w.at(), `{"description": "mine", "node_ids": "shared"}`, "If-Match", seen)
	if p := a.isProblem(412, "precondition_failed", ""); !strings.Contains(*p.Detail, "somebody has changed them since") || a.header.Get("ETag") != f.Etag {
		t.Errorf("%s, ETag %s, want %s", *p.Detail, a.header.Get("ETag"), f.Etag)
	}
	var list oapi.FleetList
	w.do(http.MethodGet, "/v1/tenants/acme/fleets", "").is(200, &list)
	if x := list.Items[0]; x.Etag != f.Etag || x.Description != "newer" || x.NodeIds != oapi.Exclusive {
		t.Errorf("it has changed something: %+v", x)
	}
	w.do(http.MethodPatch, w.at(), `{"description": "new"}`, "If-Match", "*").is(200, &f)
	if f.Etag != seen {
		t.Errorf("as they were they are called %s, and were %s", f.Etag, seen)
	}
	for _, match := range []string{"x", `W/` + seen, seen + ", " + seen, `"7-1a2b3c4d"`, strings.Trim(seen, `"`)} {
		w.do(http.MethodPatch, w.at(), `{"description": "x"}`, "If-Match", match).isProblem(400, "invalid_request", "?If-Match")
	}
}

func TestNodeIDsOfAFleet(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var f oapi.Fleet
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	if f.NodeIds != oapi.Shared {
		t.Errorf("by default %q", f.NodeIds)
	}
	w.do(http.MethodPatch, w.at(), `{"node_ids": "exclusive"}`).is(200, &f)
	w.do(http.MethodPatch, w.at(), `{"receipt_window": "90m"}`).is(200, &f)
	if f.NodeIds != oapi.Exclusive {
		t.Errorf("set and left alone it is %q", f.NodeIds)
	}
	w.do(http.MethodPost, "/v1/tenants/"+w.tenant.Slug+"/fleets", `{"name": "new", "node_ids": "exclusive"}`).is(201, &f)
	if f.NodeIds != oapi.Exclusive {
		t.Errorf("of a new one it is %q", f.NodeIds)
	}
	w.do(http.MethodPatch, w.at(), `{"node_ids": "single"}`).isProblem(400, "invalid_request", "/node_ids")
}

func TestAgeText(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "0s", time.Minute: "1m", 90 * time.Second: "90s", day: "1d", 36 * time.Hour: "36h"} {
		if got := ageText(d); got != want {
			t.Errorf("%s is %s", d, got)
		}
	}
}

// TestTheOperatorSaysHowOftenLoadMayBeReported: what is more often is refused, in words, and what was written before there was such a limit is told as what holds.
func TestTheOperatorSaysHowOftenLoadMayBeReported(t *testing.T) {
	t.Parallel()
	w := setup(t)
	told := func(want string) {
		t.Helper()
		var f oapi.Fleet
		if w.do(http.MethodGet, w.at(), "").is(200, &f); deref(f.LoadReportInterval) != want {
			t.Errorf("told %q, want %q", deref(f.LoadReportInterval), want)
		}
	}
	w.do(http.MethodPatch, w.at(), `{"load_report_interval": "1s"}`).is(200, nil)
	told("1s")
	w.api.leastLoad = 10 * time.Second
	told("10s")
	p := w.do(http.MethodPatch, w.at(), `{"load_report_interval": "9s"}`).isProblem(400, "invalid_request", "/load_report_interval")
	if detail := deref(p.Errors)[0].Detail; !strings.Contains(detail, "from 10s to 1m") {
		t.Error(detail)
	}
	w.do(http.MethodPatch, w.at(), `{"load_report_interval": "11s"}`).is(200, nil)
	told("11s")
	w.do(http.MethodPatch, w.at(), `{"load_report_interval": ""}`).is(200, nil)
	told("")
}

// What a fleet says of load reports is left out where it says nothing, and can be taken away again.
func TestLoadReportSettings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	fleets := "/v1/tenants/" + w.tenant.Slug + "/fleets"
	is := func(a answer, want string) {
		t.Helper()
		var f oapi.Fleet
		a.is(a.status, &f)
		if got := fmt.Sprint(deref(f.LoadReportInterval), deref(f.LoadReportClusters)) + map[bool]string{true: "e"}[deref(f.LoadReportEndpoints)]; got != want || strings.Contains(string(a.body), "load_report") == (want == "[]") {
			t.Errorf("told %s, want %s: %s", got, want, a.body)
		}
	}
	is(w.do(http.MethodGet, w.at(), ""), "[]")
	is(w.do(http.MethodPatch, w.at(), `{"load_report_interval": "60s"}`), "1m[]")
	is(w.do(http.MethodPatch, w.at(), `{"load_report_clusters": ["b", "a", "b"]}`), "1m[a b]")
	is(w.do(http.MethodPatch, w.at(), `{"description": "new"}`), "1m[a b]")
	is(w.do(http.MethodPatch, w.at(), `{"load_report_endpoints": true}`), "1m[a b]e")
	is(w.do(http.MethodPatch, w.at(), `{"load_report_interval": ""}`), "[a b]e")
	is(w.do(http.MethodPatch, w.at(), `{"load_report_endpoints": false}`), "[a b]")
	is(w.do(http.MethodPatch, w.at(), `{"load_report_clusters": []}`), "[]")
	is(w.do(http.MethodPost, fleets, `{"name": "new", "load_report_interval": "1s", "load_report_clusters": ["c"], "load_report_endpoints": true}`), "1s[c]e")
	var many []string
	for i := range 1001 {
		many = append(many, strconv.Quote(fmt.Sprint("c", i)))
	}
	for body, pointer := range map[string]string{
		`{"load_report_interval": "500ms"}`: "/load_report_interval", `{"load_report_interval": "61s"}`: "/load_report_interval", `{"load_report_interval": "0s"}`: "/load_report_interval", `{"load_report_interval": "5"}`: "/load_report_interval",
		`{"load_report_clusters": ["a", ""]}`: "/load_report_clusters/1", `{"load_report_clusters": ["a\u0000"]}`: "/load_report_clusters/0",
		`{"load_report_clusters": [` + strings.Join(many, ",") + `]}`: "/load_report_clusters",
	} {
		for _, a := range []answer{w.do(http.MethodPatch, w.at(), body), w.do(http.MethodPost, fleets, `{"name": "bad", `+body[1:])} {
			a.isProblem(400, "invalid_request", pointer)
		}
	}
}
