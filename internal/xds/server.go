package xds

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"

	"fairlead/internal/door"
	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/planner"
	"fairlead/internal/traces"
)

// Config is what a Server needs. Authenticator (or Anonymous) and Source are required.
type Config struct {
	Authenticator Authenticator
	// Anonymous, if set, is whom every client speaks for, whatever it sends: a listener
	// for gRPC clients that cannot send a token in the clear. For loopback only.
	Anonymous *Identity
	Source    Source
	Logger    *slog.Logger
	Limits    Limits
	// TLS is how the server proves itself; nil: plaintext.
	TLS *tls.Config
	// Reflection serves gRPC's server reflection, to whoever has a credential.
	Reflection bool
	// DrainSpread is the time over which Drain ends the streams. 0: at once.
	DrainSpread time.Duration
	// MaxAge is how old a connection gets, within a tenth of it: then its streams end with
	// OK, spread over AgeGrace, and its clients spread anew over the servers. 0: any age.
	MaxAge   time.Duration
	AgeGrace time.Duration
	// Denied, if set, is told of a client that is not let in for what it says of itself, or not given what it asks for. note is what it asks
	// for, a text that may be hostile.
	Denied func(id Identity, reason fleet.DeniedReason, node, address, note string)
	// AllowProxied lets calls in that a proxy on the way has routed: a load balancer before the server.
	AllowProxied bool
	// RESTOnly serves polls over REST, and no gRPC.
	RESTOnly bool
	// Load is what is done with load reports. Without its Add they are not served.
	Load LoadReports
	// Crowd, if set, is told when connections begin to come faster than they are taken in, and when none has had to
	// wait for ten seconds.
	Crowd func(here bool)
	// Metrics count what streams do; nil: nobody is told.
	Metrics *metrics.Streams
	// Traces, if set, names the traces of revisions, which the Source tells.
	Traces *traces.Tracer
}

// Limits bound what one stream may cost. Zero values become the defaults.
type Limits struct {
	FirstRequest time.Duration // how long a stream may be silent at first; 10 s
	// Opening is how many streams of one credential may be silent at first; 10,000.
	Opening int
	Write   time.Duration // how long a client may not read; 60 s
	// OpenedAfter is how long a new stream may take to say all that its client holds; until
	// then no cluster is taken away from it. 500 ms. Envoy says it all at once.
	OpenedAfter time.Duration
	// Names are how many names of one type a stream may subscribe to besides those that the fleet's content accounts for; 10,000. Of more it
	// is told that they do not exist.
	Names int
	// TenantNames is what such names of all streams of a tenant may take, in bytes; 512 MiB. Names that streams share count once.
	TenantNames int
	// Message is the most bytes of one request; 64 MiB. docs/servers.md has what Envoy needs.
	Message   int
	NameBytes int // of one name that a stream subscribes to; 512
	// Reports are how many streams of load reports there may be, of one tenant and of one credential; 20,000, and half of it.
	Reports, ReportsPerTenant, ReportsPerCredential int
	// Requests are how many a stream may send in a second, and Burst how many at once; 50
	// and 200. What comes faster waits unread. Answers to what was sent do not count. Requests that ask for other names than the one
	// before may come a hundred times as fast, so that no answer waits behind them. A hundred names that have to be looked at one by one
	// count as one more.
	Requests, Burst int
	// Lookups are how many names that nothing accounts for are looked up for a stream in a second, and LookupBurst how many at once; 200
	// and 1,000. Those that come faster wait, and nothing else does.
	Lookups, LookupBurst int
	// Receive is how long a message may take from its first byte to its last: then its
	// connection is closed. 30 s.
	Receive time.Duration
	// Unauthenticated are how many connections there may be on which no call has been
	// authenticated, and UnauthenticatedPerAddress how many of them from one address; 2,000
	// and 500. UnauthenticatedIdle is how long they may be without a call; 30 s.
	Unauthenticated, UnauthenticatedPerAddress int
	UnauthenticatedIdle                        time.Duration
	// UnauthenticatedCalls are how many without a good token are answered of one address in a second; 1,000. Of what comes faster the
	// answers wait.
	UnauthenticatedCalls int
	// UnauthenticatedEnds are how many connections of one address may end in a second without an authenticated call, ten times as many at
	// once; 50. More count as a flood of that address.
	UnauthenticatedEnds int
}

func (l Limits) withDefaults() Limits {
	if l.FirstRequest == 0 {
		l.FirstRequest = 10 * time.Second
	}
	if l.Opening == 0 {
		l.Opening = 10_000
	}
	if l.Write == 0 {
		l.Write = 60 * time.Second
	}
	if l.OpenedAfter == 0 {
		l.OpenedAfter = 500 * time.Millisecond
	}
	if l.Names == 0 {
		l.Names = 10_000
	}
	if l.TenantNames == 0 {
		l.TenantNames = 512 << 20
	}
	if l.Message == 0 {
		l.Message = 64 << 20
	}
	if l.NameBytes == 0 {
		l.NameBytes = 512
	}
	if l.Requests == 0 {
		l.Requests = 50
	}
	if l.Burst == 0 {
		l.Burst = 200
	}
	if l.Lookups == 0 {
		l.Lookups = 200
	}
	if l.LookupBurst == 0 {
		l.LookupBurst = 1000
	}
	if l.Reports == 0 {
		l.Reports = 20_000
	}
	if l.ReportsPerTenant == 0 {
		l.ReportsPerTenant = max(1, l.Reports/2)
	}
	if l.ReportsPerCredential == 0 {
		l.ReportsPerCredential = max(1, l.Reports/2)
	}
	return l.withDoorDefaults()
}

func (l Limits) withDoorDefaults() Limits {
	if l.Receive == 0 {
		l.Receive = 30 * time.Second
	}
	if l.Unauthenticated == 0 {
		l.Unauthenticated = 2000
	}
	if l.UnauthenticatedPerAddress == 0 {
		l.UnauthenticatedPerAddress = 500
	}
	if l.UnauthenticatedIdle == 0 {
		l.UnauthenticatedIdle = 30 * time.Second
	}
	if l.UnauthenticatedEnds == 0 {
		l.UnauthenticatedEnds = 50
	}
	return l
}

// Server speaks xDS. It has no state but its streams and what was worked out for them.
type Server struct {
	cfg   Config
	log   *slog.Logger
	drain chan struct{}
	// stop closes drain.
	stop     context.CancelFunc
	planner  *planner.Planner
	lists    lists
	streams  registry
	names    namesKept
	sessions sessions
	nodes    jsonNodes
	held     pollRoom // of polls
	reading  *readRoom
	answers  *pollAnswers
	web      *web
	entry    *door.Door
	arrivals *arrivals
	refusals refusals
	large    atomic.Int64 // bytes of the large messages that come
}

// New checks the configuration.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Source == nil:
		return nil, errors.New("xds: Config.Source is missing")
	case cfg.Authenticator == nil && cfg.Anonymous == nil:
		return nil, errors.New("xds: Config.Authenticator is missing")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard().Streams
	}
	if cfg.Load.Metrics == nil {
		cfg.Load.Metrics = metrics.Discard().Loads
	}
	if cfg.Load.Add != nil && cfg.Load.Interval <= 0 {
		return nil, errors.New("xds: Config.Load.Interval is missing")
	}
	cfg.Limits = cfg.Limits.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, log: cfg.Logger, drain: make(chan struct{}), stop: cancel, planner: planner.New(planner.DefaultMemo), arrivals: newArrivals(cfg.Crowd), web: newWeb(), reading: newReadRoom(), answers: newPollAnswers()}
	s.sessions.srv = s
	context.AfterFunc(ctx, func() {
		close(s.drain)
		s.streams.ring()
	})
	l := cfg.Limits
	s.entry = door.New(door.Limits{Unproved: l.Unauthenticated, PerAddress: l.UnauthenticatedPerAddress, Idle: l.UnauthenticatedIdle, Calls: l.UnauthenticatedCalls, Failed: l.UnauthenticatedEnds}, door.NewLog(s.log))
	return s, nil
}

// NewGRPC returns a grpc.Server with all that is offered. It is to serve a Listener.
func (s *Server) NewGRPC() *grpc.Server {
	gs := grpc.NewServer(s.Options()...)
	s.Register(gs)
	return gs
}

// maxStreams is how many streams a connection may have: an Envoy without the aggregated service
// opens one for each cluster's endpoints.
const maxStreams = 20_000

// maxIdle is how long a connection without a stream is kept on which a token was good: a client that means to come back does so within
// half a minute, and each is a file.
const maxIdle = 5 * time.Minute

// writeBuffer is what a connection holds while it writes, in bytes: as many are in use at once as
// streams write at once. Half of grpc's default costs no more processor and 3 KiB a stream less.
const writeBuffer = 16 << 10

// Options are the options of the grpc.Server that Register is called with: the codec,
// authentication of every method, limits, and a keepalive that does not cut quiet
// clients: grpc's default enforcement ends every Envoy's connection each 130 s. Windows are
// fixed: a window that grows with the traffic is what each client may send unasked.
func (s *Server) Options() []grpc.ServerOption {
	params := keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second, MaxConnectionIdle: maxIdle}
	if age := s.cfg.MaxAge; age > 0 {
		// grpc says GOAWAY at the age, give or take a tenth; the streams' own ends come after
		// that, and this is the backstop.
		params.MaxConnectionAge, params.MaxConnectionAgeGrace = age, age/5+s.cfg.AgeGrace+10*time.Second
	}
	return []grpc.ServerOption{
		grpc.UnknownServiceHandler(refuseUnknown),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.WriteBufferSize(writeBuffer),
		grpc.Creds(newTransport(s, s.cfg.TLS)),
		grpc.InTapHandle(countCall),
		grpc.StreamInterceptor(s.door),
		grpc.UnaryInterceptor(refuseUnary),
		grpc.StaticStreamWindowSize(64 << 10),
		grpc.StaticConnWindowSize(1 << 20),
		grpc.MaxRecvMsgSize(s.cfg.Limits.Message),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.ConnectionTimeout(5 * time.Second),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(params),
	}
}

// Planned is what the server's planner has done, for metrics.
func (s *Server) Planned() metrics.Planned {
	p := s.planner.Stats()
	return metrics.Planned{Steps: p.Steps, Walks: p.Walks, Positions: p.Positions, Bytes: p.Bytes}
}

// Drain ends every stream with OK, spread over Config.DrainSpread: clients move to
// another server at once and log nothing. It does not wait.
func (s *Server) Drain() { s.stop() }

var errNoIdentity = errors.New("no identity: the interceptors of Options are missing")

func remote(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return ""
}
