package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/metrics"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// TestATenantThatIsMovingIsTold: its writes are to be repeated at once, by whichever way they come; what is read is answered.
func TestATenantThatIsMovingIsTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.db.Exec(t, `UPDATE tenants SET place = 'leaving' WHERE id = $1`, w.tenant.ID.String())
	for _, a := range []answer{
		w.do(http.MethodPut, w.at("resources", "clusters", "b"), asDocument(cluster("b"))),
		w.do(http.MethodDelete, w.at("resources", "clusters", "a"), ""),
		w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"role": "viewer", "name": "reader"}`),
	} {
		a.isProblem(503, "tenant_moving", "")
		if a.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %s", a.header.Get("Retry-After"))
		}
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, nil)
}

// TestATenantInACellThatTheServerDoesNotKnow: by servers of one database and of several its tokens and sessions are answered alike, with what is to be changed and not as wrong
// ones. A browser keeps its cookie, and a token that is unknown is refused.
func TestATenantInACellThatTheServerDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*world{"one database": setup(t), "several": setupCells(t).eu} {
		page := w.signedIn(w.owner)
		w.whoamiOf(w.owner).is(200, nil)
		late := w.token(w.tenant, auth.RoleViewer, nil)
		w.db.Exec(t, `UPDATE tenants SET place = 'gone' WHERE id = $1`, w.tenant.ID.String())
		for range 2 {
			for what, a := range map[string]answer{
				"a token": w.whoamiOf(w.owner), "a new token": w.whoamiOf(late), "a session": page.do(http.MethodGet, "/v1/whoami", ""),
				"a sign-in": w.do(http.MethodPost, "/v1/session", `{"token": "`+late+`"}`, "Authorization", ""),
				"a write":   w.do(http.MethodPut, w.at("resources", "clusters", "b"), asDocument(cluster("b"))),
			} {
				p := a.isProblem(503, "tenant_elsewhere", "")
				if a.header.Get("Retry-After") != "1" || a.header.Get("Set-Cookie") != "" || a.header.Get("WWW-Authenticate") != "" {
					t.Errorf("%s, %s: %v", name, what, a.header)
				}
				for _, says := range []string{"which this server does not know", "--cells-file", "nothing was done"} {
					if !strings.Contains(deref(p.Detail), says) {
						t.Errorf("%s, %s: %q does not say %q", name, what, deref(p.Detail), says)
					}
				}
			}
		}
		_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
		w.whoamiOf(unknown).isProblem(401, "unauthenticated", "")
		w.db.Exec(t, `UPDATE tenants SET place = 'arriving' WHERE id = $1`, w.tenant.ID.String())
		w.whoamiOf(late).isProblem(503, "unavailable", "")
		w.db.Exec(t, `UPDATE tenants SET place = 'here' WHERE id = $1`, w.tenant.ID.String())
		page.whoami()
		w.whoamiOf(late).is(200, nil)
	}
}

// TestT07_WhereATenantIsIsToldToWhoHasItsToken: whoever has an id alone is answered as with an unknown one, in as many calls, wherever the tenant is and whatever the id is of.
func TestT07_WhereATenantIsIsToldToWhoHasItsToken(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"here", "leaving", "arriving", "gone"} {
		x := setupCells(t)
		several := x.us
		db, registry := storetest.New(t), metrics.New(metrics.API, metrics.Config{})
		one := setupOn(t, db, db.Open(t, store.Config{URL: db.App, Metrics: registry.Database(metrics.API)}))
		for name, w := range map[string]*world{"one database": one, "several": several} {
			count := func() [2]float64 {
				if w == one {
					return [2]float64{calls(t, registry)}
				}
				eu, us := x.calls(t)
				return [2]float64{eu, us}
			}
			cost := func(what, token string) [2]float64 {
				t.Helper()
				before := count()
				if a := w.whoamiOf(token); a.status != 401 {
					t.Errorf("%s, %s: %s is answered %d %s", name, place, what, a.status, a.body)
				}
				now := count()
				return [2]float64{now[0] - before[0], now[1] - before[1]}
			}
			wrong := withOtherSecret(t, w)
			ofProxies, beside, _ := auth.NewAPIToken(auth.KindAPI)
			_, err := w.store.CreateNodeCredential(t.Context(), w.tenant.ID, w.fleet.ID, tester, store.NodeCredential{ID: ofProxies, Hash: auth.Hash("of a proxy"), Nodes: "*"})
			must(t, err)
			w.db.Exec(t, `UPDATE tenants SET place = $2 WHERE id = $1`, w.tenant.ID.String(), place)
			_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
			want := cost("an unknown id", unknown)
			for what, token := range map[string]string{"a wrong secret": wrong, "the id of a node credential": beside} {
				if got := cost(what, token); got != want {
					t.Errorf("%s, %s: %s costs %v calls, an unknown id %v", name, place, what, got, want)
				}
			}
		}
	}
}

// TestWhoWaitsAtAServerOfOneDatabase while the tenant moves is not refused: the token is as good as before, in the other cell.
func TestWhoWaitsAtAServerOfOneDatabase(t *testing.T) {
	t.Parallel()
	w := setup(t)
	page := w.signedIn(w.owner)
	byToken, ofPage := w.follow(""), w.follow("", page.headers()...)
	w.db.Exec(t, `UPDATE tenants SET place = 'gone' WHERE id = $1`, w.tenant.ID.String())
	for _, s := range []*stream{byToken, ofPage} {
		if last := s.endWithin(time.Minute); last != ": "+string(live.EndMoved) {
			t.Errorf("a stream says at last %q", last)
		}
	}
}

// TestASignInBesideATenantThatIsMoving: the session whose cookie came along cannot be ended now, and keeps nobody from signing in to another tenant.
func TestASignInBesideATenantThatIsMoving(t *testing.T) {
	t.Parallel()
	w := setup(t)
	old := w.signedIn(w.owner)
	other := w.token(w.newTenant("initech"), auth.RoleOwner, nil)
	w.db.Exec(t, `UPDATE tenants SET place = 'leaving' WHERE id = $1`, w.tenant.ID.String())
	w.do(http.MethodPost, "/v1/session", `{"token": "`+other+`"}`, old.headers()...).is(204, nil)
	old.whoami()
}
