package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/migrations"
)

// Probe looks at a database for somebody who asks what is wrong with it. It takes one that Open refuses. Nothing that it does outlives it, and
// it wakes no server. It is for one goroutine.
type Probe struct {
	conn  *pgx.Conn
	state fitness
}

// NewProbe connects, where the URL names several hosts to one that takes writes, if there is one. The caller closes the Probe.
func NewProbe(ctx context.Context, url string) (*Probe, error) {
	return newProbe(ctx, url, writable)
}

// NewStandbyProbe connects to a standby, if the URL leads to one, as servers do that read there.
func NewStandbyProbe(ctx context.Context, url string) (*Probe, error) {
	return newProbe(ctx, url, standing)
}

func newProbe(ctx context.Context, url string, choose func(*pgconn.Config)) (*Probe, error) {
	conn, err := probeConn(ctx, url, choose)
	if err != nil {
		return nil, fmt.Errorf("reach the database: %w", kind(err))
	}
	p := &Probe{conn: conn}
	if p.state, err = fitnessOf(ctx, conn); err != nil {
		p.Close()
		return nil, fmt.Errorf("look at the database: %w", kind(err))
	}
	return p, nil
}

func probeConn(ctx context.Context, url string, choose func(*pgconn.Config)) (*pgx.Conn, error) {
	conf, err := parseURLOf(url, 1, choose)
	if err != nil {
		return nil, err
	}
	c := conf.ConnConfig
	c.RuntimeParams["application_name"] = "fairlead-doctor"
	c.DefaultQueryExecMode = pgx.QueryExecModeExec // it may lead through a pooler
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil && c.ValidateConnect != nil {
		c.ValidateConnect = nil // one that takes no writes is to be told
		conn, err = pgx.ConnectConfig(ctx, c)
	}
	return conn, err
}

// Close ends the connection.
func (p *Probe) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = p.conn.Close(ctx) // nothing is lost with it
}

// Role is whom the URL is of.
func (p *Probe) Role() string { return p.state.role }

// Pooled reports whether a connection pooler answers in Postgres's place.
func (p *Probe) Pooled() bool { return p.state.pooled }

// Migrated says what is wrong with the schema, as Open would. ahead: a newer program has migrated it.
func (p *Probe) Migrated() (version uint, ahead bool, err error) {
	return p.state.version, p.state.version > migrations.Latest(), p.state.migrated()
}

// Migrating reports whether a migration was running when it connected.
func (p *Probe) Migrating() bool { return p.state.migrating }

// Held says why the role is none for a server, as Open would.
func (p *Probe) Held() error {
	if p.state.super || p.state.bypass {
		return p.state.fit(false)
	}
	return p.state.held(false)
}

// Server is what Postgres says of itself.
type Server struct {
	Version    int  // 150004 is 15.4
	ReadOnly   bool // it is a standby, or takes no writes
	Autovacuum bool
	Now        time.Time
	Most       int // connections for others than superusers
	Used       int
}

// Server asks for it.
func (p *Probe) Server(ctx context.Context) (s Server, err error) {
	err = p.conn.QueryRow(ctx, `
		SELECT current_setting('server_version_num')::integer, pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
		       current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean, clock_timestamp(),
		       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
		       (SELECT count(*) FROM pg_stat_activity a WHERE a.backend_type = 'client backend' OR a.backend_type IS NULL AND a.datname IS NOT NULL)`).
		Scan(&s.Version, &s.ReadOnly, &s.Autovacuum, &s.Now, &s.Most, &s.Used)
	if err != nil {
		return s, fmt.Errorf("ask Postgres for its settings: %w", kind(err))
	}
	return s, nil
}

// Unanalyzed are tables of some size of which the planner knows nothing.
func (p *Probe) Unanalyzed(ctx context.Context) ([]string, error) {
	rows, err := p.conn.Query(ctx, `
		SELECT c.relname::text FROM pg_class c
		 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relowner = to_regrole('fairlead_owner')::oid AND c.reltuples < 0
		   AND pg_relation_size(c.oid) > 8 * current_setting('block_size')::integer
		 ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("ask for the tables' statistics: %w", kind(err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("ask for the tables' statistics: %w", kind(err))
	}
	return names, nil
}

// Room has Postgres write some MiB to its disk, to files that go at once.
func (p *Probe) Room(ctx context.Context) error {
	return pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL work_mem = '64kB'`); err != nil {
			return err
		}
		var n int64
		err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT repeat(md5(i::text), 64) AS x FROM generate_series(1, 2000) AS i ORDER BY x OFFSET 0) AS sorted`).Scan(&n)
		if err != nil {
			return fmt.Errorf("write to its disk: %w", kind(err))
		}
		return nil
	})
}

// LeasedServer is an xDS server as its lease tells.
type LeasedServer struct {
	XDSServer
	Lost bool // its lease ran out: it did not say that it ends
}

// selectLeases tells a lost lease from one that was given back by how long after its last renewal it ended: they are renewed every 2 s.
const selectLeases = `
SELECT x.server_id, x.name, x.lease_until > clock_timestamp(), x.started_at, x.seen_at, x.version, x.streams, x.fleets, x.behind, x.seal_key,
       x.lease_until <= clock_timestamp() AND x.lease_until - x.seen_at > interval '3 seconds'
  FROM xds_servers x ORDER BY x.server_id DESC LIMIT 1000`

// Servers are the xDS servers of the last day, those that started last first.
func (p *Probe) Servers(ctx context.Context) ([]LeasedServer, error) {
	rows, err := p.conn.Query(ctx, selectLeases)
	if err != nil {
		return nil, fmt.Errorf("list the xDS servers: %w", kind(err))
	}
	xs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x LeasedServer, err error) {
		x.XDSServer, err = scanXDSServer(withLost{row, &x.Lost})
		return x, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the xDS servers: %w", kind(err))
	}
	return xs, nil
}

// withLost is a row of xds_servers with one more column.
type withLost struct {
	pgx.CollectableRow
	lost *bool
}

// Scan reads that, too.
func (r withLost) Scan(to ...any) error { return r.CollectableRow.Scan(append(to, r.lost)...) }

// ErrDeaf is a way on which nothing is heard of NOTIFY.
var ErrDeaf = errors.New("nothing was heard")

// Hears rings on this way and listens on another, which may be the same URL, and tells how long that took. It uses a channel of its own. Nothing heard
// before ctx ends is ErrDeaf.
func (p *Probe) Hears(ctx context.Context, listenURL string) (time.Duration, error) {
	ears, err := probeConn(ctx, listenURL, writable)
	if err != nil {
		return 0, fmt.Errorf("reach the database to listen: %w", kind(err))
	}
	defer hangUp(ctx, ears)
	name := "fairlead_doctor_" + strings.ToLower(rand.Text())
	if _, err := ears.Exec(ctx, "LISTEN "+name); err != nil {
		return 0, fmt.Errorf("listen: %w", kind(err))
	}
	begun := time.Now()
	if _, err := p.conn.Exec(ctx, `SELECT pg_notify($1, '')`, name); err != nil {
		return 0, fmt.Errorf("notify: %w", kind(err))
	}
	if _, err := ears.WaitForNotification(ctx); err != nil {
		if ctx.Err() != nil {
			return 0, ErrDeaf
		}
		return 0, fmt.Errorf("wait for a notification: %w", kind(err))
	}
	return time.Since(begun), nil
}

// Connections is how many a server has at most: of the API, and of xDS.
func Connections() (api, xds int) { return appConns + 1, nodeConns + vitalConns + 1 }

// Skew is by how much the database's clock is ahead of this machine's, and how exactly that is known.
func (p *Probe) Skew(ctx context.Context, now func() time.Time) (skew, give time.Duration, err error) {
	give = math.MaxInt64
	for range 3 {
		before := now()
		var at time.Time
		if err := p.conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
			return 0, 0, fmt.Errorf("ask for the database's time: %w", kind(err))
		}
		if half := now().Sub(before) / 2; half < give {
			skew, give = at.Sub(before.Add(half)), half
		}
	}
	return skew, give, nil
}

// Code is Postgres's SQLSTATE in an error; "" where Postgres did not answer.
func Code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// Password is the one in a URL, for those who must not tell it; "" where there is none.
func Password(url string) string {
	conf, err := pgconn.ParseConfig(url)
	if err != nil {
		return ""
	}
	return conf.Password
}
