package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/load"
	"fairlead/internal/metrics"
	"fairlead/internal/seal"
	"fairlead/internal/traces"
	"fairlead/internal/xds"
)

// XDSConfig is what the xDS server needs besides an open port.
type XDSConfig struct {
	DatabaseURL    string        `name:"database-url" env:"FAIRLEAD_DATABASE_URL" xor:"database" required:"" placeholder:"URL" help:"Postgres, as the role fairlead_node or a member of it."`
	ListenURL      string        `name:"listen-database-url" env:"FAIRLEAD_LISTEN_DATABASE_URL" placeholder:"URL" help:"A direct way to the same Postgres for LISTEN, where --database-url goes through a transaction pooler."`
	ReadURL        string        `name:"read-database-url" env:"FAIRLEAD_READ_DATABASE_URL" placeholder:"URL" help:"A hot standby of that Postgres, or several, of which fleets are read, as the same role. What it does not have in time is read from --database-url."`
	Wakeup         string        `name:"wakeup" env:"FAIRLEAD_WAKEUP" enum:"notify,poll" default:"notify" help:"How changes are heard of: notify (and poll all the same), or poll alone."`
	Poll           time.Duration `name:"poll" env:"FAIRLEAD_POLL" default:"2s" help:"How often the fleets' heads are looked at."`
	SealPrivateKey string        `name:"seal-private-key" env:"FAIRLEAD_SEAL_PRIVATE_KEY" required:"" type:"path" placeholder:"FILE" help:"Private key that opens Secrets."`
	Drain          time.Duration `name:"drain" env:"FAIRLEAD_DRAIN" default:"5s" help:"Time over which a stopping server ends its streams."`
	MaxAge         time.Duration `name:"max-connection-age" env:"FAIRLEAD_MAX_CONNECTION_AGE" default:"30m" help:"Age at which a client's connection is closed, so that clients spread over the servers again; 0 for never. They come back within a second and are sent nothing again."`
	AgeGrace       time.Duration `name:"max-connection-age-grace" env:"FAIRLEAD_MAX_CONNECTION_AGE_GRACE" default:"30s" help:"Time over which the streams of connections of that age end."`
	MaxRequest     int           `name:"max-request-bytes" env:"FAIRLEAD_MAX_REQUEST_BYTES" default:"67108864" help:"Largest request of a client. An Envoy that comes back reports all names that it has of a type in one."`
	Streams        int           `name:"max-streams" env:"FAIRLEAD_MAX_STREAMS" default:"20000" help:"Streams that this server serves at the same time. A proxy with aggregated discovery has one."`
	TenantStreams  int           `name:"max-streams-per-tenant" env:"FAIRLEAD_MAX_STREAMS_PER_TENANT" help:"Of them, those of one tenant; half by default."`
	TokenStreams   int           `name:"max-streams-per-credential" env:"FAIRLEAD_MAX_STREAMS_PER_CREDENTIAL" help:"Of them, those of one node token; half by default."`
	LoadInterval   time.Duration `name:"load-report-interval" env:"FAIRLEAD_LOAD_REPORT_INTERVAL" default:"10s" help:"How often proxies that report their load are to do so, 1s to 1m, unless their fleet says how often."`
	Name           string        `name:"name" env:"FAIRLEAD_NAME" help:"The server's name for people; the host's by default."`
	CellsFile
	LeastLoad
	Database
	Unauthenticated
	Metrics *metrics.Registry `kong:"-"` // nil: nobody is told
	Traces  *traces.Tracer    `kong:"-"` // nil: no revision is traced
	Waits   *Waits            `kong:"-"` // is told why the server waits for its database; nil: nobody

	Reflection   bool `name:"reflection" env:"FAIRLEAD_REFLECTION" help:"Serve gRPC server reflection, to clients with a node token."`
	AllowProxied bool `name:"allow-proxied" env:"FAIRLEAD_ALLOW_PROXIED" help:"Let calls in that a proxy on the way has routed, as its headers say: for a load balancer of HTTP before this server. Without it they are refused, since they may speak with that proxy's credential."`
}

// XDS is the xDS server of a process.
type XDS struct {
	cfg XDSConfig
	log *slog.Logger
	in  databases
}

// databases are what an xDS server serves from: one, or several.
type databases interface {
	xds.Authenticator
	xds.Source
	Denied(id xds.Identity, reason fleet.DeniedReason, node, address, note string)
	addLoad(id xds.Identity, r load.Report, interval time.Duration)
	loadSettings(ctx context.Context, id xds.Identity) *fleet.LoadSettings
	state(ctx context.Context) error // why nobody can be served; a *PartlyReady: who cannot
	components() []lifecycle.Component
	close()
}

// NewXDS reads the key, and opens the database, waiting for it until ctx ends. Of several databases none is waited for,
// and no two may be one.
func NewXDS(ctx context.Context, cfg XDSConfig, log *slog.Logger) (*XDS, error) {
	cells, err := cfg.cells()
	if err != nil {
		return nil, err
	}
	if cfg.LoadInterval == 0 {
		cfg.LoadInterval = 10 * time.Second
	}
	if cfg.LoadInterval < time.Second || cfg.LoadInterval > time.Minute {
		return nil, fmt.Errorf("--load-report-interval is %s: give 1s to 1m: %w", cfg.LoadInterval, fleet.ErrInvalid)
	}
	if cfg.LeastLoad.Interval, err = cfg.least(); err != nil {
		return nil, err
	}
	private, err := seal.LoadPrivate(cfg.SealPrivateKey)
	if err != nil {
		return nil, fmt.Errorf("--seal-private-key (FAIRLEAD_SEAL_PRIVATE_KEY): %w", err)
	}
	opener, err := seal.NewOpener(private)
	if err != nil {
		return nil, err
	}
	if cfg.Name == "" {
		if cfg.Name, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("find the host's name (--name gives another): %w", err)
		}
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard()
	}
	x := &XDS{cfg: cfg, log: log}
	if len(cells) > 0 {
		in := newXDSCells(cfg, cells, opener, log)
		x.in = in
		return x, in.apart.checkAll(ctx, in.cells)
	}
	if x.in, err = openStack(ctx, cfg, stackOf{opener: opener, server: fleet.NewServerID(), metrics: cfg.Metrics}, log); err != nil {
		return nil, err
	}
	return x, nil
}

// cells checks how the databases are reached, and returns several of them; nil: there is one.
func (cfg XDSConfig) cells() ([]Cell, error) {
	if cfg.CellsFile.File == "" {
		return nil, cfg.checkURLs()
	}
	for flag, url := range map[string]string{"--listen-database-url": cfg.ListenURL, "--read-database-url": cfg.ReadURL} {
		if url != "" {
			return nil, fmt.Errorf("%s goes with --database-url: of cells it stands in --cells-file, as listen_database_url and read_database_url: %w", flag, fleet.ErrInvalid)
		}
	}
	return cfg.CellsFile.Cells(cfg.Database)
}

func (cfg XDSConfig) checkURLs() error {
	if err := cfg.CheckURL(URLSetting(""), cfg.DatabaseURL); err != nil {
		return err
	}
	for _, also := range []struct{ flag, url string }{{"--listen-database-url", cfg.ListenURL}, {"--read-database-url", cfg.ReadURL}} {
		if also.url == "" {
			continue
		}
		if err := cfg.CheckURL(also.flag, also.url); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the database connections back.
func (x *XDS) Close() { x.in.close() }

// Ready tells why the server is not ready: it is as soon as the fleets' heads were read
// once, whether or not the database can be reached now. Of several databases one is enough; a *PartlyReady names those that do not answer.
func (x *XDS) Ready(ctx context.Context) error { return x.in.state(ctx) }

// Port is one port that the server listens on.
type Port struct {
	Listener net.Listener
	TLS      *tls.Config // nil: plaintext
	// Anonymous is whom every client speaks for that connects here; nil: its token tells.
	Anonymous *xds.Identity
	// RESTOnly serves polls over REST, and no gRPC. Other ports serve both.
	RESTOnly bool
}

// Components serve xDS on the ports.
func (x *XDS) Components(ports ...Port) []lifecycle.Component {
	cs := x.in.components()
	for _, p := range ports {
		cs = append(cs, x.Serve(p))
	}
	return cs
}

// Serve is the component of one more port; the others of Components must run.
func (x *XDS) Serve(p Port) lifecycle.Component {
	return lifecycle.Component{
		Name: "xds " + p.Listener.Addr().String(), StopTimeout: x.cfg.Drain + 10*time.Second,
		Run: func(ctx context.Context) error { return x.serve(ctx, p) },
	}
}

// server is what answers on a port.
type server struct {
	*xds.Server
	grpc  *grpc.Server
	drain time.Duration
	log   *slog.Logger
}

func (x *XDS) server(p Port) (server, error) {
	srv, err := xds.New(xds.Config{
		Authenticator: x.in, Anonymous: p.Anonymous, Source: x.in, Denied: x.in.Denied, Logger: x.log, DrainSpread: x.cfg.Drain,
		MaxAge: x.cfg.MaxAge, AgeGrace: x.cfg.AgeGrace, TLS: p.TLS, Reflection: x.cfg.Reflection, AllowProxied: x.cfg.AllowProxied, RESTOnly: p.RESTOnly, Crowd: theCollector().crowd,
		Metrics: x.cfg.Metrics.Streams, Traces: x.cfg.Traces, Load: xds.LoadReports{Add: x.in.addLoad, Metrics: x.cfg.Metrics.Loads, Interval: x.cfg.LoadInterval, Least: x.cfg.LeastLoad.Interval, Settings: x.in.loadSettings},
		Limits: xds.Limits{Message: x.cfg.MaxRequest, Unauthenticated: x.cfg.Unauthenticated.Most, UnauthenticatedPerAddress: x.cfg.Unauthenticated.PerAddress,
			Reports: x.cfg.Streams, ReportsPerTenant: x.cfg.TenantStreams, ReportsPerCredential: x.cfg.TokenStreams},
	})
	if err != nil {
		return server{}, err
	}
	x.cfg.Metrics.Streams.Watch(srv.Planned)
	return server{srv, srv.NewGRPC(), x.cfg.Drain, x.log}, nil
}

func (x *XDS) serve(ctx context.Context, p Port) error {
	srv, err := x.server(p)
	if err != nil {
		return err
	}
	return srv.serve(ctx, p.Listener)
}

// serve answers streams and polls until ctx ends.
func (s server) serve(ctx context.Context, lis net.Listener) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.ServeREST(ctx) })
	g.Go(func() error { return s.serveGRPC(ctx, lis) })
	return g.Wait()
}

// serveGRPC answers streams until ctx ends. Then it takes no new ones, ends those that
// there are with OK, one after the other, and goes when all are gone.
func (s server) serveGRPC(ctx context.Context, lis net.Listener) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = lifecycle.Contain(s.log, "the end of the xDS server", func() error {
			s.Drain()
			backstop := time.AfterFunc(s.drain+2*time.Second, s.grpc.Stop)
			defer backstop.Stop()
			s.grpc.GracefulStop()
			return nil
		})
	})
	err := s.grpc.Serve(s.Listener(lis))
	if stop() {
		return fmt.Errorf("serve xDS: %w", err)
	}
	<-stopped
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("stop xDS: %w", err)
	}
	return nil
}
