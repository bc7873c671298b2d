package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProbe(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			http.Error(w, "not ready: no database", http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	if err := probe(t.Context(), s.URL+"/readyz"); err != nil {
		t.Error(err)
	}
	if err := probe(t.Context(), s.URL+"/other"); err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "no database") {
		t.Errorf("a 503: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := probe(ended, s.URL+"/readyz"); err == nil {
		t.Error("an ended context is no error")
	}
	if err := probe(t.Context(), "::"); err == nil {
		t.Error("no URL is no error")
	}
}
