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

	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/load"
	"fairlead/internal/metrics"
	"fairlead/internal/replica"
	"fairlead/internal/seal"
	"fairlead/internal/store"
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

	Reflection   bool `name:"reflection" env:"FAIRLEAD_REFLECTION" help:"Serve gRPC server reflection, to clients with a node token."`
	AllowProxied bool `name:"allow-proxied" env:"FAIRLEAD_ALLOW_PROXIED" help:"Let calls in that a proxy on the way has routed, as its headers say: for a load balancer of HTTP before this server. Without it they are refused, since they may speak with that proxy's credential."`
}

// XDS is the xDS server of a process.
type XDS struct {
	cfg      XDSConfig
	log      *slog.Logger
	store    *store.Store
	standby  *store.Standby  // nil: there is none
	listener *store.Listener // nil: poll alone
	recorder *delivery.Recorder
	replica  *replica.Replica
	loads    *load.Recorder
	settings *loadSettings // of the fleets' load reports
	sealKey  string        // the id of the key that opens Secrets
}

// NewXDS opens the database, waiting for it until ctx ends, and reads the key.
func NewXDS(ctx context.Context, cfg XDSConfig, log *slog.Logger) (*XDS, error) {
	if err := cfg.checkURLs(); err != nil {
		return nil, err
	}
	if cfg.LoadInterval == 0 {
		cfg.LoadInterval = 10 * time.Second
	}
	if cfg.LoadInterval < time.Second || cfg.LoadInterval > time.Minute {
		return nil, fmt.Errorf("--load-report-interval is %s: give 1s to 1m: %w", cfg.LoadInterval, fleet.ErrInvalid)
	}
	var err error
	if cfg.LeastLoad.Interval, err = cfg.least(); err != nil {
		return nil, err
	}
	private, err := seal.LoadPrivate(cfg.SealPrivateKey)
	if err != nil {
		return nil, err
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
	x := &XDS{cfg: cfg, log: log, loads: load.New(load.Bounds{})}
	x.store, err = openStore(ctx, store.Config{URL: cfg.DatabaseURL, Role: "fairlead_node", Logger: log, Metrics: cfg.Metrics.Database(metrics.XDS)}, log)
	if err != nil {
		return nil, err
	}
	if cfg.ReadURL != "" {
		x.standby = store.NewStandby(ctx, x.store, store.StandbyConfig{URL: cfg.ReadURL, Metrics: cfg.Metrics.Standby, Logger: log})
	}
	x.settings = &loadSettings{store: x.store, every: cfg.LoadInterval, log: log}
	x.sealKey = opener.KeyID()
	if err = x.mustHaveTheKey(ctx); err == nil {
		err = x.wire(opener)
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	x.cfg.Metrics.Delivery.Watch(x.recorder.State)
	x.cfg.Metrics.Held.Watch(x.held)
	return x, nil
}

// mustHaveTheKey refuses to start beside servers that open Secrets with another key: it could open none of what they open. A server that stands
// alone is believed, and so is one that the database does not answer: it has to come up in an outage too.
func (x *XDS) mustHaveTheKey(ctx context.Context) error {
	keys, err := x.store.ServerKeys(ctx)
	if errors.Is(err, fleet.ErrUnavailable) {
		x.log.Warn("the sealing keys of other xDS servers are not known", "reason", err)
		return nil
	}
	if err != nil || hasKey(keys, x.sealKey) {
		return err
	}
	return fmt.Errorf("%s holds the sealing key %s, and the other xDS servers have another one, %s: give all of them the same file, or stop those first: %w",
		x.cfg.SealPrivateKey, x.sealKey, keysText(keys), fleet.ErrConflict)
}

func (cfg XDSConfig) checkURLs() error {
	if err := cfg.CheckURL("--database-url", cfg.DatabaseURL); err != nil {
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

// feed is where fleets are read.
func (x *XDS) feed() replica.Feed {
	if x.standby != nil {
		return x.standby
	}
	return x.store
}

func (x *XDS) wire(opener *seal.Opener) (err error) {
	x.recorder, err = delivery.New(delivery.Config{Server: fleet.NewServerID(), Name: x.cfg.Name, Sink: leased{x.store, x.load}, Logger: x.log, Metrics: x.cfg.Metrics.Delivery, Traces: x.cfg.Traces})
	if err != nil {
		return err
	}
	x.replica, err = replica.New(replica.Config{
		Feed: x.feed(), Opener: unseal{opener}, Recorder: x.recorder, Poll: x.cfg.Poll, Logger: x.log,
		Streams: x.cfg.Streams, StreamsPerTenant: x.cfg.TenantStreams, StreamsPerCredential: x.cfg.TokenStreams,
		Metrics: x.cfg.Metrics.Held, Traces: x.cfg.Traces,
	})
	if err != nil || x.cfg.Wakeup == "poll" {
		return err
	}
	url := x.cfg.ListenURL
	if url == "" {
		url = x.cfg.DatabaseURL
	}
	x.listener = store.NewListener(store.ListenerConfig{URL: url, Wake: x.wake, Logger: x.log, Lost: func(err error) {
		x.log.Warn("the listening connection is lost: changes are found by polling", "reason", err)
	}})
	return nil
}

// wake is told by the listener which fleet has moved; all: any may have.
func (x *XDS) wake(f fleet.ID, all bool) {
	if !all {
		x.cfg.Metrics.Held.Notified()
	}
	x.replica.Wake(f, all)
}

// held is what metrics tell of the fleets.
func (x *XDS) held() metrics.HeldState {
	l := x.replica.Load()
	s := metrics.HeldState{Fleets: l.Fleets, Unconfirmed: l.Behind, ClockAhead: l.ClockAhead, Ends: l.Ends, MostStreams: x.cfg.Streams}
	if x.listener != nil {
		s.Listens, s.Heard = true, x.listener.Heard()
	}
	return s
}

// leased tells with each renewal of the server's lease what the server does.
type leased struct {
	*store.Store
	load func() store.ServerLoad
}

// Lease implements delivery.Sink.
func (l leased) Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) (fleet.Term, error) {
	return l.LeaseWith(ctx, id, name, ttl, l.load())
}

func (x *XDS) load() store.ServerLoad {
	l := x.replica.Load()
	return store.ServerLoad{Version: Version(), SealKey: x.sealKey, Streams: l.Streams, Fleets: l.Fleets, Behind: l.Behind}
}

// unseal opens Secrets in the place that they were sealed for.
type unseal struct{ opener *seal.Opener }

func (u unseal) Open(key fleet.Key, name, version string, sealed []byte) ([]byte, error) {
	return u.opener.Open(seal.Context{Tenant: key.Tenant, Fleet: key.Fleet, Name: name, Version: version}, sealed)
}

// Close gives the database connections back.
func (x *XDS) Close() {
	if x.standby != nil {
		x.standby.Close()
	}
	x.store.Close()
}

// Ready tells why the server is not ready: it is as soon as the fleets' heads were read
// once, whether or not the database can be reached now.
func (x *XDS) Ready(context.Context) error {
	if !x.replica.Ready() {
		return fmt.Errorf("the fleets' heads were not read yet: %w", fleet.ErrUnavailable)
	}
	return nil
}

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
	cs := []lifecycle.Component{
		{Name: "recorder", Run: x.recorder.Run},
		{Name: "replica", Run: x.replica.Run},
		{Name: "uses", Run: credentialUses{x.replica, x.store, x.log}.run},
		{Name: "denied", Run: deniedClients{x.replica, x.store, x.log}.run},          // it ends after the ports
		{Name: "loads", Run: loads{x.loads, x.store, x.cfg.LoadInterval, x.log}.run}, // likewise
		{Name: "load settings", Run: x.settings.run},
	}
	if x.listener != nil {
		cs = append(cs, lifecycle.Component{Name: "listener", Run: x.listener.Run})
	}
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
		Authenticator: x.replica, Anonymous: p.Anonymous, Source: x.replica, Denied: x.replica.Denied, Logger: x.log, DrainSpread: x.cfg.Drain,
		MaxAge: x.cfg.MaxAge, AgeGrace: x.cfg.AgeGrace, TLS: p.TLS, Reflection: x.cfg.Reflection, AllowProxied: x.cfg.AllowProxied, RESTOnly: p.RESTOnly, Crowd: theCollector().crowd,
		Metrics: x.cfg.Metrics.Streams, Traces: x.cfg.Traces, Load: xds.LoadReports{Recorder: x.loads, Metrics: x.cfg.Metrics.Loads, Interval: x.cfg.LoadInterval, Least: x.cfg.LeastLoad.Interval, Settings: x.settings.of},
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
