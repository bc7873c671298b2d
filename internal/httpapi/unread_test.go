package httpapi

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/store"
)

// askAndNeverRead sends a GET, and reads of its answer a few bytes: then it is being written.
func askAndNeverRead(t *testing.T, url, path, token string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.(*net.TCPConn).SetReadBuffer(4096)) //nolint:forcetypeassert // it was dialed as one
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	must(t, err)
	begin := make([]byte, len("HTTP/1.1 200"))
	_, err = io.ReadFull(c, begin)
	must(t, err)
	if string(begin) != "HTTP/1.1 200" {
		t.Fatalf("it is answered %s", begin)
	}
	return c
}

// Answers that nobody reads are held as a whole. A token, and a tenant, that has many of them reads nothing else meanwhile. It revokes, and others go on.
func TestT08_AnswersThatAreNotReadAreBounded(t *testing.T) {
	t.Parallel()
	for whose, of := range map[string]func(*access.Unread){"a token": func(u *access.Unread) { u.Token = 1 << 20 }, "a tenant": func(u *access.Unread) { u.Tenant = 1 << 20 }} {
		t.Run(whose, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			u := w.api.unread
			u.Patience, u.Slow = 50*time.Millisecond, time.Minute
			of(u)
			var names []string
			for i := range 9 {
				names = append(names, fmt.Sprint("c", i))
			}
			w.stored(names, func(name string) []byte { return manyStatuses(name+strings.Repeat("x", 1_000_000), 1) })
			one := w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleOwner, Name: "one"})
			held := askAndNeverRead(t, w.url, w.at("resources")+"?limit=500", one)
			w.do(http.MethodGet, w.at("resources", "clusters", "c1"), "", "Authorization", "Bearer "+one).isProblem(503, "timeout", "")
			if of := w.do(http.MethodGet, w.at("resources", "clusters", "c1"), ""); whose == "a token" {
				of.is(200, nil)
			} else {
				of.isProblem(503, "timeout", "")
			}
			w.do(http.MethodDelete, w.at("resources", "clusters", "c1"), "", "Authorization", "Bearer "+one).is(200, nil)
			other := w.token(w.newTenant("globex"), auth.RoleOwner, nil)
			w.do(http.MethodGet, "/v1/tenants/globex/fleets", "", "Authorization", "Bearer "+other).is(200, nil)
			must(t, held.Close())
			_, id, err := auth.ParseAPIToken(one)
			must(t, err)
			p := auth.Principal{Credential: id, Tenant: w.tenant.ID}
			for full, less := u.Full(p); full != ""; full, less = u.Full(p) { // it is noticed
				<-less
			}
			w.do(http.MethodGet, w.at("resources", "clusters", "c2"), "", "Authorization", "Bearer "+one).is(200, nil)
		})
	}
}

// Who takes nothing of an answer is ended, and what it held is free again. Who reads has all of it.
func TestT08_WhoTakesNothingIsEnded(t *testing.T) {
	t.Parallel()
	u := access.NewUnread(time.Minute)
	u.Token, u.Slow, u.Patience = 1, 100*time.Millisecond, time.Minute
	p := auth.Principal{Credential: fleet.CredentialID{1}, Tenant: fleet.TenantID{1}}
	long := make([]byte, 16<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = u.Answers(w, p).Write(long) }))
	t.Cleanup(server.Close)
	resp, err := http.Get(server.URL) //nolint:noctx // of the test's own server
	must(t, err)
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(len(long)) {
		t.Errorf("who reads has %d bytes: %v", n, err)
	}
	must(t, resp.Body.Close())
	askAndNeverRead(t, server.URL, "/", "x")
	if whose, _ := u.Full(p); whose != "the token" {
		t.Errorf("of an answer that is not read %q is full", whose)
	}
	must(t, u.Await(t.Context(), p)) // long before its patience is over
}

// What a stream sends at once does not grow with what has happened.
func TestT08_AStreamSendsParts(t *testing.T) {
	t.Parallel()
	var es []store.Event
	for i := range 500 {
		es = append(es, store.Event{Transaction: uint64(i), At: time.Unix(int64(i), 0), Node: fmt.Sprint("n", i), Detail: strings.Repeat("x", 4096), ID: [16]byte{1}}) //nolint:gosec // small
	}
	for _, grouped := range []bool{false, true} {
		var told strings.Builder
		largest := 0
		must(t, eventStream{filter: eventFilter{grouped: grouped}}.tell(es, func(text string) error {
			largest = max(largest, len(text))
			told.WriteString(text)
			return nil
		}))
		if largest > streamPart+16<<10 {
			t.Errorf("grouped %v: it sends %d bytes at once", grouped, largest)
		}
		if ids := strings.Count(told.String(), "id: "); !grouped && ids != len(es) || grouped && ids != 1 {
			t.Errorf("grouped %v: it tells %d places", grouped, ids)
		}
	}
}
