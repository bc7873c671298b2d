package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
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

// A thousand who follow all fleets of ten tenants cost one question per tick, and each is told once, of its own.
func TestAThousandFollowersOfTenantsAreOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newScript()
		tl := newTail(db, time.Now)
		now, err := db.TenantMarks(t.Context(), []fleet.Key{{Tenant: fleet.TenantID{1}}}) // that of the others is alike
		must(t, err)
		var f tenantFeed
		f.post(now[0], time.Now())
		var all sync.WaitGroup
		var told atomic.Int32
		for i := range 1000 {
			all.Go(func() {
				l := tl.followTenant(fleet.Key{Tenant: fleet.TenantID{1, byte(i % 10)}}, holder{token: testToken}, now[0], f.marks, f.marks)
				defer l.leave()
				what, end, err := l.next(t.Context(), nil, nil)
				if err != nil || end != "" || len(what) != 1 || what[0] != oapi.TenantLiveWhatEvents || !slices.Equal(l.names, []string{"f3"}) {
					t.Errorf("%v of %v, %q, %v", what, l.names, end, err)
				}
				told.Add(1)
			})
		}
		time.Sleep(60*time.Second + tailTick/2)
		if n := db.scoped.Load() - 1; n < 45 || n > 61 {
			t.Errorf("%d questions in a minute", n)
		}
		if told.Load() != 0 {
			t.Errorf("%d were told of nothing", told.Load())
		}
		for i := range 10 {
			db.happens(fleet.Key{Tenant: fleet.TenantID{1, byte(i)}, Fleet: fleet.ID{3}}, 3)
		}
		all.Wait()
		if told.Load() != 1000 || len(tl.tenants)+len(tl.holders) != 0 {
			t.Errorf("%d told, %d and %d are remembered", told.Load(), len(tl.tenants), len(tl.holders))
		}
	})
}

// Which fleets have changed is told where it is known and short.
func TestNamesOfManyFleetsAreLeftOut(t *testing.T) {
	t.Parallel()
	var f tenantFeed
	fleets := func(n int, revision string) (all []store.NamedMarks) {
		for i := range n {
			all = append(all, store.NamedMarks{Fleet: fleet.ID{byte(i)}, Name: fmt.Sprintf("f%03d", i), FleetMarks: store.FleetMarks{Revision: revision}})
		}
		return all
	}
	f.post(fleets(tenantNames+1, "1"), time.Now())
	step, was := f.upto, f.marks
	f.post(fleets(tenantNames+1, "1"), time.Now())
	if f.upto != step || f.marks != was {
		t.Error("nothing has changed")
	}
	f.post(fleets(tenantNames, "1"), time.Now())
	if got := f.namesAfter(step); !slices.Equal(got, []string{"f100"}) {
		t.Errorf("one that is gone is told as %v", got)
	}
	all := fleets(tenantNames, "1")
	for i := range tenantSteps - 1 {
		all[i%2].Revision = fmt.Sprint("2.", i)
		f.post(all, time.Now())
	}
	if got := f.namesAfter(step); !slices.Equal(got, []string{"f000", "f001", "f100"}) {
		t.Errorf("changes of before are told as %v", got)
	}
	all[2].Revision = "3"
	f.post(all, time.Now())
	if got := f.namesAfter(step); got != nil {
		t.Errorf("those that are not kept are told as %v", got)
	}
	if got := f.namesAfter(step + 1); !slices.Equal(got, []string{"f000", "f001", "f002"}) || len(f.steps) != tenantSteps {
		t.Errorf("%v of %d steps", got, len(f.steps))
	}
	step = f.upto
	if f.post(fleets(tenantNames, "4"), time.Now()); len(f.namesAfter(step)) != tenantNames {
		t.Error("a hundred can be told")
	}
	if f.post(fleets(tenantNames+1, "5"), time.Now()); f.namesAfter(step) != nil {
		t.Error("more cannot")
	}
}
