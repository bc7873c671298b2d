package filesync

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// reader is the admin interface of an Envoy that reads the folder whenever it is asked, and refuses what has "poison" in it as an Envoy
// does: listeners and clusters by themselves, another file as a whole. What an Envoy really says is looked at in test/e2e.
type reader struct {
	t      testing.TB
	dir    string
	server *httptest.Server

	mu       sync.Mutex // guards what follows
	away     bool
	forbids  string // a path that is not answered
	begun    time.Time
	seen     map[string]string // version_info by file
	taken    map[string]string
	refused  map[string]int
	errors   map[string]string // of listeners
	clusters map[string]string // the version that brought each
	bodies   map[string]string
	whole    bool // a file of all is refused as a whole
}

func reads(t testing.TB, w *world) *reader {
	r := &reader{t: t, dir: w.dir}
	r.restart()
	r.begun = r.begun.Add(-time.Hour)
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	return r
}

func (r *reader) restart() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.seen, r.taken, r.refused, r.errors = time.Now(), map[string]string{}, map[string]string{}, map[string]int{}, map[string]string{}
	r.clusters, r.bodies = map[string]string{}, map[string]string{}
}

func (r *reader) set(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

var scopesOfFiles = map[string]string{
	"cds.json": "cluster_manager.cds", "lds.json": "listener_manager.lds", "eds/a.json": "cluster.a", "rds/r.json": "http.s.rds.r", "sds/ca.json": "sds.ca",
	"ecds/ext.json": "extension_config_discovery.http_filter.ext",
}

func (r *reader) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		panic(http.ErrAbortHandler)
	}
	if q.URL.Path == r.forbids {
		http.Error(w, "", http.StatusForbidden)
		return
	}
	for file, scope := range scopesOfFiles {
		r.read(file, scope)
	}
	switch q.URL.Path {
	case "/server_info":
		fmt.Fprintf(w, `{"version": "abc/1.40.0/Clean/RELEASE/BoringSSL", "state": "LIVE", "uptime_current_epoch": "%ds"}`, int(time.Since(r.begun).Seconds()))
	case "/stats":
		for _, scope := range scopesOfFiles {
			fmt.Fprintf(w, "%s.update_failure: 0\n%s.update_rejected: %d\n%s.version_text: %q\n", scope, scope, r.refused[scope], scope, r.taken[scope])
		}
	case "/config_dump":
		var configs []any
		switch q.URL.Query().Get("resource") {
		case "dynamic_listeners":
			for name, words := range r.errors {
				configs = append(configs, map[string]any{"name": name, "error_state": map[string]string{"details": words + "\n"}})
			}
		case "dynamic_active_clusters":
			for name, version := range r.clusters {
				configs = append(configs, map[string]any{"version_info": version, "cluster": map[string]string{"name": name}})
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"configs": configs})
	}
}

// read reads a file that has changed.
func (r *reader) read(file, scope string) {
	text, err := os.ReadFile(filepath.Join(r.dir, file))
	if err != nil {
		return
	}
	var f struct {
		Version   string `json:"version_info"`
		Resources []json.RawMessage
	}
	must(r.t, json.Unmarshal(text, &f))
	if r.seen[file] == f.Version {
		return
	}
	r.seen[file] = f.Version
	poison := strings.Contains(string(text), "poison")
	if file == "lds.json" {
		r.errors = map[string]string{}
	}
	if !poison {
		r.taken[scope] = f.Version
	} else {
		r.refused[scope]++
	}
	for _, body := range f.Resources {
		var x struct{ Name string }
		must(r.t, json.Unmarshal(body, &x))
		switch bad := strings.Contains(string(body), "poison"); {
		case poison && r.whole:
		case file == "lds.json" && bad:
			r.errors[x.Name] = "cannot bind: Address already in use"
		case file == "cds.json" && !bad && r.bodies[x.Name] != string(body):
			r.clusters[x.Name], r.bodies[x.Name] = f.Version, string(body)
		}
	}
}

func byEnvoy(r *reader) func(*Config) {
	return func(c *Config) { c.Once, c.Admin = false, r.server.URL }
}

func TestEnvoysRefusalIsTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		poison func(t testing.TB) []xdstest.Change
		whole  bool
		says   string
		file   string // which has what was there before, beside what is good
	}{
		"a listener": {func(t testing.TB) []xdstest.Change {
			return []xdstest.Change{listenerOf(t, "bad", "r", "poison"), listenerOf(t, "good", "r", "s")}
		}, false, "Error adding/updating listener(s) bad: cannot bind: Address already in use", "lds.json"},
		"a changed listener": {func(t testing.TB) []xdstest.Change { return []xdstest.Change{listenerOf(t, "l", "r", "poison")} },
			false, "Error adding/updating listener(s) l: cannot bind: Address already in use", "lds.json"},
		"a cluster": {func(t testing.TB) []xdstest.Change {
			c := clusterOf(t, "poison", "1s")
			return []xdstest.Change{c, endpointsOf(t, "poison", "10.0.0.2")}
		}, false, "Error adding/updating cluster(s) poison: Envoy refuses it; its log says why", "cds.json"},
		"clusters as a whole": {func(t testing.TB) []xdstest.Change {
			return []xdstest.Change{clusterOf(t, "poison", "1s"), endpointsOf(t, "poison", "10.0.0.2")}
		}, true, "Error adding/updating cluster(s) poison: Envoy refuses it; its log says why", "cds.json"},
		"listeners as a whole": {func(t testing.TB) []xdstest.Change { return []xdstest.Change{listenerOf(t, "l", "r", "poison")} },
			true, "Envoy refuses lds.json as a whole; its log says why", "lds.json"},
		"a route":   {func(t testing.TB) []xdstest.Change { return []xdstest.Change{routeOf(t, "r", "poison")} }, false, `error parsing "envoy.config.route.v3.RouteConfiguration" response: resource "r": Envoy refuses rds/r.json; its log says why`, "rds/r.json"},
		"endpoints": {func(t testing.TB) []xdstest.Change { return []xdstest.Change{endpointsOf(t, "a", "poison")} }, false, `error parsing "envoy.config.endpoint.v3.ClusterLoadAssignment" response: resource "a": Envoy refuses eds/a.json; its log says why`, "eds/a.json"},
		"a secret":  {func(t testing.TB) []xdstest.Change { return []xdstest.Change{secretOf(t, "ca", "poison")} }, false, `error parsing "envoy.extensions.transport_sockets.tls.v3.Secret" response: resource "ca": Envoy refuses sds/ca.json; its log says why`, "sds/ca.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.Publish(all(t)...)
			must(t, w.sync().Run(t.Context())) // an Envoy starts from what is there
			before := w.files()[c.file]
			r := reads(t, w)
			r.whole = c.whole
			w.start(w.sync(byEnvoy(r)))
			eventually(t, "what Envoy has is not settled", func() bool { return w.Settled() == 1 })
			rev := w.Publish(c.poison(t)...)
			eventually(t, "not refused", func() bool { return len(w.Refusals()) > 0 && w.Settled() == rev })
			if got := w.Refusals()[0]; got.Detail != c.says || len(got.Blame) != 1 {
				t.Errorf("the server was told %q, and blames %d", got.Detail, len(got.Blame))
			}
			w.whole("after the refusal")
			w.mu.Lock()
			if len(w.behind) > 0 {
				t.Errorf("the server was told, and %v still had it", w.behind)
			}
			w.mu.Unlock()
			text := w.files()[c.file]
			if strings.Contains(text, "poison") || name != "a listener" && text != before {
				t.Errorf("the file is\n%s\nbefore:\n%s", text, before)
			}
			if name == "a listener" && !strings.Contains(text, `"good"`) {
				t.Errorf("what came beside it is not there: %s", text)
			}
			rev = w.Publish(listenerOf(t, "later", "r", "s"), clusterOf(t, "a", "7s"))
			eventually(t, "what comes later is not settled", func() bool { return w.Settled() == rev })
			if n := len(w.Refusals()); n != 1 {
				t.Errorf("%d refusals", n)
			}
		})
	}
}

// TestAWholeFileIsRefusedBesideAnotherFault: what Envoy refuses leaves the folder also where the same response had something that cannot be a file.
func TestAWholeFileIsRefusedBesideAnotherFault(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	must(t, w.sync().Run(t.Context()))
	r := reads(t, w)
	r.whole = true
	w.start(w.sync(byEnvoy(r)))
	eventually(t, "what Envoy has is not settled", func() bool { return w.Settled() == 1 })
	rev := w.Publish(scopedListener(t), listenerOf(t, "bad", "r", "poison"))
	eventually(t, "the two are not refused", func() bool { return len(w.Refusals()) > 1 && w.Settled() == rev })
	if text := w.files()["lds.json"]; strings.Contains(text, "poison") || !strings.Contains(text, `"name": "l"`) {
		t.Errorf("the file is\n%s", text)
	}
	blamed := map[string]bool{}
	for _, refusal := range w.Refusals() {
		for _, b := range refusal.Blame {
			blamed[b.Refused.Name] = true
		}
	}
	if !blamed["scoped"] || !blamed["bad"] || blamed["l"] {
		t.Errorf("blamed are %v", blamed)
	}
}

// TestAnAdminInterfaceThatHidesItsStatistics: without them nothing is known of the files. That is told, and asked again with growing pauses.
func TestAnAdminInterfaceThatHidesItsStatistics(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/server_info", "/stats", "/config_dump"} {
		w := setup(t)
		w.Publish(all(t)...)
		must(t, w.sync().Run(t.Context()))
		r := reads(t, w)
		r.forbids = path
		said, told := make(chan string, 100), 0
		stop := w.start(w.sync(byEnvoy(r), func(c *Config) { c.Log = func(words string) { said <- words } }))
		rev := fleet.Revision(1)
		if path == "/config_dump" {
			rev = w.Publish(listenerOf(t, "l", "r", "poison"))
		}
		for told == 0 {
			select {
			case words := <-said:
				if strings.Contains(words, "does not tell") && strings.Contains(words, path) && strings.Contains(words, "403") {
					told++
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s: nothing is told", path)
			}
		}
		if w.streams(AgentWrites+" 1.0") != 1 { // that of the first run
			t.Errorf("%s: an ACK is that the files are written, and Envoy is there", path)
		}
		before := w.streams(AgentEnvoy + " 1.40.0")
		r.set(func() { r.forbids = "" })
		eventually(t, "what Envoy makes of it is not settled", func() bool { return w.Settled() == rev })
		stop()
		if before > 2 {
			t.Errorf("%s: %d streams before it was told", path, before)
		}
	}
}

// TestAnEnvoyThatStopsAnsweringAcksNothing: a process that is stopped takes connections and answers none. It is no Envoy that has gone, for which
// files are written: what it runs is not known, so nothing more is confirmed until it answers.
func TestAnEnvoyThatStopsAnsweringAcksNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	r := reads(t, w)
	said := make(chan string, 100)
	s := w.sync(byEnvoy(r), func(c *Config) { c.Log = func(words string) { said <- words } })
	s.admin.client.Timeout = 100 * time.Millisecond
	stop := w.start(s)
	eventually(t, "what Envoy has is not settled", func() bool { return w.Settled() == 1 })
	r.mu.Lock() // no request is answered
	w.Publish(endpointsOf(t, "a", "10.0.0.7"))
	words := ""
	for late := time.After(time.Minute); words == "" && late != nil; {
		select {
		case got := <-said:
			if strings.Contains(got, "no Envoy serves") || strings.Contains(got, "does not tell") && strings.Contains(got, "/server_info") {
				words = got
			}
		case <-late:
			late = nil
		}
	}
	r.mu.Unlock()
	if !strings.Contains(words, "does not tell") {
		t.Errorf("it is told that %q", words)
	}
	if n := w.streams(AgentWrites + " 1.0"); n != 0 {
		t.Errorf("%d streams say that files are written", n)
	}
	eventually(t, "the change is not settled when it answers", func() bool { return w.Settled() == 2 })
	stop()
}

// TestAnAnswerIsEnvoys: nothing is confirmed before Envoy has read it, and who answers is told by the agent. While no Envoy serves the files are
// written, and confirmed by nobody: also after one was killed.
func TestAnAnswerIsEnvoys(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	r := reads(t, w)
	r.set(func() { r.away = true })
	var said []string // of the program's own goroutine, until it has ended
	whole := make(chan struct{}, 10)
	s := w.sync(byEnvoy(r), func(c *Config) {
		c.Log = func(words string) {
			if said = append(said, words); strings.HasPrefix(words, "all is written") {
				whole <- struct{}{}
			}
		}
	})
	if got := s.node(nil); got.GetUserAgentName() != fleet.AgentNoEnvoy || got.GetUserAgentVersion() != "1.0" {
		t.Errorf("without Envoy it is %v", got)
	}
	stop := w.start(s)
	<-whole // and the server has its ACKs
	if got := w.Settled(); got != 0 || !strings.Contains(w.files()["lds.json"], `"name": "l"`) {
		t.Errorf("without Envoy revision %d is settled, and written are %s", got, w.names())
	}
	r.set(func() { r.away = false })
	eventually(t, "Envoy is not noticed", func() bool { return w.streams(AgentEnvoy+" 1.40.0") == 1 })
	eventually(t, "what Envoy has is not settled", func() bool { return w.Settled() == 1 })
	r.restart()
	eventually(t, "a new Envoy is not noticed", func() bool { return w.streams(AgentEnvoy+" 1.40.0") == 2 })
	eventually(t, "what a new Envoy has is not settled", func() bool { return w.Settled() == 1 })
	rev := w.Publish(endpointsOf(t, "a", "10.0.0.7"))
	eventually(t, "a change is not settled", func() bool { return w.Settled() == rev })
	r.set(func() {
		if r.taken["cluster.a"] != r.seen["eds/a.json"] || r.taken["cluster.a"] == "" {
			t.Error("it is settled, and Envoy has not read it")
		}
		r.away = true
	})
	for len(whole) > 0 {
		<-whole
	}
	eventually(t, "that Envoy has gone is not noticed", func() bool { return w.streams(fleet.AgentNoEnvoy+" 1.0") == 2 })
	<-whole
	if got := w.Settled(); got != 0 {
		t.Errorf("Envoy has gone, and revision %d is settled", got)
	}
	w.Publish(listenerOf(t, "later", "r", "s"))
	eventually(t, "the change is not written", func() bool { return strings.Contains(w.files()["lds.json"], `"name": "later"`) })
	stop()
	if got := w.confirmed(); got > rev {
		t.Errorf("without Envoy revision %d is confirmed", got)
	}
	again := w.start(w.sync(byEnvoy(r)))
	eventually(t, "it does not begin again", func() bool { return w.streams(fleet.AgentNoEnvoy+" 1.0") == 3 })
	again()
	if w.streams(fleet.AgentNoEnvoy+" resumed") > 0 {
		t.Error("without Envoy a stream says that the node holds what is in the files")
	}
	if n := w.streams(AgentWrites + " 1.0"); n != 0 {
		t.Errorf("%d streams confirm what is written", n)
	}
	taken, written := "Envoy 1.40.0 serves at "+r.server.URL+": an ACK means that it has taken the files", "no Envoy serves at "+r.server.URL+" (EOF): files are written, and nothing is confirmed until one serves"
	var told []string
	for _, words := range said {
		if strings.Contains(words, "serves at") {
			told = append(told, words)
		}
	}
	if want := []string{written, taken, taken, written}; !slices.Equal(told, want) {
		t.Errorf("what an ACK means is told as %q, want %q", told, want)
	}
}

func TestAdminAddresses(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "admin.sock")
	lis, err := net.Listen("unix", socket)
	must(t, err)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"version": "abc/1.36.4/Clean", "state": "LIVE", "uptime_current_epoch": "3s"}`)
	}))
	tcp := s.Listener.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { _ = http.Serve(lis, s.Config.Handler) })
	s.Start()
	t.Cleanup(func() { s.Close(); _ = lis.Close(); serving.Wait() })
	for _, where := range []string{socket, tcp, "http://" + tcp, "http://" + tcp + "/"} {
		a, err := newAdmin(where)
		must(t, err)
		if p, err := a.live(t.Context()); err != nil || p.version != "1.36.4" || p.up != 3*time.Second {
			t.Errorf("%s is %v", where, p)
		}
	}
	for _, where := range []string{"admin.sock", "9901", ":9901", "https://a"} {
		if _, err := New(Config{Directory: "x", Servers: []string{"a:1"}, Node: &core.Node{Id: "n"}, Admin: where}); err == nil || !strings.Contains(err.Error(), fleet.ErrInvalid.Error()) {
			t.Errorf("%s is an address", where)
		}
	}
}
