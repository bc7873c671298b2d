package xds

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// conn is a connection as gRPC sees it, above TLS. It closes one on which a message was
// begun and is not complete within Limits.Receive: gRPC has no hook for half a message,
// and would hold it for as long as the connection lives. Until a call was authenticated
// it reads no more than unauthenticatedBytes ahead of the calls' verdicts. It ends where its client floods it (flood.go).
type conn struct {
	net.Conn // under TLS or not; what gRPC reads and writes
	srv      *Server
	guest    *guest    // nil: of an anonymous client, or the listener is not Server.Listener's
	head     []byte    // what was read of it to see that it is gRPC's
	born     time.Time // a stream's life is measured by its connection's

	// Of ReadOnReady.
	first [glance]byte
	more  bool // the last read got all that it asked for, and more than a glance

	mu            sync.Mutex // guards all below
	frames        *frames
	room          sync.Cond // signalled when there may be room to read more, or nothing to read for
	calls         calls
	resets, idle  bucket
	large         int // what it has of Server.large
	late          *time.Timer
	authenticated bool
	closed        bool
	refused       map[fleet.CredentialID]*backoff // see refuse
}

func newConn(s *Server, above net.Conn, g *guest) *conn {
	c := &conn{Conn: above, srv: s, guest: g, born: time.Now(), frames: newFrames()}
	c.room.L = &c.mu
	return c
}

// Read blocks while too much of what was read before is under way. Verdicts are made of
// headers alone, so each call gets its own without anything more being read.
func (c *conn) Read(p []byte) (int, error) {
	p = p[:c.wait(len(p))]
	n, err := c.next(p)
	c.more = n == len(p) && n >= glance
	c.mu.Lock()
	c.follow(c.frames.read, p[:n])
	if c.frames.half > 0 && c.late == nil && !c.closed {
		c.late = time.AfterFunc(c.srv.cfg.Limits.Receive, c.check)
	}
	with := c.flooded(time.Now)
	crowded := !c.closed && !c.holdLarge(c.frames.large)
	c.mu.Unlock()
	switch {
	case crowded:
		return 0, c.endCrowded()
	case with != "":
		return 0, c.endFlooded(with)
	}
	return n, err
}

func (c *conn) endCrowded() error {
	c.srv.say(slog.LevelWarn, c.RemoteAddr(), "connection closed: it begins a large request, and those that are under way take all the room for them", slog.Int("bytes", mostLarge))
	_ = c.Close() // its client comes back
	return errCrowded
}

func (c *conn) endFlooded(with string) error {
	c.srv.entry.Flooded(c.RemoteAddr(), with, slog.Bool("authenticated", c.isAuthenticated()))
	_ = c.Close() // it is of no use any more
	return errFlooded
}

// next returns first what was read already.
func (c *conn) next(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p) //nolint:wrapcheck // gRPC looks for what it is
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	held := c.frames.held
	c.follow(c.frames.write, p)
	if c.frames.held < held {
		c.room.Broadcast()
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// follow ends the connection by a panic in what looks at its bytes: it is called in gRPC's
// own goroutines, where a panic would end the process (T36). c.mu is held.
func (c *conn) follow(look func([]byte), p []byte) {
	defer func() {
		if v := recover(); v != nil {
			_ = lifecycle.Contained(c.srv.log, "a connection", v, "remote", c.RemoteAddr().String())
			c.frames, c.closed = newFrames(), true
			_ = c.holdLarge(0)
			c.room.Broadcast()
			_ = c.Conn.Close() // it is of no use any more
		}
	}()
	if !c.closed {
		look(p)
	}
}

// Close may be called more than once.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	_ = c.holdLarge(0)
	if c.late != nil {
		c.late.Stop()
	}
	c.room.Broadcast()
	c.mu.Unlock()
	return c.Conn.Close()
}

// check closes the connection if a message takes too long, or sets when to look again.
// While messages are in flight it runs once in Limits.Receive.
func (c *conn) check() {
	if !c.overdue() {
		return
	}
	c.srv.say(slog.LevelWarn, c.RemoteAddr(), "connection closed: a message was begun and not sent to its end in time", slog.Duration("within", c.srv.cfg.Limits.Receive))
	_ = c.Close() // it is of no use any more
}

func (c *conn) overdue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	begun := c.frames.oldest()
	if c.closed || begun.IsZero() {
		c.late = nil
		return false
	}
	left := c.srv.cfg.Limits.Receive - time.Since(begun)
	if left > 0 {
		c.late.Reset(left)
	}
	return left <= 0
}

// called notes that a call came.
func (c *conn) called() {
	if c.guest != nil {
		c.guest.Called()
	}
}

// arrived notes that a stream was attached or refused. c may be nil.
func (c *conn) arrived() {
	if c != nil && c.guest != nil {
		c.guest.arrival.end()
	}
}

// aside calls do, which waits for the database: other connections may arrive meanwhile. c may be nil.
func (c *conn) aside(do func()) {
	if c == nil || c.guest == nil {
		do()
		return
	}
	c.guest.arrival.wait(do)
}

// admit notes that a call was authenticated.
func (c *conn) admit() {
	c.mu.Lock()
	was := c.authenticated
	if !was {
		c.authenticated = true
		c.frames.stopWeighing()
		c.resets, c.idle = bucket{}, bucket{}
		c.room.Broadcast()
	}
	c.mu.Unlock()
	if !was && c.guest != nil {
		c.guest.Prove()
	}
}

func (c *conn) isAuthenticated() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.authenticated
}

func (c *conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// transport makes a conn of each connection after its handshake.
type transport struct {
	credentials.TransportCredentials
	srv *Server
	tls *tls.Config // nil: plaintext
}

func newTransport(s *Server, conf *tls.Config) transport {
	if conf == nil {
		return transport{insecure.NewCredentials(), s, nil}
	}
	return transport{credentials.NewTLS(conf), s, forBoth(conf)}
}

// ServerHandshake is called with what the listener accepted.
func (t transport) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	above, info, err := t.handshake(raw)
	if err != nil {
		return nil, nil, err
	}
	a, ok := raw.(*accepted)
	if !ok {
		a = &accepted{Conn: raw}
	}
	c := newConn(t.srv, above, a.guest)
	if t.srv.cfg.Anonymous != nil {
		c.admit()
	}
	if err := t.begins(c, a); err != nil {
		return nil, nil, err
	}
	return c, authInfo{info, c}, nil
}

// Clone is what a grpc.Server serves with.
func (t transport) Clone() credentials.TransportCredentials {
	return transport{t.TransportCredentials.Clone(), t.srv, t.tls}
}

// authInfo leads from a call to its connection.
type authInfo struct {
	credentials.AuthInfo
	conn *conn
}

// connOf returns nil for a call of a server that was not made with Options.
func connOf(ctx context.Context) *conn {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, _ := p.AuthInfo.(authInfo)
	return info.conn
}
