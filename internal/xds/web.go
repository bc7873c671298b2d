package xds

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"

	"fairlead/internal/fleet"
)

// grpcPreface begins each connection of gRPC's. One that begins otherwise is of HTTP/1.1, and polls.
const grpcPreface = "PRI"

// webConn is a connection of HTTP/1.1, above TLS. Who floods it has one request at a time, and nothing is read of its body before its
// credential was found good.
type webConn struct {
	net.Conn
	head []byte // what was read of it already
	in   *conn  // its place at the door, and what its credentials wait for; nothing else of it is used
	age  time.Duration
}

// Read returns first what was read to see what the connection is.
func (c *webConn) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p) //nolint:wrapcheck // net/http looks for what it is
}

type webConnKey struct{}

// webConnOf returns nil where there is none, which does nothing.
func webConnOf(ctx context.Context) *webConn {
	c, _ := ctx.Value(webConnKey{}).(*webConn)
	return c
}

func (c *webConn) called() {
	if c != nil {
		c.in.called()
	}
}

func (c *webConn) arrived() {
	if c != nil {
		c.in.arrived()
	}
}

// aside calls do, as conn.aside does.
func (c *webConn) aside(do func()) {
	if c == nil {
		do()
		return
	}
	c.in.aside(do)
}

func (c *webConn) admit() {
	if c != nil {
		c.in.admit()
	}
}

func (c *webConn) await(ctx context.Context, id fleet.CredentialID) error {
	if c == nil {
		return nil
	}
	return c.in.await(ctx, id)
}

func (c *webConn) refuse(id fleet.CredentialID) {
	if c != nil {
		c.in.refuse(id)
	}
}

// ofAge reports whether the client is to connect anew, as streams are.
func (c *webConn) ofAge() bool { return c != nil && c.age > 0 && time.Since(c.in.born) > c.age }

// since reports whether the connection began after a time.
func (c *webConn) since(at time.Time) bool { return c != nil && c.in.born.After(at) }

// web takes over the connections that are not gRPC's.
type web struct {
	conns  chan net.Conn
	closed chan struct{}
	end    sync.Once
}

func newWeb() *web { return &web{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (w *web) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (w *web) Close() error {
	w.end.Do(func() { close(w.closed) })
	return nil
}

// Addr implements net.Listener.
func (w *web) Addr() net.Addr { return &net.TCPAddr{} }

var errNoREST = errors.New("nothing serves HTTP/1.1 here")

// hand returns when the connection is served, or may not be.
func (w *web) hand(c net.Conn) error {
	select {
	case w.conns <- c:
		return credentials.ErrConnDispatched
	case <-w.closed:
		return errNoREST
	case <-time.After(callsBegin): // nobody serves
		return errNoREST
	}
}

// ServeREST answers the polls that come over the connections which NewGRPC's server takes in and which are not gRPC's, until ctx ends. It
// returns when all are answered, and Drain was called before that.
func (s *Server) ServeREST(ctx context.Context) error {
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: s.cfg.Limits.Receive, IdleTimeout: maxIdle, MaxHeaderBytes: 16 << 10,
		ErrorLog:    s.entry.Log().Server(),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, webConnKey{}, c) },
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ends, cancel := context.WithTimeout(context.Background(), s.cfg.DrainSpread+time.Second)
		defer cancel()
		err := srv.Shutdown(ends)
		if err != nil {
			err = srv.Close()
		}
		stopped <- err
	})
	err := srv.Serve(s.web)
	if stop() {
		return fmt.Errorf("serve REST: %w", err)
	}
	err = <-stopped
	s.sessions.all.Wait()
	return err
}

// begins reads how a connection begins, and hands it on if it is not gRPC's.
func (t transport) begins(c *conn, a *accepted) error {
	head := make([]byte, len(grpcPreface))
	n, err := io.ReadFull(c.Conn, head)
	if err != nil {
		return fmt.Errorf("read how the connection begins: %w", err)
	}
	if bytes.Equal(head, []byte(grpcPreface)) {
		if t.srv.cfg.RESTOnly {
			return errNoGRPC
		}
		c.head = head[:n]
		return nil
	}
	a.dispatch()
	return t.srv.web.hand(&webConn{Conn: c.Conn, head: head[:n], in: c, age: t.srv.cfg.MaxAge})
}

var errNoGRPC = errors.New("gRPC is not served here")

// handshake is TLS for both: HTTP/2 is gRPC's, and who asks for HTTP/1.1, or for nothing, polls.
func (t transport) handshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if t.tls == nil {
		return t.TransportCredentials.ServerHandshake(raw)
	}
	c := tls.Server(raw, t.tls)
	if err := c.Handshake(); err != nil {
		_ = c.Close() // it has failed
		return nil, nil, err
	}
	state := c.ConnectionState()
	return c, credentials.TLSInfo{State: state, CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, nil
}

func forBoth(conf *tls.Config) *tls.Config {
	if conf == nil {
		return nil
	}
	both := conf.Clone()
	both.NextProtos = []string{"h2", "http/1.1"}
	return both
}
