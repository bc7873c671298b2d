package httpapi

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
	"fairlead/web"
)

func TestBadTokensAreRefusedAlike(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	_, node, _ := auth.NewNodeToken(time.Time{})
	expired := w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleOwner, Name: "old", ExpiresAt: time.Now().Add(-time.Second)})
	for name, header := range map[string]string{
		"unknown": "Bearer " + unknown, "expired": "Bearer " + expired, "node token": "Bearer " + node,
		"empty": "Bearer ", "basic": "Basic " + w.owner, "bare": w.owner, "damaged": "Bearer " + w.owner[:len(w.owner)-1] + "_", "none": "",
	} {
		a := w.do(http.MethodGet, "/v1/whoami", "", "Authorization", header)
		p := a.isProblem(401, "unauthenticated", "")
		if a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", name)
		}
		if (name == "unknown" || name == "expired") && *p.Detail != "the token is not valid" {
			t.Errorf("%s is told apart: %s", name, *p.Detail)
		}
	}
	w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "bearer  "+w.owner).is(200, nil)
}

func TestT07_UnknownIdIsComparedToo(t *testing.T) {
	t.Parallel()
	row := store.Token{Hash: [32]byte{1}, Principal: auth.Principal{Role: auth.RoleViewer}}
	now := time.Now()
	for name, c := range map[string]struct {
		row   store.Token
		found bool
		kind  auth.Kind
		sent  [32]byte
		want  bool
	}{
		"good":                 {row, true, auth.KindAPI, [32]byte{1}, true},
		"wrong secret":         {row, true, auth.KindAPI, [32]byte{2}, false},
		"no row, hash of zero": {store.Token{}, false, auth.KindAPI, [32]byte{}, false},
		"another kind":         {row, true, auth.KindOperator, [32]byte{1}, false},
		"revoked":              {store.Token{Hash: row.Hash, Principal: row.Principal, RevokedAt: now.Add(-1)}, true, auth.KindAPI, [32]byte{1}, false},
		"expires now":          {store.Token{Hash: row.Hash, Principal: row.Principal, ExpiresAt: now}, true, auth.KindAPI, [32]byte{1}, false},
	} {
		if got := tokenHolds(c.row, c.found, c.kind, c.sent, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestTokenIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var made oapi.TokenCreated
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "pipeline", "role": "ci", "fleet": "edge"}`).is(201, &made)
	if !strings.HasPrefix(made.Token, "flc_") || *made.ApiToken.Fleet != "edge" || made.ApiToken.ExpiresAt.Sub(made.ApiToken.CreatedAt).Round(time.Hour) != defaultLife {
		t.Errorf("made %+v", made)
	}
	var who oapi.Whoami
	w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+made.Token).is(200, &who)
	if who.Kind != oapi.WhoamiKindTenant || *who.Tenant != "acme" || *who.Role != oapi.Ci || *who.Fleet != "edge" || who.Name != "pipeline" {
		t.Errorf("whoami %+v", who)
	}
	a := w.do(http.MethodGet, "/v1/tenants/acme/tokens", "").is(200, nil)
	if strings.Contains(string(a.body), made.Token) || !strings.Contains(string(a.body), made.ApiToken.Id) {
		t.Errorf("list: %s", a.body)
	}
	for range 2 {
		w.do(http.MethodDelete, "/v1/tenants/acme/tokens/"+made.ApiToken.Id, "").is(204, nil)
	}
	w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+made.Token).isProblem(401, "unauthenticated", "")
	a = w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "ci"}`)
	if a.isProblem(400, "invalid_request", "/fleet"); !strings.Contains(string(a.body), "--for-fleet") {
		t.Errorf("it is not told how a fleet is named: %s", a.body)
	}
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "ci", "fleet": "nowhere"}`).isProblem(400, "invalid_request", "/fleet")
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"}`).isProblem(400, "invalid_request", "/expires_at")
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "viewer", "expires_at": "2099-01-01T00:00:00Z"}`).isProblem(400, "invalid_request", "/expires_at")
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "viewer", "expires_at": "soon"}`).isProblem(400, "invalid_request", "/expires_at")
}

func TestNobodyGrantsMoreThanTheyHave(t *testing.T) {
	t.Parallel()
	w := setup(t)
	admin := "Bearer " + w.token(w.tenant, auth.RoleAdmin, nil)
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "owner"}`, "Authorization", admin).isProblem(403, "forbidden", "")
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "admin"}`, "Authorization", admin).is(201, nil)
}

func TestNodeCredentialIsShownOnceListedAndRevoked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var made oapi.CredentialCreated
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "router-*", "description": "the routers"}`).is(201, &made)
	id, err := auth.ParseNodeToken(made.Token)
	if err != nil || id.String() != made.Credential.Id || made.Credential.Nodes != "router-*" {
		t.Errorf("made %+v, %v", made, err)
	}
	_, stored, err := w.nodes.FindNodeCredential(t.Context(), id)
	if err != nil || stored.Hash != auth.Hash(made.Token) || stored.Nodes != "router-*" {
		t.Errorf("stored %+v, %v", stored, err)
	}
	a := w.do(http.MethodGet, w.at("credentials"), "").is(200, nil)
	if strings.Contains(string(a.body), made.Token) || !strings.Contains(string(a.body), made.Credential.Id) {
		t.Errorf("list: %s", a.body)
	}
	w.do(http.MethodDelete, w.at("credentials", made.Credential.Id), "").is(204, nil)
	var list oapi.CredentialList
	w.do(http.MethodGet, w.at("credentials"), "").is(200, &list)
	if len(list.Items) != 1 || list.Items[0].RevokedAt == nil {
		t.Errorf("after it: %+v", list)
	}
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`).is(201, &made)
	if made.Credential.Nodes != "*" {
		t.Errorf("pattern %q", made.Credential.Nodes)
	}
	for _, body := range []string{`{"nodes": "a*b"}`, `{"nodes": ""}`, `{}`, `{"description": "all"}`} {
		a := w.do(http.MethodPost, w.at("credentials"), body)
		a.isProblem(400, "invalid_request", "/nodes")
		if !strings.Contains(string(a.body), "a prefix with") {
			t.Errorf("T41: %s: the answer does not say what to write: %s", body, a.body)
		}
	}
}

func TestOperatorMakesTenantsAndTheirFirstTokens(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := "Bearer " + w.operator()
	as := []string{"Authorization", operator}
	var tenant oapi.Tenant
	w.do(http.MethodPost, "/v1/tenants", `{"slug": "globex"}`, as...).is(201, &tenant)
	if tenant.Slug != "globex" || tenant.Name != "globex" {
		t.Errorf("made %+v", tenant)
	}
	w.do(http.MethodPost, "/v1/tenants", `{"slug": "globex"}`, as...).isProblem(409, "already_exists", "")
	w.do(http.MethodPost, "/v1/tenants", `{"slug": "Globex"}`, as...).isProblem(400, "invalid_request", "/slug")
	var page oapi.TenantList
	w.do(http.MethodGet, "/v1/tenants?limit=1", "", as...).is(200, &page)
	if len(page.Items) != 1 || page.Items[0].Slug != "acme" || page.NextCursor == nil {
		t.Fatalf("first page %+v", page)
	}
	w.do(http.MethodGet, "/v1/tenants?cursor="+*page.NextCursor, "", as...).is(200, &page)
	if len(page.Items) != 1 || page.Items[0].Slug != "globex" {
		t.Errorf("second page %+v", page)
	}
	var first oapi.TokenCreated
	w.do(http.MethodPost, "/v1/tenants/globex/tokens", `{"name": "first", "role": "owner"}`, as...).is(201, &first)
	w.do(http.MethodPost, "/v1/tenants/globex/fleets", `{"name": "edge"}`, "Authorization", "Bearer "+first.Token).is(201, nil)
	w.do(http.MethodPost, "/v1/tenants/globex/fleets", `{"name": "edge"}`, "Authorization", "Bearer "+first.Token).isProblem(409, "already_exists", "")
	var who oapi.Whoami
	w.do(http.MethodGet, "/v1/whoami", "", as...).is(200, &who)
	if who.Kind != oapi.WhoamiKindOperator || who.Tenant != nil {
		t.Errorf("whoami %+v", who)
	}
	w.do(http.MethodGet, "/v1/tenants", "").is(200, &page)
	if len(page.Items) != 1 || page.Items[0].Slug != "acme" {
		t.Errorf("a member sees %+v", page)
	}
}

func TestBoundTokenSeesItsFleetAlone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	other := w.newFleet(w.tenant, "core")
	ci := "Bearer " + w.token(w.tenant, auth.RoleCI, &other.ID)
	var list oapi.FleetList
	w.do(http.MethodGet, "/v1/tenants/acme/fleets", "", "Authorization", ci).is(200, &list)
	if len(list.Items) != 1 || list.Items[0].Name != "core" {
		t.Errorf("it sees %+v", list)
	}
	w.do(http.MethodGet, w.at("resources"), "", "Authorization", ci).isProblem(404, "not_found", "")
	w.do(http.MethodGet, "/v1/tenants/acme/fleets/core/resources", "", "Authorization", ci).is(200, nil)
}

func TestDeletedFleetIsGone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodDelete, w.at(), "").is(204, nil)
	w.do(http.MethodGet, w.at(), "").isProblem(404, "not_found", "")
	w.do(http.MethodPost, "/v1/tenants/acme/fleets", `{"name": "edge"}`).is(201, nil)
}

func TestHealthNeedsNoToken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready", "/openapi.yaml": "openapi: 3.0.3"} {
		a := w.do(http.MethodGet, path, "", "Authorization", "").is(200, nil)
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %.200s", path, a.body)
		}
	}
}

func TestPageNeedsNoToken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if got := web.Paths(); !slices.Equal(got, pagePaths) {
		t.Errorf("the page has %v, the API serves %v", got, pagePaths)
	}
	for _, path := range []string{"/", "/icon.svg", "/fleets/edge", "/fleets/edge/nodes/a~b%2Fc", "/settings", "/audit", "/operator"} {
		a := w.do(http.MethodGet, path, "", "Authorization", "").is(200, nil)
		if a.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %v", path, a.header)
		}
		w.do(http.MethodHead, path, "").is(200, nil)
	}
	w.do(http.MethodGet, "/other.js", "").isProblem(404, "not_found", "")
	browser := []string{"Authorization", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	if a := w.do(http.MethodGet, "/other", "", browser...).is(404, nil); !strings.Contains(string(a.body), `id="root"`) {
		t.Errorf("a browser is answered %s", a.body)
	}
	w.do(http.MethodGet, "/v1/other", "", browser...).isProblem(404, "not_found", "")
}

// TestT07_TimeTellsNothingOfAnId is Welch's t over the comparison for a known id with a
// wrong secret and for an unknown id: taken in turns, in batches, so that a busy machine
// disturbs both alike.
func TestT07_TimeTellsNothingOfAnId(t *testing.T) {
	known := store.Token{Hash: auth.Hash("right"), Principal: auth.Principal{Role: auth.RoleViewer}}
	now := time.Now()
	measure := func(row store.Token, found bool) float64 {
		start := time.Now()
		for i := range 100 {
			if tokenHolds(row, found, auth.KindAPI, auth.Hash("wrong"+string(rune('a'+i%26))), now) {
				t.Fatal("a wrong token holds")
			}
		}
		return float64(time.Since(start))
	}
	var score float64
	for range 10 { // a disturbance passes, a difference stays
		var a, b []float64
		for range 1000 { // 100,000 comparisons each
			a = append(a, measure(known, true))
			b = append(b, measure(store.Token{}, false))
		}
		if score = welch(lower(a), lower(b)); math.Abs(score) < 4.5 {
			return
		}
	}
	t.Errorf("|t| = %.1f: an unknown id can be told from a wrong secret", math.Abs(score))
}

// lower keeps the lower half: what is above it is the scheduler's.
func lower(xs []float64) []float64 {
	slices.Sort(xs)
	return xs[:len(xs)/2]
}

func welch(a, b []float64) float64 {
	meanA, varA := moments(a)
	meanB, varB := moments(b)
	return (meanA - meanB) / math.Sqrt(varA/float64(len(a))+varB/float64(len(b))+1)
}

func moments(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		variance += (x - mean) * (x - mean) / float64(len(xs)-1)
	}
	return mean, variance
}

// A node credential ends after 90 days unless more was asked for, and is renewed before it does.
func TestT32_ANodeCredentialEndsAndIsRenewed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var old, next oapi.CredentialCreated
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "router-*", "description": "the routers"}`).is(201, &old)
	if life := old.Credential.ExpiresAt.Sub(old.Credential.CreatedAt).Round(time.Hour); life != defaultLife {
		t.Errorf("it lives for %v", life)
	}
	path := w.at("credentials", old.Credential.Id, "renew")
	at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	w.do(http.MethodPost, path, `{"expires_at": "`+at(365*24*time.Hour)+`", "old_expires_at": "`+at(time.Hour)+`"}`).is(201, &next)
	c := next.Credential
	if c.Nodes != "router-*" || c.Description != "the routers" || c.Id == old.Credential.Id || next.Token == old.Token || time.Until(*c.ExpiresAt) < 364*24*time.Hour {
		t.Errorf("renewed %+v", next)
	}
	if id, err := auth.ParseNodeToken(next.Token); err != nil || id.String() != c.Id {
		t.Errorf("its token is of %v, %v", id, err)
	}
	var list oapi.CredentialList
	w.do(http.MethodGet, w.at("credentials"), "").is(200, &list)
	if len(list.Items) != 2 || time.Until(*list.Items[1].ExpiresAt) > time.Hour || list.Items[1].RevokedAt != nil || list.Items[1].LastUsedAt != nil {
		t.Errorf("the old one: %+v", list.Items)
	}
	for body, field := range map[string]string{
		`{"expires_at": "` + at(367*24*time.Hour) + `"}`: "/expires_at", `{"expires_at": "2020-01-01T00:00:00Z"}`: "/expires_at",
		`{"old_expires_at": "2020-01-01T00:00:00Z"}`: "/old_expires_at", `{"nodes": "*"}`: "/nodes",
	} {
		w.do(http.MethodPost, path, body).isProblem(400, "invalid_request", field)
	}
	w.do(http.MethodPost, w.at("credentials", "x", "renew"), `{}`).isProblem(404, "not_found", "")
	w.do(http.MethodDelete, w.at("credentials", old.Credential.Id), "").is(204, nil)
	p := w.do(http.MethodPost, path, `{}`).isProblem(409, "credential_ended", "")
	if *p.Detail != "the node credential is revoked or has expired: create a new one" {
		t.Errorf("told %q", *p.Detail)
	}
}

func TestT32_TheListTellsMakerAndLastUse(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var made oapi.CredentialCreated
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`).is(201, &made)
	id, err := fleet.ParseCredentialID(made.Credential.Id)
	must(t, err)
	at := time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond)
	must(t, w.nodes.NoteCredentialUses(t.Context(), []fleet.CredentialUse{{Key: fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}, Credential: id, At: at, Address: "192.0.2.7"}}))
	var list oapi.CredentialList
	w.do(http.MethodGet, w.at("credentials"), "").is(200, &list)
	c := list.Items[0]
	if c.MadeBy == nil || c.MadeBy.Name != "owner" || c.LastUsedAt == nil || !c.LastUsedAt.Equal(at) || *c.LastUsedFrom != "192.0.2.7" {
		t.Errorf("listed %+v", c)
	}
	// Of what an older server made the maker is not known.
	w.db.Exec(t, `UPDATE node_credentials SET made_by = NULL, makers = '{}'`)
	list = oapi.CredentialList{}
	w.do(http.MethodGet, w.at("credentials"), "").is(200, &list)
	if list.Items[0].MadeBy != nil {
		t.Errorf("made by %+v", list.Items[0].MadeBy)
	}
}
