package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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

// postgresPID reads the first line of Postgres's pid file.
func (d *dev) postgresPID() int {
	d.t.Helper()
	line, _, _ := strings.Cut(string(read(d.t, filepath.Join(d.data, "postgres", "data", "postmaster.pid"))), "\n")
	pid, err := strconv.Atoi(line)
	must(d.t, err)
	return pid
}

func (d *dev) envoyPID() int {
	d.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(string(read(d.t, filepath.Join(d.data, "envoy", "envoy.pid")))))
	must(d.t, err)
	return pid
}

func (d *dev) body() string {
	_, body := get(d.ready.ProxyURL)
	return body
}

// printed returns what was printed for pasting: the first line that matches the pattern.
func (d *dev) printed(pattern string) string {
	d.t.Helper()
	line := regexp.MustCompile(`(?m)^\s+(` + pattern + `)$`).FindStringSubmatch(d.out.String())
	if line == nil {
		d.t.Fatalf("no line %s in:\n%s", pattern, d.out)
	}
	return line[1]
}

// shell runs lines as a user would who has nothing set and stands somewhere else.
func (d *dev) shell(dir string, lines ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "sh", "-ec", strings.Join(lines, "\n")) //nolint:gosec // they are meant to be run
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FAIRLEAD_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", strings.Join(lines, "\n"), err, out)
	}
	return string(out)
}

// change runs the command that was printed, as a shell would.
func (d *dev) change() string {
	d.t.Helper()
	return d.shell("", d.printed(`\S+ apply -f .* --wait.*`))
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
	if ms := d.ready.StartedInMS; ms <= 0 || ms >= 20_000 {
		t.Errorf("started in %d ms, want less than 20 s", ms)
	}
	if r := d.ready; r.RESTXDSURL != "" || r.EnvoyVersion == "" || r.NodeID == "" || r.PostgresURL == "" || r.DataDir != data {
		t.Errorf("ready file %+v", r)
	}
	d.wantPrinted()
	d.wantPostgresNotRoot()
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

	d.killEnvoy()
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

// wantPrinted pastes the other lines that were printed.
func (d *dev) wantPrinted() {
	d.t.Helper()
	if got := d.shell("", d.printed(`curl .*`)); got != "hello from blue\n" {
		d.t.Errorf("the printed request was answered %q, want the blue backend", got)
	}
	list := filepath.Join(binDir, "fairlead") + " get routes"
	if got := d.shell(d.t.TempDir(), d.printed(`export FAIRLEAD_URL=.*`), d.printed(`export FAIRLEAD_TOKEN=.*`), list); !strings.Contains(got, "cluster: blue") {
		d.t.Errorf("with the printed variables the routes are %q, want the demo's", got)
	}
}

// killEnvoy lets Envoy die: it is started again, and the ready file names its new admin
// port.
func (d *dev) killEnvoy() {
	d.t.Helper()
	admin := d.ready.EnvoyAdminURL
	pid := d.envoyPID()
	must(d.t, syscall.Kill(pid, syscall.SIGKILL))
	d.awaitDead(pid)
	eventually(d.t, 4*soon, "the ready file does not name the admin port of the new Envoy", func() bool {
		must(d.t, json.Unmarshal(read(d.t, filepath.Join(d.data, "ready.json")), &d.ready))
		if d.ready.EnvoyAdminURL == "" || d.ready.EnvoyAdminURL == admin {
			return false
		}
		code, _ := get(d.ready.EnvoyAdminURL + "/ready")
		return code == http.StatusOK
	})
	eventually(d.t, soon, "the new Envoy does not route", func() bool { return d.body() == "hello from green\n" })
}

// wantPostgresNotRoot: started as root, Postgres runs as another user. For any other user
// there is nothing to see: Postgres refuses to run as root by itself.
func (d *dev) wantPostgresNotRoot() {
	d.t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	// The data is its own: Postgres refuses to start on another user's.
	info, err := os.Stat(filepath.Join(d.data, "postgres", "data", "postmaster.pid"))
	if proc := "/proc/" + strconv.Itoa(d.postgresPID()); err == nil && runtime.GOOS == "linux" {
		info, err = os.Stat(proc)
	}
	must(d.t, err)
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid == 0 {
		d.t.Error("Postgres runs as root")
	}
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
