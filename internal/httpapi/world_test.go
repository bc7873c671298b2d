package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/metrics"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/web"
)

// world is an API over a real database, reached by real HTTP.
type world struct {
	t        testing.TB
	db       *storetest.DB
	store    *store.Store
	nodes    *store.Store // as an xDS server has it
	keys     seal.Keys
	api      *API
	url      string
	http     *http.Client
	logs     *lines
	registry *metrics.Registry

	tenant store.Tenant
	fleet  store.Fleet
	owner  string // a token of the tenant's owner

	operatorID fleet.CredentialID // of the token that operator made
}

// lines is a buffer that handlers write to at the same time.
type lines struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var tester = store.Actor{Name: "test"}

func setup(t testing.TB) *world {
	t.Helper()
	db := storetest.New(t)
	return setupOn(t, db, db.Store(t))
}

func setupOn(t testing.TB, db *storetest.DB, s *store.Store) *world {
	t.Helper()
	keys, err := seal.Generate()
	must(t, err)
	sealer, err := seal.NewSealer(keys.Public)
	must(t, err)
	w := &world{t: t, db: db, store: s, nodes: db.NodeStore(t), keys: keys, http: http.DefaultClient, logs: &lines{}}
	w.serve(sealer)
	w.tenant, w.fleet = w.newTenant("acme"), store.Fleet{}
	w.fleet = w.newFleet(w.tenant, "edge")
	w.owner = w.token(w.tenant, auth.RoleOwner, nil)
	return w
}

// serve begins to serve the API.
func (w *world) serve(sealer *seal.Sealer) {
	w.t.Helper()
	var err error
	w.registry = metrics.New(metrics.API, metrics.Config{})
	w.api, err = New(Config{
		Store: w.store, Sealer: sealer, Compiler: resource.NewCompiler(resource.Config{VersionKey: w.keys.Version}),
		Logger: slog.New(slog.NewJSONHandler(w.logs, nil)), Page: web.Handler(), Metrics: w.registry.Requests,
	})
	must(w.t, err)
	server := httptest.NewServer(w.api.Handler())
	w.t.Cleanup(server.Close)
	w.url = server.URL
}

// beside is another server of the same API, in a process of its own.
func (w *world) beside() *world {
	w.t.Helper()
	return w.besideOn(w.db.Store(w.t))
}

// besideOn is beside, with a store of its own.
func (w *world) besideOn(s *store.Store) *world {
	w.t.Helper()
	sealer, err := seal.NewSealer(w.keys.Public)
	must(w.t, err)
	other := *w
	other.store = s
	other.serve(sealer)
	return &other
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) newTenant(slug string) store.Tenant {
	w.t.Helper()
	tenant, err := w.store.CreateTenant(w.t.Context(), tester, slug, slug)
	must(w.t, err)
	return tenant
}

func (w *world) newFleet(tenant store.Tenant, name string) store.Fleet {
	w.t.Helper()
	f, err := w.store.CreateFleet(w.t.Context(), tenant.ID, tester, name, "")
	must(w.t, err)
	return f
}

func (w *world) token(tenant store.Tenant, role auth.Role, bound *fleet.ID) string {
	w.t.Helper()
	return w.tokenOf(tenant, store.APIToken{Role: role, Fleet: bound, Name: string(role)})
}

func (w *world) tokenOf(tenant store.Tenant, k store.APIToken) string {
	w.t.Helper()
	id, token, hash := auth.NewAPIToken(k.Role.TokenKind())
	k.ID, k.Hash = id, hash
	_, err := w.store.CreateToken(w.t.Context(), tenant.ID, tester, k)
	must(w.t, err)
	return token
}

func (w *world) operator() string {
	w.t.Helper()
	id, token, hash := auth.NewAPIToken(auth.KindOperator)
	must(w.t, w.store.CreateFirstOperatorToken(w.t.Context(), store.OperatorToken{ID: id, Hash: hash, Name: "operator", ExpiresAt: time.Now().Add(time.Hour)}))
	w.operatorID = id
	return token
}

// secondOperator adds a token to that of operator.
func (w *world) secondOperator() fleet.CredentialID {
	w.t.Helper()
	id, _, hash := auth.NewAPIToken(auth.KindOperator)
	_, err := w.store.CreateOperatorToken(w.t.Context(), store.Actor{Credential: w.operatorID}, store.OperatorToken{ID: id, Hash: hash, Name: "second", ExpiresAt: time.Now().Add(time.Hour)})
	must(w.t, err)
	return id
}

// operatorSession begins a session of the token that operator made.
func (w *world) operatorSession() fleet.SessionID {
	w.t.Helper()
	id, _, hash := auth.NewSession()
	_, err := w.store.BeginSession(w.t.Context(), tester, store.NewSession{ID: id, Hash: hash, Token: w.operatorID})
	must(w.t, err)
	return id
}

// answer is what came back.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
}

// at is the path of something in the world's fleet.
func (w *world) at(parts ...string) string {
	p := "/v1/tenants/" + w.tenant.Slug + "/fleets/" + w.fleet.Name
	for _, part := range parts {
		p += "/" + url.PathEscape(part)
	}
	return p
}

// do sends a request as the owner, unless a header says otherwise. Headers are name,
// value, name, value.
func (w *world) do(method, path, body string, headers ...string) answer {
	w.t.Helper()
	return w.send(method, path, strings.NewReader(body), headers...)
}

func (w *world) send(method, path string, body io.Reader, headers ...string) answer {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, body)
	must(w.t, err)
	r.Header.Set("Authorization", "Bearer "+w.owner)
	if method == http.MethodPut || method == http.MethodPost || method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	out, err := w.http.Do(r)
	must(w.t, err)
	defer func() { _ = out.Body.Close() }()
	b, err := io.ReadAll(out.Body)
	must(w.t, err)
	return answer{t: w.t, what: method + " " + path, status: out.StatusCode, header: out.Header, body: b}
}

// is checks the status and reads the body into v.
func (a answer) is(status int, v any) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d: %s", a.what, a.status, status, a.body)
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			a.t.Fatalf("%s: %v in %s", a.what, err, a.body)
		}
	}
	return a
}

// isWritten checks that a PUT was taken, whether it created the resource or not.
func (a answer) isWritten(v any) answer {
	a.t.Helper()
	if a.status == http.StatusCreated {
		return a.is(http.StatusCreated, v)
	}
	return a.is(http.StatusOK, v)
}

// isProblem checks the one shape of errors, and that a fault stands at pointer (or is of
// the parameter, written "?name").
func (a answer) isProblem(status int, code, where string) oapi.Problem {
	a.t.Helper()
	var p oapi.Problem
	a.is(status, &p)
	if ct := a.header.Get("Content-Type"); ct != "application/problem+json" {
		a.t.Errorf("%s: content type %q", a.what, ct)
	}
	if int(p.Status) != status || p.Type == "" || p.Title == "" || p.RequestId == "" || p.RequestId != a.header.Get("X-Request-Id") {
		a.t.Errorf("%s: not a whole problem: %s", a.what, a.body)
	}
	if p.Code != code {
		a.t.Errorf("%s: code %q, want %q: %s", a.what, p.Code, code, a.body)
	}
	if where == "" {
		return p
	}
	for _, f := range deref(p.Errors) {
		if f.Pointer != nil && *f.Pointer == where || f.Parameter != nil && "?"+*f.Parameter == where {
			return p
		}
	}
	a.t.Errorf("%s: no fault at %s: %s", a.what, where, a.body)
	return p
}

func cluster(name string) string { return clusterWith(name, "1s") }

func clusterWith(name, timeout string) string {
	q, _ := json.Marshal(name)
	return fmt.Sprintf(`{"name": %s, "type": "EDS", "connect_timeout": %q, "eds_cluster_config": {"eds_config": {"ads": {}, "resource_api_version": "V3"}}}`, q, timeout)
}

func asDocument(body string) string { return `{"body": ` + body + `}` }

// put writes a cluster and returns the answer.
func (w *world) put(name string) oapi.WriteResult {
	w.t.Helper()
	var out oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "clusters", name), asDocument(cluster(name))).isWritten(&out)
	return out
}

// settledNode makes an xDS server report a node that runs a revision.
func (w *world) settledNode(f fleet.ID, node string, rev fleet.Revision) fleet.Status {
	w.t.Helper()
	s := w.nodes
	server := fleet.NewServerID()
	term, err := s.Lease(w.t.Context(), server, "test", time.Minute)
	must(w.t, err)
	status := fleet.Status{
		Key: fleet.Key{Tenant: w.tenant.ID, Fleet: f}, Server: server, Term: term, Settled: rev,
		Nodes: []fleet.NodeStatus{{Node: node, Connected: true, Since: time.Now(), Protocol: "delta ADS", Streams: 1, UserAgent: "envoy", Version: "1.40.0"}},
	}
	must(w.t, s.Report(w.t.Context(), status))
	return status
}

// refusingNode makes an xDS server report a node that refuses something.
func (w *world) refusingNode(f fleet.ID, node string, refusals ...fleet.Refusal) {
	w.t.Helper()
	status := w.settledNode(f, node, 1)
	for i := range refusals {
		refusals[i].Node = node
	}
	status.Refusals = refusals
	must(w.t, w.nodes.Report(w.t.Context(), status))
}
