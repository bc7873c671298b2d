package run

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead/internal/lifecycle"
)

func TestProfilesAreOffByDefault(t *testing.T) {
	t.Parallel()
	if cs, err := (Debug{}).Open(); err != nil || len(cs) > 0 {
		t.Errorf("%d components, %v", len(cs), err)
	}
}

func TestProfilesAreServedOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "10.0.0.7:6060", "db.example.com:6060", "127.0.0.1"} {
		cs, err := (Debug{DebugListen: address}).Open()
		if err == nil || len(cs) > 0 || !strings.HasPrefix(err.Error(), "--debug-listen "+address+" can be reached from other machines") ||
			!strings.Contains(err.Error(), "choose an address of 127.0.0.1") {
			t.Errorf("%s: %d components, %v", address, len(cs), err)
		}
	}
}

// TestProfiles: the port serves profiles and memory figures until its context ends.
func TestProfiles(t *testing.T) {
	t.Parallel()
	lis, err := Listen("127.0.0.1:0", "--debug-listen")
	if err != nil {
		t.Fatal(err)
	}
	address := lis.Addr().String()
	if err := lis.Close(); err != nil {
		t.Fatal(err)
	}
	cs, err := Debug{DebugListen: address}.Open()
	if err != nil || len(cs) != 1 {
		t.Fatalf("%d components, %v", len(cs), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- lifecycle.Run(ctx, cs...) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for call, want := range map[string]string{
		"GET /debug/pprof/heap?debug=1": "heap profile",
		"GET /debug/pprof/":             "goroutine",
		"POST /memory":                  `"heap":`,
	} {
		method, path, _ := strings.Cut(call, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode != http.StatusOK || !strings.Contains(string(b), want) {
			t.Errorf("%s: %s %.200s, %v", call, a.Status, b, err)
		}
		a.Body.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
}

// TestProfilesDoNotAnswerToOtherNames: a page in a browser of this machine, whose own name
// leads here, learns nothing. The command line, in which a password may stand, is not served.
func TestProfilesDoNotAnswerToOtherNames(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]int{
		"http://evil.example.com:6060/debug/pprof/heap": http.StatusForbidden,
		"http://10.0.0.7:6060/debug/pprof/heap":         http.StatusForbidden,
		"http://localhost:6060/debug/pprof/heap":        http.StatusOK,
		"http://[::1]:6060/debug/pprof/heap":            http.StatusOK,
		"http://127.0.0.1:6060/debug/pprof/cmdline":     http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		debugHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", url, w.Code, want)
		}
	}
}
