package forward_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/forward"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

func batch(seqs ...int64) forward.Batch {
	b := forward.Batch{Tenant: "acme", TenantID: "t1", Heads: []audit.Head{{Tenant: "t1", Seq: 9, At: time.Unix(1_700_000_000, 0).UTC()}}}
	for _, seq := range seqs {
		detail := `{"a": "<ä>\n"}`
		b.Events = append(b.Events, audit.Link{Seq: seq, Event: &audit.Event{At: time.Unix(1_700_000_000, 1000).UTC(), Actor: "ada\nforged", Kind: "token.create", Detail: &detail}})
	}
	return b
}

// hooked is a webhook to a server over TLS, which the client trusts.
func hooked(t *testing.T, h http.HandlerFunc) *forward.Webhook {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	w, err := forward.NewWebhook(forward.WebhookConfig{URL: srv.URL + "/in", Secret: secret, Client: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// srvClient is a webhook whose client would go through a proxy.
func srvClient(t *testing.T, proxy string) *forward.Webhook {
	t.Helper()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(srv.Close)
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	srv.Client().Transport.(*http.Transport).Proxy = http.ProxyURL(u) //nolint:forcetypeassert // it is one
	w, err := forward.NewWebhook(forward.WebhookConfig{URL: srv.URL, Secret: secret, Client: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestT48_AWebhookIsSigned(t *testing.T) {
	t.Parallel()
	var ids []string
	w := hooked(t, func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		id, stamp := r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp")
		if got := r.Header.Get("Webhook-Signature"); got != forward.Signature(secret, id, stamp, body) || !strings.HasPrefix(got, "v1,") {
			t.Errorf("the signature is %q", got)
		}
		ids = append(ids, id)
		var b forward.Batch
		if err := json.Unmarshal(body, &b); err != nil || b.Tenant != "acme" || len(b.Events) != 2 || *b.Events[0].Event.Detail != `{"a": "<ä>\n"}` || b.Heads[0].Seq != 9 {
			t.Errorf("%s: %v", body, err)
		}
		rw.WriteHeader(http.StatusNoContent)
	})
	for range 2 {
		if err := w.Send(t.Context(), batch(5, 6)); err != nil {
			t.Fatal(err)
		}
	}
	more := batch(5, 6)
	more.Heads = append(more.Heads, audit.Head{Tenant: "t1", Seq: 10})
	if err := w.Send(t.Context(), more); err != nil {
		t.Fatal(err)
	}
	if ids[1] != ids[0] || !strings.HasPrefix(ids[0], "audit_t1_") {
		t.Errorf("ids %q: one that is sent again has the same", ids)
	}
	if ids[2] == ids[0] {
		t.Error("with one more head it has the same id: who has the first one drops the head")
	}
	// The example of the Standard Webhooks specification.
	key, err := forward.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := forward.Signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("the specification's example is signed %s", got)
	}
	if _, err := forward.ParseSecret("whsec_%%"); err == nil {
		t.Error("what is no base64 is read")
	}
}

// The server calls the address that the operator named and no other, waits five seconds and reads a MiB.
func TestT21_AWebhookLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308, 400, 401, 404, 410, 429, 500, 503} {
		w := hooked(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Location", other.URL)
			rw.WriteHeader(status)
		})
		if err := w.Send(t.Context(), batch(1)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("another address was called %d times", n)
	}
	var read atomic.Int64
	w := hooked(t, func(rw http.ResponseWriter, _ *http.Request) {
		for {
			n, err := rw.Write(make([]byte, 1<<16))
			if err != nil {
				return
			}
			read.Add(int64(n))
		}
	})
	if err := w.Send(t.Context(), batch(1)); err != nil {
		t.Errorf("an endless answer: %v", err) // it is 200
	}
	if n := read.Load(); n > 16<<20 { // what buffers hold beside it
		t.Errorf("%d bytes were taken", n)
	}
	release := make(chan struct{})
	defer close(release)
	slow := hooked(t, func(http.ResponseWriter, *http.Request) { <-release })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := slow.Send(ctx, batch(1)); err == nil {
		t.Error("one that does not answer took it")
	}
	// What the environment says of proxies is no address that the operator named.
	proxied := srvClient(t, other.URL)
	if err := proxied.Send(t.Context(), batch(1)); err != nil || elsewhere.Load() > 0 {
		t.Errorf("by way of a proxy: %v", err)
	}
	// Whose certificate nobody vouches for is told nothing.
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer srv.Close()
	strict, err := forward.NewWebhook(forward.WebhookConfig{URL: srv.URL, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	if err := strict.Send(t.Context(), batch(1)); err == nil || elsewhere.Load() > 0 {
		t.Errorf("an unknown certificate: %v", err)
	}
}

func TestT21_WhichCollectorsMayBeNamed(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"https://c.example.com/in": true, "http://127.0.0.1:9/x": true, "http://localhost:9": true, "http://[::1]:9": true,
		"http://c.example.com": false, "http://169.254.169.254/": false, "http://10.0.0.1": false, "http://127.0.0.1.nip.io": false, "ftp://c.example.com": false, "c.example.com": false, "https://": false, "": false, "file:///etc/passwd": false, "https://user:pw@c\x7f": false,
	} {
		if _, err := forward.NewWebhook(forward.WebhookConfig{URL: url, Secret: secret}); (err == nil) != good || err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("webhook %q: %v", url, err)
		} else if err != nil && !strings.HasSuffix(url, "\x7f") && !strings.Contains(err.Error(), "write https://HOST/PATH, or http:// with a loopback address") {
			t.Errorf("webhook %q does not say what to write: %v", url, err)
		}
	}
	if _, err := forward.NewWebhook(forward.WebhookConfig{URL: "https://c", Secret: secret[:23]}); err == nil {
		t.Error("a short key is taken")
	}
	for url, good := range map[string]bool{
		"tcp+tls://c.example.com:6514": true, "tcp://127.0.0.1:514": true, "tcp://[::1]:514": true,
		"tcp://c.example.com:514": false, "udp://127.0.0.1:514": false, "tcp+tls://c.example.com": false, "tcp+tls://:6514": false, "tcp+tls://c:1/x": false, "c:6514": false, "": false,
	} {
		if _, err := forward.NewSyslog(forward.SyslogConfig{URL: url}); (err == nil) != good {
			t.Errorf("syslog %q: %v", url, err)
		} else if err != nil && !strings.Contains(err.Error(), "write tcp+tls://HOST:PORT, or tcp://HOST:PORT with a loopback address") {
			t.Errorf("syslog %q does not say what to write: %v", url, err)
		}
	}
}
