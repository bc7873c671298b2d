package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"fairlead/internal/compute"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/metrics"
	"fairlead/internal/reference"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/traces"
)

// Config is what an API needs. All but Page, Guard, Public, Ready and Metrics is required.
type Config struct {
	Store    *store.Store
	Compiler *resource.Compiler
	Sealer   *seal.Sealer // public half: what the API stores it cannot read back
	Logger   *slog.Logger // no token and no body is ever given to it
	Page     http.Handler // what is at "/", with its files; nil: nothing
	Guard    write.Guard  // nil: DefaultGuard
	Public   PublicURL    // where browsers reach the API
	// Ready tells whether the process can serve; nil: whether the database answers.
	Ready   func(context.Context) error
	Metrics *metrics.Requests // nil: nobody is told
	Process *Process          // nil: this API is the only one of its process
	Traces  *traces.Tracer    // nil: no revision is traced
	// LeastLoad is the shortest interval of load reports that a fleet may have; 0: 1s.
	LeastLoad time.Duration
}

// API is the REST API. It is safe for concurrent use and starts no goroutine.
type API struct {
	*Process
	cells    *Cells // of which this is one; nil: it has no others
	store    *store.Store
	compiler *resource.Compiler
	sealer   *seal.Sealer
	guard    write.Guard
	log      *slog.Logger
	ready    func(context.Context) error
	tokens   compute.Shared[fleet.CredentialID, store.Token]
	tenants  compute.Shared[tenantKey, store.Tenant]
	fleets   compute.Shared[fleetKey, tenantAndFleet]
	public   PublicURL
	metrics  *metrics.Requests
	traces   *traces.Tracer

	leastLoad time.Duration // see Config

	operations map[string]operation
	receipts   *live.Receipts
	tail       *live.Tail    // of events
	heartbeat  time.Duration // of a stream of events
	liveBeat   time.Duration // of a stream that tells what has changed
	denied     *access.Denials

	comparisons *access.Denials // that the audit is to be told of
	checks      compute.Flights[findingsOf, read.Checked]
	router      *chi.Mux

	drainOnce sync.Once
	draining  chan struct{}
	finishing time.Duration
	finishBy  time.Time // set before draining is closed
}

var _ oapi.CalledServerInterface[*call] = (*API)(nil)

// New builds the API. It is an error when an operation of the contract has no rule.
func New(c Config) (*API, error) {
	if c.Store == nil || c.Compiler == nil || c.Sealer == nil || c.Logger == nil {
		return nil, fmt.Errorf("new API: store, compiler, sealer and logger are needed: %w", fleet.ErrInvalid)
	}
	if c.Ready == nil {
		c.Ready = c.Store.Ping
	}
	if c.Guard == nil {
		c.Guard = write.DefaultGuard()
	}
	if c.Metrics == nil {
		c.Metrics = metrics.Discard().Requests
	}
	if c.Process == nil {
		c.Process = NewProcess(c.Metrics)
	}
	k, err := theContract()
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	a := &API{
		Process: c.Process, store: c.Store, compiler: c.Compiler, sealer: c.Sealer, guard: c.Guard, log: ofRequests(c.Logger), traces: c.Traces, ready: c.Ready, operations: k.operations,
		draining: make(chan struct{}), public: c.Public, metrics: c.Metrics,
		leastLoad: max(c.LeastLoad, time.Second),
	}
	a.receipts = live.NewReceipts(func(ctx context.Context, k fleet.Key, rev fleet.Revision) (fleet.Receipt, error) {
		return c.Store.Receipt(ctx, k.Tenant, k.Fleet, rev)
	})
	a.tail, a.heartbeat, a.liveBeat = live.New(c.Store, time.Now), streamHeartbeat, liveHeartbeat
	a.denied, a.comparisons = access.NewDenials(time.Now, &a.denials), access.NewDenials(time.Now, &a.denials)
	a.finishing = finishing
	a.router = a.routes(k, c.Page)
	return a, nil
}

// Handler returns the one handler of the API, the health checks and the page.
func (a *API) Handler() http.Handler { return a.router }

// Drain ends the waiting of long polls, each of which answers at once with what it knows, and streams, and after some
// seconds what is still computed. Call it when the server begins to stop (http.Server.RegisterOnShutdown).
func (a *API) Drain() {
	a.drainOnce.Do(func() {
		a.finishBy = time.Now().Add(a.finishing)
		close(a.draining)
	})
}

func (a *API) routes(k *contract, page http.Handler) *chi.Mux {
	r := chi.NewRouter()
	r.Use(rawPath, a.public.strictTransport, logged(a.log), a.measured, contained(a.log), headAsGet)
	r.NotFound(notFound(page))
	r.MethodNotAllowed(methodNotAllowed(r))
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	r.Get("/readyz", a.readiness)
	r.Get("/openapi.yaml", k.serveDocument)
	for _, path := range reference.Paths() {
		r.Get(path, k.servePage)
	}
	if page != nil {
		for _, path := range pagePaths {
			r.Method(http.MethodGet, path, page)
		}
	}
	strict := oapi.NewStrictHandlerWithOptions(oapi.Called(a, callIn), nil, oapi.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  func(w http.ResponseWriter, r *http.Request, err error) { fail(w, r, unreadable(r, err)) },
		ResponseErrorHandlerFunc: fail,
	})
	oapi.HandlerWithOptions(strict, oapi.ChiServerOptions{
		BaseRouter:       r.With(noStore, a.authenticated, a.paced, a.authorized, a.inTurn, a.known, a.latest, a.body, a.checked(k.validate)),
		ErrorHandlerFunc: unbound,
	})
	return r
}

// pagePaths are the page's files and addresses.
var pagePaths = []string{"/assets/*", "/icon.svg", "/", "/fleets/*", "/settings", "/audit", "/operator"}

// noStore keeps what is behind a token out of every cache.
func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (a *API) readiness(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), databasePatience)
	defer cancel()
	if a.cells != nil {
		a.cells.readiness(ctx, w, note(r))
		return
	}
	if err := a.ready(ctx); err != nil {
		note(r).err = err
		text := "not ready\n"
		var why NotReady
		if errors.As(err, &why) {
			text = "not ready: " + string(why) + "\n"
		}
		plain(w, http.StatusServiceUnavailable, text)
		return
	}
	plain(w, http.StatusOK, "ready\n")
}

// NotReady is why the server is not ready, in words that anybody may read.
type NotReady string

func (n NotReady) Error() string { return string(n) }

func plain(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
