package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/bootstrap"
	"fairlead/internal/client"
	"fairlead/internal/localenvoy"
	"fairlead/internal/localpg"
	"fairlead/internal/seal"
	"fairlead/internal/store/storetest"
)

// both runs a test with an Envoy that speaks delta and with one that speaks state of the
// world.
func both(t *testing.T, test func(t *testing.T, delta bool)) {
	t.Parallel()
	t.Run("delta", func(t *testing.T) { t.Parallel(); test(t, true) })
	t.Run("SotW", func(t *testing.T) { t.Parallel(); test(t, false) })
}

// world is an installation: a database, an API server and xDS servers as processes.
type world struct {
	t     testing.TB // of the present step
	whole testing.TB // of the test: what it starts outlives the step
	dir   string
	db    database
	api   string // base URL
	rest  *client.ClientWithResponses

	operator, token, nodeToken string
}

// database is the way to a Postgres, by role.
type database struct{ app, node, owner string }

func setup(t testing.TB) *world {
	t.Helper()
	db := storetest.New(t)
	return setupOn(t, database{db.App, db.Node, db.Owner})
}

// setupPostgres is setup with a Postgres of its own, for tests that kill it.
func setupPostgres(t testing.TB) (*world, *localpg.Server) {
	t.Helper()
	db, pg := storetest.Alone(t)
	return setupOn(t, database{db.App, db.Node, db.Owner}), pg
}

// setupOn starts an API server and makes the tenant "acme" with the fleet "edge".
func setupOn(t testing.TB, db database) *world {
	t.Helper()
	w := &world{t: t, whole: t, dir: t.TempDir(), db: db}
	run(t, "api", "keys", "--dir", w.path("keys"))
	run(t, "api", "bootstrap-token", "--database-url", db.app, "--out", w.path("operator"))
	w.operator = strings.TrimSpace(string(read(t, w.path("operator"))))
	api := w.start("api", "serve", "--listen", anyPort, "--database-url", db.app,
		"--seal-public-key", w.path("keys", seal.PublicFile), "--version-key", w.path("keys", seal.VersionFile))
	w.api = "http://" + api.logged("the port is open", "address")
	w.awaitOK(w.api + "/readyz")

	op := w.as(w.operator)
	tenant, err := op.CreateTenantWithResponse(t.Context(), client.TenantCreate{Slug: "acme"})
	w.made(tenant, err)
	token, err := op.CreateTokenWithResponse(t.Context(), "acme", client.TokenCreate{Name: "e2e", Role: client.Admin})
	w.made(token, err)
	w.token = token.JSON201.Token
	w.rest = w.as(w.token)
	f, err := w.rest.CreateFleetWithResponse(t.Context(), "acme", client.FleetCreate{Name: "edge"})
	w.made(f, err)
	w.nodeToken, _ = w.credential()
	return w
}

// credential makes a node credential and returns its token and id.
func (w *world) credential() (token, id string) {
	w.t.Helper()
	c, err := w.rest.CreateCredentialWithResponse(w.t.Context(), "acme", "edge", client.CredentialCreate{Nodes: "*"})
	w.made(c, err)
	return c.JSON201.Token, c.JSON201.Credential.Id
}

// step is one part of a scenario: what follows needs what it leaves behind.
func (w *world) step(name string, do func()) {
	w.t.Helper()
	defer func() { w.t = w.whole }()
	if !w.whole.(*testing.T).Run(name, func(t *testing.T) { w.t = t; do() }) {
		w.whole.FailNow()
	}
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

func (w *world) as(token string) *client.ClientWithResponses {
	w.t.Helper()
	c, err := client.NewClientWithResponses(w.api, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	must(w.t, err)
	return c
}

type answer interface {
	StatusCode() int
	GetBody() []byte
}

func (w *world) made(a answer, err error) {
	w.t.Helper()
	must(w.t, err)
	if a.StatusCode() >= 300 {
		w.t.Fatalf("the API answered %d: %s", a.StatusCode(), a.GetBody())
	}
}

// apply makes one revision of a document {resources, delete}, YAML, and returns it.
func (w *world) apply(doc string) int64 {
	w.t.Helper()
	r, err := w.rest.ApplyWithBodyWithResponse(w.t.Context(), "acme", "edge", nil, "application/yaml", strings.NewReader(doc))
	w.made(r, err)
	return r.JSON200.Revision
}

// put writes resources, each a revision of its own, and returns the last one.
func (w *world) put(resources ...res) (last int64) {
	w.t.Helper()
	for _, r := range resources {
		p, err := w.rest.PutResourceWithBodyWithResponse(w.t.Context(), "acme", "edge", client.TypeParam(r.typ), r.name, nil,
			"application/yaml", strings.NewReader(r.document()))
		must(w.t, err)
		if p.StatusCode() >= 300 {
			w.t.Fatalf("put %s %s: %d %s", r.typ, r.name, p.StatusCode(), p.Body)
		}
		last = revisionOf(w.t, p.Body)
	}
	return last
}

// receipt waits for a revision's receipt.
func (w *world) receipt(revision int64) *client.Receipt {
	w.t.Helper()
	wait := "5s"
	r, err := w.rest.GetReceiptWithResponse(w.t.Context(), "acme", "edge", revision, &client.GetReceiptParams{Wait: &wait})
	w.made(r, err)
	return r.JSON200
}

// xds is an xDS server process.
type xds struct {
	*program
	address string
}

func (w *world) xds(args ...string) *xds {
	w.t.Helper()
	p := w.start("xds", append([]string{"--listen", anyPort, "--health-listen", anyPort, "--database-url", w.db.node,
		"--seal-private-key", w.path("keys", seal.PrivateFile), "--drain", "100ms"}, args...)...)
	w.awaitOK("http://" + p.logged("the ports are open", "health_address") + "/readyz")
	return &xds{p, p.logged("the ports are open", "address")}
}

// envoy starts a real Envoy against an xDS address and waits until it serves. edit may
// change its bootstrap.
func (w *world) envoy(id, xdsAddress string, delta bool, edit ...func(string) string) *localenvoy.Envoy {
	w.t.Helper()
	e := w.launch(id, xdsAddress, delta, edit...)
	ctx, cancel := context.WithTimeout(w.t.Context(), soon)
	defer cancel()
	must(w.t, e.Ready(ctx))
	return e
}

// launch is envoy without waiting. The Envoy outlives a step.
func (w *world) launch(id, xdsAddress string, delta bool, edit ...func(string) string) *localenvoy.Envoy {
	w.t.Helper()
	conf := bootstrap.Config{
		NodeID: id, NodeCluster: "edge", XDSAddresses: []string{xdsAddress}, Delta: delta, Plaintext: true,
		TokenEnv: "FAIRLEAD_TOKEN", AdminAddress: "127.0.0.1:0", RetryBase: 500 * time.Millisecond, RetryMax: 30 * time.Second,
	}
	text, err := bootstrap.Envoy(conf)
	must(w.t, err)
	for _, f := range edit {
		text = []byte(f(string(text)))
	}
	dir, err := os.MkdirTemp(w.dir, "envoy-"+id+"-")
	must(w.t, err)
	e, err := localenvoy.Start(w.whole.Context(), localenvoy.Config{Bin: envoyBin, Bootstrap: text, Dir: dir, Env: []string{"FAIRLEAD_TOKEN=" + w.nodeToken}})
	must(w.t, err)
	w.whole.Cleanup(func() {
		_ = e.Stop()
		if log := string(read(w.whole, e.LogFile())); strings.Contains(log, "initial fetch timed out for") {
			w.whole.Error("Envoy waited for what it asked for until its timeout of 15 s")
		}
		w.dump(e.LogFile())
	})
	return e
}

func (w *world) dump(file string) {
	if w.whole.Failed() {
		b, _ := os.ReadFile(file)
		w.whole.Logf("%s:\n%s", filepath.Base(file), b[max(0, len(b)-6000):])
	}
}

func (w *world) awaitOK(url string) {
	w.t.Helper()
	eventually(w.t, 2*soon, "no answer from "+url, func() bool {
		code, _ := get(url)
		return code == http.StatusOK
	})
}

// freePort returns an address that nothing listens on, and that is given to nobody else:
// below the ports that the system takes for outgoing connections, of which one may come
// between this and its use.
func freePort(t testing.TB) string {
	t.Helper()
	for range 1_000 {
		port := 12_000 + rand.IntN(20_000)
		if _, taken := givenPorts.LoadOrStore(port, true); taken {
			continue
		}
		lis, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		must(t, lis.Close())
		return lis.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}

var givenPorts sync.Map // of this process

func read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	return b
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
