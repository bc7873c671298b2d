package load

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"fairlead/bench/internal/admin"
	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/floor"
	"fairlead/bench/internal/incumbent"
	"fairlead/bench/internal/xds"
)

// maker makes a server that serves nothing yet.
type maker func() (*grpc.Server, admin.Backend)

func newFloor() (*grpc.Server, admin.Backend) {
	s := floor.New()
	return grpc.NewServer(grpc.ForceServerCodecV2(floor.Codec{}), grpc.UnknownServiceHandler(s.Serve)), s
}

func newIncumbent(nodes int, partial bool) maker {
	return func() (*grpc.Server, admin.Backend) {
		g := grpc.NewServer()
		return g, incumbent.New(nodes, partial, g)
	}
}

// world is a server, what it serves, and the next one.
type world struct {
	t    *testing.T
	make maker
	url  string // of control

	mu       sync.Mutex // guards what follows
	fleet    *fleet.Fleet
	backends []admin.Backend
	last     *grpc.Server
	accepted int // connections
}

// counting counts what a world's listener accepts.
type counting struct {
	net.Listener
	world *world
}

// Accept is net.Listener's.
func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.world.mu.Lock()
		l.world.accepted++
		l.world.mu.Unlock()
	}
	return c, err
}

func setup(t *testing.T, m maker, clusters int) (*world, Config) {
	t.Helper()
	w := &world{t: t, make: m, fleet: fleet.New(clusters)}
	control := httptest.NewServer(http.HandlerFunc(w.control))
	t.Cleanup(control.Close)
	w.url = control.URL
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return w, Config{
		Server: w.another(), Control: control.URL, Clients: testClients, Clusters: clusters, Changes: testChanges, Timeout: 30 * time.Second,
	}
}

// another serves the newest content; content is shared, so that both are told of changes.
func (w *world) another() Server {
	g, b := w.make()
	if err := b.Set(w.fleet); err != nil {
		w.t.Error(err)
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Error(err)
		return Server{}
	}
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(counting{lis, w}) }()
	w.t.Cleanup(func() {
		g.Stop()
		if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			w.t.Error(err)
		}
	})
	w.backends, w.last = append(w.backends, b), g
	return Server{Target: lis.Addr().String()}
}

func (w *world) control(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.URL.Path == "/killed" {
		w.last.Stop()
	}
	if r.URL.Path == "/another" || r.URL.Path == "/killed" {
		_ = json.NewEncoder(rw).Encode(w.another())
		return
	}
	now := time.Now()
	i := w.fleet.Change(now)
	for _, b := range w.backends {
		if err := b.Change(w.fleet, i); err != nil {
			w.t.Error(err)
		}
	}
	_ = json.NewEncoder(rw).Encode(Made{Epoch: w.fleet.Epoch, Nanos: now.UnixNano()})
}

const (
	testClients = 7
	testChanges = 3
)

// TestServers: every server serves all clients through all phases, and the clients receive
// what there is to receive, once.
func TestServers(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]maker{
		"floor": newFloor, "incumbent": newIncumbent(0, false), "incumbent-nodes": newIncumbent(testClients, false),
	} {
		for _, p := range []xds.Protocol{xds.SotW, xds.Delta} {
			t.Run(name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				_, cfg := setup(t, m, 30)
				cfg.Protocol = p
				check(t, cfg, 2*30+2)
			})
		}
	}
}

// TestClientsOfTheirOwn: clients that choose their clusters get these and no others, from a
// server that knows what a subscription is.
func TestClientsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, p := range []xds.Protocol{xds.SotW, xds.Delta} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			_, cfg := setup(t, newIncumbent(0, true), 80)
			cfg.Protocol, cfg.Own = p, true
			r := check(t, cfg, 2*(80-leftOut)+2)
			chosen := map[*nameSet]bool{}
			for _, c := range r.clients {
				chosen[c.types[xds.Clusters].sub] = true
			}
			if len(chosen) != testClients {
				t.Errorf("%d clients have %d subscriptions", testClients, len(chosen))
			}
		})
	}
}

// TestSharedConnections: streams that share connections get what those get which have one each, in every phase.
func TestSharedConnections(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]maker{"floor": newFloor, "incumbent": newIncumbent(0, false)} {
		for _, p := range []xds.Protocol{xds.SotW, xds.Delta} {
			t.Run(name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				const connections, storms = 3, 6
				w, cfg := setup(t, m, 30)
				cfg.Protocol, cfg.Connections = p, connections
				check(t, cfg, 2*30+2)
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.accepted != connections*storms {
					t.Errorf("%d connections were made, want %d each time", w.accepted, connections)
				}
			})
		}
	}
}

// TestLargeMessages: messages both ways are larger than the flow control windows.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	for _, p := range []xds.Protocol{xds.SotW, xds.Delta} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			const clusters = 3000
			_, cfg := setup(t, newFloor, clusters)
			cfg.Protocol, cfg.StreamWindow, cfg.ConnWindow, cfg.NodeBytes = p, 65535, 65535, 61_000
			check(t, cfg, 2*clusters+2)
		})
	}
}

// check runs cfg, where a client's full configuration has so many resources.
func check(t *testing.T, cfg Config, each int) *Runner {
	t.Helper()
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Storm.Resources, int64(testClients*each); got != want {
		t.Errorf("first connect: %d resources, want %d", got, want)
	}
	if got := res.Full.Count; got != testClients {
		t.Errorf("first connect: %d clients are complete", got)
	}
	for _, c := range res.Changes {
		if c.Latency.Count != testClients || c.Latency.Max <= 0 {
			t.Errorf("change: %+v", c.Latency)
		}
	}
	if len(res.Changes) != testChanges {
		t.Errorf("%d changes, want %d", len(res.Changes), testChanges)
	}
	if got, want := r.resources.Load(), int64(testClients*(each+testChanges+1+1+each+2)); cfg.Protocol == xds.Delta && got != want {
		t.Errorf("%d resources in all, want %d: those that a client has are not sent again", got, want)
	}
	return r
}

// TestTheFirstErrorEndsARun: a server that refuses a client is told of in the words that it
// used.
func TestTheFirstErrorEndsARun(t *testing.T) {
	t.Parallel()
	_, cfg := setup(t, func() (*grpc.Server, admin.Backend) { return grpc.NewServer(), floor.New() }, 30)
	cfg.Protocol = xds.Delta
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "first connect: node-") || !strings.Contains(err.Error(), "unknown service") {
		t.Errorf("got %v", err)
	}
}

// pollServer answers the polls of one client, one after the other.
func pollServer(t *testing.T, answers ...http.HandlerFunc) Config {
	t.Helper()
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[n](w, r)
		n++
	}))
	t.Cleanup(s.Close)
	return Config{Server: Server{Target: s.Listener.Addr().String()}, Protocol: xds.REST, Only: true, Clients: 1, Clusters: 1, Timeout: 10 * time.Second}
}

// TestAnswersThatEndARun: what a poll cannot use is told in words.
func TestAnswersThatEndARun(t *testing.T) {
	t.Parallel()
	say := func(code int, words string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = w.Write([]byte(words)) }
	}
	current := say(http.StatusNotModified, "")
	for words, answers := range map[string][]http.HandlerFunc{
		"429 Too Many Requests: the limit is reached": {current, say(http.StatusTooManyRequests, "the limit is reached\n")},
		"no JSON":    {say(http.StatusOK, "hello")},
		`version ""`: {say(http.StatusOK, "{}")},
	} {
		r, err := New(pollServer(t, answers...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "first connect: node-0: ") || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %s", err, words)
		}
	}
}

func TestConfigsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	good := Config{Protocol: xds.Delta, Clients: 1, Clusters: 100, Changes: 3, Timeout: time.Second}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, breakIt := range map[string]func(*Config){
		"no protocol":            func(c *Config) { c.Protocol = "soap" },
		"polls for everything":   func(c *Config) { c.Protocol = xds.REST },
		"both":                   func(c *Config) { c.Own, c.Only = true, true },
		"no clients":             func(c *Config) { c.Clients = 0 },
		"no limit":               func(c *Config) { c.Timeout = 0 },
		"little to choose among": func(c *Config) { c.Own, c.Clusters = true, 63 },
		"changes for some":       func(c *Config) { c.Own, c.Changes = true, 32 },
		"idle connections":       func(c *Config) { c.Connections = 2 },
		"polls that share":       func(c *Config) { c.Protocol, c.Only, c.Connections = xds.REST, true, 1 },
	} {
		c := good
		breakIt(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
