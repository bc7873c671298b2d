package world

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead/internal/childproc"
)

// Dev is a running `fairlead dev`.
type Dev struct {
	*childproc.Process
	T     testing.TB
	Data  string // its folder
	Out   *Output
	Ready Ready
}

// Ready is what its ready file says.
type Ready struct {
	APIURL        string `json:"api_url"`
	APIToken      string `json:"api_token"`
	OperatorToken string `json:"operator_token"`
	XDSAddress    string `json:"xds_address"`
	RESTAddress   string `json:"rest_address"`
	RESTXDSURL    string `json:"rest_xds_url"`
	NodeToken     string `json:"node_token"`
	Tenant        string `json:"tenant"`
	Fleet         string `json:"fleet"`
	NodeID        string `json:"node_id"`
	ProxyURL      string `json:"proxy_url"`
	EnvoyAdmin    string `json:"envoy_admin_socket"`
	EnvoyVersion  string `json:"envoy_version"`
	EnvoyPath     string `json:"envoy_path"`
	BootstrapFile string `json:"bootstrap_file"`
	DataDir       string `json:"data_dir"`
	PostgresURL   string `json:"postgres_url"`
	StartedInMS   int64  `json:"started_in_ms"`

	MetricsURLs []string `json:"metrics_urls"`
}

// Output is what a program printed so far, for any goroutine.
type Output struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

// Write is io.Writer's.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// DataDir is a folder that the user whom Postgres runs as can reach.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fairlead-dev-")
	Must(t, err)
	Must(t, os.Chmod(dir, 0o755)) //nolint:gosec // see above
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// DevArgs are the arguments of a `fairlead dev` that takes its ports by itself.
func DevArgs(data string, args ...string) []string {
	return append([]string{"dev", "--data", data, "--http", AnyPort, "--xds", AnyPort, "--proxy", AnyPort}, args...)
}

// StartDev starts `fairlead dev` and waits until it is ready.
func StartDev(t testing.TB, data string, env []string, args ...string) *Dev {
	t.Helper()
	d := &Dev{T: t, Data: data, Out: &Output{}}
	file := filepath.Join(data, "ready.json")
	_ = os.Remove(file)
	var err error
	d.Process, err = childproc.Start(childproc.Spec{
		Path: Bin("fairlead"), Args: DevArgs(data, args...), Env: append(os.Environ(), env...),
		Stdout: d.Out, Stderr: d.Out, StopSignal: syscall.SIGINT, StopTimeout: 30 * time.Second,
	})
	Must(t, err)
	t.Cleanup(func() {
		_ = d.Stop()
		if t.Failed() {
			t.Logf("fairlead dev printed:\n%s", d.Out)
		}
	})
	Eventually(t, time.Minute, "fairlead dev was not ready", func() bool {
		select {
		case <-d.Done():
			t.Fatalf("fairlead dev ended: %v\n%s", d.Err(), d.Out)
		default:
		}
		b, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(b, &d.Ready) == nil
	})
	return d
}

// World is the installation that it runs, which has no database or keys of the test's.
func (d *Dev) World() *World {
	d.T.Helper()
	w := Empty(d.T)
	w.API, w.Tenant, w.Fleet = d.Ready.APIURL, d.Ready.Tenant, d.Ready.Fleet
	w.Token, w.NodeToken, w.Operator = d.Ready.APIToken, d.Ready.NodeToken, d.Ready.OperatorToken
	w.REST = w.As(w.Token)
	return w
}
