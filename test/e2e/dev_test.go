package e2e

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead/internal/childproc"
)

// dev is a running `fairlead dev`.
type dev struct {
	*childproc.Process
	t     *testing.T
	data  string
	out   *output
	ready readyFile
}

type readyFile struct {
	APIURL        string `json:"api_url"`
	APIToken      string `json:"api_token"`
	OperatorToken string `json:"operator_token"`
	XDSAddress    string `json:"xds_address"`
	RESTXDSURL    string `json:"rest_xds_url"`
	NodeToken     string `json:"node_token"`
	Tenant        string `json:"tenant"`
	Fleet         string `json:"fleet"`
	NodeID        string `json:"node_id"`
	ProxyURL      string `json:"proxy_url"`
	EnvoyAdminURL string `json:"envoy_admin_url"`
	EnvoyVersion  string `json:"envoy_version"`
	BootstrapFile string `json:"bootstrap_file"`
	DataDir       string `json:"data_dir"`
	PostgresURL   string `json:"postgres_url"`
	StartedInMS   int64  `json:"started_in_ms"`
}

// output is what a program printed so far.
type output struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// dataDir is a folder that the user whom Postgres runs as can reach.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fairlead-dev-")
	must(t, err)
	must(t, os.Chmod(dir, 0o755)) //nolint:gosec // see above
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func devArgs(data string, args ...string) []string {
	return append([]string{"dev", "--data", data, "--http", "127.0.0.1:0", "--xds", "127.0.0.1:0", "--proxy", "127.0.0.1:0"}, args...)
}

func startDev(t *testing.T, data string, env []string, args ...string) *dev {
	t.Helper()
	d := &dev{t: t, data: data, out: &output{}}
	file := filepath.Join(data, "ready.json")
	_ = os.Remove(file)
	var err error
	d.Process, err = childproc.Start(childproc.Spec{
		Path: filepath.Join(binDir, "fairlead"), Args: devArgs(data, args...), Env: append(os.Environ(), env...),
		Stdout: d.out, Stderr: d.out, StopSignal: syscall.SIGINT, StopTimeout: 30 * time.Second,
	})
	must(t, err)
	t.Cleanup(func() {
		_ = d.Stop()
		if t.Failed() {
			t.Logf("fairlead dev printed:\n%s", d.out)
		}
	})
	eventually(t, 60*time.Second, "fairlead dev was not ready", func() bool {
		select {
		case <-d.Done():
			t.Fatalf("fairlead dev ended: %v\n%s", d.Err(), d.out)
		default:
		}
		b, err := os.ReadFile(file) //nolint:gosec // the test's own folder
		return err == nil && json.Unmarshal(b, &d.ready) == nil
	})
	return d
}

// pid reads the first line of Postgres's pid file.
func (d *dev) postgresPID() int {
	d.t.Helper()
	line, _, _ := strings.Cut(string(read(d.t, filepath.Join(d.data, "postgres", "data", "postmaster.pid"))), "\n")
	pid, err := strconv.Atoi(line)
	must(d.t, err)
	return pid
}

func (d *dev) envoyPID() int {
	d.t.Helper()
	out, err := exec.CommandContext(d.t.Context(), "pgrep", "-f", filepath.Join(d.data, "envoy")).Output() //nolint:gosec // as above
	must(d.t, err)
	pid, err := strconv.Atoi(strings.Fields(string(out))[0])
	must(d.t, err)
	return pid
}

func (d *dev) body() string {
	_, body := get(d.ready.ProxyURL)
	return body
}

// change runs the command that was printed, as a shell would.
func (d *dev) change() string {
	d.t.Helper()
	line := regexp.MustCompile(`(?m)^\s+(\S+ apply -f .* --wait.*)$`).FindStringSubmatch(d.out.String())
	if line == nil {
		d.t.Fatalf("no command that changes the route in:\n%s", d.out)
	}
	out, err := exec.CommandContext(d.t.Context(), "sh", "-c", line[1]).CombinedOutput() //nolint:gosec // it is meant to be run
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", line[1], err, out)
	}
	return string(out)
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func (d *dev) awaitDead(pids ...int) {
	d.t.Helper()
	for _, pid := range pids {
		eventually(d.t, 2*soon, "process "+strconv.Itoa(pid)+" still runs", func() bool { return !alive(pid) })
	}
}

// TestDev is the first hour of a user: start, request, change, stop, start again.
func TestDev(t *testing.T) {
	t.Parallel()
	data := dataDir(t)
	d := startDev(t, data, nil)
	if got := d.body(); got != "hello from blue\n" {
		t.Fatalf("the first request was answered %q, want the blue backend", got)
	}
	t.Logf("started in %d ms", d.ready.StartedInMS)
	if r := d.ready; r.RESTXDSURL != "" || r.EnvoyVersion == "" || r.NodeID == "" || r.PostgresURL == "" || r.DataDir != data {
		t.Errorf("ready file %+v", r)
	}
	out := d.change()
	if !regexp.MustCompile(`revision \d+ ACKed by 1/1 nodes in \d+ ms`).MatchString(out) {
		t.Errorf("the change printed %q, want its receipt", out)
	}
	eventually(t, soon, "the route did not change", func() bool { return d.body() == "hello from green\n" })

	// Postgres dies: it is started again, and writes are taken again.
	pid := d.postgresPID()
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	d.awaitDead(pid)
	if got := d.body(); got != "hello from green\n" {
		t.Errorf("without Postgres a request was answered %q", got)
	}
	eventually(t, 4*soon, "no write was taken after Postgres was killed", func() bool {
		return d.apply(filepath.Join(data, "demo", "blue.yaml")) == 0
	})
	eventually(t, 2*soon, "the route did not change after Postgres was killed", func() bool { return d.body() == "hello from blue\n" })
	d.change()

	children := []int{d.postgresPID(), d.envoyPID()}
	must(t, d.Signal(syscall.SIGINT))
	if err := d.Err(); err != nil {
		t.Errorf("after Ctrl-C it ended with %v", err)
	}
	d.awaitDead(children...)

	// The data is kept, and a crash of ours leaves nothing running.
	d = startDev(t, data, nil)
	eventually(t, soon, "the second start has not kept the change", func() bool { return d.body() == "hello from green\n" })
	children = []int{d.postgresPID(), d.envoyPID()}
	d.Process.Kill()
	d.awaitDead(children...)
	d = startDev(t, data, nil)
	eventually(t, soon, "the third start has not kept the change", func() bool { return d.body() == "hello from green\n" })
}

// apply runs `fairlead apply` and returns its exit status.
func (d *dev) apply(file string) int {
	cmd := exec.CommandContext(d.t.Context(), filepath.Join(binDir, "fairlead"), "apply", "-f", file, "--ready-file", filepath.Join(d.data, "ready.json")) //nolint:gosec // our own program
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Logf("apply: %s", out)
	}
	return cmd.ProcessState.ExitCode()
}

func TestDevWithoutEnvoySaysHowToGetOne(t *testing.T) {
	t.Parallel()
	d := startDev(t, dataDir(t), []string{"ENVOY_BIN=/nowhere/envoy"})
	if d.ready.EnvoyVersion != "" || d.ready.ProxyURL != "" || d.ready.EnvoyAdminURL != "" {
		t.Errorf("the ready file names an Envoy: %+v", d.ready)
	}
	if out := d.out.String(); !strings.Contains(out, "No Envoy is started") || !strings.Contains(out, "ENVOY_BIN") {
		t.Errorf("it printed %q, want how to get an Envoy", out)
	}
	if code, _ := get(d.ready.APIURL + "/healthz"); code != http.StatusOK {
		t.Errorf("the API answers %d", code)
	}
}

func TestDevEmpty(t *testing.T) {
	t.Parallel()
	d := startDev(t, dataDir(t), nil, "--no-demo", "--no-envoy", "--open-xds", "127.0.0.1:0")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.ready.APIURL+"/v1/tenants/demo/fleets/edge/resources", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+d.ready.APIToken)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close() //nolint:errcheck // it is read below
	var list struct{ Items []any }
	must(t, json.NewDecoder(resp.Body).Decode(&list))
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusOK || len(list.Items) != 0 {
		t.Errorf("status %d, %d resources, want an empty fleet", resp.StatusCode, len(list.Items))
	}
}

// TestDevSaysWhatToDo: each start that cannot work ends with one sentence.
func TestDevSaysWhatToDo(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	busy := dataDir(t)
	startDev(t, busy, nil, "--no-demo", "--no-envoy")
	for name, c := range map[string]struct {
		data string
		args []string
		env  []string
		says []string
	}{
		"the API's port is taken":   {"", []string{"--http", taken.Addr().String()}, nil, []string{taken.Addr().String(), "in use", "--http"}},
		"the xDS port is taken":     {"", []string{"--xds", taken.Addr().String()}, nil, []string{taken.Addr().String(), "in use", "--xds"}},
		"the proxy's port":          {"", []string{"--proxy", taken.Addr().String()}, nil, []string{taken.Addr().String(), "in use", "--proxy"}},
		"an address for all":        {"", []string{"--http", "0.0.0.0:0"}, nil, []string{"--http", "this machine only"}},
		"the folder is in use":      {busy, nil, nil, []string{busy, "--data"}},
		"no Postgres":               {"", []string{"--no-fetch"}, []string{"PG_BIN=/nowhere"}, []string{"PG_BIN", "/nowhere"}},
		"no network, no Postgres":   {"", nil, []string{"PG_BIN=/nowhere"}, []string{"PG_BIN", "/nowhere"}},
		"an address without a port": {"", []string{"--http", "127.0.0.1"}, nil, []string{"--http"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.data == "" {
				c.data = dataDir(t)
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(binDir, "fairlead"), devArgs(c.data, append([]string{"--no-envoy"}, c.args...)...)...) //nolint:gosec // our own program
			cmd.Env = append(os.Environ(), c.env...)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("it ended well: %s", out)
			}
			text := strings.TrimSpace(string(out))
			for _, s := range c.says {
				if !strings.Contains(text, s) {
					t.Errorf("it said %q, want %q in it", text, s)
				}
			}
			if strings.Count(text, "\n") > 0 || strings.Contains(text, "goroutine") {
				t.Errorf("it said more than one sentence: %q", text)
			}
		})
	}
}
