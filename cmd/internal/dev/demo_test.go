package dev

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// api answers as the API of an empty installation does, but for what is in refuse.
type api struct {
	mu     sync.Mutex     // guards what follows
	refuse map[string]int // "METHOD /path" to a status
	once   bool           // refuse each a single time
	seen   []string
	listed string // the body of the list of credentials
	made   string // that of the last request that made one
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + r.URL.Path
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, call)
	w.Header().Set("Content-Type", "application/json")
	if status := a.refuse[call]; status != 0 {
		if a.once {
			delete(a.refuse, call)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"code":"refused"}`)
		return
	}
	if r.Method == http.MethodPost && call != applyCall {
		w.WriteHeader(http.StatusCreated)
	}
	if call == credentialCall {
		body, _ := io.ReadAll(r.Body)
		a.made = string(body)
	}
	if call == listCall && a.listed != "" {
		_, _ = io.WriteString(w, a.listed)
		return
	}
	_, _ = io.WriteString(w, `{"token":"t","revision":0}`)
}

const (
	tenantCall     = "POST /v1/tenants"
	tokenCall      = "POST /v1/tenants/demo/tokens"
	fleetCall      = "POST /v1/tenants/demo/fleets"
	credentialCall = "POST /v1/tenants/demo/fleets/edge/credentials"
	portsCall      = "PATCH /v1/tenants/demo/fleets/edge"
	listCall       = "GET /v1/tenants/demo/fleets/edge/credentials"
	applyCall      = "POST /v1/tenants/demo/fleets/edge/apply"
)

func (a *api) count(call string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.seen {
		if s == call {
			n++
		}
	}
	return n
}

// begin returns a start that talks to a.
func begin(t *testing.T, a *api) *started {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(func() {
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	dir := t.TempDir()
	return &started{
		cmd: Command{Data: dir, NoEnvoy: true}, out: newConsole(io.Discard), log: slog.New(slog.DiscardHandler), since: time.Now(),
		ports: ports{http: server.Listener, proxy: "127.0.0.1:10000"},
		state: &state{path: filepath.Join(dir, "state.json"), OperatorToken: "o"},
	}
}

// within fails the test when call takes for ever.
func within(t *testing.T, call func(context.Context) error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call(t.Context()) }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
		return nil
	}
}

// TestDemoEndsWhenItsResourcesAreRefused: with the error, and with the backends stopped.
func TestDemoEndsWhenItsResourcesAreRefused(t *testing.T) {
	t.Parallel()
	s := begin(t, &api{refuse: map[string]int{applyCall: http.StatusUnprocessableEntity}})
	err := within(t, s.demo)
	if err == nil || !strings.Contains(err.Error(), "the demo's resources: the API answered 422") {
		t.Errorf("err = %v", err)
	}
	for _, address := range []string{s.state.Blue, s.state.Green} {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			t.Errorf("the backend %s runs on", address)
		}
	}
}

func TestASingle503IsBorne(t *testing.T) {
	t.Parallel()
	a := &api{once: true, refuse: map[string]int{}}
	calls := []string{"GET /v1/whoami", tenantCall, tokenCall, fleetCall, "GET /v1/tenants/demo/fleets/edge", credentialCall, portsCall, applyCall}
	for _, call := range calls {
		a.refuse[call] = http.StatusServiceUnavailable
	}
	s := begin(t, a)
	backends, err := s.openBackends()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range backends {
		_ = b.lis.Close()
	}
	err = within(t, func(ctx context.Context) error {
		fresh, err := s.setup(ctx)
		if err != nil || !fresh {
			t.Errorf("fresh %t, %v", fresh, err)
		}
		if err := s.openLocalPorts(ctx, backends); err != nil {
			return err
		}
		return s.applyDemo(ctx, fresh)
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := a.count("GET /v1/tenants/demo/fleets/edge"); n != 3 { // its settings are looked at once more
		t.Errorf("the fleet was looked at %d times", n)
	}
	for _, call := range calls {
		if n := a.count(call); n != 2 && call != "GET /v1/tenants/demo/fleets/edge" {
			t.Errorf("%s was sent %d times, want 2", call, n)
		}
	}
}

// TestOnlyTenantAndFleetMayBeThere: a 409 for what bears a secret is an error and no panic.
func TestOnlyTenantAndFleetMayBeThere(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		tenantCall: "", fleetCall: "",
		tokenCall: "make the API token: the API answered 409", credentialCall: "make the node credential: the API answered 409",
	} {
		s := begin(t, &api{refuse: map[string]int{call: http.StatusConflict}})
		err := within(t, func(ctx context.Context) error { _, err := s.setup(ctx); return err })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %q", call, err, want)
		}
	}
	s := begin(t, &api{refuse: map[string]int{applyCall: http.StatusConflict}})
	if err := s.apply(t.Context(), nil); err == nil {
		t.Error("a 409 for the demo's resources is no error")
	}
}

func TestBackendsKeepTheirPortsOnLoopback(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := &started{state: &state{Green: taken.Addr().String()}}
	first, err := s.openBackends()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"blue", "green"} {
		b := first[i]
		if addr := b.lis.Addr().(*net.TCPAddr); b.colour != want || !addr.IP.IsLoopback() || addr.String() == taken.Addr().String() {
			t.Errorf("backend %d is %s on %s, want %s on a port of its own on loopback", i, b.colour, addr, want)
		}
		_ = b.lis.Close()
	}
	again, err := s.openBackends()
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range again {
		if b.lis.Addr().String() != first[i].lis.Addr().String() {
			t.Errorf("%s moved from %s to %s", b.colour, first[i].lis.Addr(), b.lis.Addr())
		}
		_ = b.lis.Close()
	}
}

func TestNextPause(t *testing.T) {
	t.Parallel()
	pause := time.Duration(0)
	for i, want := range []int{1, 2, 4, 8, 16, 30, 30} {
		if pause = nextPause(pause, time.Second); pause.Seconds() != float64(want) {
			t.Errorf("crash %d: %s, want %d s", i, pause, want)
		}
	}
	if pause = nextPause(pause, time.Hour); pause != time.Second {
		t.Errorf("after a good life: %s, want 1 s", pause)
	}
}

// The proxy of a start comes in for as long as it runs: a credential that ends within months is replaced.
func TestT32_TheNodeCredentialOutlivesTheStart(t *testing.T) {
	t.Parallel()
	id, token, _ := auth.NewNodeToken(time.Time{})
	for end, again := range map[string]bool{
		`, "expires_at": "` + time.Now().Add(90*24*time.Hour).Format(time.RFC3339) + `"`:  true,
		`, "expires_at": "` + time.Now().Add(300*24*time.Hour).Format(time.RFC3339) + `"`: false,
		"":                                       false, // of an older start
		`, "revoked_at": "2026-01-01T00:00:00Z"`: true,
	} {
		a := &api{listed: `{"items": [{"id": "` + id.String() + `"` + end + `}]}`}
		s := begin(t, a)
		s.state.NodeToken = token
		if err := within(t, func(ctx context.Context) error { _, err := s.setup(ctx); return err }); err != nil {
			t.Fatal(err)
		}
		if n := a.count(credentialCall); (n == 1) != again || (s.state.NodeToken != token) != again {
			t.Errorf("%s: %d are made", end, n)
		}
		var made struct {
			ExpiresAt time.Time `json:"expires_at"`
		}
		if again && (json.Unmarshal([]byte(a.made), &made) != nil || time.Until(made.ExpiresAt) < 364*24*time.Hour) {
			t.Errorf("%s: made %s", end, a.made)
		}
	}
}
