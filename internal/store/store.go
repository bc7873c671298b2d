package store

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/traces"
)

const (
	// writeTimeout bounds a write. Postgres gives it up a little earlier and the caller is
	// told a *TimeoutError; when Postgres says nothing the caller is told ErrUnavailable, and
	// the write may have happened (hence idempotency keys).
	writeTimeout = 2 * time.Second
	// What is added for every change of an apply, and for every MiB of bodies, up to
	// mostTimeout: with the wait for its turn it is answered before its client gives up.
	perChange   = 2 * time.Millisecond
	perMiB      = time.Second
	mostTimeout = 30 * time.Second
	// lockTimeout is the roles' own.
	lockTimeout = 1500 * time.Millisecond
	// longTimeout bounds what may move a whole fleet: a rollback, a compaction.
	longTimeout = 10 * time.Second
	readTimeout = 5 * time.Second
	// loadTimeout bounds a catch-up, which may be a reload of many large fleets.
	loadTimeout = 30 * time.Second
)

// Config is how a Store reaches its database.
type Config struct {
	// URL is of a member of exactly one of the roles fairlead_app and fairlead_node.
	URL string
	// Bell is rung after every commit that a reader must hear of; nil leaves it to the
	// readers' polls.
	Bell *Notifier
	// MaxConns is the size of the pool; 0 is 10 for the app and 12 for a node, whose lease
	// and reports have 3 more.
	MaxConns int32
	// MaxNodes is how many nodes of a tenant are remembered; 0 is 100,000. Those that are
	// connected are, however many they are.
	MaxNodes int
	// Role is whom the URL must be a member of: "fairlead_app" or "fairlead_node". "" takes
	// either.
	Role string
	// AllowUnsafe accepts a role that may lose acknowledged commits or that has no
	// timeouts. For tests.
	AllowUnsafe bool
	// Patience is by how much longer calls may take than their limits say; 0 is 1. For tests of what calls do, where the
	// processors are others' for seconds.
	Patience int
	Metrics  *metrics.Database // nil: nobody is told
	Traces   *traces.Tracer    // nil: no revision is traced
	Logger   *slog.Logger      // of panics, and at level debug of the database's notices; nil: slog.Default()

	standby bool // a standby is wanted
}

// Store is safe for concurrent use. Its errors wrap one of the kinds of package fleet;
// of two that concern its connection, a database that is away and an answer that came too
// late, both are fleet.ErrUnavailable.
type Store struct {
	conns *conns
	bell  *Notifier
	node  bool // the role is fairlead_node's
	cap   nodeCap
	keys  *turns[keyOf] // of writes with an idempotency key, one of each at a time
	log   *slog.Logger

	patience patience
	metrics  *metrics.Database
	traces   *traces.Tracer

	reports reportCap

	full        atomic.Int64 // when the database had no room on its disk, in ns
	rowsRefused atomic.Int64 // rows of reports that the database refused, since the start
	ending      signal
	built       signal // endpoints were written that are to be built
	grown       signal // a write has made tables grow in bulk
	renewals    renewals
}

// Open connects, and checks that the database and the role are fit: the schema is at
// least as new as this program needs, the role is held by row-level security, and
// commits are durable. The caller closes the Store.
func Open(ctx context.Context, c Config) (*Store, error) {
	times := patience(c.Patience)
	hosts := writable
	if c.standby {
		hosts = standing
	}
	conf, err := parseURLOf(c.URL, times, hosts)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if c.MaxConns > 0 {
		conf.MaxConns = c.MaxConns
	}
	state, err := inspect(ctx, conf.ConnConfig, times)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", kind(err))
	}
	if err := state.fit(c.AllowUnsafe); err != nil {
		return nil, fmt.Errorf("open store as %s: %w", state.role, err)
	}
	if c.Role == "fairlead_app" && !state.app || c.Role == "fairlead_node" && !state.node {
		return nil, fmt.Errorf("open store as %s: %w: this server works as %s or a member of it: change the user in the database URL", state.role, fleet.ErrForbidden, c.Role)
	}
	if c.MaxConns == 0 {
		conf.MaxConns = appConns
		if state.node {
			conf.MaxConns = nodeConns
		}
	}
	if conf.ConnConfig.RuntimeParams["application_name"] == "" {
		conf.ConnConfig.RuntimeParams["application_name"] = "fairlead"
	}
	log := cmp.Or(c.Logger, slog.Default())
	measured := cmp.Or(c.Metrics, metrics.Discard().Database(metrics.API))
	conf.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		log.Debug("the database says", "severity", n.SeverityUnlocalized, "message", n.Message)
	}
	if state.pooled {
		unprepared(conf.ConnConfig, c.URL)
	}
	cs, err := newConns(ctx, conf, state.node)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", kind(err))
	}
	measured.Watch(cs.state)
	return &Store{
		log: log, patience: times, metrics: measured, traces: c.Traces, conns: cs, bell: c.Bell, node: state.node, cap: nodeCap{most: cmp.Or(c.MaxNodes, maxNodes)},
		ending: make(signal, 1), built: make(signal, 1), grown: make(signal, 1), keys: newTurns[keyOf](1, waitingForKey),
	}, nil
}

// Close waits for the calls that are under way and gives the connections back.
func (s *Store) Close() { s.conns.close() }

// Ping asks the database for a sign of life.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience.of(writeTimeout))
	defer cancel()
	if err := s.conns.pool.Ping(ctx); err != nil {
		return fmt.Errorf("ping the database: %w", kind(err))
	}
	return nil
}

// ring tells readers to look at a fleet again. It never blocks.
func (s *Store) ring(t fleet.TenantID, f fleet.ID) {
	if s.bell != nil {
		s.bell.Ring(fleet.Key{Tenant: t, Fleet: f})
	}
}
