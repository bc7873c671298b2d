package xds

import (
	"net"

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
		if err != nil || l.srv.cfg.Anonymous != nil {
			return raw, err
		}
		if g := l.srv.entry.Admit(raw); g != nil {
			return &guest{g, l.srv.arrivals.next(g.Strict())}, nil
		}
	}
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
