package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// watchesFile is how many inotify instances a user may have, of which an Envoy takes one for each file.
const watchesFile = "/proc/sys/fs/inotify/max_user_instances"

// allowFiles has the machine let an Envoy watch so many files beside what others watch, until the test ends. The full size needs it to be raised.
func allowFiles(t *testing.T, files int) {
	t.Helper()
	before := strings.TrimSpace(string(world.Read(t, watchesFile)))
	limit, err := strconv.Atoi(before)
	world.Must(t, err)
	const others, enough = 64, 8192
	if files+others <= limit {
		return
	}
	if err := os.WriteFile(watchesFile, []byte(strconv.Itoa(enough)), 0); err != nil {
		t.Fatalf("an Envoy of %d files needs more than the %d inotify instances that a user may have, and this test may not raise that (%v): sysctl fs.inotify.max_user_instances=%d", files, limit, err, enough)
	}
	t.Cleanup(func() { world.Must(t, os.WriteFile(watchesFile, []byte(before), 0)) })
}

// TestSoakFiles: a real Envoy has all its clusters from files, which are changed one by one, its timeout and its endpoints, while requests go to all of them. None fails, and each is in time answered
// by where its cluster leads.
func TestSoakFiles(t *testing.T) {
	t.Parallel()
	clusters := 20
	if full() {
		clusters = 1000
	}
	allowFiles(t, 2*clusters) // of a cluster that changes the next one is warmed beside it
	w := setup(t)
	r := &routed{installation: w, xds: w.XDS("--max-connection-age", "0")}
	address, folder := world.FreePort(t), w.Path("files")
	r.proxy = "http://" + address
	before, after := world.Backend(t, "before"), world.Backend(t, "after")
	name := func(i int64) string { return fmt.Sprintf("c%04d", i) }

	var routes []string
	for begin := 0; begin < clusters; begin += 200 {
		var rs []world.Resource
		for i := begin; i < min(begin+200, clusters); i++ {
			n := name(int64(i))
			rs = append(rs, world.Cluster(n, "1s"), world.Endpoints(n, before))
			routes = append(routes, sprintf("{match: {path: /%s}, route: {cluster: %s}}", n, n))
		}
		w.Apply(world.Together(rs...))
	}
	w.Apply(world.Together(world.Listener("l", address, "r"),
		world.NewResource("routes", "r", sprintf(`{name: r, virtual_hosts: [{name: all, domains: ["*"], routes: [%s]}]}`, strings.Join(routes, ", ")))))

	began := time.Now()
	world.Run(t, "fairlead", w.syncArgs("n1", folder, r.xds, "--once")...)
	t.Logf("the folder was written in %s", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	r.envoy = w.launchFiled("n1", folder)
	w.AwaitReady(r.envoy, 6*world.Soon)
	admin, err := r.envoy.AdminAddress()
	world.Must(t, err)
	world.Eventually(t, world.Soon, "not routed", func() bool { _, body := world.Get(r.proxy + "/" + name(0)); return body == "before" })
	t.Logf("Envoy served after %s", time.Since(began).Round(time.Millisecond))
	program := &measured{w.Start("fairlead", w.syncArgs("n1", folder, r.xds, "--listen-admin", admin)...)}
	w.AwaitLive("n1")

	load := startLoads(t, func(n int64) string { return r.proxy + "/" + name(n%int64(clusters)) })
	began, cpu := time.Now(), program.processor(t)
	var took []time.Duration
	for i := range clusters {
		n, begin := name(int64(i)), time.Now()
		last := w.Apply(world.Together(world.Cluster(n, "2s"), world.Endpoints(n, after)))
		world.Eventually(t, 6*world.Soon, "Envoy does not take the change of "+n, func() bool { return w.Receipt(last).State == client.ReceiptStateDelivered })
		took = append(took, time.Since(begin))
		if _, body := world.Get(r.proxy + "/" + n); body != "after" {
			t.Errorf("the receipt says that %s has changed, and it is answered by %q", n, body)
		}
	}
	lasted := time.Since(began)
	done, failed := load.stop()
	if failed > 0 || done == 0 {
		t.Errorf("%d of %d requests failed, first: %v", failed, done, load.first.Load())
	}
	if rate := float64(done) / lasted.Seconds(); full() && rate < 450 {
		t.Errorf("%.0f requests a second were sent, want 500: this machine is too slow for it", rate)
	}
	t.Logf("%d clusters changed in %.1f s beside %d requests, of which %d failed; from the apply to Envoy's having it %v; fairlead sync had %.1f %% of a processor and %d MiB",
		clusters, lasted.Seconds(), done, failed, quantilesOf(took), 100*(program.processor(t)-cpu).Seconds()/lasted.Seconds(), program.memory(t, "VmHWM")>>10)
	if got := activeClusters(t, r.envoy); len(got) < clusters || got[name(0)] != "2s" || got[name(int64(clusters-1))] != "2s" {
		t.Errorf("Envoy has the clusters %v", got)
	}
}
