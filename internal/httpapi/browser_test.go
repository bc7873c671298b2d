package httpapi

import (
	"net/http"
	"strings"

	"fairlead/internal/httpapi/oapi"
)

// browser is a page that is signed in: it sends a cookie, and no token.
type browser struct {
	w      *world
	cookie string // name=secret
	id     string // of the session
}

// signedIn is a browser in which somebody has signed in with the token.
func (w *world) signedIn(token string) browser {
	w.t.Helper()
	b := w.signIn(token)
	b.id = b.whoami().Session.Id
	return b
}

// signIn is the same without a look at the session.
func (w *world) signIn(token string, headers ...string) browser {
	w.t.Helper()
	a := w.do(http.MethodPost, "/v1/session", `{"token": "`+token+`"}`, append(headers, "Authorization", "")...).is(204, nil)
	return browser{w: w, cookie: a.cookie().Name + "=" + a.cookie().Value}
}

// cookie is the one that the answer sets.
func (a answer) cookie() *http.Cookie {
	a.t.Helper()
	cs := (&http.Response{Header: a.header}).Cookies()
	if len(cs) != 1 {
		a.t.Fatalf("%s: the answer sets %v", a.what, cs)
	}
	return cs[0]
}

// at is the browser at another server.
func (b browser) at(w *world) browser { b.w = w; return b }

func (b browser) secret() string { _, secret, _ := strings.Cut(b.cookie, "="); return secret }

// headers are those that Fairlead's own page sends, and then others.
func (b browser) headers(others ...string) []string {
	return append([]string{"Authorization", "", "Cookie", b.cookie, "Sec-Fetch-Site", "same-origin", requestHeader, "1"}, others...)
}

func (b browser) do(method, path, body string, headers ...string) answer {
	b.w.t.Helper()
	return b.w.do(method, path, body, b.headers(headers...)...)
}

func (b browser) whoami() (who oapi.Whoami) {
	b.w.t.Helper()
	b.do(http.MethodGet, "/v1/whoami", "").is(200, &who)
	return who
}

// isOver checks that the session is refused in words that help, and that the browser is made to forget it.
func (b browser) isOver(words string) {
	b.w.t.Helper()
	a := b.do(http.MethodGet, "/v1/whoami", "")
	p := a.isProblem(401, "unauthenticated", "")
	if c := a.cookie(); !strings.Contains(*p.Detail, words) || !strings.Contains(*p.Detail, "sign in again") || c.Value != "" || c.MaxAge != -1 || c.Path != "/" {
		b.w.t.Errorf("%s, %v", a.body, c)
	}
}
