package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/door"
	"fairlead/internal/endpoints"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/traces"
	"fairlead/web"
)

// APIConfig is what the API server needs besides an open port.
type APIConfig struct {
	DatabaseURL   string `name:"database-url" env:"FAIRLEAD_DATABASE_URL" required:"" placeholder:"URL" help:"Postgres, as the role fairlead_app or a member of it."`
	SealPublicKey string `name:"seal-public-key" env:"FAIRLEAD_SEAL_PUBLIC_KEY" required:"" type:"path" placeholder:"FILE" help:"Public key that seals Secrets (api keys makes it)."`
	VersionKey    string `name:"version-key" env:"FAIRLEAD_VERSION_KEY" required:"" type:"path" placeholder:"FILE" help:"Key of the versions of Secrets, the same on every API server."`
	LeastLoad
	Database
	Unauthenticated
	Metrics *metrics.Registry `kong:"-"` // nil: nobody is told
	Traces  *traces.Tracer    `kong:"-"` // nil: no revision is traced

	PublicURL string `name:"public-url" env:"FAIRLEAD_PUBLIC_URL" placeholder:"URL" help:"Where browsers reach the page, such as https://fairlead.example.com: needed behind a proxy that ends TLS or passes on another Host. Sessions, and which page may change something, go by it; without it by each request."`
	AuditCollectors

	GuardLogPaths []string `name:"guard-log-paths" env:"FAIRLEAD_GUARD_LOG_PATHS" default:"/var/log/envoy/,/dev/stdout,/dev/stderr,/dev/null" placeholder:"PATH" help:"Where every role may let a proxy write logs: a folder ends with a slash, all else is a file (default: ${default})."`
	GuardRules    []string `name:"guard" env:"FAIRLEAD_GUARD" placeholder:"RULE=ROLE" help:"Least role that may write what a guard rule names, where it is not to be the default: ci, editor, admin, owner or nobody, for instance code=nobody (docs/guard.md has the rules)."`
}

// API is the REST server of a process.
type API struct {
	handler  *httpapi.API
	store    *store.Store
	notifier *store.Notifier
	signer   audit.Signer
	sinks    []sink // of the audit
	log      *slog.Logger
	limits   door.Limits
	sealKey  string // the id of the key that seals Secrets
	metrics  *metrics.Registry
}

// NewAPI opens the database, waiting for it until ctx ends, and reads the keys.
func NewAPI(ctx context.Context, cfg APIConfig, log *slog.Logger) (*API, error) {
	if err := cfg.CheckURL("--database-url", cfg.DatabaseURL); err != nil {
		return nil, err
	}
	guard, err := write.ParseGuard(cfg.GuardRules)
	if err != nil {
		return nil, err
	}
	least, err := cfg.least()
	if err != nil {
		return nil, err
	}
	public, err := httpapi.ParsePublicURL(cfg.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("--public-url: %w", err)
	}
	if err := resource.CheckLogPaths(cfg.GuardLogPaths); err != nil {
		return nil, err
	}
	sealKey, err := seal.LoadPublic(cfg.SealPublicKey)
	if err != nil {
		return nil, err
	}
	sealer, err := seal.NewSealer(sealKey)
	if err != nil {
		return nil, err
	}
	versionKey, err := seal.LoadVersion(cfg.VersionKey)
	if err != nil {
		return nil, err
	}
	sinks, err := cfg.sinks()
	if err != nil {
		return nil, err
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard()
	}
	a := &API{log: log, metrics: cfg.Metrics, sealKey: sealer.KeyID(), limits: cfg.limits(httpIdle), signer: audit.NewSigner(versionKey), sinks: sinks, notifier: store.NewNotifier(store.NotifierConfig{URL: cfg.DatabaseURL, Logger: log, Lost: func(err error) {
		log.Warn("the NOTIFY connection is lost: servers find changes by polling", "reason", err)
	}})}
	a.store, err = openStore(ctx, store.Config{URL: cfg.DatabaseURL, Role: "fairlead_app", Bell: a.notifier, Logger: log, Metrics: cfg.Metrics.Database(metrics.API), Traces: cfg.Traces}, log)
	if err != nil {
		return nil, err
	}
	a.handler, err = httpapi.New(httpapi.Config{
		Store: a.store, Compiler: resource.NewCompiler(resource.Config{VersionKey: versionKey, LogPaths: cfg.GuardLogPaths}),
		Sealer: sealer, Ready: a.ready, Guard: guard, Public: public, Logger: log, Page: web.Handler(), Metrics: cfg.Metrics.Requests, Traces: cfg.Traces, LeastLoad: least,
	})
	if err != nil {
		a.store.Close()
		return nil, err
	}
	if err := a.ready(ctx); err != nil { // it may come right without a restart
		log.Error("the API server is not ready", "reason", err)
	}
	return a, nil
}

// Close gives the database connections back.
func (a *API) Close() { a.store.Close() }

// Ready tells why the server is not ready, in words that anybody may read.
func (a *API) Ready(ctx context.Context) error {
	err := a.ready(ctx)
	var why httpapi.NotReady
	if err == nil || errors.As(err, &why) {
		return err
	}
	return errNoAnswer
}

// errNoAnswer has no words of the database's.
var errNoAnswer = fmt.Errorf("the database does not answer: %w", fleet.ErrUnavailable)

// Store is the server's store.
func (a *API) Store() *store.Store { return a.store }

// Components serve the API on lis, with TLS unless conf is nil.
func (a *API) Components(lis net.Listener, conf *tls.Config) []lifecycle.Component {
	cs := []lifecycle.Component{
		{Name: "notifier", Run: a.notifier.Run},
		{Name: "compactor", Run: compactor{a.store, a.log}.run},
		{Name: "sweeper", Run: sweeper{a.store, a.log}.run},
		{Name: "load sweeper", Run: loadSweeper{a.store, a.log}.run},
		{Name: "refusal ends", Run: refusalEnds{a.store, a.log}.run},
		{Name: "analyzer", Run: analyzer{a.store, a.log}.run},
		{Name: "endpoints", Run: endpoints.NewBuilder(a.store, a.log).Run},
		{Name: "auditor", Run: auditor{a.store, a.signer, a.log}.run},
		{Name: "token ends", Run: tokenEnds{a.store, a.metrics.Requests.OperatorTokensEnd, a.log}.run},
		{Name: "collector", Run: func(ctx context.Context) error { return a.handler.TellLarge(ctx, theCollector().computing) }},
		{Name: "denials", Run: denials{a.handler, a.log}.run}, // before the API: it ends after it
		{Name: "api", StopTimeout: 20 * time.Second, Run: func(ctx context.Context) error {
			return a.serve(ctx, lis, conf)
		}},
	}
	for _, s := range a.sinks {
		cs = append([]lifecycle.Component{{Name: "the audit to " + s.Name(), Run: newForwarder(a.store, s, a.log, a.metrics.Audit).run}}, cs...)
	}
	return cs
}

// httpIdle is how long a connection may be without a request on which none was authenticated. A browser opens a new one where it finds
// one closed.
const httpIdle = 10 * time.Second

// httpServer bounds what a request may take before anybody knows whose it is. HTTP/2 is not served, and what can be done with its frames.
func httpServer(h http.Handler, d *door.Door) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      90 * time.Second, // a receipt is waited for up to 60 s
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		Protocols:         &protocols,
	}
	d.Serve(srv)
	return srv
}

// serve answers requests until ctx ends, then finishes those under way: long polls are
// answered at once with what there is.
func (a *API) serve(ctx context.Context, lis net.Listener, conf *tls.Config) error {
	d := door.New(a.limits, door.NewLog(a.log))
	srv := httpServer(a.handler.Handler(), d)
	lis = d.Listener(lis)
	if conf != nil {
		lis = tls.NewListener(lis, conf)
	}
	served := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		served <- lifecycle.Contain(a.log, "the end of the API", func() error {
			a.handler.Drain()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
			defer cancel()
			return srv.Shutdown(end)
		})
	})
	err := srv.Serve(lis)
	if stop() {
		return fmt.Errorf("serve the API: %w", err)
	}
	if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("stop the API: %w", err)
	}
	return nil
}
