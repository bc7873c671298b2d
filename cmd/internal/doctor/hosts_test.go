package doctor

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"fairlead/internal/store/storetest"
)

// hosts is one URL of several databases, in their order.
func (w *world) hosts(urls ...string) string {
	w.Helper()
	first, err := url.Parse(urls[0])
	w.must(err)
	all := map[string][]string{}
	for _, text := range urls {
		u, err := url.Parse(text)
		w.must(err)
		for _, key := range []string{"host", "port"} {
			all[key] = append(all[key], u.Query().Get(key))
		}
	}
	q := first.Query()
	for key, values := range all {
		q.Set(key, strings.Join(values, ","))
	}
	first.RawQuery = q.Encode()
	return first.String()
}

// TestHostsAreChosenAsServersDo: of the hosts that a URL names the doctor looks at the one that a server would take, wherever it stands.
func TestHostsAreChosenAsServersDo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	p := storetest.NewPair(w)
	c := w.database(w.hosts(p.Read, p.Node))
	c.ListenDatabase, c.ReadDatabase = c.Database, w.hosts(p.Node, p.Read)
	r := Run(t.Context(), c)
	for _, id := range []string{"database.server", "database.notify", "database.standby"} {
		if got := of(r, id); got.State != OK {
			t.Errorf("%s: %+v", id, got)
		}
	}

	// In the middle of a failover there are standbys alone.
	got := of(Run(t.Context(), w.database(w.hosts(p.Read, p.Read))), "database.server")
	if got.State != Failed || !strings.Contains(got.Do, "none is the primary now") {
		t.Errorf("standbys alone: %+v", got)
	}
}

// TestATokenIsNotRefusedByAnOutage: an API server that cannot ask its database says nothing of the token.
func TestATokenIsNotRefusedByAnOutage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			_, _ = rw.Write([]byte("ok\n"))
			return
		}
		rw.Header().Set("Content-Type", "application/problem+json")
		rw.WriteHeader(http.StatusServiceUnavailable)
		_, _ = rw.Write([]byte(`{"type":"about:blank","title":"Service Unavailable","status":503,"code":"unavailable","detail":"the database cannot be reached now"}`))
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	w.must(err)
	r := Run(t.Context(), w.at(u, anAPIToken))
	if got := of(r, "api.answers"); got.State != OK {
		t.Fatalf("%+v", got)
	}
	if got := of(r, "api.token"); got.State != NotChecked || !strings.Contains(got.Saw, "cannot be reached now") {
		t.Errorf("%+v", got)
	}
}
