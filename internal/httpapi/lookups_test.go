package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/compute"
	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// TestT07_BadAPITokensCostNoSecondQuery: they are refused while the database is away, and the
// good one, and another bad one, have to wait for it.
func TestT07_BadAPITokensCostNoSecondQuery(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	line, near := newWire(t, db.App)
	w := setupOn(t, db, db.Open(t, store.Config{URL: near, AllowUnsafe: true}))
	whoami := func(token string) answer {
		return w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+token)
	}
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	_, other, _ := auth.NewAPIToken(auth.KindAPI)
	expired := w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleOwner, Name: "old", ExpiresAt: time.Now().Add(-time.Second)})
	good := w.token(w.tenant, auth.RoleViewer, nil)
	for _, token := range []string{unknown, expired} {
		whoami(token).isProblem(401, "unauthenticated", "")
	}
	line.set(cut)
	for _, token := range []string{unknown, expired} {
		if p := whoami(token).isProblem(401, "unauthenticated", ""); *p.Detail != "the token is not valid" {
			t.Errorf("it is told apart: %s", *p.Detail)
		}
	}
	for _, token := range []string{good, other} {
		whoami(token).isProblem(503, "unavailable", "")
	}
}

// TestT07_AServerOfOneDatabaseAsksWhereATenantIs of a wrong secret as of an unknown id: two calls each, and none when they come again. Of a good token it does not ask.
func TestT07_AServerOfOneDatabaseAsksWhereATenantIs(t *testing.T) {
	t.Parallel()
	db, registry := storetest.New(t), metrics.New(metrics.API, metrics.Config{})
	w := setupOn(t, db, db.Open(t, store.Config{URL: db.App, Metrics: registry.Database(metrics.API)}))
	cost := func(token string, want int) float64 {
		t.Helper()
		calls := func() float64 {
			return metricstest.Value(t, registry, `fairlead_database_call_seconds_count{lane="request",program="api"}`)
		}
		before := calls()
		if a := w.whoamiOf(token); a.status != want {
			t.Errorf("%d %s, want %d", a.status, a.body, want)
		}
		return calls() - before
	}
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	wrong := withOtherSecret(t, w)
	if of, none := cost(wrong, 401), cost(unknown, 401); of != 2 || none != 2 {
		t.Errorf("a wrong secret costs %v calls, an unknown id %v", of, none)
	}
	if of, none := cost(wrong, 401), cost(unknown, 401); of != 0 || none != 0 {
		t.Errorf("again a wrong secret costs %v calls, an unknown id %v", of, none)
	}
	cost(w.owner, 200) // what is kept of the tenant is read with it
	if known, fresh := cost(w.owner, 200), cost(w.token(w.tenant, auth.RoleViewer, nil), 200); known != fresh {
		t.Errorf("a good token costs %v calls at first, and %v later", fresh, known)
	}
}

// begun begins a look-up, which has read what is there when begun returns, and ends when the one who began it lets it.
func begun[K comparable, V any](t *testing.T, s *compute.Shared[K, V], k K, find func(context.Context) (V, error)) (let func()) {
	t.Helper()
	read, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := s.Do(t.Context(), k, func(ctx context.Context) (V, error) {
			v, err := find(ctx)
			close(read)
			<-end
			return v, err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-read
	let = sync.OnceFunc(func() { close(end); all.Wait() })
	t.Cleanup(let)
	return let
}

// wait until n wait for the look-up. It fails if one is answered before.
func wait[K comparable, V any](t *testing.T, s *compute.Shared[K, V], k K, n int, answered <-chan struct{}) {
	t.Helper()
	for s.Waiting(k) < n {
		select {
		case <-answered:
			t.Fatal("a look-up that was under way answered who asked after it had begun")
		default:
			runtime.Gosched()
		}
	}
}

func idOf(t *testing.T, token string) fleet.CredentialID {
	t.Helper()
	_, id, err := auth.ParseAPIToken(token)
	must(t, err)
	return id
}

// calls is how many calls of the database there were.
func calls(t *testing.T, r *metrics.Registry) float64 {
	t.Helper()
	return metricstest.Value(t, r, `fairlead_database_call_seconds_count{lane="request",program="api"}`)
}

// TestLookUpsOfRequestsAreShared: of those that come at once one call looks the token up, and one the tenant and the fleet.
func TestLookUpsOfRequestsAreShared(t *testing.T) {
	t.Parallel()
	const requests = 16
	db := storetest.New(t)
	r := metrics.New(metrics.API, metrics.Config{})
	w := setupOn(t, db, db.Open(t, store.Config{URL: db.App, Metrics: r.Database(metrics.API)}))
	id := idOf(t, w.owner)
	token := func(ctx context.Context) (store.Token, error) { return w.store.FindToken(ctx, id) }
	k := fleetKey{tenantKey{id: w.tenant.ID}, w.fleet.Name}
	path := func(ctx context.Context) (tenantAndFleet, error) { return w.api.tenantAndFleet(ctx, k) }
	letTokens, letPaths := begun(t, &w.api.tokens, id, token), begun(t, &w.api.fleets, k, path)
	before, answered := calls(t, r), make(chan struct{})
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			_, row, err := w.api.goodToken(t.Context(), &call{remote: "192.0.2.1:1"}, w.owner)
			if err != nil {
				t.Error(err)
			}
			c := &call{principal: row.Principal, note: &requestNote{}}
			if err := w.api.resolveFleet(t.Context(), c, w.tenant.Slug, w.fleet.Name); err != nil || c.fleet.ID != w.fleet.ID || c.tenant.ID != w.tenant.ID {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
	wait(t, &w.api.tokens, id, requests, answered)
	letTokens()
	wait(t, &w.api.fleets, k, requests, answered)
	letPaths()
	all.Wait()
	if n := calls(t, r) - before; n != 2 {
		t.Errorf("%v calls for %d requests, want 2", n, requests)
	}
}

// TestT07_ARevokedTokenIsRefusedWhateverIsUnderWay: who asks after the revocation is told of it, though a look-up was begun before it.
func TestT07_ARevokedTokenIsRefusedWhateverIsUnderWay(t *testing.T) {
	t.Parallel()
	w := setup(t)
	token := w.token(w.tenant, auth.RoleViewer, nil)
	id := idOf(t, token)
	whoami := func() answer { return w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+token) }
	whoami().is(200, nil)
	let := begun(t, &w.api.tokens, id, func(ctx context.Context) (store.Token, error) { return w.store.FindToken(ctx, id) })
	must(t, w.store.RevokeToken(t.Context(), w.tenant.ID, tester, id, store.Revocation{Within: auth.Roles()}))
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		whoami().isProblem(401, "unauthenticated", "")
	}()
	wait(t, &w.api.tokens, id, 1, answered)
	let()
	<-answered
}

// TestAClientThatLeavesFailsNobody: it was to look up what others wait for.
func TestAClientThatLeavesFailsNobody(t *testing.T) {
	t.Parallel()
	w := setup(t)
	id := idOf(t, w.owner)
	let := begun(t, &w.api.tokens, id, func(ctx context.Context) (store.Token, error) { return w.store.FindToken(ctx, id) })
	ask := func(ctx context.Context) (status func() int) {
		out := httptest.NewRecorder()
		var all sync.WaitGroup
		all.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, w.at("resources"), strings.NewReader(""))
			r.Header.Set("Authorization", "Bearer "+w.owner)
			w.api.Handler().ServeHTTP(out, r)
		})
		return func() int { all.Wait(); return out.Code }
	}
	ctx, leave := context.WithCancel(t.Context())
	leads := ask(ctx)
	wait(t, &w.api.tokens, id, 1, nil)
	others := []func() int{ask(t.Context()), ask(t.Context())}
	wait(t, &w.api.tokens, id, 3, nil)
	leave()
	let()
	for _, status := range others {
		if s := status(); s != http.StatusOK {
			t.Errorf("answered %d", s)
		}
	}
	leads()
}
