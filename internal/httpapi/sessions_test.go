package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

func TestSigningInAndOut(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.do(http.MethodPost, "/v1/session", `{"token": " `+w.owner+` "}`, "Authorization", "").is(204, nil)
	c := a.cookie()
	if c.Name != "fairlead" || c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" ||
		c.MaxAge < 11*3600 || c.MaxAge > 12*3600 || strings.Contains(c.Value, w.owner[4:30]) || len(a.body) != 0 {
		t.Errorf("%v", c)
	}
	page := browser{w: w, cookie: c.Name + "=" + c.Value}
	who := page.whoami()
	if x := who.Session; *who.Role != oapi.Owner || *who.Tenant != "acme" || x == nil || time.Until(x.IdleAt).Round(time.Minute) != 30*time.Minute ||
		time.Until(x.ExpiresAt).Round(time.Minute) != 12*time.Hour {
		t.Errorf("%+v", who)
	}
	page.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(cluster("a"))).is(201, nil)
	out := page.do(http.MethodDelete, "/v1/session", "").is(204, nil)
	if c := out.cookie(); c.Name != "fairlead" || c.Value != "" || c.MaxAge != -1 {
		t.Errorf("signed out with %v", c)
	}
	page.isOver("the session has ended")
	w.do(http.MethodDelete, "/v1/session", "").is(204, nil) // a token has none to end
	var byToken oapi.Whoami
	if w.do(http.MethodGet, "/v1/whoami", "").is(200, &byToken); byToken.Session != nil {
		t.Errorf("a token has the session %+v", byToken.Session)
	}
}

// A bad token is told the same words as in a header, and is not looked up again while it is remembered.
func TestT07_SigningInWithABadToken(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	line, near := newWire(t, db.App)
	w := setupOn(t, db, db.Open(t, store.Config{URL: near, AllowUnsafe: true}))
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	_, node, _ := auth.NewNodeToken(time.Time{})
	expired := w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleOwner, Name: "old", ExpiresAt: time.Now().Add(-time.Second)})
	page := w.signedIn(w.owner)
	must(t, w.store.EndSession(t.Context(), w.tenant.ID, tester, sessionID(t, page), mustToken(t, w.owner), nil))
	page.isOver("the session has ended")
	try := func(token string) string {
		a := w.do(http.MethodPost, "/v1/session", `{"token": "`+token+`"}`, "Authorization", "")
		if a.header.Get("Set-Cookie") != "" {
			t.Errorf("a bad token sets %s", a.header.Get("Set-Cookie"))
		}
		return *a.isProblem(401, "unauthenticated", "").Detail
	}
	for _, token := range []string{unknown, expired, node, "fla_damaged"} {
		header := w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+token).isProblem(401, "unauthenticated", "")
		if got := try(token); got != *header.Detail {
			t.Errorf("%q, in a header %q", got, *header.Detail)
		}
	}
	w.do(http.MethodPost, "/v1/session", `{}`).isProblem(400, "invalid_request", "/token")
	line.set(cut)
	for _, token := range []string{unknown, expired} {
		try(token)
	}
	page.isOver("the session has ended")
}

func TestASessionEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var made oapi.TokenCreated
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "x", "role": "ci", "fleet": "edge", "expires_at": "`+end+`"}`).is(201, &made)
	core := w.newFleet(w.tenant, "core")
	page := w.signedIn(made.Token)
	if who := page.whoami(); *who.Role != oapi.Ci || *who.Fleet != "edge" || who.Name != "x" || !who.Session.ExpiresAt.Equal(*who.ExpiresAt) {
		t.Errorf("%+v", who)
	}
	page.do(http.MethodGet, "/v1/tenants/acme/fleets/"+core.Name, "").isProblem(404, "not_found", "")
	page.do(http.MethodPost, "/v1/tenants/acme/fleets", `{"name": "mine"}`).isProblem(403, "forbidden", "")
	w.do(http.MethodDelete, "/v1/tenants/acme/tokens/"+made.ApiToken.Id, "").is(204, nil)
	page.isOver("the session has ended")
}

func TestASessionThatIsNotUsedEnds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	page := w.signedIn(w.owner)
	age := func(minutes string) {
		super := w.db.Connect(t, w.db.Owner)
		defer super.Close(t.Context()) //nolint:errcheck // written
		_, err := super.Exec(t.Context(), `UPDATE sessions SET last_seen_at = clock_timestamp() - interval '`+minutes+` minutes'`)
		must(t, err)
	}
	left := func() time.Duration { return time.Until(page.whoami().Session.IdleAt).Round(time.Minute) }
	age("29")
	s := w.follow("", page.headers()...)
	page.whoami()
	page.do(http.MethodGet, w.at("events")+"?wait=1ms", "").is(200, nil)
	page.do(http.MethodGet, w.at("revisions", "latest", "receipt")+"?wait=1ms", "").is(200, nil)
	page.do(http.MethodGet, w.at("load"), "").is(200, nil)
	if d := left(); d != time.Minute {
		t.Errorf("after what listens, the load and what asks how long it lasts: %v", d)
	}
	page.do(http.MethodGet, w.at(), "", "Sec-Fetch-Site", "cross-site").is(200, nil)
	age("29")
	page.do(http.MethodPost, w.at("apply"), `{}`, "Sec-Fetch-Site", "cross-site").isProblem(403, "cross_origin", "")
	if d := left(); d != time.Minute {
		t.Errorf("after a request of another site: %v", d)
	}
	page.do(http.MethodGet, w.at(), "").is(200, nil)
	if d := left(); d != 30*time.Minute {
		t.Errorf("after a use: %v", d)
	}
	age("31")
	page.isOver("the session has ended")
	if last := s.endWithin(time.Minute); last != ": "+string(live.EndSession) {
		t.Errorf("its stream says at last %q", last)
	}
}

// Who goes by which, where a request has several.
func TestWhichCredentialCounts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	viewer := w.token(w.tenant, auth.RoleViewer, nil)
	page := w.signedIn(w.owner)
	var who oapi.Whoami
	w.do(http.MethodGet, "/v1/whoami", "", "Cookie", page.cookie, "Authorization", "Bearer "+viewer).is(200, &who)
	if *who.Role != oapi.Viewer || who.Session != nil {
		t.Errorf("%+v", who)
	}
	w.do(http.MethodDelete, w.at("resources", "clusters", "a"), "", "Cookie", page.cookie).is(200, nil) // a token asks for no header
	a := w.do(http.MethodGet, "/v1/whoami", "", "Cookie", page.cookie, "Authorization", "Bearer fla_wrong")
	a.isProblem(401, "unauthenticated", "")
	if a.header.Get("Set-Cookie") != "" {
		t.Error("a bad token makes the browser forget a good session")
	}
	_, token, _ := auth.NewAPIToken(auth.KindAPI)
	for cookie, words := range map[string]string{
		page.cookie + "; " + page.cookie:       "two cookies",
		"a=b; " + page.cookie + ";fairlead=":   "two cookies",
		"fairlead=":                            "damaged",
		"fairlead":                             "damaged",
		`fairlead="x\y"`:                       "damaged",
		"fairlead=" + token:                    "damaged",
		page.cookie[:len(page.cookie)-1] + "_": "damaged",
	} {
		browser{w: w, cookie: cookie}.isOver(words)
	}
	_, unknown, _ := auth.NewSession()
	browser{w: w, cookie: "fairlead=" + unknown.Reveal()}.isOver("the session has ended")
	w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+page.secret()).isProblem(401, "unauthenticated", "")
	other := browser{w: w, cookie: "theme=dark; " + page.cookie}
	if other.whoami().Session.Id != page.id {
		t.Error("another cookie is in the way")
	}
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const all = "/v1/tenants/acme/sessions"
	viewer, admin := w.token(w.tenant, auth.RoleViewer, nil), w.token(w.tenant, auth.RoleAdmin, nil)
	strange := strings.Repeat("<script>alert(1)</script>é", 20)
	owners, first, second, admins := w.signedIn(w.owner), w.signIn(viewer, "User-Agent", strange), w.signedIn(viewer), w.signedIn(admin)
	var list oapi.SessionList
	admins.do(http.MethodGet, all, "").is(200, &list)
	if len(list.Items) != 4 || !list.Items[0].Current && !list.Items[1].Current {
		t.Errorf("an admin sees %+v", list.Items)
	}
	first.do(http.MethodGet, all+"?limit=1", "").is(200, &list)
	if len(list.Items) != 1 || list.NextCursor == nil || list.Items[0].Id != second.id {
		t.Fatalf("a viewer sees %+v", list)
	}
	var rest oapi.SessionList
	first.do(http.MethodGet, all+"?cursor="+*list.NextCursor, "").is(200, &rest)
	x := rest.Items[0]
	if len(rest.Items) != 1 || rest.NextCursor != nil || !x.Current || x.Token.Name != "viewer" || *x.Token.Role != oapi.Viewer || *x.Address != "127.0.0.1" ||
		len(*x.UserAgent) > maxAgent || !strings.HasPrefix(strange, *x.UserAgent) || !x.IdleAt.After(x.LastSeenAt) || !x.ExpiresAt.After(x.IdleAt) {
		t.Errorf("%+v", rest)
	}
	first.do(http.MethodDelete, all+"/"+admins.id, "").isProblem(403, "forbidden", "")
	admins.do(http.MethodDelete, all+"/"+owners.id, "").isProblem(403, "forbidden", "")
	admins.do(http.MethodDelete, all+"/nothing", "").isProblem(404, "not_found", "")
	admins.do(http.MethodDelete, all+"/"+mustToken(t, w.owner).String(), "").isProblem(404, "not_found", "")
	first.do(http.MethodDelete, all+"/"+second.id, "").is(204, nil)
	second.isOver("the session has ended")
	owners.do(http.MethodDelete, all+"/"+admins.id, "").is(204, nil)
	admins.isOver("the session has ended")
	w.do(http.MethodGet, all, "").is(200, &list)
	if len(list.Items) != 2 {
		t.Errorf("left are %+v", list.Items)
	}
	var events oapi.AuditList
	w.do(http.MethodGet, "/v1/tenants/acme/audit?kind=session.end", "").is(200, &events)
	if len(events.Items) != 2 || events.Items[0].Object != "session "+admins.id || events.Items[0].By.Name != "owner" || events.Items[1].By.Name != "viewer" {
		t.Errorf("%+v", events.Items)
	}
	w.do(http.MethodGet, "/v1/tenants/acme/audit?kind=session.begin", "").is(200, &events)
	if e := events.Items[0]; len(events.Items) != 4 || e.By.Name != "admin" || deref(e.Address) != "127.0.0.1" || deref(e.RequestId) == "" {
		t.Errorf("%+v", events.Items)
	}
}

func TestAnOperatorsSession(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := w.operator()
	page, other := w.signedIn(operator), w.operatorSession()
	if who := page.whoami(); who.Kind != oapi.WhoamiKindOperator || who.Session == nil {
		t.Errorf("%+v", who)
	}
	members := w.signedIn(w.owner)
	var list oapi.SessionList
	page.do(http.MethodGet, "/v1/operator/sessions", "").is(200, &list)
	if len(list.Items) != 2 || list.Items[1].Token.Name != "operator" || list.Items[1].Token.Role != nil {
		t.Errorf("%+v", list)
	}
	page.do(http.MethodDelete, "/v1/operator/sessions/"+members.id, "").isProblem(404, "not_found", "")
	page.do(http.MethodDelete, "/v1/operator/sessions/"+other.String(), "").is(204, nil)
	page.do(http.MethodDelete, "/v1/tenants/acme/sessions/"+members.id, "").is(204, nil)
	members.isOver("the session has ended")
	page.do(http.MethodDelete, "/v1/session", "").is(204, nil)
	page.isOver("the session has ended")
	w.do(http.MethodGet, "/v1/operator/sessions", "", "Authorization", "Bearer "+operator).is(200, &list)
	if len(list.Items) != 0 {
		t.Errorf("left are %+v", list.Items)
	}
}

// Who ends all other sessions keeps the one that asks, and takes nothing from other tokens.
func TestAllOtherSessionsEnd(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const path = "/v1/session/end-others"
	for name, token := range map[string]string{"member": w.token(w.tenant, auth.RoleViewer, nil), "operator": w.operator()} {
		own, first, second, others := w.signedIn(token), w.signedIn(token), w.signedIn(token), w.signedIn(w.owner)
		if who := own.whoami(); who.Id != mustToken(t, token).String() {
			t.Errorf("the token of the %s is %+v", name, who)
		}
		first.do(http.MethodDelete, "/v1/session", "").is(204, nil)
		var got oapi.SessionsEnded
		if own.do(http.MethodPost, path, "").is(200, &got); got.Ended != 1 {
			t.Errorf("%d of the %s have ended", got.Ended, name)
		}
		second.isOver("the session has ended")
		own.whoami()
		others.whoami()
		if own.do(http.MethodPost, path, "").is(200, &got); got.Ended != 0 {
			t.Errorf("%d of the %s have ended again", got.Ended, name)
		}
		if w.do(http.MethodPost, path, "", "Authorization", "Bearer "+token).is(200, &got); got.Ended != 1 {
			t.Errorf("the token of the %s ends %d", name, got.Ended)
		}
		own.isOver("the session has ended")
		others.whoami()
	}
	var events oapi.AuditList
	w.do(http.MethodGet, "/v1/tenants/acme/audit?kind=session.end", "").is(200, &events)
	if len(events.Items) != 3 || events.Items[0].By.Name != "viewer" { // an operator's are in no tenant's audit
		t.Errorf("%+v", events.Items)
	}
}

func TestT08_SigningInIsPaced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.limit(store.LimitTokenWrites, 1)
	body := `{"token": "` + w.owner + `"}`
	w.do(http.MethodPost, "/v1/session", body, "Authorization", "").is(204, nil)
	w.do(http.MethodPost, "/v1/session", body, "Authorization", "").isLimit(429, "rate_limited", store.LimitTokenWrites, 1, 1, "one minute")
}
