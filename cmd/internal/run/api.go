package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"fairlead/internal/door"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/store"
	"fairlead/internal/traces"
)

// APIConfig is what the API server needs besides an open port.
type APIConfig struct {
	DatabaseURL   string `name:"database-url" env:"FAIRLEAD_DATABASE_URL" xor:"database" required:"" placeholder:"URL" help:"Postgres, as the role fairlead_app or a member of it."`
	SealPublicKey string `name:"seal-public-key" env:"FAIRLEAD_SEAL_PUBLIC_KEY" required:"" type:"path" placeholder:"FILE" help:"Public key that seals Secrets (api keys makes it)."`
	VersionKey    string `name:"version-key" env:"FAIRLEAD_VERSION_KEY" required:"" type:"path" placeholder:"FILE" help:"Key of the versions of Secrets, the same on every API server."`
	CellsFile
	LeastLoad
	Database
	Unauthenticated
	Metrics *metrics.Registry `kong:"-"` // nil: nobody is told
	Traces  *traces.Tracer    `kong:"-"` // nil: no revision is traced
	Waits   *Waits            `kong:"-"` // is told why the server waits for its database; nil: nobody

	PublicURL string `name:"public-url" env:"FAIRLEAD_PUBLIC_URL" placeholder:"URL" help:"Where browsers reach the page, such as https://fairlead.example.com: needed behind a proxy that ends TLS or passes on another Host. Sessions, and which page may change something, go by it; without it by each request."`
	AuditCollectors

	GuardLogPaths []string `name:"guard-log-paths" env:"FAIRLEAD_GUARD_LOG_PATHS" default:"/var/log/envoy/,/dev/stdout,/dev/stderr,/dev/null" placeholder:"PATH" help:"Where every role may let a proxy write logs: a folder ends with a slash, all else is a file (default: ${default})."`
	GuardRules    []string `name:"guard" env:"FAIRLEAD_GUARD" placeholder:"RULE=ROLE" help:"Least role that may write what a guard rule names, where it is not to be the default: ci, editor, admin, owner or nobody, for instance code=nobody (docs/guard.md has the rules)."`
}

// API is the REST server of a process: of one database, or of several cells.
type API struct {
	cells   []*apiCell
	several *httpapi.Cells // nil: one database
	apart   apart          // of several
	process *httpapi.Process
	log     *slog.Logger
	limits  door.Limits
}

// NewAPI reads the keys and opens the database, waiting for it until ctx ends; of several cells one at least.
func NewAPI(ctx context.Context, cfg APIConfig, log *slog.Logger) (*API, error) {
	cells, err := cfg.Cells(cfg.Database)
	if err != nil {
		return nil, err
	}
	if cells == nil {
		err = cfg.CheckURL(URLSetting(""), cfg.DatabaseURL)
	} else if cfg.DatabaseURL != "" {
		err = fmt.Errorf("--cells-file and --database-url: each cell has its URL in the file, give one of both: %w", fleet.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard()
	}
	like, err := cfg.cell(log)
	if err != nil {
		return nil, err
	}
	a := &API{process: httpapi.NewProcess(cfg.Metrics.Requests), log: log, limits: cfg.limits(httpIdle)}
	like.config.Process = a.process
	if cells == nil {
		a.cells = []*apiCell{like.of(Cell{DatabaseURL: cfg.DatabaseURL}, cfg.Metrics, log)}
		return a, a.cells[0].open(ctx, openStore)
	}
	var names []string
	for _, c := range cells {
		a.cells, names = append(a.cells, like.of(c, cfg.Metrics.Cell(c.Name), log.With("cell", c.Name))), append(names, c.Name)
	}
	a.several = httpapi.NewCells(a.process, log, names...)
	return a, a.openOne(ctx)
}

// Close gives the database connections back.
func (a *API) Close() {
	for _, c := range a.cells {
		if c.store != nil {
			c.store.Close()
		}
	}
}

// Ready tells why the server is not ready, in words that anybody may read; a *PartlyReady names the cells that are not.
func (a *API) Ready(ctx context.Context) error {
	if a.several != nil {
		without, err := a.several.Standing(ctx)
		if err == nil && without != "" {
			err = &PartlyReady{strings.TrimSuffix(without, "\n")}
		}
		return err
	}
	err := a.cells[0].ready(ctx)
	var why httpapi.NotReady
	switch {
	case err == nil:
		return nil
	case errors.As(err, &why):
		return why
	}
	return errNoAnswer
}

// errNoAnswer has no words of the database's.
var errNoAnswer = fmt.Errorf("the database does not answer: %w", fleet.ErrUnavailable)

// Store is the server's store, of one database.
func (a *API) Store() *store.Store { return a.cells[0].store }

// Components serve the API on lis, with TLS unless conf is nil.
func (a *API) Components(lis net.Listener, conf *tls.Config) []lifecycle.Component {
	var cs []lifecycle.Component
	if a.several == nil {
		cs = a.cells[0].components()
	}
	for _, c := range a.cells {
		if a.several != nil {
			cs = append(cs, lifecycle.Component{Name: "cell " + c.name, StopTimeout: time.Minute, Run: func(ctx context.Context) error { return a.runCell(ctx, c) }})
		}
	}
	return append(cs,
		lifecycle.Component{Name: "collector", Run: func(ctx context.Context) error { return a.process.TellLarge(ctx, theCollector().computing) }},
		lifecycle.Component{Name: "api", StopTimeout: 20 * time.Second, Run: func(ctx context.Context) error {
			return a.serve(ctx, lis, conf)
		}},
	)
}

// handler answers requests; drain ends those that wait.
func (a *API) handler() (h http.Handler, drain func()) {
	if a.several != nil {
		return a.several, a.several.Drain
	}
	return a.cells[0].handler.Handler(), a.cells[0].handler.Drain
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
	h, drain := a.handler()
	srv := httpServer(h, d)
	lis = d.Listener(lis)
	if conf != nil {
		lis = tls.NewListener(lis, conf)
	}
	served := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		served <- lifecycle.Contain(a.log, "the end of the API", func() error {
			drain()
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
