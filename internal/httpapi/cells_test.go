package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/store"
)

// TestTheTokenSaysTheCell: two tenants of one name, in two databases behind one server, see and change their own alone, by token and by session.
func TestTheTokenSaysTheCell(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	streams := map[*world]*stream{}
	for w, name := range map[*world]string{x.eu: "of-eu", x.us: "of-us"} {
		streams[w] = w.follow("")
		w.put(name)
		page := w.signedIn(w.owner)
		page.do(http.MethodPut, w.at("resources", "clusters", name+"-page"), asDocument(cluster(name+"-page"))).is(201, nil)
		if who := page.whoami(); *who.Tenant != "acme" || *who.Role != oapi.Owner {
			t.Errorf("%s: %+v", name, who)
		}
	}
	for w, name := range map[*world]string{x.eu: "of-eu", x.us: "of-us"} {
		var list oapi.ResourceList
		w.do(http.MethodGet, w.at("resources"), "").is(200, &list)
		names := each(list.Items, func(r oapi.Resource) string { return r.Name })
		slices.Sort(names)
		if !slices.Equal(names, []string{name, name + "-page"}) {
			t.Errorf("%s has %q", name, names)
		}
		w.happens(name)
		if e := streams[w].event(); e.Node != name {
			t.Errorf("%s hears %+v", name, e)
		}
		if found, err := w.store.FindToken(t.Context(), idOf(t, w.owner)); err != nil || found.Principal.Tenant != w.tenant.ID {
			t.Errorf("%+v, %v", found, err)
		}
	}
	for path, want := range map[string]int{"/": 200, "/healthz": 200, "/openapi.yaml": 200, "/v1/nothing": 404} {
		x.eu.do(http.MethodGet, path, "", "Authorization", "").is(want, nil)
	}
	x.us.do(http.MethodGet, "/v1/whoami", "", "Authorization", "").isProblem(401, "unauthenticated", "")
	if h := x.us.do(http.MethodHead, x.us.at(), ""); h.status != 200 {
		t.Errorf("HEAD: %d", h.status)
	}
	for _, name := range []string{"eu-1", "us-1"} {
		if n := metricstest.Value(t, x.registry, `fairlead_api_requests_total{cell="`+name+`",operation="putResource",status="201"}`); n != 2 {
			t.Errorf("%s counts %v writes", name, n)
		}
	}
}

// TestAnOperatorMakesTenantsInItsCell, and is shown those of that alone.
func TestAnOperatorMakesTenantsInItsCell(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	for _, w := range []*world{x.eu, x.us} {
		operator := w.operator()
		w.do(http.MethodPost, "/v1/tenants", `{"slug": "initech", "name": "Initech"}`, "Authorization", "Bearer "+operator).is(201, nil)
		var list oapi.TenantList
		w.do(http.MethodGet, "/v1/tenants", "", "Authorization", "Bearer "+operator).is(200, &list)
		if slugs := each(list.Items, func(n oapi.Tenant) string { return n.Slug }); !slices.Equal(slugs, []string{"acme", "initech"}) {
			t.Errorf("%q", slugs)
		}
	}
}

// TestASignInEndsTheSessionOfAnotherCell whose cookie came along.
func TestASignInEndsTheSessionOfAnotherCell(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	old := x.eu.signedIn(x.eu.owner)
	x.us.do(http.MethodPost, "/v1/session", `{"token": "`+x.us.owner+`"}`, old.headers()...).is(204, nil)
	old.isOver("the session has ended")
	if over, _, err := x.eu.store.FindSession(t.Context(), sessionID(t, old)); err != nil || over.EndedAt.IsZero() {
		t.Errorf("%+v, %v", over, err)
	}
}

// TestACellThatIsAwayCostsItsTenantsAlone: an unknown token is not refused while it may be that cell's, and nothing of that is remembered.
func TestACellThatIsAwayCostsItsTenantsAlone(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	late := x.us.token(x.us.tenant, auth.RoleViewer, nil) // of which nothing is known yet
	known := x.us.signedIn(x.us.owner)
	x.usLine.set(cut)
	fresh := x.eu.token(x.eu.tenant, auth.RoleViewer, nil)
	for range 3 {
		for _, token := range []string{unknown, late, x.us.owner} {
			a := x.us.whoamiOf(token)
			if a.isProblem(503, "unavailable", ""); a.header.Get("Retry-After") != "1" {
				t.Errorf("it says %q", a.header.Get("Retry-After"))
			}
		}
		known.do(http.MethodGet, "/v1/whoami", "").isProblem(503, "unavailable", "")
		x.us.do(http.MethodPost, "/v1/session", `{"token": "`+late+`"}`, "Authorization", "").isProblem(503, "unavailable", "")
		x.eu.put("a")
		x.eu.whoamiOf(fresh).is(200, nil)
	}
	page := x.eu.signedIn(fresh)
	page.whoami()
	if a := x.eu.do(http.MethodGet, "/readyz", ""); a.status != 200 || string(a.body) != "ready\ncell us-1: its database does not answer\n" {
		t.Errorf("%d %q", a.status, a.body)
	}
	x.usLine.set(whole)
	for token, want := range map[string]int{unknown: 401, late: 200, x.us.owner: 200} {
		for end := time.Now().Add(time.Minute); ; {
			a := x.us.whoamiOf(token)
			if a.status == want {
				break
			}
			if a.status != 503 || time.Now().After(end) { // until it is asked again
				t.Fatalf("%d, want %d: %s", a.status, want, a.body)
			}
		}
	}
	known.whoami()
	if a := x.eu.do(http.MethodGet, "/readyz", ""); a.status != 200 || string(a.body) != "ready\n" {
		t.Errorf("%d %q", a.status, a.body)
	}
	x.usLine.set(cut)
	x.euLine.set(cut)
	if a := x.eu.do(http.MethodGet, "/readyz", ""); a.status != 503 || !strings.Contains(string(a.body), "cell eu-1: ") || !strings.Contains(string(a.body), "cell us-1: ") {
		t.Errorf("%d %q", a.status, a.body)
	}
}

// TestTheFirstCellIsAwayLikeAnyOther: what comes without a token is answered by its API, and needs its database for nothing.
func TestTheFirstCellIsAwayLikeAnyOther(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	x.euLine.set(cut)
	x.us.whoamiOf(x.us.owner).is(200, nil)
	x.us.signedIn(x.us.owner).whoami()
	x.us.do(http.MethodGet, "/v1/whoami", "", "Authorization", "").isProblem(401, "unauthenticated", "")
	x.us.put("a")
}

// TestACellThatIsSilentKeepsNobodyWaiting who is another's: not even one whose token was not seen before.
func TestACellThatIsSilentKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	x.usLine.set(silent)
	for range 3 {
		x.eu.whoamiOf(x.eu.token(x.eu.tenant, auth.RoleViewer, nil)).is(200, nil)
	}
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	x.eu.whoamiOf(unknown).isProblem(503, "unavailable", "")
}

func (x *twoCells) calls(t *testing.T) (eu, us float64) {
	t.Helper()
	of := func(cell string) float64 {
		return metricstest.Value(t, x.registry, `fairlead_database_call_seconds_count{cell="`+cell+`",lane="request",program="api"}`)
	}
	return of("eu-1"), of("us-1")
}

// TestT07_BadTokensCostEachCellOnce: two calls in each, for the id and for tenants on their way, and none when they come again. They are answered as by a server of
// one database.
func TestT07_BadTokensCostEachCellOnce(t *testing.T) {
	t.Parallel()
	x, single := setupCells(t), setup(t)
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	expired := x.us.tokenOf(x.us.tenant, store.APIToken{Role: auth.RoleOwner, Name: "old", ExpiresAt: time.Now().Add(-time.Second)})
	want := *single.whoamiOf(unknown).isProblem(401, "unauthenticated", "").Detail
	for token, most := range map[string]float64{unknown: 2, expired: 2} {
		eu, us := x.calls(t)
		for range 5 {
			a := x.us.whoamiOf(token)
			if p := a.isProblem(401, "unauthenticated", ""); *p.Detail != want || a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s", a.body)
			}
		}
		nowEU, nowUS := x.calls(t)
		if nowEU-eu > most || nowUS-us > most || nowUS == us {
			t.Errorf("it cost %v calls in eu and %v in us", nowEU-eu, nowUS-us)
		}
	}
	x.euLine.set(cut)
	x.usLine.set(cut)
	x.us.whoamiOf(unknown).isProblem(401, "unauthenticated", "")
	if n := x.cells.homes.Len(); n != 1 {
		t.Errorf("%d are remembered, beside the expired one, which was a token", n-1)
	}
}

// withOtherSecret is a token with the id of another.
func withOtherSecret(t *testing.T, w *world) (token string) {
	t.Helper()
	id, token, _ := auth.NewAPIToken(auth.KindAPI)
	_, err := w.store.CreateToken(t.Context(), w.tenant.ID, tester, store.APIToken{ID: id, Hash: auth.Hash("right"), Role: auth.RoleViewer, Name: "right"})
	must(t, err)
	return token
}

// TestT07_AWrongSecretIsAnUnknownTokenToAllCells: it costs the same calls in each, and is answered alike, whether or not a cell is away.
func TestT07_AWrongSecretIsAnUnknownTokenToAllCells(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	cost := func(token string, want int, code string) [2]float64 {
		eu, us := x.calls(t)
		x.us.whoamiOf(token).isProblem(want, code, "")
		nowEU, nowUS := x.calls(t)
		return [2]float64{nowEU - eu, nowUS - us}
	}
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	wrong, later := withOtherSecret(t, x.us), withOtherSecret(t, x.us)
	if of, none := cost(wrong, 401, "unauthenticated"), cost(unknown, 401, "unauthenticated"); of != none || none != [2]float64{2, 2} {
		t.Errorf("a wrong secret costs %v, an unknown id %v", of, none)
	}
	x.euLine.set(cut)
	_, unknown, _ = auth.NewAPIToken(auth.KindAPI)
	cost(unknown, 503, "unavailable")
	cost(later, 503, "unavailable")
}

// TestT07_GuessesTakeTurnsWhileACellIsAway: they cannot be refused, and are no cheaper for that.
func TestT07_GuessesTakeTurnsWhileACellIsAway(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	x.usLine.set(cut)
	for range 11 {
		_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
		x.us.whoamiOf(unknown).isProblem(503, "unavailable", "")
	}
	var leave []func()
	for range doubtedAtOnce {
		end, err := x.cells.process.lookups.Begin(t.Context(), "127.0.0.1:1", time.Now())
		must(t, err)
		leave = append(leave, end)
	}
	eu, _ := x.calls(t)
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	x.us.whoamiOf(unknown).isProblem(503, "unavailable", "") // it waits in vain
	if now, _ := x.calls(t); now != eu {
		t.Errorf("%v calls were made for it", now-eu)
	}
	for _, end := range leave {
		end()
	}
}

// TestATenantMovesToAnotherCell: with the same token it is served there, at once and without a refusal in between.
func TestATenantMovesToAnotherCell(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	place := func(w *world, place string) {
		w.db.Exec(t, `UPDATE tenants SET place = $2 WHERE id = $1`, w.tenant.ID.String(), place)
	}
	token := x.eu.owner
	x.eu.whoamiOf(token).is(200, nil)
	session := x.eu.signedIn(token)
	id := idOf(t, token)
	_, err := x.us.store.CreateToken(t.Context(), x.us.tenant.ID, tester, store.APIToken{ID: id, Hash: auth.Hash(token), Role: auth.RoleViewer, Name: "moved"})
	must(t, err)
	place(x.us, "arriving")
	place(x.eu, "gone")
	for range 2 {
		x.eu.whoamiOf(token).isProblem(503, "unavailable", "")
		session.do(http.MethodGet, "/v1/whoami", "").isProblem(503, "tenant_elsewhere", "") // which has not come along
	}
	place(x.us, "here")
	for range 2 {
		var who oapi.Whoami
		if x.eu.whoamiOf(token).is(200, &who); *who.Role != oapi.Viewer {
			t.Errorf("%+v", who)
		}
	}
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	x.eu.whoamiOf(unknown).isProblem(401, "unauthenticated", "")
	for range 2 { // what the cell that it has left still has makes a wrong secret no tenant on its way
		wrong := withOtherSecret(t, x.us)
		x.eu.db.Exec(t, `INSERT INTO api_tokens (tenant_id, id, role, name, hash) VALUES ($1, $2, 'viewer', 'left', sha256(''))`, x.eu.tenant.ID.String(), idOf(t, wrong).String())
		x.eu.whoamiOf(wrong).isProblem(401, "unauthenticated", "")
	}
}

// TestWhoWaitsWhileTheTenantMovesIsNotRefused: their token is as good as before, in the other cell. A browser keeps its cookie.
func TestWhoWaitsWhileTheTenantMovesIsNotRefused(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	w := x.eu
	w.settledNode(w.fleet.ID, "router-1", 0)
	w.put("a")
	page := w.signedIn(w.owner)
	byToken, ofPage := w.follow(""), w.follow("", page.headers()...)
	begun := x.cells.process.polls.Used(access.Counted{Whose: w.tenant.ID, What: store.LimitWaitingPolls})
	paths := []string{w.at("revisions", "1", "receipt"), w.at("live"), "/v1/live"}
	answers := make(chan answer, 2*len(paths))
	for _, path := range paths {
		go func() { answers <- w.do(http.MethodGet, path+"?wait=60s", "") }()
		go func() { answers <- page.do(http.MethodGet, path+"?wait=60s", "") }()
	}
	for x.cells.process.polls.Used(access.Counted{Whose: w.tenant.ID, What: store.LimitWaitingPolls}) < begun+int64(2*len(paths)) {
		w.do(http.MethodGet, w.at(), "").is(200, nil)
	}
	w.db.Exec(t, `UPDATE tenants SET place = 'gone' WHERE id = $1`, w.tenant.ID.String())
	for range 2 * len(paths) {
		a := <-answers
		a.isProblem(503, "unavailable", "")
		if a.header.Get("Retry-After") != "1" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", a.what, a.header)
		}
	}
	for _, s := range []*stream{byToken, ofPage} {
		if last := s.endWithin(time.Minute); last != ": "+string(live.EndMoved) {
			t.Errorf("a stream says at last %q", last)
		}
	}
}

// TestATokenThatTwoCellsServe is neither's: a cell that was restored may not know that the tenant has gone. Writes would come to one or the other.
func TestATokenThatTwoCellsServe(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	said := heard{found: lookedUp{err: fleet.ErrNotFound}}
	for _, w := range []*world{x.eu, x.us} {
		said.hear(lookedUp{api: w.api})
	}
	if p := problemOf(errElsewhere(said.all().err)); !errors.Is(said.all().err, errTwice) || p.status != http.StatusServiceUnavailable {
		t.Errorf("%v", said.all().err)
	}
}

// TestAnIDOfAnotherKindIsNoTokenOnItsWay: the id of a node credential, as that of a session, is refused and not asked to come again.
func TestAnIDOfAnotherKindIsNoTokenOnItsWay(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	forged, _, hash := auth.NewSession()
	x.us.db.Exec(t, `INSERT INTO node_credentials (tenant_id, fleet_id, id, hash, nodes) VALUES ($1, $2, $3, $4, '*')`, x.us.tenant.ID.String(), x.us.fleet.ID.String(), forged.String(), hash[:])
	f := x.cells.find(t.Context(), "192.0.2.1:1", credential{id: fleet.CredentialID(forged), session: true, sent: hash})
	if p := problemOf(f.err); p.status != http.StatusNotFound {
		t.Errorf("%v", f.err)
	}
}

// TestCellsShareTheirProcess: what one cell's tenants take of its memory the other's have not.
func TestCellsShareTheirProcess(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	p := x.cells.process
	p.bodies.Patience = 50 * time.Millisecond
	var leave []func()
	for range 8 {
		end, err := p.bodies.Enter(t.Context(), fleet.NewTenantID(), p.bodies.Tenant, func() {})
		must(t, err)
		leave = append(leave, end)
	}
	long := `{"body": ` + cluster("a") + strings.Repeat(" ", 20<<10) + `}`
	for _, w := range []*world{x.eu, x.us} {
		w.do(http.MethodPut, w.at("resources", "clusters", "a"), long).isProblem(503, "timeout", "")
	}
	for _, end := range leave {
		end()
	}
	var all sync.WaitGroup
	for _, w := range []*world{x.eu, x.us} {
		all.Go(func() { w.do(http.MethodPut, w.at("resources", "clusters", "a"), long).is(201, nil) })
	}
	all.Wait()
	if n := metricstest.Value(t, x.registry, `fairlead_compute_slots`); n != float64(p.computing.State().Slots) {
		t.Errorf("there are %v slots", n)
	}
}

// TestACellThatIsNotOpenYet: the others serve, and it is known by its absence.
func TestACellThatIsNotOpenYet(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	x.cells.cells[1].api.Store(nil)
	x.us.whoamiOf(x.us.owner).isProblem(503, "unavailable", "")
	x.eu.whoamiOf(x.eu.owner).is(200, nil)
	if a := x.eu.do(http.MethodGet, "/readyz", ""); string(a.body) != "ready\ncell us-1: its database was not reached yet\n" {
		t.Errorf("%q", a.body)
	}
	x.cells.Open("us-1", x.us.api)
	x.us.whoamiOf(x.us.owner).is(200, nil)
	x.cells.cells[0].api.Store(nil)
	x.cells.cells[1].api.Store(nil)
	if a := x.us.whoamiOf(x.us.owner); a.status != 503 || a.header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestATokenOfATenantThatWasDeletedAfterItsMove is refused like any of a deleted tenant, whatever the cell that it has left still has.
func TestATokenOfATenantThatWasDeletedAfterItsMove(t *testing.T) {
	t.Parallel()
	x := setupCells(t)
	token := x.eu.owner
	session := x.eu.signedIn(token)
	_, err := x.us.store.CreateToken(t.Context(), x.us.tenant.ID, tester, store.APIToken{ID: idOf(t, token), Hash: auth.Hash(token), Role: auth.RoleViewer, Name: "moved"})
	must(t, err)
	x.eu.db.Exec(t, `UPDATE tenants SET place = 'gone' WHERE id = $1`, x.eu.tenant.ID.String())
	x.us.whoamiOf(token).is(200, nil)
	must(t, x.us.store.DeleteTenant(t.Context(), x.us.tenant.ID, tester))
	x.us.whoamiOf(token).isProblem(401, "unauthenticated", "")
	session.do(http.MethodGet, "/v1/whoami", "").isProblem(503, "tenant_elsewhere", "") // which the other cell does not know
}
