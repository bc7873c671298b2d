//go:build soak

package e2e

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	client "fairlead/clients/go"
	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/internal/localpg"
	"fairlead/internal/store/storetest"
	"fairlead/test/previous"
	"fairlead/test/world"
)

// upgrade is an installation of two servers of each kind, which are replaced one after the other, between a backend and who asks for it through two Envoys.
type upgrade struct {
	*life
	previous string // the folder of the programs of the release before
	xds      [2]*double
	apis     [2]*world.Program
	address  [2]string // of the API servers
	proxies  [2]string // URLs
	runs     [2]string // the programs of each xDS server, as World.Programs
	on       [2]int    // the xDS server that each Envoy is connected to
	started  int       // xDS servers
	writer   *steadyWriter
}

// double is an xDS server behind a tap for each Envoy, the first of which speaks delta.
type double struct {
	*world.XDS
	taps [2]*world.Tap
}

// TestSoakUpgrade: from the release before to this one as docs/upgrade.md says, and back, for FAIRLEAD_SOAK or once. Requests, writes and receipts go on all the while.
func TestSoakUpgrade(t *testing.T) {
	u := setupUpgrade(t)
	load := startLoads(t, func(n int64) string { return u.proxies[n%2] })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	u.writer = newSteadyWriter(u, load)
	var writing sync.WaitGroup
	writing.Go(func() { u.writer.run(ctx) })
	t.Cleanup(func() { stop(); writing.Wait() })

	u.meanwhile("before")
	u.documented("upgrade.md", "Back up and migrate")
	u.meanwhile("after the migration")
	var last time.Duration
	if full() {
		last = soakLasts(t, 0)
	}
	for began, round := time.Now(), 1; ; round++ {
		now := "" // the programs of this tree
		for i := range u.xds {
			u.replaceXDS(i, now)
		}
		for i := range u.apis {
			u.replaceAPI(i, now)
		}
		u.documented("upgrade.md", "See that it is done")
		for i := range u.apis {
			u.replaceAPI(1-i, u.previous)
		}
		for i := range u.xds {
			u.replaceXDS(1-i, u.previous)
		}
		t.Logf("round %d: %d revisions, %d requests", round, u.writer.written(), load.done.Load())
		if time.Since(began) >= last {
			break
		}
	}
	stop()
	writing.Wait()
	u.judgeWrites()
	if done, failed := load.stop(); failed > 0 || done == 0 {
		t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
	}
}

func setupUpgrade(t *testing.T) *upgrade {
	t.Helper()
	l := &life{}
	u := &upgrade{life: l}
	building, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var err error
	u.previous, err = world.BuildCommit(building, previous.Commit)
	world.Must(t, err)
	l.find(t)
	l.postgres(t)
	l.create(t)
	db := &storetest.DB{App: l.url("fairlead", "fairlead_app"), Node: l.url("fairlead", "fairlead_node"), Owner: l.url("fairlead", localpg.Superuser), Name: "fairlead"}
	empty := world.Empty(t)
	empty.Programs = u.previous
	empty.Run("api", "migrate", "--database-url", db.Owner)
	w := world.NewOf(t, db, u.previous)
	l.routed = &routed{installation: &installation{World: w}}
	var tables, functions string
	tables = u.text("SELECT version || ' ' || hash FROM schema_contents WHERE what = 'tables'")
	functions = u.text("SELECT hash FROM schema_contents WHERE what = 'functions'")
	if want := strconv.Itoa(previous.Number) + " " + previous.Tables; tables != want || functions != previous.Functions {
		t.Fatalf("%s has the migrations %s and the functions %s, and test/previous says %s and %s", previous.Commit, tables, functions, want, previous.Functions)
	}

	u.runs = [2]string{u.previous, u.previous}
	u.apis[0], u.address[0] = w.Server, strings.TrimPrefix(w.API, "http://")
	u.address[1] = world.FreePort(t)
	u.startAPI(1)
	for i := range u.xds {
		d := &double{XDS: u.startXDS()}
		for e := range d.taps {
			d.taps[e] = world.NewTap(t, d.Address)
		}
		u.xds[i] = d
	}
	first, second := world.FreePort(t), world.FreePort(t)
	u.proxies = [2]string{"http://" + first, "http://" + second}
	secure := world.HTTPListener{Name: "tls", Routes: world.RDS("r", world.ADS), TLS: presents("server", world.ADS)}
	secures := "resources:\n"
	for _, id := range []string{"n1", "n2"} {
		secure.Address = world.FreePort(t)
		secures += variantOf(secure.Resource(), id, "node.id="+id)
	}
	cert, key := world.Certificate(t)
	w.Apply(world.Together(world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")), secret("server", cert, key)))
	w.Apply(secures)
	l.last = w.Apply(own(first, second))
	for e := range u.proxies {
		u.startEnvoy(e)
	}
	return u
}

// startEnvoy starts the Envoy n1, which speaks delta, or n2, which speaks state of the world. Each knows both servers.
func (u *upgrade) startEnvoy(e int) {
	u.T.Helper()
	id := "n" + strconv.Itoa(e+1)
	text, err := bootstrap.Envoy(bootstrap.Config{
		NodeID: id, NodeCluster: u.Fleet, XDSAddresses: []string{u.xds[0].taps[e].Address, u.xds[1].taps[e].Address}, Delta: e == 0, Plaintext: true,
		TokenEnv: "FAIRLEAD_NODE_TOKEN", AdminAddress: world.AnyPort, RetryBase: 500 * time.Millisecond,
	})
	world.Must(u.T, err)
	dir, err := os.MkdirTemp(u.Dir, "envoy-")
	world.Must(u.T, err)
	envoy := u.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: dir, Env: []string{"FAIRLEAD_NODE_TOKEN=" + u.NodeToken}})
	u.AwaitReady(envoy, 4*world.Soon)
	u.proxy = u.proxies[e]
	u.awaitBody("a")
	u.AwaitLive(id)
	if u.xds[0].taps[e].Opened() == 0 {
		u.on[e] = 1
	}
}

// startXDS starts an xDS server with a name that no other one had.
func (u *upgrade) startXDS() *world.XDS {
	u.T.Helper()
	u.started++
	return u.XDS("--name", "xds-"+strconv.Itoa(u.started))
}

func (u *upgrade) startAPI(i int) {
	u.T.Helper()
	u.apis[i] = u.StartAPI("--listen", u.address[i], "--database-url", u.DB.App)
	world.AwaitOK(u.T, "http://"+u.address[i]+"/readyz")
}

// meanwhile lets each kind of write happen, and fails with what went wrong until then.
func (u *upgrade) meanwhile(when string) {
	u.T.Helper()
	until := u.writer.written() + kindsOfWrites
	world.Eventually(u.T, 2*time.Minute, when+": no write ends", func() bool { return u.writer.fault() != "" || u.writer.written() >= until })
	if fault := u.writer.fault(); fault != "" {
		u.T.Fatalf("%s: %s", when, fault)
	}
	if u.writer.load.failed.Load() > 0 {
		u.T.Fatalf("%s: a request failed: %s", when, u.writer.load.first.Load())
	}
}

// replaceAPI ends an API server in order and starts one of these programs in its place. Whoever writes goes to the other one meanwhile.
func (u *upgrade) replaceAPI(i int, programs string) {
	u.T.Helper()
	world.Must(u.T, u.apis[i].Signal(syscall.SIGTERM), u.apis[i].Err())
	u.Programs = programs
	u.startAPI(i)
	u.meanwhile(sprintf("API server %d is of %q", i, programs))
}

// replaceXDS ends an xDS server in order and starts one of these programs in its place. Where the other server is of another release than this one, nothing is
// written meanwhile, so that nothing is to be sent to the proxies that come to it.
func (u *upgrade) replaceXDS(i int, programs string) {
	u.T.Helper()
	u.endXDS(i)
	u.meanwhile(sprintf("without xDS server %d", i))
	u.Programs = programs
	ends := u.xds[i]
	ends.XDS, u.runs[i] = u.startXDS(), programs
	for e := range ends.taps {
		ends.taps[e].Move(u.T, ends.Address)
		ends.taps[e].Up()
	}
	u.meanwhile(sprintf("xDS server %d is of %q", i, programs))
}

// endXDS ends an xDS server, and waits until its Envoys have come to the other one.
func (u *upgrade) endXDS(i int) {
	u.T.Helper()
	ends, stays := u.xds[i], u.xds[1-i]
	crosses := u.runs[i] != u.runs[1-i]
	if crosses {
		u.writer.turn.Lock()
		defer u.writer.turn.Unlock()
	}
	var been [2]arrival
	for e := range stays.taps {
		been[e] = arrival{stays.taps[e].Count(), ends.taps[e].Count(), stays.taps[e].Opened(), *u.Node(nodeID(e)).Server}
	}
	world.Must(u.T, ends.Signal(syscall.SIGTERM), ends.Err())
	for e := range ends.taps {
		ends.taps[e].Down()
		if u.on[e] != i {
			continue
		}
		u.on[e] = 1 - i
		u.awaitArrival(e, been[e])
		if crosses {
			u.wantNothing(stays.taps[e], been[e].there, e == 0)
			u.wantNothing(ends.taps[e], been[e].here, e == 0)
		}
	}
}

// nodeID is of the Envoy with this number.
func nodeID(e int) string { return "n" + strconv.Itoa(e+1) }

// arrival is what there was before an Envoy changed servers: responses of the one that it comes to and of the one that it leaves, streams of the first, and
// what the API calls the second.
type arrival struct {
	there, here, opened int
	server              string
}

// awaitArrival waits until an Envoy has asked the other server for all that it has, and is known to have all.
func (u *upgrade) awaitArrival(e int, been arrival) {
	u.T.Helper()
	tap := u.xds[u.on[e]].taps[e]
	var n *client.Node
	defer func() {
		if u.T.Failed() {
			u.T.Logf("revision %d; node: %s", u.writer.revision.Load(), world.AsJSON(n))
		}
	}()
	world.Eventually(u.T, 6*world.Soon, "an Envoy does not come to the other server", func() bool {
		for _, typ := range []fleet.Type{fleet.Listener, fleet.Cluster, fleet.Route, fleet.Endpoint, fleet.Secret} {
			if !tap.Sees(been.opened, typ) {
				return false
			}
		}
		n = u.Node(nodeID(e))
		return tap.Count() > been.there && n.State == client.NodeStateLive && *n.Server != been.server && n.Settled >= u.writer.revision.Load()
	})
}

// wantNothing fails if a server has sent an Envoy something since n. A stream in state of the world may begin with one full set of listeners or clusters.
func (u *upgrade) wantNothing(tap *world.Tap, n int, delta bool) {
	u.T.Helper()
	sets := 0
	for _, s := range tap.Since(n) {
		switch {
		case len(s.Names)+len(s.Content)+len(s.Removed) == 0:
		case !delta && (s.Type == fleet.Listener || s.Type == fleet.Cluster) && sets == 0:
			sets++
		default:
			u.T.Errorf("the server sent %s, want nothing: the proxy has it", s)
		}
	}
}

// steadyWriter changes the fleet and waits for the receipt of each change, through the API server that answers.
type steadyWriter struct {
	u        *upgrade
	load     *load
	clients  [2]*client.ClientWithResponses
	at       int
	backends [2]string
	poison   string // an address that others have
	restores int64  // the revision before the cluster's last change

	turn     sync.Mutex // held for one write of each kind, until the last receipt: whoever else holds it has quiet, and no refusal stands
	revision atomic.Int64

	mu     sync.Mutex // guards what follows
	wrote  []int64    // the revision of each write
	faults []string
}

// kindsOfWrites follow each other.
const kindsOfWrites = 6

func newSteadyWriter(u *upgrade, l *load) *steadyWriter {
	w := &steadyWriter{u: u, load: l}
	for i := range w.clients {
		c, err := client.NewClientWithResponses("http://"+u.address[i], client.WithToken(u.Token))
		world.Must(u.T, err)
		w.clients[i] = c
		w.backends[i] = world.Backend(u.T, "a")
	}
	taken, err := net.Listen("tcp", world.AnyPort)
	world.Must(u.T, err)
	u.T.Cleanup(func() { _ = taken.Close() })
	w.poison = taken.Addr().String()
	w.revision.Store(u.last)
	return w
}

func (w *steadyWriter) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.wrote)
}

func (w *steadyWriter) fault() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.faults, "; ")
}

func (w *steadyWriter) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, sprintf(format, args...))
}

// run writes until ctx ends, or something is not as it should be.
func (w *steadyWriter) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil && w.fault() == ""; n += kindsOfWrites {
		w.turn.Lock()
		for k := 0; k < kindsOfWrites && w.fault() == ""; k++ {
			w.write(n + k)
			<-time.After(20 * time.Millisecond)
		}
		w.turn.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// write does the n-th write to its end, also when the test is about to end.
func (w *steadyWriter) write(n int) {
	u, key, message := w.u, uuid.NewString(), "write "+strconv.Itoa(n)
	put := func(r world.Resource) func(context.Context, *client.ClientWithResponses) (world.Answer, error) {
		return func(ctx context.Context, c *client.ClientWithResponses) (world.Answer, error) {
			return c.PutResourceWithBodyWithResponse(ctx, u.Tenant, u.Fleet, client.TypeParam(r.Type), r.Name, &client.PutResourceParams{Message: &message, IdempotencyKey: &key},
				"application/yaml", strings.NewReader(r.Document()))
		}
	}
	var do func(context.Context, *client.ClientWithResponses) (world.Answer, error)
	kind, nacked := n%kindsOfWrites, 0
	switch kind {
	case 0:
		do = put(world.Cluster("a", sprintf("%d.%03ds", 2+n/1000, n%1000)))
	case 1:
		do = put(world.Endpoints("a", w.backends[n/kindsOfWrites%2]))
	case 2:
		cert, key := world.Certificate(u.T)
		do = put(secret("server", cert, key))
	case 3:
		do, nacked = put(world.Listener("poison", w.poison, "r")), len(u.proxies)
	case 4:
		do = func(ctx context.Context, c *client.ClientWithResponses) (world.Answer, error) {
			return c.DeleteResourceWithResponse(ctx, u.Tenant, u.Fleet, "listeners", "poison", &client.DeleteResourceParams{Message: &message, IdempotencyKey: &key})
		}
	case 5: // to what the cluster was before
		do = func(ctx context.Context, c *client.ClientWithResponses) (world.Answer, error) {
			return c.RollbackWithResponse(ctx, u.Tenant, u.Fleet, &client.RollbackParams{IdempotencyKey: &key},
				client.RollbackRequest{Revision: w.restores, Message: &message, Resources: &[]client.VariantRef{{Type: "clusters", Name: "a"}}})
		}
	}
	if kind == 0 {
		w.restores = w.revision.Load()
	}
	a := w.ask(message, do)
	if a == nil {
		return
	}
	revision := world.RevisionOf(u.T, a.GetBody())
	w.mu.Lock()
	w.wrote = append(w.wrote, revision)
	w.mu.Unlock()
	w.revision.Store(revision)
	w.settle(message, revision, nacked)
}

// ask asks until it is answered, with the same key each time. Nobody may be refused but by a server that has gone, or with the time after which to ask again.
func (w *steadyWriter) ask(what string, do func(context.Context, *client.ClientWithResponses) (world.Answer, error)) world.Answer {
	for range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), 4*world.Soon)
		a, err := do(ctx, w.clients[w.at])
		cancel()
		again := 20 * time.Millisecond
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			w.at = 1 - w.at
		case err != nil:
			w.fail("%s was not answered: %v", what, err)
			return nil
		case a.StatusCode() < 300:
			return a
		default:
			after := retryAfter(a)
			if after == "" {
				w.fail("%s: %d without Retry-After: %s", what, a.StatusCode(), a.GetBody())
				return nil
			}
			w.u.T.Logf("%s: %d, Retry-After %s: %s", what, a.StatusCode(), after, a.GetBody())
			seconds, _ := strconv.Atoi(after)
			again = time.Duration(seconds) * time.Second
			w.at = 1 - w.at
		}
		<-time.After(again)
	}
	w.fail("%s: no server answers", what)
	return nil
}

// retryAfter is that header of an answer.
func retryAfter(a world.Answer) string {
	switch a := a.(type) {
	case *client.PutResourceResponse:
		return a.HTTPResponse.Header.Get("Retry-After")
	case *client.DeleteResourceResponse:
		return a.HTTPResponse.Header.Get("Retry-After")
	case *client.RollbackResponse:
		return a.HTTPResponse.Header.Get("Retry-After")
	case *client.GetReceiptResponse:
		return a.HTTPResponse.Header.Get("Retry-After")
	}
	return ""
}

// settle waits until all Envoys have answered a revision: they all ACKed it, or so many refused it.
func (w *steadyWriter) settle(what string, revision int64, nacked int) {
	var last string
	wait := "1s"
	for range 60 {
		a := w.ask("the receipt of "+what, func(ctx context.Context, c *client.ClientWithResponses) (world.Answer, error) {
			return c.GetReceiptWithResponse(ctx, w.u.Tenant, w.u.Fleet, revision, &client.GetReceiptParams{Wait: &wait})
		})
		if a == nil {
			return
		}
		r := a.(*client.GetReceiptResponse).JSON200
		if r.Counts.Nacked == nacked && r.Counts.Acked == len(w.u.proxies)-nacked && (r.State == client.ReceiptStateDelivered || nacked > 0 && r.State == client.ReceiptStateRejected) {
			return
		}
		if last = world.AsJSON(r); r.State != client.ReceiptStatePending { // nothing is waited for
			<-time.After(50 * time.Millisecond)
		}
	}
	w.fail("the receipt of %s, revision %d, does not settle: %s", what, revision, last)
}

// judgeWrites fails unless the fleet's newest revisions are the writes, in their order, once each.
func (u *upgrade) judgeWrites() {
	u.T.Helper()
	if fault := u.writer.fault(); fault != "" {
		u.T.Error(fault)
	}
	limit := client.LimitParam(100)
	r, err := u.REST.ListRevisionsWithResponse(u.T.Context(), u.Tenant, u.Fleet, &client.ListRevisionsParams{Limit: &limit})
	u.Made(r, err)
	wrote := u.writer.wrote
	for k, got := range r.JSON200.Items {
		n := len(wrote) - 1 - k
		if n < 0 {
			break
		}
		if got.Revision != wrote[n] || got.Message == nil || *got.Message != "write "+strconv.Itoa(n) {
			u.T.Fatalf("write %d was answered with revision %d, and the history has %s", n, wrote[n], world.AsJSON(got))
		}
	}
	for k := 1; k < len(wrote); k++ {
		if wrote[k] != wrote[k-1]+1 {
			u.T.Errorf("revision %d follows on %d: a write was made twice, or is lost", wrote[k], wrote[k-1])
		}
	}
}
