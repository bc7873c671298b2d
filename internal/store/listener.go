package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// ListenerConfig is how a Listener reaches its database.
type ListenerConfig struct {
	// URL is of any role, of the primary, and direct: through a transaction pooler LISTEN
	// succeeds and nothing is ever heard.
	URL string
	// PingEvery is after how much silence the connection is asked whether it still
	// listens; 0 is 5 s.
	PingEvery time.Duration
	// PingTimeout is how long that may take; 0 is 2 s.
	PingTimeout time.Duration
	// Wake is called for every fleet that was named, and with all for "any fleet may have
	// moved": after every LISTEN, the first too. It must not block.
	Wake func(f fleet.ID, all bool)
	// Lost is told why a connection was lost or could not be made; nil is silence.
	Lost   func(error)
	Logger *slog.Logger // of panics; nil: slog.Default()
}

// Listener hears the doorbell on a connection of its own. It carries "look again" and no
// data; what is rung while it is not connected is covered by the Wake after its return.
type Listener struct {
	config ListenerConfig
	heard  atomic.Int64 // when the connection was last known to listen, Unix ns; 0: never
}

// Heard is when the connection was last known to listen; zero: never.
func (l *Listener) Heard() time.Time {
	if at := l.heard.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

func (l *Listener) hears() { l.heard.Store(time.Now().UnixNano()) }

// NewListener returns a Listener that listens once it runs.
func NewListener(c ListenerConfig) *Listener {
	if c.PingEvery <= 0 {
		c.PingEvery = 5 * time.Second
	}
	if c.PingTimeout <= 0 {
		c.PingTimeout = 2 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Listener{config: c}
}

// Run listens until ctx ends and returns nil. It reconnects by itself; a URL that cannot
// be read, or a nil Wake, is fleet.ErrInvalid.
func (l *Listener) Run(ctx context.Context) error {
	conf, err := pgx.ParseConfig(l.config.URL)
	if err != nil || l.config.Wake == nil {
		return fmt.Errorf("run listener: %w: the URL cannot be read, or there is nobody to wake", fleet.ErrInvalid)
	}
	conf.RuntimeParams["application_name"] = "fairlead-listener"
	conf.DefaultQueryExecMode = pgx.QueryExecModeExec                        // it may lead through a pooler, of sessions
	conf.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite // a standby refuses LISTEN
	forever(ctx, l.config.Logger, "the listener", l.config.Lost, func(ctx context.Context) error { return l.serve(ctx, conf) })
	return nil
}

func (l *Listener) serve(ctx context.Context, conf *pgx.ConnConfig) error {
	conn, err := connect(ctx, conf)
	if err != nil {
		return err
	}
	defer hangUp(ctx, conn)
	if err := l.listen(ctx, conn); err != nil {
		return err
	}
	l.hears()
	l.config.Wake(fleet.ID{}, true) // LISTEN is committed: the catch-up that follows sees all that was rung before
	for {
		n, err := l.next(ctx, conn)
		switch {
		case err == nil:
			l.hears()
			l.wake(n.Payload)
		case ctx.Err() != nil:
			return ctx.Err()
		case pgconn.Timeout(err) && !conn.IsClosed():
			if err := l.ping(ctx, conn); err != nil {
				return err
			}
			l.hears()
		default:
			return fmt.Errorf("wait for a notification: %w", err)
		}
	}
}

func (l *Listener) listen(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, l.config.PingTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

func (l *Listener) next(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, l.config.PingEvery)
	defer cancel()
	return conn.WaitForNotification(ctx)
}

// ping asks on the listening connection itself: a half-open one looks healthy from everywhere else.
func (l *Listener) ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, l.config.PingTimeout)
	defer cancel()
	var listens bool
	if err := conn.QueryRow(ctx, `SELECT $1 IN (SELECT pg_listening_channels())`, channel).Scan(&listens); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	if !listens {
		return errors.New("ping: the connection does not listen any more")
	}
	return nil
}

// wake reads a payload; one that is not ours may mean anything.
func (l *Listener) wake(payload string) {
	for text := range strings.SplitSeq(payload, ",") {
		id, err := fleet.ParseID(text)
		if err != nil {
			l.config.Wake(fleet.ID{}, true)
			return
		}
		l.config.Wake(id, false)
	}
}
