package store

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const (
	// channel is the one on which fleets are named that have moved. Channels have no access
	// control, so it carries fleet ids and nothing else.
	channel = "fairlead"
	// maxPayload is Postgres's limit, in bytes.
	maxPayload = 7999
	// lastRing is how long a Notifier that stops may take for what is still to be rung.
	lastRing = time.Second
)

// NotifierConfig is how a Notifier reaches its database.
type NotifierConfig struct {
	// URL is of any role.
	URL string
	// Delay is the least time between two notifications; 0 is 10 ms.
	Delay time.Duration
	// Lost is told why a connection was lost or could not be made; nil is silence.
	Lost   func(error)
	Logger *slog.Logger // of panics; nil: slog.Default()
}

// Notifier rings the doorbell: it tells listeners which fleets have moved. It does so
// on a connection of its own and after the commits, because NOTIFY in a writing
// transaction serialises all commits of the database. What it fails to ring is found by
// the readers' polls. It is safe for concurrent use.
type Notifier struct {
	config NotifierConfig
	rung   chan struct{} // capacity 1: there is something in pending

	mu      sync.Mutex // guards pending
	pending map[fleet.ID]struct{}
}

// NewNotifier returns a Notifier that rings once it runs.
func NewNotifier(c NotifierConfig) *Notifier {
	if c.Delay <= 0 {
		c.Delay = 10 * time.Millisecond
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Notifier{config: c, rung: make(chan struct{}, 1), pending: map[fleet.ID]struct{}{}}
}

// Ring tells that a fleet has moved. It never blocks. The first ring after a quiet time
// goes out at once, those that follow within Delay go together.
func (n *Notifier) Ring(k fleet.Key) {
	n.add(k.Fleet)
}

func (n *Notifier) add(ids ...fleet.ID) {
	n.mu.Lock()
	for _, id := range ids {
		n.pending[id] = struct{}{}
	}
	n.mu.Unlock()
	select {
	case n.rung <- struct{}{}:
	default: // already marked
	}
}

func (n *Notifier) take() []fleet.ID {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := slices.Collect(maps.Keys(n.pending))
	clear(n.pending)
	return ids
}

// Run rings until ctx ends, then rings once more what is pending, and returns nil. It
// reconnects by itself; a URL that cannot be read is fleet.ErrInvalid.
func (n *Notifier) Run(ctx context.Context) error {
	conf, err := pgx.ParseConfig(n.config.URL)
	if err != nil {
		return fmt.Errorf("run notifier: %w: the URL cannot be read", fleet.ErrInvalid)
	}
	conf.RuntimeParams["application_name"] = "fairlead-notifier"
	writable(&conf.Config)
	conf.DefaultQueryExecMode = pgx.QueryExecModeExec // it may lead through a pooler
	forever(ctx, n.config.Logger, "the notifier", n.config.Lost, func(ctx context.Context) error { return n.serve(ctx, conf) })
	return nil
}

func (n *Notifier) serve(ctx context.Context, conf *pgx.ConnConfig) error {
	conn, err := connect(ctx, conf)
	if err != nil {
		return err
	}
	defer hangUp(ctx, conn)
	for {
		select {
		case <-ctx.Done():
			return n.send(ctx, conn)
		case <-n.rung:
		}
		if err := n.send(ctx, conn); err != nil {
			return err
		}
		wait(ctx, n.config.Delay)
	}
}

// send notifies what is pending; what fails is pending again.
func (n *Notifier) send(ctx context.Context, conn *pgx.Conn) error {
	ids := n.take()
	if len(ids) == 0 {
		return nil
	}
	rung := false
	defer func() {
		if !rung { // by a panic too
			n.add(ids...)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRing)
	defer cancel()
	if _, err := conn.Exec(ctx, `SELECT pg_notify($1, p) FROM unnest($2::text[]) p`, channel, payloads(ids)); err != nil {
		return fmt.Errorf("notify %d fleets: %w", len(ids), err)
	}
	rung = true
	return nil
}

// payloads joins ids with commas, in as few texts as Postgres allows.
func payloads(ids []fleet.ID) []string {
	const each = len("00000000-0000-0000-0000-000000000000,")
	var out []string
	for part := range slices.Chunk(ids, maxPayload/each) {
		texts := make([]string, len(part))
		for i, id := range part {
			texts[i] = id.String()
		}
		out = append(out, strings.Join(texts, ","))
	}
	return out
}

// connect gives a connection of one's own, outside any pool, within writeTimeout, or within
// what the URL gives each of its hosts.
func connect(ctx context.Context, conf *pgx.ConnConfig) (*pgx.Conn, error) {
	conf = conf.Copy()
	shareTime(&conf.Config, 1)
	ctx, cancel := context.WithTimeout(ctx, conf.ConnectTimeout*time.Duration(1+len(conf.Fallbacks)))
	defer cancel()
	return pgx.ConnectConfig(ctx, conf)
}

func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRing)
	defer cancel()
	_ = conn.Close(ctx) // a connection that is lost already cannot say goodbye
}
