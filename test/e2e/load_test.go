package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/bootstrap"
	"fairlead/internal/envoyversion"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// reporting starts an Envoy that reports its load.
func (w *installation) reporting(id, address string) *localenvoy.Envoy {
	w.T.Helper()
	text, err := bootstrap.Envoy(bootstrap.Config{
		NodeID: id, NodeCluster: w.Fleet, XDSAddresses: []string{address}, Delta: true, LoadReports: true, Plaintext: true, TokenEnv: "FAIRLEAD_NODE_TOKEN", AdminAddress: world.AnyPort,
	})
	world.Must(w.T, err)
	dir, err := os.MkdirTemp(w.Dir, "envoy-"+id+"-")
	world.Must(w.T, err)
	e := w.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: dir, Env: []string{"FAIRLEAD_NODE_TOKEN=" + w.NodeToken}})
	w.AwaitReady(e, world.Soon)
	return e
}

// reportsOf is how many reports an Envoy has sent.
func reportsOf(t testing.TB, e *localenvoy.Envoy) (n int) {
	t.Helper()
	b, err := e.Admin(t.Context(), `/stats?filter=load_reporter.responses$`)
	world.Must(t, err)
	_, err = fmt.Sscanf(string(b), "load_reporter.responses: %d", &n)
	world.Must(t, err)
	return n
}

// load is what is told of the fleet's load; of a cluster, by minute.
func (w *installation) load(cluster *string) []client.Load {
	w.T.Helper()
	list, err := w.REST.ListLoadWithResponse(w.T.Context(), w.Tenant, w.Fleet, &client.ListLoadParams{Cluster: cluster})
	w.Made(list, err)
	if list.JSON200.LeftOut != 0 {
		w.T.Errorf("%d parts of reports are left out", list.JSON200.LeftOut)
	}
	return list.JSON200.Items
}

// failsSometimes answers 503 to /fail, and nothing to /wait.
func failsSometimes(t testing.TB) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fail":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/wait":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestLoadOfRealEnvoys: two proxies report to two servers, and the sums are what was sent; a server that stops writes down what it has. A cluster that fails is found.
func TestLoadOfRealEnvoys(t *testing.T) {
	t.Parallel()
	w := setup(t)
	servers := []*world.XDS{w.XDS("--load-report-interval", "1s"), w.XDS("--load-report-interval", "1s")}
	address, backend, cluster := world.FreePort(t), failsSometimes(t), "a"
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"),
		world.NewResource("endpoints", "a", fmt.Sprintf(`{cluster_name: a, endpoints: [{locality: {region: eu, zone: z1}, lb_endpoints: [{endpoint: {address: %s}}]}]}`, world.Socket(backend)))))
	for i, s := range servers { // both listen on the same port, and the kernel deals out the connections
		e := w.reporting(fmt.Sprint("n", i), s.Address)
		// It counts a cluster from the report on that comes after it has it.
		begun := reportsOf(t, e)
		world.Eventually(t, world.Soon, "Envoy does not report", func() bool { return reportsOf(t, e) >= begun+2 })
	}
	good, bad := 0, 0
	send := func(path string, count *int, n, want int) {
		t.Helper()
		for range n {
			code, _ := world.Ask("http://"+address+path, func(r *http.Request) { r.Close = true })
			if code != want {
				t.Fatalf("%s is answered %d, want %d", path, code, want)
			}
			*count++
		}
	}
	send("/", &good, 200, http.StatusOK)
	send("/fail", &bad, 60, http.StatusServiceUnavailable)
	told := func() (sum client.Load) {
		for _, l := range w.load(nil) {
			if l.Cluster == cluster {
				sum = l
			}
		}
		return sum
	}
	is := func() bool {
		l := told()
		if l.Issued > int64(good+bad) || l.Successful > int64(good) || l.Errors > int64(bad) {
			t.Fatalf("told %+v of %d good and %d bad", l, good, bad)
		}
		return l.Issued == int64(good+bad) && l.Successful == int64(good) && l.Errors == int64(bad)
	}
	defer func() { t.Logf("told %+v of %d good and %d bad", told(), good, bad) }()
	world.Eventually(t, world.Soon, "the sums are not what was sent", is)
	var byMinute client.Load
	for _, m := range w.load(&cluster) {
		byMinute.Issued, byMinute.Errors = byMinute.Issued+m.Issued, byMinute.Errors+m.Errors
		for _, l := range *m.Localities {
			if l.Locality == nil || *l.Locality.Region != "eu" || *l.Locality.Zone != "z1" {
				t.Errorf("a locality is %s", world.AsJSON(l))
			}
		}
		if time.Since(m.Minute) > 5*time.Minute || m.Minute.Second() != 0 {
			t.Errorf("a minute is %s", m.Minute)
		}
	}
	if byMinute.Issued != int64(good+bad) || byMinute.Errors != int64(bad) {
		t.Errorf("by minute there are %+v", byMinute)
	}
	code := client.FindingCode("requests_fail")
	found, err := w.REST.ListFindingsWithResponse(t.Context(), w.Tenant, w.Fleet, &client.ListFindingsParams{Code: &code})
	w.Made(found, err)
	if len(found.JSON200.Items) != 1 || found.JSON200.Items[0].Name != "a" {
		t.Errorf("found %s", world.AsJSON(found.JSON200.Items))
	}
	send("/", &good, 20, http.StatusOK)
	world.Eventually(t, world.Soon, "the sums are not what was sent", is)
	for _, s := range servers {
		world.Must(t, s.Stop())
	}
	if !is() {
		t.Errorf("after the servers' end there are %+v of %d good and %d bad", told(), good, bad)
	}
}

// TestSettingsOfLoadReportsReachRunningEnvoys: what a fleet asks for is followed without a new stream. Of a cluster that was reported before no request is lost, of one that is
// not asked for any more none is told, and endpoints are counted.
func TestSettingsOfLoadReportsReachRunningEnvoys(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s := w.XDS("--load-report-interval", "1s")
	addresses, backend := map[string]string{"a": world.FreePort(t), "b": world.FreePort(t)}, failsSometimes(t)
	var resources []world.Resource
	for name, address := range addresses {
		resources = append(resources, world.Listener("l"+name, address, "r"+name), world.Route("r"+name, name), world.Cluster(name, "1s"),
			world.NewResource("endpoints", name, fmt.Sprintf(`{cluster_name: %s, endpoints: [{locality: {region: eu}, lb_endpoints: [{endpoint: {address: %s}}]}]}`, name, world.Socket(backend))))
	}
	w.Apply(world.Together(resources...))
	e := w.reporting("n", s.Address)
	reports := func(n int) {
		t.Helper()
		begun := reportsOf(t, e)
		world.Eventually(t, world.Soon, "Envoy does not report", func() bool { return reportsOf(t, e) >= begun+n })
	}
	reports(2)
	sent := map[string]int64{}
	send := func(n int) {
		t.Helper()
		for name, address := range addresses {
			for range n {
				if code, _ := world.Get("http://" + address + "/"); code != http.StatusOK {
					t.Fatalf("%s is answered %d", name, code)
				}
				sent[name]++
			}
		}
	}
	sum := func(cluster string) (issued, endpoints int64) {
		for _, m := range w.load(&cluster) {
			issued += m.Issued
			if m.Endpoints == nil {
				continue
			}
			for _, e := range *m.Endpoints {
				if endpoints += e.Issued; e.Address != backend || *e.Locality.Region != "eu" {
					t.Errorf("an endpoint is %s, want %s", world.AsJSON(e), backend)
				}
			}
		}
		return issued, endpoints
	}
	send(50)
	reports(2)
	before := sent["b"]
	interval, clusters, endpoints := "2s", []string{"a", "later"}, true
	updated, err := w.REST.UpdateFleetWithResponse(t.Context(), w.Tenant, w.Fleet, nil, client.FleetUpdate{LoadReportInterval: &interval, LoadReportClusters: &clusters, LoadReportEndpoints: &endpoints})
	w.Made(updated, err)
	world.Eventually(t, world.Soon, "no endpoint is counted", func() bool { send(1); _, n := sum("a"); return n > 0 })
	ended := sent["b"]
	send(50)
	world.Eventually(t, world.Soon, "the sums are not what was sent", func() bool { n, _ := sum("a"); return n == sent["a"] })
	if _, n := sum("a"); n < 50 || n > sent["a"] {
		t.Errorf("of endpoints %d are told, sent were %d", n, sent["a"])
	}
	if n, of := sum("b"); n < before || n > ended || of != 0 {
		t.Errorf("of the other cluster %d are told, and %d of its endpoints; sent were %d when it was asked for, %d when it was not", n, of, before, ended)
	}
}

// TestLoadOfARequestThatLasts: while it does it is reported as in progress, though no new one comes. An old Envoy reports it once.
func TestLoadOfARequestThatLasts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s := w.XDS("--load-report-interval", "1s")
	address, backend, cluster := world.FreePort(t), failsSometimes(t), "a"
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"),
		world.NewResource("endpoints", "a", fmt.Sprintf(`{cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {address: %s}}]}]}`, world.Socket(backend)))))
	e := w.reporting("n", s.Address)
	reports := func(n int) {
		t.Helper()
		begun := reportsOf(t, e)
		world.Eventually(t, world.Soon, "Envoy does not report", func() bool { return reportsOf(t, e) >= begun+n })
	}
	reports(2)
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	running.Go(func() {
		if r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/wait", nil); err == nil {
			if resp, err := http.DefaultClient.Do(r); err == nil {
				_ = resp.Body.Close()
			}
		}
	})
	seconds := func() (sum float64) {
		for _, m := range w.load(&cluster) {
			sum += *m.InProgress * 60
		}
		return sum
	}
	world.Eventually(t, world.Soon, "the request is not told", func() bool { return seconds() > 0 })
	reports(4)
	if !envoyversion.Has(world.EnvoyVersion(), envoyversion.LastingLoad) {
		if got := seconds(); got > 2 {
			t.Errorf("an old Envoy tells it for %.1f s", got)
		}
		return
	}
	world.Eventually(t, world.Soon, "a request that lasts is not told", func() bool { return seconds() > 3.5 })
}

// TestAClusterThatNobodyCalls: of two clusters that a proxy reports for a week the one is told that it does not call, and neither while some client does not report.
func TestAClusterThatNobodyCalls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s := w.XDS("--load-report-interval", "1s")
	address, backend := world.FreePort(t), failsSometimes(t)
	resources := []world.Resource{world.Listener("l", address, "r"), world.Route("r", "a")}
	for _, name := range []string{"a", "b"} {
		resources = append(resources, world.Cluster(name, "1s"),
			world.NewResource("endpoints", name, fmt.Sprintf(`{cluster_name: %s, endpoints: [{lb_endpoints: [{endpoint: {address: %s}}]}]}`, name, world.Socket(backend))))
	}
	w.Apply(world.Together(resources...))
	e := w.reporting("n", s.Address)
	db := w.DB.Connect(t, w.DB.Owner)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	certain := 0 // of an old Envoy nothing is known for certain
	if envoyversion.Has(world.EnvoyVersion(), envoyversion.LastingLoad) {
		certain = 1
	}
	world.Eventually(t, world.Soon, "what is reported is not noted", func() (noted bool) {
		world.Must(t, db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM load_clusters) = 2 AND (SELECT count(*) FROM load_nodes) = $1`, certain).Scan(&noted))
		return noted
	})
	told := func() (names []string) {
		code := client.FindingCode("not_called")
		found, err := w.REST.ListFindingsWithResponse(t.Context(), w.Tenant, w.Fleet, &client.ListFindingsParams{Code: &code})
		w.Made(found, err)
		for _, f := range found.JSON200.Items {
			names = append(names, f.Name)
		}
		return names
	}
	if got := told(); len(got) > 0 {
		t.Errorf("on the first day %q are told", got)
	}
	for _, past := range []string{
		`UPDATE load_clusters SET reported_since = now() - interval '8 days'`, `UPDATE load_nodes SET reported_since = now() - interval '8 days'`, `UPDATE nodes SET first_seen = now() - interval '8 days'`,
	} {
		w.DB.Exec(t, past)
	}
	if certain == 0 {
		if got := told(); len(got) > 0 {
			t.Errorf("by an old Envoy %q are told", got)
		}
		return
	}
	if got := told(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a week later %q are told", got)
	}
	begun := reportsOf(t, e)
	world.Eventually(t, world.Soon, "Envoy does not report", func() bool { return reportsOf(t, e) >= begun+2 })
	if code, _ := world.Get("http://" + address + "/"); code != http.StatusOK {
		t.Fatalf("answered %d", code)
	}
	world.Eventually(t, world.Soon, "the call is not noted", func() bool { return slices.Equal(told(), []string{"b"}) })
	w.Envoy("silent", s.Address, true)
	world.Eventually(t, world.Soon, "a cluster is told that another client may call", func() bool { return len(told()) == 0 })
}

var anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ`)

// TestTheLoadPageRuns does what docs/load.md says, and compares what is printed but for the times.
func TestTheLoadPageRuns(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.DB.Exec(t, `INSERT INTO load_minutes (tenant_id, fleet_id, cluster, minute, kind, region, issued, succeeded, failed, in_progress, count, total)
		SELECT f.tenant_id, f.id, 'backend', date_trunc('minute', clock_timestamp()), 'requests', 'eu-1', 120, 118, 2, 60, 0, 0 FROM fleets f`)
	w.DB.Exec(t, `INSERT INTO load_minutes SELECT tenant_id, fleet_id, cluster, minute, 'endpoint', '10.0.0.7:8080', region, zone, sub_zone, issued, succeeded, failed, in_progress, count, total FROM load_minutes`)
	page := string(world.Read(t, filepath.Join("..", "..", "docs", "load.md")))
	dir, done := t.TempDir(), 0
	for _, block := range pageBlock.FindAllStringSubmatch(page, -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			c := exec.CommandContext(t.Context(), "sh", "-c", command)
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+filepath.Dir(world.Bin("fairlead"))+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+dir,
				"FAIRLEAD_URL="+w.API, "FAIRLEAD_TOKEN="+w.Token, "FAIRLEAD_TENANT="+w.Tenant, "FAIRLEAD_FLEET="+w.Fleet)
			var said strings.Builder
			c.Stderr = &said
			out, err := c.Output()
			got := anyTime.ReplaceAllString(strings.TrimSpace(string(out)), "TIME")
			if want = anyTime.ReplaceAllString(strings.TrimSpace(want), "TIME"); err != nil || got != want {
				t.Errorf("$ %s\n%s%s\nwant:\n%s\n%v", command, said.String(), got, want, err)
			}
			done++
		}
	}
	if done < 8 {
		t.Errorf("the page has %d commands", done)
	}
}
