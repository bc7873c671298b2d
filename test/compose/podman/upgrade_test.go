package podman

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// before has the image of the release before this one, which test/previous names, as fairlead:local.
func (e *engine) before() {
	e.Helper()
	text, err := os.ReadFile("../../previous/previous.go")
	must(e.T, err)
	commit := regexp.MustCompile(`Commit = "([0-9a-f]{40})"`).FindSubmatch(text)
	if commit == nil {
		e.Fatal("test/previous names no commit")
	}
	tree := e.TempDir()
	e.program("", "bash", "-c", `git archive "$1" | tar -C "$2" -x; install -D deploy/image "$2/deploy/image"`, "bash", string(commit[1]), tree)
	e.env = append(e.env, "SOURCE_DATE_EPOCH=1700000000") // the tree is no repository
	e.image(tree, "1.2.2", "fairlead:local", goEnv(e, "GOCACHE"))
	e.env = e.env[:len(e.env)-1]
	e.program("", "podman", "tag", "fairlead:local", e.other())
}

func (e *engine) other() string { return "localhost/" + e.prefix + "-image:other" }

// swap makes the other release the one that is started next.
func (e *engine) swap() {
	e.Helper()
	was := "localhost/" + e.prefix + "-image:was"
	for _, tag := range [][2]string{{"fairlead:local", was}, {e.other(), "fairlead:local"}, {was, e.other()}} {
		e.program("", "podman", "tag", tag[0], tag[1])
	}
}

// replace is `up -d --no-deps --wait` of a service whose image is another one.
func (e *engine) replace(name string) {
	e.Helper()
	grace := 10 * time.Second
	if g := e.project.Services[name].StopGracePeriod; g != nil {
		grace = time.Duration(*g)
	}
	ran := e.runs(name)
	e.program("", "podman", "stop", "--time", fmt.Sprint(int(grace.Seconds())), e.container(name))
	if code := strings.TrimSpace(e.program("", "podman", "container", "inspect", "--format", "{{.State.ExitCode}}", e.container(name))); code != "0" {
		e.Errorf("%s ended with %s", name, code)
	}
	e.program("", "podman", "rm", e.container(name))
	delete(e.up, name)
	e.start(name)
	if e.runs(name) == ran {
		e.Errorf("%s runs the image that it ran before", name)
	}
}

// runs is the image of a service's container.
func (e *engine) runs(name string) string {
	e.Helper()
	return strings.TrimSpace(e.program("", "podman", "container", "inspect", "--format", "{{.Image}}", e.container(name)))
}

// requests are sent through the demo's Envoy, one after the other on connections of their own, until they are to end.
type requests struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	sent    int // both are read once they have ended
	failed  []string
}

func (e *engine) request() *requests {
	e.Helper()
	ctx, stop := context.WithCancel(e.Context())
	r, url := &requests{stop: stop}, "http://"+e.port("envoy", 10000)+"/"
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r.running.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			r.sent++
			if said := answer(client, url); said != "200 hello from the backend" {
				r.failed = append(r.failed, said)
			}
		}
	})
	e.Cleanup(func() { stop(); r.running.Wait() })
	return r
}

func answer(client *http.Client, url string) string {
	resp, err := client.Get(url) //nolint:noctx // the client has its own time
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // it is read alone
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body)))
}

// upgrade goes the steps of docs/upgrade.md from the release before to this one, back, and there again. Requests go through Envoy meanwhile, and
// after each step a change is written and has its receipt.
func (e *engine) upgrade(t *testing.T) {
	row, err := os.ReadFile("../../../docs/upgrade.md")
	must(t, err)
	if !strings.Contains(string(row), "`docker compose build`; `docker compose run --rm migrate`; `docker compose up -d --no-deps --wait xds-1`, the same with `xds-2`, and then with `api`") {
		t.Error("docs/upgrade.md tells other steps of compose than are gone here")
	}
	demo, err := os.ReadFile("../../../deploy/demo.yaml")
	must(t, err)
	load, changes := e.request(), 0
	change := func(after string) {
		t.Helper()
		changes++
		changed := strings.Replace(string(demo), "connect_timeout: 1s", fmt.Sprintf("connect_timeout: %ds", 1+changes), 1)
		if out := e.once(changed, "owner", "apply", "-f", "-", "--wait"); !strings.Contains(out, "ACKed by 1/1 nodes") {
			t.Errorf("after %s a change is answered %s", after, out)
		}
	}
	change("nothing")
	e.build("1.2.3")
	e.once("", "migrate")
	for _, way := range [][]string{{"xds-1", "xds-2", "api"}, {"api", "xds-2", "xds-1"}, {"xds-1", "xds-2", "api"}} {
		for _, name := range way {
			e.replace(name)
			change(name)
		}
		e.swap()
	}
	e.swap() // this release, which runs
	load.stop()
	load.running.Wait()
	if load.sent < 100 || len(load.failed) > 0 {
		t.Errorf("of %d requests %d failed: %.300q", load.sent, len(load.failed), load.failed)
	}
	if got := strings.TrimSpace(e.program("", "podman", "exec", e.container("xds-1"), "xds", "--version")); got != "xds 1.2.3" {
		t.Errorf("in the end xds-1 is %s", got)
	}
}
