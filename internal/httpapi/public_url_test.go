package httpapi

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWhichPublicURLsAreTaken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "https://fairlead.example": "https://fairlead.example", "https://fairlead.example/": "https://fairlead.example",
		"https://Fairlead.Example:443": "https://fairlead.example", "https://fairlead.example:8443": "https://fairlead.example:8443",
		"https://localhost:8443": "https://localhost:8443", "http://127.0.0.1:8080": "http://127.0.0.1:8080", "http://localhost:80": "http://localhost",
		"https://[2001:db8::1]:8443": "https://[2001:db8::1]:8443",
	} {
		if p, err := ParsePublicURL(text); err != nil || p.origin != want {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
	for text, words := range map[string]string{
		"fairlead.example": "https://", "http://fairlead.example": "begin with https://", "http://10.0.0.1": "begin with https://", "ftp://x": "https://", "https://": "https://",
		"https://u:p@x": "https://", "https://x/base": "https://", "https://x?a": "https://", "https://x?": "https://", "https://x#a": "https://", "https://x:": "https://", "//x": "https://",
		"https://x:port": "https://",
	} {
		if p, err := ParsePublicURL(text); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

// public is the world's API as it is behind a proxy, under the URL.
func (w *world) public(url string) func(method, host, path, body string, headers ...string) *http.Response {
	w.t.Helper()
	p, err := ParsePublicURL(url)
	must(w.t, err)
	w.api.public = p
	handler := w.api.routes(mustContract(w.t), nil)
	return func(method, host, path, body string, headers ...string) *http.Response {
		r := httptest.NewRequestWithContext(w.t.Context(), method, "http://"+host+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		out := httptest.NewRecorder()
		handler.ServeHTTP(out, r)
		return out.Result()
	}
}

func mustContract(t testing.TB) *contract {
	t.Helper()
	k, err := theContract()
	must(t, err)
	return k
}

// TestT25_TheCookieGoesByThePublicURL: whatever Host a proxy in front sends.
func TestT25_TheCookieGoesByThePublicURL(t *testing.T) {
	t.Parallel()
	w := setup(t)
	body := `{"token": "` + w.owner + `"}`
	for url, want := range map[string]cookieForm{"https://fairlead.example": cookieOfHost, "https://localhost:8443": cookieOfHost, "http://127.0.0.1:8080": cookieOfLoopback} {
		ask := w.public(url)
		for _, host := range []string{"127.0.0.1:8080", "localhost", "fairlead.example", "api.internal:8080"} {
			resp := ask(http.MethodPost, host, "/v1/session", body)
			cs := resp.Cookies()
			if len(cs) != 1 || cs[0].Name != want.name || cs[0].Secure != want.secure {
				t.Fatalf("%s, with Host %s: %d %v", url, host, resp.StatusCode, cs)
			}
			if got := ask(http.MethodGet, host, "/v1/whoami", "", "Cookie", cs[0].Name+"="+cs[0].Value).StatusCode; got != 200 {
				t.Errorf("%s, with Host %s: its own cookie: %d", url, host, got)
			}
			over := ask(http.MethodGet, host, "/v1/whoami", "", "Cookie", cs[0].Name+"=damaged").Cookies()
			if len(over) != 1 || over[0].Name != want.name || over[0].MaxAge != -1 {
				t.Errorf("%s, with Host %s: a session that is over is forgotten by %v", url, host, over)
			}
		}
	}
}

// TestT24_OriginsGoByThePublicURL: what another origin's page sends is refused, though a proxy sends its own Host, or
// the attacker's.
func TestT24_OriginsGoByThePublicURL(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ask := w.public("https://fairlead.example")
	body := `{"token": "` + w.owner + `"}`
	cookie := ask(http.MethodPost, "127.0.0.1:8080", "/v1/session", body).Cookies()[0]
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{[]string{"Origin", "https://fairlead.example"}, 200},
		{[]string{"Origin", "https://fairlead.example", "Sec-Fetch-Site", "same-origin"}, 200},
		{[]string{"Sec-Fetch-Site", "none"}, 200},
		{nil, 200},
		{[]string{"Origin", "http://fairlead.example"}, 403}, // the same name without TLS is another origin
		{[]string{"Origin", "https://fairlead.example:8443"}, 403},
		{[]string{"Origin", "http://127.0.0.1:8080"}, 403}, // the Host that the proxy sends
		{[]string{"Origin", "https://evil.example"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Sec-Fetch-Site", "same-site", "Origin", "https://fairlead.example"}, 403},
		{[]string{"Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example"}, 403},
	} {
		for _, host := range []string{"127.0.0.1:8080", "evil.example", "fairlead.example"} {
			headers := append([]string{"Cookie", cookie.Name + "=" + cookie.Value, requestHeader, "1"}, c.headers...)
			resp := ask(http.MethodPost, host, "/v1/session/end-others", "", headers...)
			if resp.StatusCode != c.status {
				t.Errorf("Host %s, %q: %d, want %d", host, c.headers, resp.StatusCode, c.status)
			}
		}
	}
}

func TestT25_BrowsersComeBackOverTLS(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const year = "max-age=31536000"
	for _, c := range []struct {
		public, host string
		tls          bool
		want         string
	}{
		{"", "fairlead.example", true, year}, {"", "fairlead.example:8443", true, year},
		{"", "fairlead.example", false, ""}, {"", "127.0.0.1:8080", false, ""},
		{"", "localhost:8443", true, ""}, {"", "127.0.0.1:8443", true, ""}, // it would hold for all that this machine serves
		{"https://fairlead.example", "127.0.0.1:8080", false, year}, {"https://fairlead.example", "x", true, year},
		{"https://localhost:8443", "localhost:8443", true, ""}, {"http://localhost:8080", "fairlead.example", true, ""},
	} {
		p, err := ParsePublicURL(c.public)
		must(t, err)
		w.api.public = p
		handler := w.api.routes(mustContract(t), nil)
		for _, path := range []string{"/healthz", "/v1/whoami", "/openapi.yaml", "/docs", "/nowhere"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.host+path, http.NoBody)
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			out := httptest.NewRecorder()
			handler.ServeHTTP(out, r)
			if got := out.Result().Header.Get("Strict-Transport-Security"); got != c.want {
				t.Errorf("%+v, %s: %q", c, path, got)
			}
		}
	}
}
