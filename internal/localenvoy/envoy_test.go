package localenvoy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
)

// patience is how long an event may take before a test fails.
const patience = time.Minute

// parentVariable makes a second run of the test binary start an Envoy and wait.
const parentVariable = "LOCALENVOY_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentVariable); dir != "" {
		parent(dir)
	}
	goleak.VerifyTestMain(m)
}

// static is a bootstrap with one listener that answers by itself; every port is the kernel's.
const static = `
admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
static_resources:
  listeners:
  - name: hello
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: hello
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - {match: {prefix: /}, direct_response: {status: 200, body: {inline_string: "hello from Envoy"}}}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
`

// parent is the process that the test kills.
func parent(dir string) {
	bin, err := localenvoy.Find(context.Background(), localenvoy.FindConfig{Fetch: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	e, err := localenvoy.Start(context.Background(), localenvoy.Config{Bin: bin, Bootstrap: []byte(static), Dir: dir})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready", e.Ready(context.Background()), e.PID())
	<-e.Done()
}

func setup(t *testing.T, c localenvoy.Config) *localenvoy.Envoy {
	t.Helper()
	bin, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{Fetch: true, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	c.Bin, c.Dir = bin, filepath.Join(t.TempDir(), "envoy")
	e, err := localenvoy.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Kill)
	return e
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestStartReadyAskStop(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	e := setup(t, localenvoy.Config{Bootstrap: []byte(static)})
	if err := e.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if got := get(t, "http://"+listener(t, e)); got != "hello from Envoy" {
		t.Errorf("through Envoy: %q", got)
	}
	stats, err := e.Stats(ctx, `^http\.hello\.downstream_rq_2xx$`)
	if err != nil || stats["http.hello.downstream_rq_2xx"] != 1 || len(stats) != 1 {
		t.Errorf("stats %v, %v", stats, err)
	}
	if body, err := e.Admin(ctx, "/no-such-page"); !errors.Is(err, fleet.ErrUnavailable) || len(body) == 0 {
		t.Errorf("unknown page: %q, %v", body, err)
	}
	if _, err := e.AdminPost(ctx, "/reset_counters"); err != nil {
		t.Error(err)
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Admin(ctx, "/ready"); err == nil {
		t.Error("a stopped Envoy answers")
	}
}

// TestT46_TheAdminSocketIsOurs: the admin interface may be a socket that other users cannot open, in the place of the
// bootstrap's port, and one that a killed Envoy left behind is no hindrance.
func TestT46_TheAdminSocketIsOurs(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "envoy-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "admin.sock")
	for range 2 {
		e := setup(t, localenvoy.Config{Bootstrap: []byte(static), AdminSocket: socket})
		if err := e.Ready(limited(t)); err != nil {
			t.Fatal(err)
		}
		if address, err := e.AdminAddress(); err != nil || address != socket {
			t.Errorf("the admin interface listens at %q, %v", address, err)
		}
		if info, err := os.Stat(socket); err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("the socket is %v, %v", info.Mode(), err)
		}
		if got := get(t, "http://"+listener(t, e)); got != "hello from Envoy" {
			t.Errorf("through Envoy: %q", got)
		}
		e.Kill()
	}
}

func listener(t *testing.T, e *localenvoy.Envoy) string {
	t.Helper()
	text, err := e.Admin(t.Context(), "/listeners?format=json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Statuses []struct {
			Local struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list.Statuses) != 1 {
		t.Fatalf("listeners: %s, %v", text, err)
	}
	s := list.Statuses[0].Local.Socket
	return fmt.Sprintf("%s:%d", s.Address, s.Port)
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestBadBootstrapIsQuoted(t *testing.T) {
	t.Parallel()
	e := setup(t, localenvoy.Config{Bootstrap: []byte("no_such_field: 1\n")})
	if err := e.Ready(limited(t)); err == nil || !strings.Contains(err.Error(), "no_such_field") {
		t.Errorf("err = %v", err)
	}
	if err := e.Run(t.Context()); !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("Run of an Envoy that ended: %v", err)
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	t.Parallel()
	e := setup(t, localenvoy.Config{Bootstrap: []byte(static)})
	if err := e.Ready(limited(t)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Run(ctx); err != nil {
		t.Error(err)
	}
	select {
	case <-e.Done():
	default:
		t.Error("Envoy runs on")
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]localenvoy.Config{
		"empty":          {},
		"no bootstrap":   {Bin: "x", Dir: "y"},
		"two bootstraps": {Bin: "x", Dir: "y", Bootstrap: []byte("a"), BootstrapFile: "b"},
		"long socket":    {Bin: "x", Dir: "y", Bootstrap: []byte("a"), AdminSocket: "/" + strings.Repeat("s", localenvoy.LongestSocket)},
	} {
		if _, err := localenvoy.Start(t.Context(), c); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A killed parent takes its Envoy with it: Envoy's port closes.
func TestEnvoyDiesWithAKilledParent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "envoy")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "ready <nil>") {
		t.Fatalf("parent said %q, %v", line, err)
	}
	address, err := os.ReadFile(filepath.Join(dir, "admin.address"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for ctx := limited(t); ; {
		resp, err := client.Get("http://" + string(address) + "/ready")
		if err != nil {
			return
		}
		_ = resp.Body.Close()
		if ctx.Err() != nil {
			t.Fatal("Envoy outlived its parent")
		}
	}
}
