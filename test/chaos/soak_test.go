package chaos

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	client "fairlead/clients/go"
	"fairlead/internal/localpg"
	"fairlead/internal/seal"
	"fairlead/internal/store/storetest"
	"fairlead/test/world"
)

// hang is after how long a wait has failed. Nothing is judged by it: all that is waited for takes seconds.
const hang = 5 * time.Minute

// size is what a run has.
type size struct {
	lasts   time.Duration
	proxies int           // of each tenant
	pause   time.Duration // between two writes of a writer
	names   int           // of each writer
	seeds   []uint64
	envoys  int           // of each tenant
	stay    time.Duration // of a stream of an Envoy at a server
	roams   bool          // clients that poll go to other servers too; one that they leave after a single poll waits for them for 90 s, and so do receipts
}

// chosen is the size that FAIRLEAD_SOAK asks for, as the time that each seed lasts, or else the one that every run of the tests can bear.
func chosen(t *testing.T) size {
	t.Helper()
	said := os.Getenv("FAIRLEAD_SOAK")
	if said == "" {
		return size{lasts: 5 * time.Second, proxies: 12, pause: 100 * time.Millisecond, names: 4, seeds: []uint64{1, 2}, envoys: 1, stay: 3 * time.Second}
	}
	d, err := time.ParseDuration(said)
	world.Must(t, err)
	return size{lasts: d, proxies: 500, pause: 3 * time.Second, names: 8, seeds: []uint64{1, 2}, roams: true, envoys: 2, stay: 20 * time.Second}
}

// TestSoakChaos: what is acknowledged stays, and no client is given what is over, or another tenant's, or is said to have done what it did not,
// whatever fails meanwhile. In the end all have what there is.
func TestSoakChaos(t *testing.T) {
	s := chosen(t)
	if said := os.Getenv("FAIRLEAD_CHAOS"); said != "" {
		seed, err := strconv.ParseUint(said, 10, 64)
		world.Must(t, err)
		s.seeds = []uint64{seed}
	}
	for _, seed := range s.seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { chaos(t, seed, s) })
	}
}

func chaos(t *testing.T, seed uint64, s size) {
	in := newInstallation(t, s.roams, seed%2 == 0)
	h := newHistory(func(n node, c content) bool { return refusable(c) && in.refusers[n] })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("FAIRLEAD_CHAOS=%d plays these faults again; what happened:\n%s", seed, strings.Join(h.said, "\n"))
		}
	})
	draw := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) } //nolint:gosec // it has to be the same again

	living, leave := context.WithCancel(t.Context())
	roaming, rest := context.WithCancel(t.Context())
	defer rest()
	var proxies, others sync.WaitGroup
	defer func() { leave(); proxies.Wait() }()
	writers := in.writers(h, s, draw)
	protocols := []string{"delta", "SotW", "REST"}
	for i, tenant := range in.tenants {
		for k := range s.proxies {
			n := node{tenant.slug, fmt.Sprint("n", k)}
			p := &proxy{node: n, protocol: protocols[k%3], token: tenant.nodes, addresses: in.streams(), roaming: roaming, refuses: k%3 != 2 && k%4 == 1, rng: draw(uint64(100 + 1000*i + k)), h: h} //nolint:gosec // small
			if p.protocol == "REST" && !s.roams {
				p.addresses = p.addresses[k/3%3:][:1]
			}
			in.refusers[n] = p.refuses
			h.join(n)
			proxies.Go(func() { p.run(living) })
		}
	}
	in.addEnvoys(roaming, t, h, s.envoys, s.stay, draw)
	for _, e := range in.envoys {
		proxies.Go(func() { e.run(living) })
	}
	in.awaitEnvoys(t)
	writing, stop := context.WithCancel(t.Context())
	defer func() { stop(); others.Wait() }()
	for _, w := range writers {
		others.Go(func() { w.run(writing) })
	}
	for i, tenant := range in.tenants {
		others.Go(func() { tenant.move(writing, t, s.pause) })
		others.Go(func() { tenant.watch(writing, h, draw(uint64(50+i)), s.pause) }) //nolint:gosec // small
	}
	play(t.Context(), plan(seed, s.lasts, in.breakables()), h.say)
	stop()
	others.Wait()
	rest() // who were started again later would have nothing for a moment

	for _, api := range in.apis {
		world.Eventually(t, hang, "an API server is not ready", func() bool { // for a minute after the disk was full it says so
			code, body := world.Get("http://" + api.address + "/readyz")
			return code == http.StatusOK || strings.Contains(body, "no room on its disk")
		})
	}
	settling, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	for _, w := range writers {
		w.settle(settling)
	}
	for _, tenant := range in.tenants {
		tenant.next(settling, t)
	}
	in.await(t, h, writers)
	leave()
	proxies.Wait()
	for _, tenant := range in.tenants {
		tenant.tell(t, h, writers) // nobody writes any more
	}
	for _, w := range h.check() {
		t.Error(w)
	}
	t.Log(h.summary())
}

// await waits until each client has what it is to have, and each receipt says so.
func (in *installation) await(t *testing.T, h *history, writers []*writer) {
	t.Helper()
	for _, tenant := range in.tenants {
		tenant.tell(t, h, writers)
	}
	deadline := time.Now().Add(hang)
	wait := func(what func() []string) {
		for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
			wrong := what()
			if len(wrong) == 0 {
				tick.Stop()
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("after %s still:\n%s", hang, strings.Join(wrong, "\n"))
			}
		}
	}
	freed := map[string]bool{}
	wait(func() []string {
		h.mu.Lock()
		wrong, whose := h.unsettled()
		h.mu.Unlock()
		for _, tenant := range in.tenants {
			if len(wrong) > 0 && !freed[tenant.slug] && tenant.heldUp(t, whose) {
				freed[tenant.slug] = true
				tenant.free(t, h, writers)
			}
		}
		return wrong
	})
	for _, tenant := range in.tenants {
		tenant.awaitReceipts(t, h, in, deadline)
	}
	for _, e := range in.envoys {
		wait(func() []string { return e.differs(t) })
	}
	in.awaitEnvoys(t) // what was killed near the end
}

// awaitEnvoys waits until all of them were seen to serve.
func (in *installation) awaitEnvoys(t *testing.T) {
	t.Helper()
	world.Eventually(t, hang, "an Envoy does not serve", func() bool {
		return !slices.ContainsFunc(in.envoys, func(e *envoy) bool { return !e.serving() })
	})
}

// writers are two of each tenant.
func (in *installation) writers(h *history, s size, draw func(uint64) *rand.Rand) (all []*writer) {
	for i, tenant := range in.tenants {
		for k := range 2 {
			w := &writer{tenant: tenant.slug, fleet: fleetName, apis: tenant.apis, rng: draw(uint64(10 + 10*i + k)), h: h, pause: s.pause, backends: tenant.backends} //nolint:gosec // small
			for j := range s.names {
				w.names = append(w.names, fmt.Sprintf("c%d-%d", k, j))
			}
			if k == 0 {
				w.names[0] = refusedName
			}
			tenant.names = append(tenant.names, w.names...)
			all = append(all, w)
		}
	}
	return all
}

const fleetName = "edge"

// installation is the programs, each behind a wire to what it needs, and each at an address that stays.
type installation struct {
	*world.World
	pg       *localpg.Server
	disk     *disk           // of the database; nil if it is everybody's
	clock    *clock          // of the database; nil if it is everybody's
	standby  *localpg.Server // nil: there is none
	xds      []*server
	apis     []*server
	tenants  []*tenant
	envoys   []*envoy
	refusers map[node]bool
}

// server is a program that is killed and started again, its wires to the database, and the one on which its clients come.
type server struct {
	*world.Program
	name, address string
	args          []string
	database      []*wire
	standby       []*wire // xDS
	clients       *wire   // xDS
}

type tenant struct {
	slug, nodes string
	apis        []*client.ClientWithResponses
	backends    [2]string // by the numbers of what leads to them
	names       []string  // of clusters that are written
	swaps       int64     // of the route's cluster, that were acknowledged
	key         string    // of the next one, if it was sent and not answered
}

// newInstallation starts it. Where it is to be full, the database has to have a disk of its own. With a standby xDS servers read from that.
func newInstallation(t *testing.T, full, standby bool) *installation {
	t.Helper()
	d := newDisk(t, 1024)
	if d == nil {
		if full {
			t.Fatal(noDisk)
		}
		t.Log("the disk is never full: " + noDisk)
	}
	settings := maps.Clone(smallWAL)
	if standby {
		maps.Copy(settings, storetest.Sends)
	}
	c := newClock(t)
	if c == nil {
		if full {
			t.Fatal(noClock)
		}
		t.Log("the clock of Postgres makes no steps: " + noClock)
	}
	w, pg := world.NewAloneAs(t, localpg.Config{DataDir: d.folder(), Settings: settings, Env: c.env()})
	in := &installation{World: w, pg: pg, disk: d, clock: c, refusers: map[node]bool{}}
	if standby {
		in.standby = storetest.Follow(t, pg, standbyWAL, nil)
	}
	pooler := w.DB.NewPooler(t, storetest.PoolerConfig{Mode: "transaction", Size: 20, LoginRetry: 1})
	pooler.Keep(t)
	for i := range 2 {
		s := &server{name: "api", address: world.FreePort(t)}
		s.args = append(s.args, "serve", "--listen", s.address, "--health-listen", world.AnyPort, "--database-url", s.reach(t, &s.database, pooler.URL(t, w.DB.App)),
			"--seal-public-key", w.Path("keys", "api", seal.PublicFile), "--version-key", w.Path("keys", "api", seal.VersionFile))
		in.apis = append(in.apis, s)
		in.begin(in.apis[i])
	}
	for range 3 {
		s := &server{name: "xds", address: world.FreePort(t)}
		s.clients = newWire(t, "tcp", s.address)
		s.args = append(s.args, "--listen", s.address, "--health-listen", world.AnyPort, "--database-url", s.reach(t, &s.database, pooler.URL(t, w.DB.Node)),
			"--listen-database-url", s.reach(t, &s.database, w.DB.Node), "--seal-private-key", w.Path("keys", "xds", seal.PrivateFile), "--drain", "100ms")
		if standby {
			s.args = append(s.args, "--read-database-url", s.reach(t, &s.standby, in.standby.URL(w.DB.Name, "fairlead_node")))
		}
		in.xds = append(in.xds, s)
		in.begin(s)
	}
	world.Must(t, w.Server.Stop()) // it was there to make the first tenant
	for _, api := range in.apis {
		world.AwaitOK(t, "http://"+api.address+"/readyz")
	}
	w.API = "http://" + in.apis[0].address
	in.tenants = append(in.tenants, in.tenant(w.Tenant, w.Token, w.NodeToken))
	op := w.As(w.Operator)
	made, err := op.CreateTenantWithResponse(t.Context(), client.TenantCreate{Slug: "umbrella"})
	w.Made(made, err)
	token, err := op.CreateTokenWithResponse(t.Context(), "umbrella", client.TokenCreate{Name: "test", Role: client.Admin})
	w.Made(token, err)
	w.Tenant, w.REST = "umbrella", w.As(token.JSON201.Token)
	f, err := w.REST.CreateFleetWithResponse(t.Context(), w.Tenant, client.FleetCreate{Name: fleetName})
	w.Made(f, err)
	nodes, _ := w.Credential()
	in.tenants = append(in.tenants, in.tenant(w.Tenant, token.JSON201.Token, nodes))
	return in
}

func (in *installation) tenant(slug, token, nodes string) *tenant {
	a := &tenant{slug: slug, nodes: nodes}
	for i := range a.backends {
		a.backends[i] = backend(in.T, backendOf(content{Tenant: slug, Number: int64(i)}))
	}
	for _, api := range in.apis {
		c, err := client.NewClientWithResponses("http://"+api.address, client.WithToken(token))
		world.Must(in.T, err)
		a.apis = append(a.apis, c)
	}
	return a
}

// reach is a database's URL through a wire of the server's own, one more of some.
func (s *server) reach(t testing.TB, wires *[]*wire, direct string) string {
	t.Helper()
	u, err := url.Parse(direct)
	world.Must(t, err)
	q := u.Query()
	w := newWire(t, "unix", q.Get("host")+"/.s.PGSQL."+q.Get("port"))
	*wires = append(*wires, w)
	u.Host, u.RawQuery = w.address, "sslmode=disable"
	return u.String()
}

// begin starts a server, and waits for nothing: what it needs may be away.
func (in *installation) begin(s *server) { s.Program = in.Start(s.name, s.args...) }

// streams are the addresses at which clients come.
func (in *installation) streams() (addresses []string) {
	for _, w := range in.wires() {
		addresses = append(addresses, w.address)
	}
	return addresses
}

// wires are those on which the clients come.
func (in *installation) wires() (wires []*wire) {
	for _, s := range in.xds {
		wires = append(wires, s.clients)
	}
	return wires
}

func (in *installation) breakables() (all []breakable) {
	signal := func(s *server, sig syscall.Signal) { world.Must(in.T, s.Signal(sig)) }
	for _, group := range []struct {
		of      string
		servers []*server
	}{{"xds", in.xds}, {"api", in.apis}} {
		all = append(all,
			breakable{"kill", group.of, len(group.servers), func(i int, _ time.Duration) func() {
				group.servers[i].Kill()
				return func() { in.begin(group.servers[i]) }
			}},
			breakable{"stop", group.of, len(group.servers), func(i int, _ time.Duration) func() {
				signal(group.servers[i], syscall.SIGSTOP)
				return func() { signal(group.servers[i], syscall.SIGCONT) }
			}})
		all = append(all, cuts(group.of+" to database", len(group.servers), func(i int) []*wire { return group.servers[i].database })...)
	}
	if len(in.envoys) > 0 {
		all = append(all, breakable{"kill", "envoy", len(in.envoys), func(i int, _ time.Duration) func() {
			in.envoys[i].kill()
			return in.envoys[i].begin
		}})
	}
	all = append(all, in.ofStandby()...)
	all = append(all, cuts("clients to xds", len(in.xds), func(i int) []*wire { return []*wire{in.xds[i].clients} })...)
	if in.disk != nil {
		all = append(all, breakable{"fill", "database", 1, in.fillDisk})
	}
	if in.clock != nil {
		all = append(all, breakable{"step", "clock of database", 1, in.stepClock})
	}
	return append(all, breakable{"kill", "database", 1, func(int, time.Duration) func() {
		in.pg.Kill()
		return func() { world.Must(in.T, in.pg.Restart(in.T.Context())) }
	}})
}

// ofStandby are the faults of a standby, if there is one.
func (in *installation) ofStandby() []breakable {
	if in.standby == nil {
		return nil
	}
	return append(cuts("xds to standby", len(in.xds), func(i int) []*wire { return in.xds[i].standby }),
		breakable{"kill", "standby", 1, func(int, time.Duration) func() {
			in.standby.Kill()
			return func() { world.Must(in.T, in.standby.Restart(in.T.Context())) }
		}},
		breakable{"hold back", "standby", 1, func(int, time.Duration) func() {
			in.onStandby(`SELECT pg_wal_replay_pause()`)
			return func() { in.onStandby(`SELECT pg_wal_replay_resume()`) }
		}})
}

// onStandby runs a statement on the standby, which cancels it for what it replays.
func (in *installation) onStandby(sql string) {
	world.Eventually(in.T, hang, "the standby answers nothing", func() bool {
		conn, err := pgx.Connect(in.T.Context(), in.standby.URL(in.DB.Name, localpg.Superuser))
		if err != nil {
			return false
		}
		defer conn.Close(in.T.Context()) //nolint:errcheck // nothing is pending
		_, err = conn.Exec(in.T.Context(), sql)
		return err == nil
	})
}

// cuts are the faults of wires.
func cuts(of string, targets int, wires func(target int) []*wire) []breakable {
	each := func(target int, do func(*wire)) {
		for _, w := range wires(target) {
			do(w)
		}
	}
	return []breakable{
		{"partition", of, targets, func(i int, _ time.Duration) func() {
			each(i, (*wire).partition)
			return func() { each(i, (*wire).heal) }
		}},
		{"delay", of, targets, func(i int, lasts time.Duration) func() {
			each(i, func(w *wire) { w.lag.Store(int64(lasts / 20)) })
			return func() { each(i, (*wire).heal) }
		}},
		{"reset", of, targets, func(i int, _ time.Duration) func() {
			each(i, (*wire).reset)
			return func() {}
		}},
	}
}
