package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"fairlead/cmd/internal/run"
)

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	c := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	lis, err := run.Listen("127.0.0.1:0", "--listen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lis.Close() })
	return lis
}

func TestMeanwhileAnswersAndHandsThePortOn(t *testing.T) {
	t.Parallel()
	lis := listen(t)
	url := "http://" + lis.Addr().String()
	err := run.Meanwhile(t.Context(), lis, nil, nil, slog.New(slog.DiscardHandler), func(context.Context) error {
		if r, body := get(t, url+"/healthz"); r.StatusCode != http.StatusOK || body != "ok\n" {
			t.Errorf("/healthz: %d %q", r.StatusCode, body)
		}
		if r, body := get(t, url+"/readyz"); r.StatusCode != http.StatusServiceUnavailable || body != "not ready: the database was not reached yet\n" {
			t.Errorf("/readyz: %d %q", r.StatusCode, body)
		}
		r, body := get(t, url+"/v1/tenants")
		var p struct {
			Type, Title, Code, Detail string
			Status                    int
			RequestID                 string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(body), &p); err != nil || p.Code != "unavailable" || p.Status != 503 || p.Detail == "" || p.Title == "" || p.Type == "" || p.RequestID == "" {
			t.Errorf("problem %s (%v)", body, err)
		}
		if h := r.Header; r.StatusCode != http.StatusServiceUnavailable || h.Get("Retry-After") == "" || h.Get("Content-Type") != "application/problem+json" || h.Get("X-Request-Id") == "" {
			t.Errorf("status %d, header %v", r.StatusCode, h)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	api := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the API") })}
	served := make(chan error, 1)
	go func() { served <- api.Serve(lis) }()
	if _, body := get(t, url+"/healthz"); body != "the API" {
		t.Errorf("afterwards %q answers, want the API", body)
	}
	_ = api.Close()
	<-served
}

// TestMeanwhileDoesNotLoseConnections: one that comes in between is answered by the API.
func TestMeanwhileDoesNotLoseConnections(t *testing.T) {
	t.Parallel()
	lis := listen(t)
	if err := run.Meanwhile(t.Context(), lis, nil, nil, slog.New(slog.DiscardHandler), func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := lis.Accept()
	if err != nil {
		t.Fatalf("accept: %v", err)
	}
	_ = got.Close()
}

func TestMeanwhileReturnsTheErrorOfTheStart(t *testing.T) {
	t.Parallel()
	want := errors.New("no such key")
	err := run.Meanwhile(t.Context(), listen(t), nil, nil, slog.New(slog.DiscardHandler), func(context.Context) error { return want })
	if !errors.Is(err, want) {
		t.Errorf("err = %v, want %v", err, want)
	}
}

// TestMeanwhileEndsWithItsPort: a port that cannot be served does not leave start waiting.
func TestMeanwhileEndsWithItsPort(t *testing.T) {
	t.Parallel()
	lis := listen(t)
	err := run.Meanwhile(t.Context(), lis, nil, nil, slog.New(slog.DiscardHandler), func(ctx context.Context) error {
		_ = lis.Close()
		<-ctx.Done()
		return nil
	})
	if err == nil {
		t.Error("no error, want that the port cannot be served")
	}
}
