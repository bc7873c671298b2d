package xds

import (
	"container/list"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Listener bounds the connections that are unauthenticated: those on which no call has been
// authenticated yet, handshakes included. Of an address (IPv6: of a /64) that has too many
// the new one is closed; when there are too many in all, the oldest one is. An unauthenticated
// connection without a call for Limits.Unauthenticated is closed too.
// Those that there is no room for yet wait (mayWait).
func (s *Server) Listener(lis net.Listener) net.Listener {
	return &listener{newQueue(lis, mayWait(files()), s.log), s}
}

type listener struct {
	net.Listener
	srv *Server
}

// Accept closes what there is no room for and takes the next.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil || l.srv.cfg.Anonymous != nil {
			return raw, err
		}
		if g := l.srv.guests.admit(raw); g != nil {
			g.arrival = l.srv.arrivals.next()
			return g, nil
		}
		_ = raw.Close() // nothing was said on it
	}
}

// guests are the unauthenticated connections.
type guests struct {
	srv    *Server
	told   rate.Sometimes
	mu     sync.Mutex // guards all below
	oldest list.List  // of *guest
	from   map[netip.Prefix]int
}

// guest is a connection as it was accepted, under TLS.
type guest struct {
	net.Conn
	all    *guests
	from   netip.Prefix // invalid: the address is none of IP
	called atomic.Int64 // when the last call came, or the connection; Unix nanoseconds

	arrival *arrival

	// Guarded by guests.mu.
	place *list.Element // nil: it is a guest no more
	idle  *time.Timer
}

// admit returns nil if there is no room for one more from its address.
func (a *guests) admit(raw net.Conn) *guest {
	limits := a.srv.cfg.Limits
	g := &guest{Conn: raw, all: a, from: source(raw.RemoteAddr())}
	g.called.Store(time.Now().UnixNano())
	a.mu.Lock()
	if g.from.IsValid() && a.from[g.from] >= limits.UnauthenticatedPerAddress {
		a.mu.Unlock()
		a.tell("connection refused: its address has too many on which no call was authenticated", g, limits.UnauthenticatedPerAddress)
		return nil
	}
	var shed *guest
	if a.oldest.Len() >= limits.Unauthenticated {
		shed, _ = a.oldest.Front().Value.(*guest)
		shed.leaveLocked()
	}
	if a.from == nil {
		a.from = make(map[netip.Prefix]int)
	}
	if g.from.IsValid() {
		a.from[g.from]++
	}
	g.place = a.oldest.PushBack(g)
	g.idle = time.AfterFunc(limits.UnauthenticatedIdle, g.checkIdle)
	a.mu.Unlock()
	if shed != nil {
		a.tell("connection closed: there are too many on which no call was authenticated, and it was the oldest", shed, limits.Unauthenticated)
		_ = shed.Conn.Close() // its reader finds out
	}
	return g
}

// tell logs at most once in a second: an attack is not to fill the log too.
func (a *guests) tell(what string, g *guest, limit int) {
	a.told.Do(func() { a.srv.log.Warn(what, "remote", g.RemoteAddr().String(), "limit", limit) })
}

// checkIdle closes the connection if it is a guest still and had no call for long.
func (g *guest) checkIdle() {
	g.all.mu.Lock()
	defer g.all.mu.Unlock()
	if g.place == nil {
		return
	}
	patience := g.all.srv.cfg.Limits.UnauthenticatedIdle
	if left := patience - time.Since(time.Unix(0, g.called.Load())); left > 0 {
		g.idle.Reset(left)
		return
	}
	g.leaveLocked()
	g.all.srv.log.Debug("connection closed: no call came", "remote", g.RemoteAddr().String(), "within", patience)
	_ = g.Conn.Close() // its reader finds out
}

// leave ends the guest's being one. It may be called more than once.
func (g *guest) leave() {
	g.all.mu.Lock()
	defer g.all.mu.Unlock()
	g.leaveLocked()
}

func (g *guest) leaveLocked() {
	if g.place == nil {
		return
	}
	g.idle.Stop()
	g.all.oldest.Remove(g.place)
	g.place = nil
	if n := g.all.from[g.from]; n > 1 {
		g.all.from[g.from] = n - 1
	} else {
		delete(g.all.from, g.from)
	}
}

// Close may be called more than once.
func (g *guest) Close() error {
	g.leave()
	g.arrival.end()
	if err := g.Conn.Close(); err != nil {
		return fmt.Errorf("close the connection: %w", err)
	}
	return nil
}

// source is what the connections of one peer have in common: an IPv4 address, or the /64
// of an IPv6 one, of which any host has all.
func source(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
