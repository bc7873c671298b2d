package door

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits are how many connections there may be.
type Limits struct {
	// Unproved are those on which nobody has proved who they are, handshakes included, and PerAddress those of them from one
	// address (IPv6: of a /64).
	Unproved, PerAddress int
	// Idle is how long one of them may be without a call.
	Idle time.Duration
	// Open are all. 0: what the files of the process allow.
	Open int
	// Calls are how many without a good token are answered of one address in a second, five times as many at once; 1,000.
	Calls int
	// Failed are how many connections of one address may end in a second before anybody on them has proved who they are, ten times as many
	// at once. More are a flood. 0: any number, as where all connections come from a proxy.
	Failed int
}

// unread is how much the kernel holds of a connection, in bytes, until it is read; it doubles that for its own use. Without it a stranger
// fills 32 MiB of the memory that all connections share.
const unread = 256 << 10

// Door bounds the connections of a port. It is safe for concurrent use, and its zero value is of no use.
type Door struct {
	limits Limits
	log    *Log
	*sources

	mu     sync.Mutex // guards all below
	open   int
	oldest list.List // of *Guest that are unproved
	from   map[netip.Prefix]int
}

// New returns the door of a port. Of the files that the process may open the connections leave a quarter to others, and the unproved
// ones half of the rest to those that have proved who they are.
func New(limits Limits, log *Log) *Door {
	if limits.Open == 0 {
		limits.Open = Open(Files())
	}
	limits.Unproved = max(1, min(limits.Unproved, limits.Open/2))
	if limits.Calls == 0 {
		limits.Calls = 1000
	}
	return &Door{limits: limits, log: log, sources: newSources(limits.Calls, limits.Failed), from: make(map[netip.Prefix]int)}
}

// Open is how many connections a port may have where the process may open so many files: a quarter of them is for connections that wait
// to be let in, and some for the database and the log.
func Open(files uint64) int {
	const most, others = 1 << 20, 64
	if files <= 4*others {
		return others
	}
	return int(min(most, files-files/4-others)) //nolint:gosec // at most that
}

// Files is how many files the process may have open.
func Files() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1 << 16 // accept says when there are none left
	}
	return uint64(limit.Cur) //nolint:unconvert // signed on some systems
}

// Log is what lines go to that those outside cause.
func (d *Door) Log() *Log { return d.log }

// Listener closes what there is no room for.
func (d *Door) Listener(lis net.Listener) net.Listener { return listener{lis, d} }

type listener struct {
	net.Listener
	door *Door
}

// Accept returns a *Guest.
func (l listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // it is the listener's, and net/http looks for what it is
		}
		if g := l.door.Admit(raw); g != nil {
			return g, nil
		}
	}
}

// Guest is a connection as it was accepted, under TLS.
type Guest struct {
	net.Conn
	door   *Door
	from   netip.Prefix
	came   time.Time
	called atomic.Int64 // how long after that the last call came; of no clock that is set
	strict bool
	turn   context.Context //nolint:containedctx // the connection's own: done when it is read first, or closed. nil: it is read at once
	yield  context.CancelFunc

	// Guarded by Door.mu.
	place  *list.Element // nil: it is unproved no more
	idle   *time.Timer
	closed bool
}

// Admit returns nil if there is no room for one more; then it has closed raw. Of a source that has too many the new one is closed;
// if there are too many in all, the oldest of the unproved ones is.
func (d *Door) Admit(raw net.Conn) *Guest {
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(unread) // more is held in the kernel; nothing is lost but that bound
	}
	g := &Guest{Conn: raw, door: d, from: Source(raw.RemoteAddr()), came: time.Now()}
	wait, struck := d.sources.turn(g.from)
	if g.strict = struck; wait > 0 {
		g.turn, g.yield = context.WithTimeout(context.Background(), wait)
	}
	shed, refused := d.enter(g)
	if refused != "" {
		d.tell(refused, g)
		_ = raw.Close() // nothing was said on it
		return nil
	}
	if shed != nil {
		d.tell("connection closed: there are too many, and it was the oldest on which no call was authenticated", shed)
		_ = shed.Close() // its reader finds out
	}
	return g
}

func (d *Door) enter(g *Guest) (shed *Guest, refused string) {
	most := d.limits.PerAddress
	if g.strict {
		most = max(1, most/10)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if g.from.IsValid() && d.from[g.from] >= most {
		return nil, "connection refused: its address has too many on which no call was authenticated"
	}
	if full := d.open >= d.limits.Open; full || d.oldest.Len() >= d.limits.Unproved {
		if d.oldest.Len() == 0 {
			return nil, "connection refused: there are as many as the process's limit of open files allows"
		}
		shed, _ = d.oldest.Front().Value.(*Guest)
		shed.leaveLocked()
	}
	d.open++
	if g.from.IsValid() {
		d.from[g.from]++
	}
	g.place = d.oldest.PushBack(g)
	g.idle = time.AfterFunc(d.limits.Idle, g.checkIdle)
	return shed, ""
}

func (d *Door) tell(what string, g *Guest) {
	d.log.Say(slog.LevelWarn, g.from, what, slog.Any("remote", g.RemoteAddr()),
		slog.Int("limit", d.limits.Unproved), slog.Int("limit_per_address", d.limits.PerAddress))
}

// Flooded notes that a connection from there is ended for a flood: for a minute less is let in of its source.
func (d *Door) Flooded(remote net.Addr, what string, attrs ...slog.Attr) {
	from := Source(remote)
	d.strike(from)
	d.log.Say(slog.LevelWarn, from, "connection closed: its client floods it", append([]slog.Attr{slog.String("remote", remote.String()), slog.String("with", what)}, attrs...)...)
}

// Wait is for how long the answer to a call without a good token is to wait.
func (d *Door) Wait(remote net.Addr) time.Duration { return d.call(Source(remote)) }

// Read waits first, where another connection of its source was ended for a flood just before: who is cut off and comes back at once costs
// no more than somebody who comes now and then.
func (g *Guest) Read(p []byte) (int, error) {
	if g.turn != nil {
		<-g.turn.Done()
	}
	return g.Conn.Read(p) //nolint:wrapcheck // net/http and gRPC look for what it is
}

// Called notes that a call came.
func (g *Guest) Called() { g.called.Store(int64(time.Since(g.came))) }

// Strict reports whether another connection of its source was ended for a flood just before it came.
func (g *Guest) Strict() bool { return g.strict }

// checkIdle closes the connection if it is unproved still and had no call for long.
func (g *Guest) checkIdle() {
	if left := g.idleFor(); left > 0 {
		return
	}
	g.door.log.Say(slog.LevelDebug, g.from, "connection closed: no call came", slog.String("remote", g.RemoteAddr().String()), slog.Duration("within", g.door.limits.Idle))
	_ = g.Close() // its reader finds out
}

// idleFor returns what is left of its time; if there is none it is a guest no more.
func (g *Guest) idleFor() time.Duration {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	if g.place == nil {
		return time.Hour
	}
	left := g.door.limits.Idle - (time.Since(g.came) - time.Duration(g.called.Load()))
	if left > 0 {
		g.idle.Reset(left)
		return left
	}
	g.leaveLocked()
	return 0
}

// Prove notes that who is there has proved who they are: from now on the connection is bounded by that. It may be called more than once.
func (g *Guest) Prove() {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	g.leaveLocked()
}

func (g *Guest) leaveLocked() {
	if g.place == nil {
		return
	}
	g.idle.Stop()
	d := g.door
	d.oldest.Remove(g.place)
	g.place = nil
	if n := d.from[g.from]; n > 1 {
		d.from[g.from] = n - 1
	} else {
		delete(d.from, g.from)
	}
}

// Close may be called more than once.
func (g *Guest) Close() error {
	g.door.mu.Lock()
	failed := g.place != nil
	g.leaveLocked()
	if !g.closed {
		g.closed = true
		g.door.open--
	}
	g.door.mu.Unlock()
	if failed {
		g.door.fail(g.from)
	}
	if g.yield != nil {
		g.yield()
	}
	if err := g.Conn.Close(); err != nil {
		return fmt.Errorf("close the connection: %w", err)
	}
	return nil
}
