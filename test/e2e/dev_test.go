package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fairlead/test/world"
)

// dev is a running `fairlead dev`.
type dev struct{ *world.Dev }

func startDev(t *testing.T, data string, env []string, args ...string) *dev {
	t.Helper()
	return &dev{world.StartDev(t, data, env, args...)}
}

// postgresPID reads the first line of Postgres's pid file.
func (d *dev) postgresPID() int {
	d.T.Helper()
	line, _, _ := strings.Cut(string(world.Read(d.T, filepath.Join(d.Data, "postgres", "data", "postmaster.pid"))), "\n")
	pid, err := strconv.Atoi(line)
	world.Must(d.T, err)
	return pid
}

func (d *dev) envoyPID() int {
	d.T.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(string(world.Read(d.T, filepath.Join(d.Data, "envoy", "envoy.pid")))))
	world.Must(d.T, err)
	return pid
}

func (d *dev) body() string {
	_, body := world.Get(d.Ready.ProxyURL)
	return body
}

// printed returns what was printed for pasting: the first line that matches the pattern. The ready file is there before the last line.
func (d *dev) printed(pattern string) string {
	d.T.Helper()
	line := regexp.MustCompile(`(?m)^\s+(` + pattern + `)$`)
	world.Eventually(d.T, world.Soon, "no line "+pattern+" was printed", func() bool { return line.MatchString(d.Out.String()) })
	return line.FindStringSubmatch(d.Out.String())[1]
}

// shell runs lines as a user would who has nothing set and stands somewhere else.
func (d *dev) shell(dir string, lines ...string) string {
	d.T.Helper()
	cmd := exec.CommandContext(d.T.Context(), "sh", "-ec", strings.Join(lines, "\n")) //nolint:gosec // they are meant to be run
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FAIRLEAD_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.T.Fatalf("%s: %v\n%s", strings.Join(lines, "\n"), err, out)
	}
	return string(out)
}

// change runs the command that was printed, as a shell would.
func (d *dev) change() string {
	d.T.Helper()
	return d.shell("", d.printed(`\S+ apply -f .* --wait.*`))
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func (d *dev) awaitDead(pids ...int) {
	d.T.Helper()
	for _, pid := range pids {
		world.Eventually(d.T, 2*world.Soon, "process "+strconv.Itoa(pid)+" still runs", func() bool { return !alive(pid) })
	}
}

// TestDev is the first hour of a user: start, request, change, stop, start again.
func TestDev(t *testing.T) {
	t.Parallel()
	data := world.DataDir(t)
	d := startDev(t, data, nil)
	if got := d.body(); got != "hello from blue\n" {
		t.Fatalf("the first request was answered %q, want the blue backend", got)
	}
	t.Logf("started in %d ms", d.Ready.StartedInMS)
	if ms := d.Ready.StartedInMS; ms <= 0 || ms >= 20_000 {
		t.Errorf("started in %d ms, want less than 20 s", ms)
	}
	if r := d.Ready; r.RESTAddress != r.XDSAddress || r.RESTXDSURL != "http://"+r.XDSAddress || r.EnvoyVersion == "" || r.EnvoyPath == "" || r.NodeID == "" || r.PostgresURL == "" || r.DataDir != data {
		t.Errorf("ready file %+v", r)
	}
	d.wantPrinted()
	d.wantPostgresNotRoot()
	out := d.change()
	if !regexp.MustCompile(`revision \d+ ACKed by 1/1 nodes in \d+ ms`).MatchString(out) {
		t.Errorf("the change printed %q, want its receipt", out)
	}
	world.Eventually(t, world.Soon, "the route did not change", func() bool { return d.body() == "hello from green\n" })

	// Postgres dies: it is started again, and writes are taken again.
	pid := d.postgresPID()
	world.Must(t, syscall.Kill(pid, syscall.SIGKILL))
	d.awaitDead(pid)
	if got := d.body(); got != "hello from green\n" {
		t.Errorf("without Postgres a request was answered %q", got)
	}
	world.Eventually(t, 4*world.Soon, "no write was taken after Postgres was killed", func() bool {
		return d.apply(filepath.Join(data, "demo", "blue.yaml")) == 0
	})
	world.Eventually(t, 2*world.Soon, "the route did not change after Postgres was killed", func() bool { return d.body() == "hello from blue\n" })
	d.change()

	d.killEnvoy()
	children := []int{d.postgresPID(), d.envoyPID()}
	world.Must(t, d.Signal(syscall.SIGINT))
	if err := d.Err(); err != nil {
		t.Errorf("after Ctrl-C it ended with %v", err)
	}
	d.awaitDead(children...)

	// The data is kept, and a crash of ours leaves nothing running.
	d = startDev(t, data, nil)
	world.Eventually(t, world.Soon, "the second start has not kept the change", func() bool { return d.body() == "hello from green\n" })
	children = []int{d.postgresPID(), d.envoyPID()}
	d.Process.Kill()
	d.awaitDead(children...)
	d = startDev(t, data, nil)
	world.Eventually(t, world.Soon, "the third start has not kept the change", func() bool { return d.body() == "hello from green\n" })
}

// wantPrinted pastes the other lines that were printed.
func (d *dev) wantPrinted() {
	d.T.Helper()
	if got := d.shell("", d.printed(`curl -s http:.*`)); got != "hello from blue\n" {
		d.T.Errorf("the printed request was answered %q, want the blue backend", got)
	}
	if got := d.shell("", d.printed(regexp.QuoteMeta(d.Ready.EnvoyPath))+" --version"); !strings.Contains(got, d.Ready.EnvoyVersion) {
		d.T.Errorf("the printed Envoy says %q, want the version %s", got, d.Ready.EnvoyVersion)
	}
	list := world.Bin("fairlead") + " get routes"
	if got := d.shell(d.T.TempDir(), d.printed(`export FAIRLEAD_URL=.*`), d.printed(`export FAIRLEAD_TOKEN=.*`), list); !strings.Contains(got, "cluster: blue") {
		d.T.Errorf("with the printed variables the routes are %q, want the demo's", got)
	}
}

// killEnvoy lets Envoy die: it is started again, and the ready file names its admin socket.
func (d *dev) killEnvoy() {
	d.T.Helper()
	pid := d.envoyPID()
	world.Must(d.T, syscall.Kill(pid, syscall.SIGKILL))
	d.awaitDead(pid)
	world.Eventually(d.T, 4*world.Soon, "the new Envoy does not answer at the socket that the ready file names", func() bool {
		world.Must(d.T, json.Unmarshal(world.Read(d.T, filepath.Join(d.Data, "ready.json")), &d.Ready))
		return d.Ready.EnvoyAdmin != "" && adminAnswers(d.T.Context(), d.Ready.EnvoyAdmin)
	})
	world.Eventually(d.T, world.Soon, "the new Envoy does not route", func() bool { return d.body() == "hello from green\n" })
}

// adminAnswers reports whether an Envoy listens at its admin socket.
func adminAnswers(ctx context.Context, socket string) bool {
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://envoy/ready", nil)
	if err != nil {
		return false
	}
	resp, err := c.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// wantPostgresNotRoot: started as root, Postgres runs as another user. For any other user
// there is nothing to see: Postgres refuses to run as root by itself.
func (d *dev) wantPostgresNotRoot() {
	d.T.Helper()
	if os.Geteuid() != 0 {
		return
	}
	// The data is its own: Postgres refuses to start on another user's.
	info, err := os.Stat(filepath.Join(d.Data, "postgres", "data", "postmaster.pid"))
	if proc := "/proc/" + strconv.Itoa(d.postgresPID()); err == nil && runtime.GOOS == "linux" {
		info, err = os.Stat(proc)
	}
	world.Must(d.T, err)
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid == 0 {
		d.T.Error("Postgres runs as root")
	}
}

// apply runs `fairlead apply` and returns its exit status.
func (d *dev) apply(file string) int {
	cmd := exec.CommandContext(d.T.Context(), world.Bin("fairlead"), "apply", "-f", file, "--ready-file", filepath.Join(d.Data, "ready.json")) //nolint:gosec // our own program
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.T.Logf("apply: %s", out)
	}
	return cmd.ProcessState.ExitCode()
}
