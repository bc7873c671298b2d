package load

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2/hpack"

	"fairlead/bench/internal/h2"
	"fairlead/bench/internal/xds"
)

// Runner holds the clients of a run.
type Runner struct {
	cfg     Config
	server  Server // that the clients connect to; changes while none is connected
	catalog *catalog
	answers *answers // to polls
	epochs  epochs
	seen    func(c *client, from, to uint64) // called when a client has gone from one change to another
	clients []*client
	peak    int64  // the most bytes that any of the servers has had
	node    []byte // what the nodes of all clients have in common, encoded; for polls in JSON

	traffic
	conns  sync.WaitGroup
	hangUp context.CancelFunc // ends all connections
	dying  atomic.Bool        // the server is: connections may end

	mu     sync.Mutex // guards what follows
	start  time.Time  // of the first connection
	fullAt []time.Duration
	full   chan struct{} // closed when all clients are complete
}

// New checks cfg and prepares a run.
func New(cfg Config) (*Runner, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.StreamWindow == 0 {
		cfg.StreamWindow, cfg.ConnWindow = envoysStreamWindow, envoysConnWindow
	}
	r := &Runner{cfg: cfg, server: cfg.Server, catalog: newCatalog(), answers: newAnswers(), full: make(chan struct{}), hangUp: func() {}}
	r.epochs.m = make(map[uint64]*epoch)
	r.seen = func(_ *client, from, to uint64) { r.epochs.seen(from, to) }
	r.node = commonNode(cfg.NodeBytes)
	if cfg.Protocol == xds.REST {
		r.node = commonJSON(cfg.NodeBytes)
	}
	for i := range cfg.Clients {
		c := newClient(r, i)
		if cfg.Own {
			c.choose(i)
		}
		r.clients = append(r.clients, c)
	}
	return r, nil
}

// Run makes the load, phase after phase. The first error of a client ends it.
func (r *Runner) Run(ctx context.Context) (*Result, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	defer r.disconnect()
	res := &Result{}
	for _, phase := range []struct {
		name string
		run  func(context.Context, context.CancelCauseFunc, *Result) error
	}{
		{"first connect", r.storm},
		{"changes", r.changes},
		{"at rest", r.atRest},
		{"reconnect to the same server", r.same},
		{"reconnect to another server", r.other},
		{"reconnect after a change", r.changed},
		{"back as new processes after a kill", r.killedAnew},
		{"back with what they have after a kill", r.killedSame},
	} {
		if err := phase.run(ctx, fail, res); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return res, nil
}

// connect has all clients connect, and returns when all have sent their first requests.
func (r *Runner) connect(ctx context.Context, fail context.CancelCauseFunc) error {
	live, hangUp := context.WithCancel(context.WithoutCancel(ctx)) // the phase's limit is not theirs
	r.hangUp = hangUp
	headers, groups := r.headers(r.server), r.groups()
	slots := make(chan struct{}, dials)
	connected := make(chan struct{}, len(groups))
	for _, g := range groups {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		r.conns.Go(func() {
			nc, err := (&net.Dialer{}).DialContext(live, "tcp", r.server.Target)
			<-slots
			switch {
			case err != nil:
			case r.cfg.Protocol == xds.REST:
				err = r.polls(live, g[0], nc, connected)
			default:
				err = r.serve(live, g, r.conn(nc), headers, connected)
			}
			if err != nil && live.Err() == nil && !r.dying.Load() {
				fail(fmt.Errorf("%s: %w", g[0].id, err))
			}
		})
	}
	for range groups {
		select {
		case <-connected:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// groups are the clients of each connection.
func (r *Runner) groups() [][]*client {
	n := r.cfg.Connections
	if n == 0 {
		n = len(r.clients)
	}
	groups := make([][]*client, n)
	for i, c := range r.clients {
		groups[i%n] = append(groups[i%n], c)
	}
	return groups
}

func (r *Runner) conn(nc net.Conn) *h2.Conn {
	return h2.New(nc, h2.Config{StreamWindow: r.cfg.StreamWindow, ConnWindow: r.cfg.ConnWindow, Count: r.count})
}

// serve runs the clients of a connection until that ends.
func (r *Runner) serve(ctx context.Context, clients []*client, conn *h2.Conn, headers []byte, connected chan<- struct{}) error {
	stop := context.AfterFunc(ctx, conn.Close)
	defer stop()
	for _, c := range clients {
		c.connect(conn, headers)
	}
	connected <- struct{}{} // has room for all
	return conn.Run()
}

// disconnect ends all connections and waits until their goroutines are gone.
func (r *Runner) disconnect() {
	r.hangUp()
	r.conns.Wait()
}

func (r *Runner) headers(of Server) []byte {
	fields := []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: r.cfg.Protocol.Method()},
		{Name: ":authority", Value: of.Target},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "te", Value: "trailers"},
		{Name: "user-agent", Value: "xdsbench"},
	}
	if of.Token != "" {
		fields = append(fields, hpack.HeaderField{Name: "authorization", Value: "Bearer " + of.Token})
	}
	return h2.Headers(fields...)
}

// isFull is called once per client, when it is complete for the first time.
func (r *Runner) isFull() {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fullAt = append(r.fullAt, now.Sub(r.start))
	if len(r.fullAt) == len(r.clients) {
		close(r.full)
	}
}

func (r *Runner) delta() bool { return r.cfg.Protocol == xds.Delta }
