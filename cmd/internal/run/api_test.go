package run

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead/internal/door"
)

// TestALongRequestIsRefusedAsDocumented: what the contract allows of a bootstrap's query may be more than a request line takes, once it is
// percent-encoded. The answer is the one that its description tells.
func TestALongRequestIsRefusedAsDocumented(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = httpServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), door.New(Unauthenticated{}.limits(httpIdle), door.NewLog(slog.New(slog.DiscardHandler))))
	srv.Start()
	t.Cleanup(srv.Close)
	for value, want := range map[string]int{strings.Repeat("x", 1022): http.StatusOK, strings.Repeat(`"`, 1022): http.StatusRequestHeaderFieldsTooLarge} {
		query := url.Values{"node_id": {"edge-1"}, "xds": {"xds.example.com:18000"}}
		for range 16 {
			query.Add("metadata", "k="+value)
		}
		resp, err := srv.Client().Get(srv.URL + "/v1/tenants/a/fleets/b/bootstrap?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("metadata of %.3s...: %s, want %d", value, resp.Status, want)
		}
		if kind := resp.Header.Get("Content-Type"); want != http.StatusOK && !strings.HasPrefix(kind, "text/plain") {
			t.Errorf("the answer is %q, and the contract says text/plain", kind)
		}
	}
}

// apiServer is the API's server with a handler of the test's, behind its door.
func apiServer(t *testing.T, u Unauthenticated, idle time.Duration) *httptest.Server {
	t.Helper()
	d := door.New(u.limits(idle), door.NewLog(slog.New(slog.DiscardHandler)))
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = httpServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			door.Prove(r.Context())
		}
	}), d)
	srv.Listener = d.Listener(srv.Listener)
	t.Cleanup(srv.Close)
	return srv
}

// TestT08_TheAPIClosesWhatSaysNothing: connections on which nothing was authenticated leave room for one that is.
func TestT08_TheAPIClosesWhatSaysNothing(t *testing.T) {
	t.Parallel()
	srv := apiServer(t, Unauthenticated{Most: 20, PerAddress: 10}, 3*time.Second)
	srv.Start()
	var idle []net.Conn
	for range 30 {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
		idle = append(idle, c)
	}
	for i, c := range idle {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		_, err := io.Copy(io.Discard, c)
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			t.Errorf("connection %d was not closed", i)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer good")
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// TestT16_TheAPISpeaksNoHTTP2, whoever offers it, under TLS or not.
func TestT16_TheAPISpeaksNoHTTP2(t *testing.T) {
	t.Parallel()
	srv := apiServer(t, Unauthenticated{}, time.Minute)
	srv.StartTLS()
	c, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}) //nolint:gosec // a test's
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if p := c.ConnectionState().NegotiatedProtocol; p == "h2" {
		t.Errorf("it speaks %s", p)
	}
	plain := apiServer(t, Unauthenticated{}, time.Minute)
	plain.Start()
	raw, err := net.Dial("tcp", plain.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	_, _ = raw.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
	answer, _ := io.ReadAll(raw)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 ") {
		t.Errorf("it answers %q", answer)
	}
}
