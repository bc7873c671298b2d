package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/oapi"
)

// newsOfFleets is what the stream of all fleets tells next, and of which; heartbeats are passed by.
func (s *stream) newsOfFleets() string {
	s.t.Helper()
	for {
		text := s.block()
		if text == "" {
			s.t.Fatalf("the stream has ended: %v", s.scanner.Err())
		}
		if _, data, ok := strings.Cut(text, "data: "); ok && !strings.HasPrefix(text, "event: heartbeat") {
			var line struct {
				What   []oapi.TenantLiveWhat
				Fleets []string
			}
			must(s.t, json.Unmarshal([]byte(data), &line))
			return fmt.Sprint(line.What, line.Fleets)
		}
	}
}

func TestWhatChangesInAnyFleetIsToldByItsName(t *testing.T) {
	t.Parallel()
	w := setup(t)
	core := w.newFleet(w.tenant, "core")
	bound := w.token(w.tenant, auth.RoleCI, &core.ID)
	globex := w.newTenant("globex")
	w.newFleet(globex, "edge")
	stranger := w.token(globex, auth.RoleOwner, nil)
	s, own := w.followPath("/v1/live"), w.followPath("/v1/live", "Authorization", "Bearer "+bound)
	w.do(http.MethodPatch, "/v1/tenants/globex/fleets/edge", `{"references": "strict"}`, "Authorization", "Bearer "+stranger).is(200, nil) // told to nobody here
	w.put("a-secret-name")
	if got := s.newsOfFleets(); got != "[revision receipt findings] [edge]" {
		t.Errorf("a write is told as %s", got)
	}
	w.do(http.MethodPatch, "/v1/tenants/acme/fleets/core", `{"references": "strict"}`).is(200, nil)
	for _, s := range []*stream{s, own} {
		if got := s.newsOfFleets(); !strings.HasSuffix(got, " settings] [core]") {
			t.Errorf("a setting is told as %s", got)
		}
	}
	w.do(http.MethodPost, "/v1/tenants/acme/fleets", `{"name": "new"}`).is(201, nil)
	if got := s.newsOfFleets(); !strings.HasPrefix(got, "[fleets ") || !strings.HasSuffix(got, " [new]") {
		t.Errorf("a new fleet is told as %s", got)
	}
	for _, do := range []func(){
		func() { w.do(http.MethodDelete, "/v1/tenants/acme/fleets/core", "").is(204, nil) },
		func() { w.do(http.MethodPost, "/v1/tenants/acme/fleets/core/restore", "").is(200, nil) },
	} {
		do()
		for _, s := range []*stream{s, own} {
			if got := s.newsOfFleets(); !strings.HasPrefix(got, "[fleets ") || !strings.HasSuffix(got, " [core]") {
				t.Errorf("a fleet that goes or comes back is told as %s", got)
			}
		}
	}
	_ = s.resp.Body.Close()
	w.put("b")
	again := w.beside().followPath("/v1/live", "Last-Event-ID", s.id) // another process
	if got := again.newsOfFleets(); !strings.HasPrefix(got, "[revision ") || !strings.HasSuffix(got, " []") {
		t.Errorf("what was missed is told as %s", got)
	}
	w.put("c")
	if got := again.newsOfFleets(); !strings.HasSuffix(got, " [edge]") {
		t.Errorf("and what comes then as %s", got)
	}
}

func TestAllFleetsArePolled(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var got oapi.TenantLiveNews
	w.do(http.MethodGet, "/v1/live", "").is(200, &got)
	if len(got.What) != 0 || len(got.Position) != 56 {
		t.Fatalf("%+v", got)
	}
	from := got.Position
	w.do(http.MethodGet, "/v1/live?wait=20ms&after="+from, "").is(200, &got)
	if len(got.What) != 0 {
		t.Errorf("nothing has changed: %+v", got)
	}
	answered := make(chan answer)
	go func() { answered <- w.do(http.MethodGet, "/v1/live?wait=30s&after="+from, "") }()
	w.put("a")
	(<-answered).is(200, &got)
	if !slices.Contains(got.What, oapi.TenantLiveWhatRevision) {
		t.Errorf("%+v", got)
	}
	got = oapi.TenantLiveNews{}
	w.do(http.MethodGet, "/v1/live?after="+from, "").is(200, &got)
	if !slices.Contains(got.What, oapi.TenantLiveWhatRevision) || got.Fleets != nil {
		t.Errorf("at once: %+v", got)
	}
	for query, where := range map[string]string{"?after=x": "?after", "?after=" + strings.Repeat("g", 56): "?after", "?wait=2m": "?wait"} {
		w.do(http.MethodGet, "/v1/live"+query, "").isProblem(400, "invalid_request", where)
	}
	w.do(http.MethodGet, "/v1/live", "", "Last-Event-ID", from).isProblem(400, "invalid_request", "?Last-Event-ID")
	w.do(http.MethodGet, "/v1/live", "", "Last-Event-ID", "1", "Accept", eventStreamType).isProblem(400, "invalid_request", "?Last-Event-ID")
	var none oapi.TenantLiveNews
	w.do(http.MethodGet, "/v1/live?wait=20ms", "", "Authorization", "Bearer "+w.operator()).is(200, &none)
	if len(none.What) != 0 || none.Position != strings.Repeat("0", 56) {
		t.Errorf("an operator is told %+v", none)
	}
}

// A page of an operator is told of its session's end as a member's is, and of nothing else.
func TestAllFleetsEndWithTheSession(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.liveBeat = 50 * time.Millisecond
	for name, page := range map[string]browser{"member": w.signedIn(w.owner), "operator": w.signedIn(w.operator())} {
		s := w.followPath("/v1/live", page.headers()...)
		if got := s.block(); got != "event: heartbeat\ndata: {\"what\":[]}\n" {
			t.Errorf("a heartbeat of the %s is %q", name, got)
		}
		page.do(http.MethodDelete, "/v1/session", "").is(204, nil)
		if got := s.endWithin(time.Minute); got != ": the session has ended" {
			t.Errorf("that of the %s says at last %q", name, got)
		}
	}
	s := w.followPath("/v1/live")
	w.api.Drain()
	if got := s.end(); got != ": the server stops" {
		t.Errorf("%q", got)
	}
}
