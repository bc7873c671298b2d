package xds

import (
	"net"
	"time"

	"fairlead/internal/door"
)

// Listener bounds the connections that are unauthenticated: those on which no call has been
// authenticated yet, handshakes included (package door). Those that there is no room for yet wait (mayWait).
func (s *Server) Listener(lis net.Listener) net.Listener {
	return &listener{newQueue(lis, mayWait(door.Files()), s.log), s}
}

type listener struct {
	net.Listener
	srv *Server
}

// Accept closes what there is no room for and takes the next.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // gRPC looks for what it is
		}
		if l.srv.cfg.Anonymous != nil {
			return &accepted{Conn: raw}, nil
		}
		if g := l.srv.entry.Admit(raw); g != nil {
			guest := &guest{g, l.srv.arrivals.next(g.Strict())}
			return &accepted{Conn: guest, guest: guest}, nil
		}
	}
}

// accepted is a connection as gRPC's server has it. That clears its deadlines when its handshake ends, which is also after it was
// dispatched: what serves it then has set its own by that time.
type accepted struct {
	net.Conn
	guest      *guest // nil: whoever comes is anonymous
	dispatched bool   // of the goroutine of its handshake
}

// SetDeadline has no effect on a connection that was dispatched. Its reads and writes have deadlines of their own.
func (a *accepted) SetDeadline(t time.Time) error {
	if a.dispatched {
		return nil
	}
	return a.Conn.SetDeadline(t) //nolint:wrapcheck // nobody looks at it
}

// dispatch comes before another server has the connection.
func (a *accepted) dispatch() {
	_ = a.Conn.SetDeadline(time.Time{}) // of the handshake
	a.dispatched = true
}

// guest is a connection as it was accepted, under TLS, that arrives.
type guest struct {
	*door.Guest
	arrival *arrival
}

// Close may be called more than once.
func (g *guest) Close() error {
	g.arrival.end()
	return g.Guest.Close()
}
