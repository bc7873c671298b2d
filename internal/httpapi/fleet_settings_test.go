package httpapi

import (
	"net/http"
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
