package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/compute"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// fleetOf is another tenant of the world, with a fleet of its own.
func (w *world) fleetOf(slug string) *world {
	w.t.Helper()
	other := *w
	other.tenant = w.newTenant(slug)
	other.fleet = w.newFleet(other.tenant, "edge")
	other.owner = w.token(other.tenant, auth.RoleOwner, nil)
	return &other
}

// takesAll has one tenant take every turn for what is large, until the function that it returns is called.
func (w *world) takesAll(id fleet.TenantID) (leave func()) {
	w.t.Helper()
	var turns []*compute.Turn
	for range w.api.computing.Slots - w.api.computing.Reserved {
		turn, err := w.api.computing.Enter(w.t.Context(), id, compute.Large)
		must(w.t, err)
		turns = append(turns, turn)
	}
	return func() {
		for _, turn := range turns {
			turn.Leave()
		}
	}
}

// largeDocument is one that is large, and is refused in the end, so that it costs no write.
func largeDocument() string {
	return applyOf(named("clusters", "c", `{"name": "c", "nope": 1, "alt_stat_name": "`+strings.Repeat("x", largeBytes)+`"}`))
}

// TestT44_WhatIsSmallDoesNotWaitForWhatIsLarge: plans and writes of small documents, and reads, go on while another tenant's computations
// have all other turns; a large one waits for its turn.
func TestT44_WhatIsSmallDoesNotWaitForWhatIsLarge(t *testing.T) {
	t.Parallel()
	w := setup(t)
	other := w.fleetOf("other")
	leave := w.takesAll(w.tenant.ID)
	other.put("c")
	other.do(http.MethodPost, other.at("plan"), applyOf(named("clusters", "c", clusterWith("c", "2s")))).is(200, nil)
	other.do(http.MethodPost, other.at("import"), `{"static_resources": {}}`).is(200, nil)
	for _, path := range []string{"findings", "topology", "resources", "revisions/1/changes"} {
		other.do(http.MethodGet, other.at(strings.Split(path, "/")...), "").is(200, nil)
	}
	var wg sync.WaitGroup
	waited := make(chan answer, 1)
	wg.Go(func() { waited <- other.do(http.MethodPost, other.at("plan"), largeDocument()) })
	for len(waited) == 0 && w.api.computing.Waits(other.tenant.ID) == 0 {
		runtime.Gosched()
	}
	if len(waited) > 0 {
		t.Error("a large plan did not wait")
	}
	leave()
	wg.Wait()
	(<-waited).isProblem(422, "invalid_resource", "/resources/0/body/nope")
}

// TestT44_APartIsAsLargeAsTheWhole: what is computed in parts that are small, of many resources, waits for a turn of what is large. Of few it does not.
func TestT44_APartIsAsLargeAsTheWhole(t *testing.T) {
	t.Parallel()
	w := setup(t)
	n := largeBytes/rowBytes + 1
	w.apply(chainOf(4*n, 0))
	w.apply(chainOf(4*n, 1)) // another version of each cluster
	must(t, w.nodes.Report(t.Context(), w.settledNode(w.fleet.ID, "n", 2)))
	w.api.computing.Patience = time.Millisecond
	leave := w.takesAll(w.tenant.ID)
	for name, path := range map[string]string{
		"now":           w.at("resources") + "?limit=%d",
		"in the past":   w.at("resources") + "?revision=1&limit=%d",
		"a comparison":  w.at("compare") + "?from=1&limit=%d",
		"a revision":    w.at("revisions", "2", "changes") + "?limit=%d",
		"what it holds": w.at("nodes", "n", "config") + "?bodies=true&limit=%d",
	} {
		if a := w.do(http.MethodGet, fmt.Sprintf(path, 500), ""); a.status != 503 {
			t.Errorf("%s, all: status %d", name, a.status)
		}
		if a := w.do(http.MethodGet, fmt.Sprintf(path, 10), ""); a.status != 200 {
			t.Errorf("%s, ten: status %d", name, a.status)
		}
	}
	for _, path := range []string{w.at("rollback"), w.at("rollback", "plan")} {
		w.do(http.MethodPost, path, `{"revision": 1}`).isProblem(503, "timeout", "")
	}
	leave()
	w.api.computing.Patience = computingPatience
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`).is(200, nil)
}

// TestT44_WhoGetsNoTurnIsTold when to come again, and that nothing was done; who went away gives its place up.
func TestT44_WhoGetsNoTurnIsTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.computing.Patience = time.Millisecond
	leave := w.takesAll(w.tenant.ID)
	defer leave()
	late := w.do(http.MethodPost, w.at("plan"), largeDocument())
	late.isProblem(503, "timeout", "")
	if late.header.Get("Retry-After") != "1" || !strings.Contains(string(late.body), "no processor was free") || strings.Contains(string(late.body), "database") {
		t.Errorf("%v %s", late.header, late.body)
	}
	w.api.computing.Waiting = 0
	w.do(http.MethodPost, w.at("plan"), largeDocument()).isProblem(503, "timeout", "")
	if n := w.api.computing.Waits(w.tenant.ID); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestT44_SchemasAreMadeInTurn: each is made anew, and whoever has a token may ask for any number of them.
func TestT44_SchemasAreMadeInTurn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.computing.Patience = time.Millisecond
	leave := w.takesAll(w.tenant.ID)
	small, err := w.api.computing.Enter(t.Context(), w.tenant.ID, compute.Small)
	must(t, err)
	for _, path := range []string{"/v1/schemas/listeners", "/v1/schemas/type/envoy.config.core.v3.Address"} {
		w.do(http.MethodGet, path, "").isProblem(503, "timeout", "")
	}
	small.Leave()
	leave()
	w.api.computing.Patience = computingPatience
	w.do(http.MethodGet, "/v1/schemas/listeners", "").is(200, nil)
}

// TestT44_AServerThatStopsEndsItsComputations after some seconds, at their next step.
func TestT44_AServerThatStopsEndsItsComputations(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.finishing = time.Hour
	w.api.Drain()
	w.do(http.MethodPost, w.at("plan"), largeDocument()).isProblem(422, "invalid_resource", "/resources/0/body/nope")
	w.api.finishBy = time.Now().Add(-time.Second)
	stopped := w.do(http.MethodPost, w.at("plan"), largeDocument())
	stopped.isProblem(503, "unavailable", "")
	if stopped.header.Get("Retry-After") != "1" {
		t.Errorf("%v", stopped.header)
	}
}

// TestT19_AComputationEndsWithItsClient: each step of each computation asks whether somebody still waits for it.
func TestT19_AComputationEndsWithItsClient(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.apply(chainOf(40, 0))
	f, err := w.store.FleetByName(t.Context(), w.tenant.ID, w.fleet.Name)
	must(t, err)
	doc := chainOf(40, 1)
	c := &call{tenant: w.tenant, fleet: f, document: document{resource.JSON, []byte(doc)}}
	for name, run := range map[string]func(ctx context.Context) error{
		"plan": func(ctx context.Context) error {
			_, err := w.api.sentApply(ctx, c)
			return err
		},
		"findings": func(ctx context.Context) error { _, err := w.api.check(ctx, c, func() {}); return err },
		"written": func(ctx context.Context) error {
			_, err := w.api.writtenBy(ctx, c, []store.ResourceChange{{Type: fleet.Cluster, Name: "c"}})
			return err
		},
		"list": func(ctx context.Context) error {
			_, err := w.api.entries(ctx, c, []store.Resource{{Row: fleet.Row{Type: fleet.Cluster, Body: make([]byte, largeBytes)}}}, 1, false, answerBytes)
			return err
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		steps := &countdown{Context: ctx, left: 1, end: func() { cancel(nil) }}
		if err := run(steps); err == nil || ctx.Err() == nil || !strings.Contains(fmt.Sprint(err), "canceled") {
			t.Errorf("%s went on: %v", name, err)
		}
		if n := w.api.computing.Waits(w.tenant.ID); n != 0 {
			t.Errorf("%s: %d wait", name, n)
		}
		w.takesAll(w.tenant.ID)() // its turn is free
		cancel(nil)
	}
}

// countdown is a context that has ended when it is asked once more than that many times: first by who waits for a turn, then at each step.
type countdown struct {
	context.Context
	left int
	end  func()
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		c.end()
	}
	return c.Context.Err()
}

// TestT44_ALongBodyIsCheckedInTurn: that it is what the contract says, and what it says; the computation goes on with the same turn. Where nothing is
// computed the turn is left before the database is asked.
func TestT44_ALongBodyIsCheckedInTurn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.computing.Patience = time.Millisecond
	set := `{"set": [{"address": "10.0.0.1:80", "metadata": {"a": {"b": "c"}}}]` + strings.Repeat(" ", largeBytes) + `}`
	remove := `{"remove": ["10.0.0.1:80"]` + strings.Repeat(" ", largeBytes) + `}`
	leave := w.takesAll(w.tenant.ID)
	w.do(http.MethodPost, w.at("endpoints", "c"), set).isProblem(503, "timeout", "")
	w.do(http.MethodPost, w.at("endpoints", "c"), `{"set": [{"address": "10.0.0.2:80"}]}`).is(200, nil)
	form := `{"token": ""`
	w.do(http.MethodPost, "/v1/session", form+strings.Repeat(" ", maxForm-len(form)-1)+"}").isProblem(400, "invalid_request", "/token") // nobody's, and as long as a form may be
	leave()
	w.do(http.MethodPost, w.at("endpoints", "c"), set).is(200, nil)
	w.do(http.MethodPost, w.at("endpoints", "c"), strings.Replace(set, "address", "addr", 1)).isProblem(400, "invalid_request", "/set/0/addr")
	removing, removed := w.sent(http.MethodPost, w.at("endpoints", "c"), remove)
	w.lockedOut("endpoints", removing, func() {
		if s := w.api.computing.State(); s.Running != [2]int{} {
			t.Errorf("while the database is waited for %v compute", s.Running)
		}
	})
	removed().is(200, nil)
}

// lockedOut starts something that waits for a table, and calls then while it does.
func (w *world) lockedOut(table string, start, then func()) {
	w.t.Helper()
	ctx := w.t.Context()
	super := w.db.Connect(w.t, w.db.Owner)
	defer func() { _ = super.Close(context.WithoutCancel(ctx)) }()
	tx, err := super.Begin(ctx)
	must(w.t, err)
	_, err = tx.Exec(ctx, "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
	must(w.t, err)
	look := w.db.Connect(w.t, w.db.Owner)
	defer func() { _ = look.Close(context.WithoutCancel(ctx)) }()
	start()
	for n := 0; n == 0; {
		must(w.t, look.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n))
	}
	then()
	must(w.t, tx.Commit(ctx))
}

// TestT44_ManySmallOnesAreLarge: a page of 500 resources of a few bytes each waits for its turn, and one of a hundred for none.
func TestT44_ManySmallOnesAreLarge(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.computing.Patience = time.Millisecond
	var all []string
	for i := range 200 {
		all = append(all, named("clusters", fmt.Sprint("c", i), clusterWith(fmt.Sprint("c", i), "1s")))
	}
	w.do(http.MethodPost, w.at("apply"), applyOf(all...)).is(200, nil)
	leave := w.takesAll(w.tenant.ID)
	w.do(http.MethodGet, w.at("resources")+"?limit=200", "").isProblem(503, "timeout", "")
	w.do(http.MethodGet, w.at("resources")+"?limit=50", "").is(200, nil)
	leave()
	w.do(http.MethodGet, w.at("resources")+"?limit=200", "").is(200, nil)
}

// TestT44_LargeComputationsPauseForRequests: while a request is under way, unless it is a large computation itself.
func TestT44_LargeComputationsPauseForRequests(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("c")
	w.api.shares.Brief = time.Hour
	brief := func() int { return w.api.computing.State().Brief }
	if n := brief(); n != 0 {
		t.Fatalf("%d requests are under way before there is one", n)
	}
	for _, c := range []struct {
		name, document string
		kind           compute.Kind
		brief          int
	}{
		{"small", applyOf(named("clusters", "c", clusterWith("c", "2s"))), compute.Small, 1},
		{"large", largeDocument(), compute.Large, 0},
	} {
		var turns []*compute.Turn
		for range w.api.computing.Slots {
			turn, err := w.api.computing.Enter(t.Context(), w.tenant.ID, compute.Small)
			must(t, err)
			turns = append(turns, turn)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.do(http.MethodPost, w.at("plan"), c.document)
		}()
		for w.api.computing.State().Waiting[c.kind] == 0 {
			runtime.Gosched()
		}
		if n := brief(); n != c.brief {
			t.Errorf("%s: large computations pause for %d requests, want %d", c.name, n, c.brief)
		}
		for _, turn := range turns {
			turn.Leave()
		}
		if <-done; brief() != 0 {
			t.Errorf("%s: large computations pause for a request that has its answer", c.name)
		}
	}
}

// TestTellsOfLargeComputations of, and small ones are not.
func TestTellsOfLargeComputations(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan bool, 2), make(chan error, 1)
	go func() { ended <- w.api.TellLarge(ctx, func(here bool) { told <- here }) }()
	w.put("c")
	w.do(http.MethodPost, w.at("plan"), applyOf(named("clusters", "c", clusterWith("c", "2s")))).is(200, nil)
	select {
	case <-told:
		t.Error("a small computation is told")
	default:
	}
	w.do(http.MethodPost, w.at("plan"), largeDocument())
	if !<-told {
		t.Error("a large computation begins, and it is told that they are over")
	}
	stop()
	if err := <-ended; err != nil || <-told {
		t.Errorf("at the end: %v", err)
	}
}
