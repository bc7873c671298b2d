package grpcclients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"fairlead/internal/childproc"
	"fairlead/internal/client"
	"fairlead/internal/seal"
	"fairlead/internal/store/storetest"
)

// soon is how long anything may take that takes milliseconds.
const soon = 5 * time.Second

// anyPort lets a server take a port by itself.
const anyPort = "127.0.0.1:0"

// world is an installation: a database, an API server and xDS servers as processes, with
// the tenant "acme" and its fleet "edge".
type world struct {
	t         testing.TB
	dir       string
	db        *storetest.DB
	api       string // base URL
	rest      *client.ClientWithResponses
	tenant    string
	fleet     string
	nodeToken string
}

func setup(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), db: storetest.New(t), tenant: "acme", fleet: "edge"}
	w.run("api", "keys", "--dir", w.path("keys"))
	w.run("api", "bootstrap-token", "--database-url", w.db.App, "--out", w.path("operator"))
	api := w.start("api", "serve", "--listen", anyPort, "--database-url", w.db.App,
		"--seal-public-key", w.path("keys", seal.PublicFile), "--version-key", w.path("keys", seal.VersionFile))
	w.api = "http://" + api.logged("the port is open", "address")
	w.awaitOK(w.api + "/readyz")

	op := w.as(strings.TrimSpace(string(read(t, w.path("operator")))))
	tenant, err := op.CreateTenantWithResponse(t.Context(), client.TenantCreate{Slug: w.tenant})
	w.made(tenant, err)
	token, err := op.CreateTokenWithResponse(t.Context(), w.tenant, client.TokenCreate{Name: "test", Role: client.Admin})
	w.made(token, err)
	w.rest = w.as(token.JSON201.Token)
	f, err := w.rest.CreateFleetWithResponse(t.Context(), w.tenant, client.FleetCreate{Name: w.fleet})
	w.made(f, err)
	c, err := w.rest.CreateCredentialWithResponse(t.Context(), w.tenant, w.fleet, client.CredentialCreate{Nodes: "*"})
	w.made(c, err)
	w.nodeToken = c.JSON201.Token
	return w
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

type response interface {
	StatusCode() int
	GetBody() []byte
}

func (w *world) made(r response, err error) {
	w.t.Helper()
	must(w.t, err)
	if r.StatusCode() >= 300 {
		w.t.Fatalf("the API answered %d: %s", r.StatusCode(), r.GetBody())
	}
}

// apply makes one revision of a document and returns it.
func (w *world) apply(doc string) int64 {
	w.t.Helper()
	r, err := w.rest.ApplyWithBodyWithResponse(w.t.Context(), w.tenant, w.fleet, nil, "application/yaml", strings.NewReader(doc))
	w.made(r, err)
	return r.JSON200.Revision
}

// put writes one resource under its own address and returns the revision.
func (w *world) put(r res) int64 {
	w.t.Helper()
	p, err := w.rest.PutResourceWithBodyWithResponse(w.t.Context(), w.tenant, w.fleet, client.TypeParam(r.typ), r.name, nil,
		"application/yaml", strings.NewReader(r.document()))
	w.made(p, err)
	return revisionOf(w.t, p.Body)
}

// node returns what the API tells of a node, nil if it knows none of that id.
func (w *world) node(id string) *client.Node {
	w.t.Helper()
	n, err := w.rest.GetNodeWithResponse(w.t.Context(), w.tenant, w.fleet, id)
	must(w.t, err)
	return n.JSON200
}

// awaitLive waits until the API knows that a node is connected: receipts count those
// that are known when a revision is made.
func (w *world) awaitLive(id string) {
	w.t.Helper()
	eventually(w.t, soon, "the API does not know node "+id, func() bool {
		n := w.node(id)
		return n != nil && n.State == client.NodeStateLive
	})
}

// awaitDelivered waits until that many nodes, and no other one, have the revision.
func (w *world) awaitDelivered(revision int64, nodes int) {
	w.t.Helper()
	if r := w.receipt(revision); r.State != client.ReceiptStateDelivered || r.Counts.Acked != nodes || r.Counts.Offline > 0 {
		w.t.Fatalf("the receipt is %s, want it delivered to %d", asJSON(r), nodes)
	}
}

// awaitRejected waits until a node refuses the revision and returns what the receipt
// tells of it.
func (w *world) awaitRejected(revision int64) client.ReceiptNode {
	w.t.Helper()
	r := w.receipt(revision)
	if r.State != client.ReceiptStateRejected || len(r.Nodes) != 1 || r.Nodes[0].Detail == nil || r.Nodes[0].Resource == nil {
		w.t.Fatalf("the receipt is %s, want it rejected by one node, with its words", asJSON(r))
	}
	return r.Nodes[0]
}

func asJSON(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}

func (w *world) receipt(revision int64) *client.Receipt {
	w.t.Helper()
	wait := soon.String()
	r, err := w.rest.GetReceiptWithResponse(w.t.Context(), w.tenant, w.fleet, revision, &client.GetReceiptParams{Wait: &wait})
	w.made(r, err)
	return r.JSON200
}

// program is one of our programs that runs.
type program struct {
	*childproc.Process
	t   testing.TB
	log string // file
}

// start starts one of our programs; its log is shown when the test fails.
func (w *world) start(name string, args ...string) *program {
	w.t.Helper()
	f, err := os.CreateTemp(w.dir, name+"-*.log")
	must(w.t, err)
	p, err := childproc.Start(childproc.Spec{Path: filepath.Join(binDir, name), Args: args, Stdout: f, Stderr: f})
	must(w.t, err)
	w.t.Cleanup(func() {
		_ = p.Stop()
		_ = f.Close()
		dump(w.t, f.Name())
	})
	return &program{p, w.t, f.Name()}
}

// logged waits for the line of the log that has this message, and returns an attribute
// of it.
func (p *program) logged(message, attribute string) (value string) {
	p.t.Helper()
	eventually(p.t, 2*soon, "the log has no line "+message, func() bool {
		for line := range bytes.Lines(read(p.t, p.log)) {
			var attributes map[string]any
			if json.Unmarshal(line, &attributes) == nil && attributes["msg"] == message {
				value = fmt.Sprint(attributes[attribute])
				return true
			}
		}
		select {
		case <-p.Done():
			p.t.Fatalf("it ended (%v) without a line %q", p.Err(), message)
		default:
		}
		return false
	})
	return value
}

// run runs one of our programs to its end and returns what it printed.
func (w *world) run(name string, args ...string) []byte {
	w.t.Helper()
	var out, complaints bytes.Buffer
	p, err := childproc.Start(childproc.Spec{Path: filepath.Join(binDir, name), Args: args, Stdout: &out, Stderr: &complaints})
	must(w.t, err)
	if err := p.Err(); err != nil {
		w.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, complaints.Bytes())
	}
	return out.Bytes()
}

// xds starts an xDS server and returns its address.
func (w *world) xds(args ...string) string {
	w.t.Helper()
	p := w.start("xds", append([]string{"--listen", anyPort, "--health-listen", anyPort, "--database-url", w.db.Node,
		"--seal-private-key", w.path("keys", seal.PrivateFile), "--drain", "100ms"}, args...)...)
	w.awaitOK("http://" + p.logged("the ports are open", "health_address") + "/readyz")
	return p.logged("the ports are open", "address")
}

// tapped starts an xDS server with a tap before it.
func (w *world) tapped() *tap {
	w.t.Helper()
	return newTap(w.t, w.xds(), w.nodeToken)
}

// plaintext is the bootstrap of a gRPC client that connects without a credential.
func plaintext(t testing.TB, node, address string) []byte {
	t.Helper()
	text, err := bootstrap.GRPC(bootstrap.Config{NodeID: node, NodeCluster: "edge", XDSAddresses: []string{address}, Plaintext: true, Region: "here"})
	must(t, err)
	return text
}

func (w *world) awaitOK(url string) {
	w.t.Helper()
	eventually(w.t, 2*soon, "no answer from "+url, func() bool {
		c := http.Client{Timeout: soon}
		resp, err := c.Get(url)
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// eventually looks until it holds, and fails when it took too long.
func eventually(t testing.TB, within time.Duration, otherwise string, holds func() bool) {
	t.Helper()
	start := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Since(start) > within {
			t.Fatalf("%s within %s", otherwise, within)
		}
		<-tick.C
	}
}

// freePort returns an address that nothing listens on, and that is given to nobody else:
// below the ports that the system takes for outgoing connections, of which one may come
// between this and its use.
func freePort(t testing.TB, host string) string {
	t.Helper()
	for range 1_000 {
		port := 12_000 + rand.IntN(20_000)
		if _, taken := givenPorts.LoadOrStore(port, true); taken {
			continue
		}
		lis, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
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

func dump(t testing.TB, file string) {
	if t.Failed() {
		b, _ := os.ReadFile(file)
		t.Logf("%s:\n%s", filepath.Base(file), b[max(0, len(b)-12000):])
	}
}

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
