package main

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	if err := probe(t.Context(), "", s.URL+"/readyz"); err != nil {
		t.Error(err)
	}
	if err := probe(t.Context(), "", s.URL+"/other"); err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "no database") {
		t.Errorf("a 503: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := probe(ended, "", s.URL+"/readyz"); err == nil {
		t.Error("an ended context is no error")
	}
	if err := probe(t.Context(), "", "::"); err == nil {
		t.Error("no URL is no error")
	}
}

func TestProbeChecksTheCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := file("ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	if err := probe(t.Context(), ca, s.URL); err != nil {
		t.Error(err)
	}
	for name, ca := range map[string]string{"the system's": "", "no file": filepath.Join(dir, "none"), "no certificate": file("text", []byte("x"))} {
		if err := probe(t.Context(), ca, s.URL); err == nil {
			t.Errorf("%s authorities: no error", name)
		}
	}
}
