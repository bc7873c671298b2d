package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"fairlead/cmd/internal/run"
	"fairlead/internal/auth"
	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/localpg"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Main(m)) }

// world is an installation. Its parts start when a test first asks for them.
type world struct {
	*testing.T
	dir     string
	env     map[string]string
	clock   time.Duration // by how much this machine's clock is wrong
	appURL  string
	nodeURL string
	db      *storetest.DB // nil where the database is of a Postgres of its own
	keys    string        // folder
	tenant  fleet.TenantID
	fleets  map[string]fleet.ID
	root    *authority
}

func setup(t *testing.T) *world {
	t.Helper()
	return &world{T: t, dir: t.TempDir(), env: map[string]string{}}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// withDatabase gives the world a database with the tenant acme, and its fleets edge and prod.
func (w *world) withDatabase() *world {
	w.Helper()
	if w.appURL == "" {
		w.db = storetest.New(w)
		w.appURL, w.nodeURL = w.db.App, w.db.Node
	}
	if w.fleets == nil {
		s := w.store()
		tenant := answered(w, func() (store.Tenant, error) { return s.CreateTenant(w.Context(), actor, "acme", "acme") })
		w.tenant, w.fleets = tenant.ID, map[string]fleet.ID{}
		for _, name := range []string{"edge", "prod"} {
			w.fleets[name] = answered(w, func() (store.Fleet, error) { return s.CreateFleet(w.Context(), tenant.ID, actor, name, "") }).ID
		}
	}
	return w
}

// ownPostgres has the world's database on a Postgres of its own.
func (w *world) ownPostgres(connections int, settings map[string]string) {
	w.Helper()
	bin, err := localpg.Find(w.Context(), localpg.FindConfig{Fetch: true})
	w.must(err)
	s, err := localpg.Start(w.Context(), localpg.Config{Bin: bin, Ephemeral: true, MaxConnections: connections, Settings: settings})
	w.must(err)
	w.Cleanup(func() { _ = s.Stop(context.Background()) })
	_, err = store.Migrate(w.Context(), s.URL("postgres", localpg.Superuser))
	w.must(err)
	w.appURL, w.nodeURL = s.URL("postgres", "fairlead_app"), s.URL("postgres", "fairlead_node")
}

var actor = store.Actor{Name: "test"}

// answered makes a fixture.
func answered[T any](w *world, try func() (T, error)) T {
	w.Helper()
	made, err := try()
	w.must(err)
	return made
}

func (w *world) store() *store.Store {
	w.Helper()
	s, err := store.Open(w.Context(), store.Config{URL: w.appURL, MaxConns: 1, Patience: storetest.Patience})
	w.must(err)
	w.Cleanup(s.Close)
	return s
}

func (w *world) keyDir() string {
	w.Helper()
	if w.keys == "" {
		keys, err := seal.Generate()
		w.must(err)
		w.keys = filepath.Join(w.dir, "keys")
		w.must(seal.WriteKeys(w.keys, w.keys, keys))
	}
	return w.keys
}

func (w *world) listen() net.Listener {
	w.Helper()
	lis, err := run.Listen("127.0.0.1:0", "--listen")
	w.must(err)
	w.Cleanup(func() { _ = lis.Close() })
	return lis
}

// closed is an address on which nothing listens.
func (w *world) closed() string {
	w.Helper()
	lis := w.listen()
	w.must(lis.Close())
	return lis.Addr().String()
}

func (w *world) serve(components []lifecycle.Component, end func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lifecycle.Run(ctx, components...) }()
	w.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			w.Errorf("the server ended with %v", err)
		}
		end()
	})
}

// xds starts an xDS server, with TLS unless conf is nil.
func (w *world) xds(conf *tls.Config, restOnly bool) string {
	w.Helper()
	return w.port(run.Port{TLS: conf, RESTOnly: restOnly})
}

// port is an xDS server's that it starts; its listener is the world's.
func (w *world) port(p run.Port) string {
	w.Helper()
	w.withDatabase()
	x, err := run.NewXDS(w.Context(), run.XDSConfig{DatabaseURL: w.nodeURL, SealPrivateKey: filepath.Join(w.keyDir(), seal.PrivateFile), Wakeup: "notify", Poll: 100 * time.Millisecond, Name: "here"}, quiet)
	w.must(err)
	p.Listener = w.listen()
	w.serve(x.Components(p), x.Close)
	return p.Listener.Addr().String()
}

var quiet = slog.New(slog.DiscardHandler)

// api starts an API server, and returns its URL.
func (w *world) api(conf *tls.Config) *url.URL {
	w.Helper()
	w.withDatabase()
	a, err := run.NewAPI(w.Context(), run.APIConfig{DatabaseURL: w.appURL, SealPublicKey: filepath.Join(w.keyDir(), seal.PublicFile), VersionKey: filepath.Join(w.keyDir(), seal.VersionFile)}, quiet)
	w.must(err)
	lis := w.listen()
	w.serve(a.Components(lis, conf), a.Close)
	u := &url.URL{Scheme: "http", Host: lis.Addr().String()}
	if conf != nil {
		u.Scheme = "https"
	}
	return u
}

// nodeToken is of a fleet. life 0: it does not end.
func (w *world) nodeToken(fleetName, nodes string, life time.Duration) (fleet.CredentialID, string) {
	w.Helper()
	w.withDatabase()
	var expires time.Time
	if life != 0 {
		expires = time.Now().Add(life)
	}
	id, token, hash := auth.NewNodeToken(expires)
	s := w.store()
	answered(w, func() (store.NodeCredential, error) {
		return s.CreateNodeCredential(w.Context(), w.tenant, w.fleets[fleetName], actor, store.NodeCredential{ID: id, Hash: hash, Nodes: nodes, ExpiresAt: expires})
	})
	return id, token
}

// apiToken is an owner's.
func (w *world) apiToken(life time.Duration) string {
	w.Helper()
	w.withDatabase()
	k := store.APIToken{Role: auth.RoleOwner, Name: "owner"}
	if life != 0 {
		k.ExpiresAt = time.Now().Add(life)
	}
	id, token, hash := auth.NewAPIToken(auth.RoleOwner.TokenKind())
	k.ID, k.Hash = id, hash
	s := w.store()
	answered(w, func() (store.APIToken, error) { return s.CreateToken(w.Context(), w.tenant, actor, k) })
	return token
}

func (w *world) file(name, text string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	w.must(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// envoy writes the bootstrap of an Envoy that is called edge-1, as fairlead bootstrap does.
func (w *world) envoy(address, token string, change ...func(*bootstrap.Config)) Config {
	w.Helper()
	return w.node(bootstrap.ClientEnvoy, address, token, change...)
}

func (w *world) node(k bootstrap.Client, address, token string, change ...func(*bootstrap.Config)) Config {
	w.Helper()
	c := bootstrap.Config{NodeID: "edge-1", XDSAddresses: []string{address}, TokenFile: w.file("token", token)}
	if w.root != nil {
		c.CAFile, c.ServerName = w.file("ca.pem", string(w.root.pem)), "localhost"
	} else {
		c.Plaintext = true
	}
	for _, f := range change {
		f(&c)
	}
	files, _, err := bootstrap.Files(k, c)
	w.must(err)
	for _, f := range files[1:] {
		w.must(os.WriteFile(f.Path, f.Text, 0o600))
	}
	conf := w.config()
	conf.Bootstrap = w.file("bootstrap", string(files[0].Text))
	return conf
}

func (w *world) config() Config {
	return Config{
		Env: func(name string) string { return w.env[name] }, Now: func() time.Time { return time.Now().Add(w.clock) },
		PID: os.Getpid(),
	}
}

// database looks at the world's database.
func (w *world) database(url string) Config {
	c := w.config()
	c.Database = url
	return c
}

// at looks at an API.
func (w *world) at(u *url.URL, token string) Config {
	c := w.config()
	c.API = &API{URL: u, Token: auth.Secret(token), Tenant: "acme", Fleet: "edge"}
	return c
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func (w *world) authority() *authority {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-9000 * time.Hour), NotAfter: time.Now().Add(9000 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	w.must(err)
	c, err = x509.ParseCertificate(der)
	w.must(err)
	return &authority{c, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// certificate is for localhost, of the world's authority, from and to a time from now.
func (w *world) certificate(from, to time.Duration) *tls.Config {
	w.Helper()
	if w.root == nil {
		w.root = w.authority()
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to)}
	der, err := x509.CreateCertificate(rand.Reader, c, w.root.cert, &key.PublicKey, w.root.key)
	w.must(err)
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

const year = 365 * 24 * time.Hour

func (w *world) good() *tls.Config { return w.certificate(-time.Hour, year) }

// put writes a resource through the API.
func (w *world) put(u *url.URL, token, kind, name, body string) {
	w.Helper()
	w.send(http.MethodPut, u, token, "/resources/"+kind+"/"+name, body)
}

// send sends something to the fleet edge.
func (w *world) send(method string, u *url.URL, token, path, body string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, u.String()+"/v1/tenants/acme/fleets/edge"+path, strings.NewReader(body))
	w.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	w.must(err)
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(resp.Body)
		w.Fatalf("%s %s: %s %s", method, path, resp.Status, text)
	}
}

const cluster = `{"body": {"name": "backend", "connect_timeout": "1s"}}`

// proxy is a client that stands in for an Envoy.
type proxy struct {
	w    *world
	conn *grpc.ClientConn
	discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
}

// connect opens a stream for clusters, as edge-1.
func (w *world) connect(address, token, version string) *proxy {
	w.Helper()
	creds := insecure.NewCredentials()
	if w.root != nil {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(w.root.pem)
		creds = credentials.NewTLS(&tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12})
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(creds))
	w.must(err)
	w.Cleanup(func() { _ = conn.Close() })
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(metadata.AppendToOutgoingContext(w.Context(), "authorization", "Bearer "+token))
	w.must(err)
	p := &proxy{w, conn, s}
	var numbers [3]uint32
	for i, n := range strings.Split(version, ".") {
		for _, d := range n {
			numbers[i] = numbers[i]*10 + uint32(d-'0')
		}
	}
	w.must(s.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: fleet.Cluster.URL(), Node: &corev3.Node{
		Id: "edge-1", UserAgentName: "envoy", UserAgentVersionType: userAgent(numbers),
		Metadata: generation(),
	}}))
	return p
}

// answer ACKs, or refuses with words.
func (p *proxy) answer(words string) {
	p.w.Helper()
	r, err := p.Recv()
	p.w.must(err)
	answer := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: fleet.Cluster.URL(), ResponseNonce: r.GetNonce()}
	if words != "" {
		answer.ErrorDetail = &status.Status{Code: 3, Message: words}
	}
	p.w.must(p.Send(answer))
}

// until makes checks until one ends as it is to, or the test ends.
func (w *world) until(c Config, id string, want State) Report {
	w.Helper()
	return w.untilIs(c, id, func(r Result) bool { return r.State == want })
}

func (w *world) untilIs(c Config, id string, is func(Result) bool) Report {
	w.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ctx := w.Context(); ; <-tick.C {
		r := Run(ctx, c)
		if is(of(r, id)) || ctx.Err() != nil {
			return r
		}
		if deadline, has := w.Deadline(); has && time.Until(deadline) < time.Minute {
			return r
		}
	}
}

func of(r Report, id string) Result {
	for _, one := range r.Checks {
		if one.Check == id {
			return one
		}
	}
	return Result{}
}
