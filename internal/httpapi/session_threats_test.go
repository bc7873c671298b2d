package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/store"
)

func sessionID(t *testing.T, b browser) fleet.SessionID {
	t.Helper()
	id, err := auth.ParseSession(b.secret())
	must(t, err)
	return id
}

func mustToken(t *testing.T, token string) fleet.CredentialID {
	t.Helper()
	_, id, err := auth.ParseAPIToken(token)
	must(t, err)
	return id
}

// TestT24_EveryRouteThatChangesSomethingIsProtected goes over the routes of the router itself: one that is new is among them.
func TestT24_EveryRouteThatChangesSomethingIsProtected(t *testing.T) {
	t.Parallel()
	w := setup(t)
	page := w.signedIn(w.owner)
	routes, ok := w.api.Handler().(chi.Routes)
	if !ok {
		t.Fatal("the handler is no router")
	}
	before, asked := w.everything(), 0
	try := func(code, method, path string, headers ...string) {
		t.Helper()
		asked++
		w.do(method, path, `{"token": "`+w.owner+`"}`, append([]string{"Authorization", "", "Cookie", page.cookie}, headers...)...).isProblem(403, code, "")
	}
	must(t, chi.Walk(routes, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, method) {
			return nil
		}
		path := strings.NewReplacer("{tenant}", "acme", "{fleet}", "edge", "{type}", "clusters", "{name}", "a", "{revision}", "1", "{node}", "n", "{id}", page.id).Replace(pattern)
		for _, site := range []string{"cross-site", "same-site"} {
			try("cross_origin", method, path, "Sec-Fetch-Site", site, requestHeader, "1")
		}
		try("cross_origin", method, path, "Origin", "https://evil.example", requestHeader, "1")
		try("cross_origin", method, path, "Origin", "null", requestHeader, "1")
		if pattern == "/v1/session" && method == http.MethodPost { // no cookie says who it is
			return nil
		}
		try("request_header_missing", method, path)
		try("request_header_missing", method, path, "Sec-Fetch-Site", "same-origin")
		try("request_header_missing", method, path, requestHeader, "0")
		return nil
	}))
	if asked < 100 {
		t.Errorf("only %d requests were made", asked)
	}
	if now := w.everything(); now != before {
		t.Errorf("another site's page changed something:\nbefore %s\nnow    %s", before, now)
	}
	if page.whoami().Session.Id != page.id {
		t.Error("another site's page ended the session")
	}
	page.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(cluster("a")), "Origin", w.url).is(201, nil)
	es := w.deniedOf(true)
	if len(es) < 50 || es[0].By.Name != "owner" {
		t.Errorf("the audit tells of %d denials: %+v", len(es), es)
	}
}

func TestT24_TheCookieOfAHost(t *testing.T) {
	t.Parallel()
	w := setup(t)
	at := func(host, method, path, body, cookie string) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://"+host+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		out := httptest.NewRecorder()
		w.api.Handler().ServeHTTP(out, r)
		return out.Result()
	}
	body := `{"token": "` + w.owner + `"}`
	for host, loopback := range map[string]bool{
		"localhost": true, "localhost:8080": true, "a.localhost": true, "127.0.0.1:8080": true, "127.9.9.9": true, "[::1]:8080": true, "[::1]": true, "LOCALHOST": true,
		"fairlead.example": false, "localhost.example": false, "127.0.0.1.example:80": false, "10.0.0.1:8080": false, "notlocalhost": false, "[2001:db8::1]": false,
	} {
		resp := at(host, http.MethodPost, "/v1/session", body, "")
		want := cookieForm{name: "__Host-fairlead", secure: true}
		if loopback {
			want = cookieForm{name: "fairlead"}
		}
		cs := resp.Cookies()
		if len(cs) != 1 || cs[0].Name != want.name || cs[0].Secure != want.secure || !cs[0].HttpOnly || cs[0].SameSite != http.SameSiteStrictMode || cs[0].Path != "/" || cs[0].Domain != "" {
			t.Fatalf("%s: %d %v", host, resp.StatusCode, cs)
		}
		if got := at(host, http.MethodGet, "/v1/whoami", "", cs[0].Name+"="+cs[0].Value).StatusCode; got != 200 {
			t.Errorf("%s: its own cookie: %d", host, got)
		}
		wrong := map[string]string{"fairlead": "__Host-fairlead", "__Host-fairlead": "fairlead"}[cs[0].Name]
		other := at(host, http.MethodGet, "/v1/whoami", "", wrong+"="+cs[0].Value)
		if text, _ := io.ReadAll(other.Body); other.StatusCode != 401 || !strings.Contains(string(text), "Authorization") {
			t.Errorf("%s: the cookie of the other form, which a neighbour can set: %d %s", host, other.StatusCode, text)
		}
	}
	over := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://localhost/v1/whoami", http.NoBody)
	if f := (PublicURL{}).cookieForm(over); f != cookieOfHost {
		t.Errorf("over TLS on loopback: %+v", f)
	}
}

// TestT25_WhatWasThereBeforeASignInIsDead: somebody who planted a cookie has no session that another signed in to.
func TestT25_WhatWasThereBeforeASignInIsDead(t *testing.T) {
	t.Parallel()
	w := setup(t)
	planted := w.signedIn(w.token(w.tenant, auth.RoleViewer, nil))
	victim := w.signIn(w.owner, "Cookie", planted.cookie)
	if victim.cookie == planted.cookie || victim.whoami().Name != "owner" {
		t.Errorf("signed in as %+v", victim.whoami())
	}
	planted.isOver("the session has ended")
	w.signIn(w.owner, "Cookie", "fairlead=planted; fairlead="+victim.secret()).whoami()
	if victim.whoami().Name != "owner" {
		t.Error("two cookies end a session")
	}
}

// TestT25_ASessionsIdIsNotItsSecret: what the list shows opens nothing, and nothing does that is over.
func TestT25_ASessionsIdIsNotItsSecret(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good := store.Session{Hash: [32]byte{1}, IdleAt: now.Add(1), ExpiresAt: now.Add(1)}
	for name, c := range map[string]struct {
		change func(*store.Session, *store.Token)
		found  bool
		sent   [32]byte
		want   bool
	}{
		"good":                 {func(*store.Session, *store.Token) {}, true, [32]byte{1}, true},
		"wrong secret":         {func(*store.Session, *store.Token) {}, true, [32]byte{2}, false},
		"no row, hash of zero": {func(x *store.Session, _ *store.Token) { x.Hash = [32]byte{} }, false, [32]byte{}, false},
		"ended":                {func(x *store.Session, _ *store.Token) { x.EndedAt = now.Add(-1) }, true, [32]byte{1}, false},
		"over now":             {func(x *store.Session, _ *store.Token) { x.ExpiresAt = now }, true, [32]byte{1}, false},
		"not used":             {func(x *store.Session, _ *store.Token) { x.IdleAt = now }, true, [32]byte{1}, false},
		"revoked token":        {func(_ *store.Session, k *store.Token) { k.RevokedAt = now.Add(-1) }, true, [32]byte{1}, false},
		"token expires now":    {func(_ *store.Session, k *store.Token) { k.ExpiresAt = now }, true, [32]byte{1}, false},
	} {
		x, token := good, store.Token{}
		c.change(&x, &token)
		if got := sessionHolds(x, token, c.found, c.sent, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestT25_ACopiedCookieDiesWithTheSession: on another server too, where it listens.
func TestT25_ACopiedCookieDiesWithTheSession(t *testing.T) {
	t.Parallel()
	w := setup(t)
	other := w.beside()
	page, second := w.signedIn(w.owner), w.signedIn(w.owner)
	thief := page.at(other)
	thief.whoami()
	stream, kept := other.follow("", thief.headers()...), other.follow("", second.at(other).headers()...)
	page.do(http.MethodDelete, "/v1/session", "").is(204, nil)
	thief.isOver("the session has ended")
	if last := stream.endWithin(time.Minute); last != ": "+string(live.EndSession) {
		t.Errorf("its stream says at last %q", last)
	}
	w.put("a")
	w.happens("n")
	if e := kept.event(); e.Node != "n" {
		t.Errorf("another session of the token is told %+v", e)
	}
}
