package forward_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead/internal/forward"
)

// received reads the messages of one connection, by their lengths.
func received(t *testing.T, conn net.Conn) (out []string) {
	t.Helper()
	r := bufio.NewReader(conn)
	for {
		var n int
		if _, err := fmt.Fscanf(r, "%d ", &n); err != nil {
			return out
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(r, text); err != nil {
			t.Error(err)
			return out
		}
		out = append(out, string(text))
	}
}

// trust is what a client needs to believe the server.
func trust(srv *httptest.Server) *tls.Config {
	return srv.Client().Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // it is one
}

// receiver takes one connection and hands it to f.
func receiver(t *testing.T, lis net.Listener, f func(net.Conn)) {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() { _ = lis.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			f(conn)
		}
	}()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return lis
}

func TestT48_SyslogMessages(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(nil) // for its certificate
	defer srv.Close()
	for scheme, wrap := range map[string]func(net.Listener) net.Listener{
		"tcp":     func(l net.Listener) net.Listener { return l },
		"tcp+tls": func(l net.Listener) net.Listener { return tls.NewListener(l, srv.TLS) },
	} {
		lis := wrap(listen(t))
		got := make(chan []string, 1)
		receiver(t, lis, func(c net.Conn) { got <- received(t, c); _ = c.Close() })
		s, err := forward.NewSyslog(forward.SyslogConfig{URL: scheme + "://" + lis.Addr().String(), Host: "api 1\n", TLS: trust(srv)})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), batch(5, 6)); err != nil {
			t.Fatal(scheme, err)
		}
		messages := <-got
		if len(messages) != 3 {
			t.Fatalf("%s: %q", scheme, messages)
		}
		header := "<109>1 2023-11-14T22:13:20.000001Z api_1_ fairlead - token.create - "
		var text struct {
			Tenant string `json:"tenant"`
			Seq    int64  `json:"seq"`
			Event  struct {
				Actor string `json:"actor"`
			} `json:"event"`
		}
		if !strings.HasPrefix(messages[0], header) || strings.Contains(messages[0], "\n") {
			t.Errorf("%q", messages[0])
		} else if err := json.Unmarshal([]byte(messages[0][len(header):]), &text); err != nil || text.Seq != 5 || text.Tenant != "acme" || text.Event.Actor != "ada\nforged" {
			t.Errorf("%+v: %v", text, err)
		}
		if !strings.Contains(messages[2], " audit.head - {") || !strings.Contains(messages[2], `"head":{"tenant_id":"t1","seq":9`) {
			t.Errorf("%q", messages[2])
		}
	}
}

// A receiver that dies before it has read all, or that says nothing, did not take the batch.
func TestT48_SyslogThatIsNotReadIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(net.Conn){
		"closed unread": func(c net.Conn) { _ = c.Close() },
		"reset": func(c net.Conn) {
			_ = c.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // it is one
			_ = c.Close()
		},
		"silent": func(c net.Conn) { t.Cleanup(func() { _ = c.Close() }) },
	} {
		lis := listen(t)
		receiver(t, lis, f)
		s, err := forward.NewSyslog(forward.SyslogConfig{URL: "tcp://" + lis.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		var many []int64
		for i := range int64(500) {
			many = append(many, i)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := s.Send(ctx, batch(many...)); err == nil {
			t.Errorf("%s: it is taken", name)
		}
		cancel()
	}
	nobody := listen(t)
	_ = nobody.Close()
	s, err := forward.NewSyslog(forward.SyslogConfig{URL: "tcp://" + nobody.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), batch(1)); err == nil {
		t.Error("nobody took it")
	}
}

// What ends a connection before it has read all, as a proxy does that reaches no receiver, has taken nothing: its end comes before ours.
func TestT48_SyslogThatEndsFirstTookNothing(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(nil) // for its certificate
	defer srv.Close()
	type halfCloser interface{ CloseWrite() error }
	for scheme, wrap := range map[string]func(net.Conn) net.Conn{
		"tcp": func(c net.Conn) net.Conn { return c },
		"tcp+tls": func(c net.Conn) net.Conn {
			s := tls.Server(c, srv.TLS)
			if err := s.HandshakeContext(t.Context()); err != nil {
				t.Error(err)
			}
			return s
		},
	} {
		lis := listen(t)
		receiver(t, lis, func(raw net.Conn) {
			_ = wrap(raw).(halfCloser).CloseWrite() //nolint:forcetypeassert // both are
			_, _ = io.Copy(io.Discard, raw)         // it comes, and nobody reads it
			_ = raw.Close()
		})
		s, err := forward.NewSyslog(forward.SyslogConfig{URL: scheme + "://" + lis.Addr().String(), TLS: trust(srv)})
		if err != nil {
			t.Fatal(err)
		}
		b := batch(1)
		detail := `"` + strings.Repeat("x", 16<<20) + `"` // more than is under way at once
		b.Events[0].Event.Detail = &detail
		if err := s.Send(t.Context(), b); err == nil {
			t.Errorf("%s: it is taken", scheme)
		}
	}
}
