package door

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
)

type guestKey struct{}

// Serve has a server of HTTP tell the door's connections what comes on them. The server is to serve the door's Listener, under TLS or not.
func (d *Door) Serve(srv *http.Server) {
	srv.ErrorLog = d.log.Server()
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if g := guestOf(c); g != nil {
			return context.WithValue(ctx, guestKey{}, g)
		}
		return ctx
	}
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		if g := guestOf(c); g != nil && (state == http.StateActive || state == http.StateIdle) {
			g.Called()
		}
	}
}

// Prove notes that the connection of a request is of somebody who has proved who they are. Outside of Serve it does nothing.
func Prove(ctx context.Context) {
	if g, ok := ctx.Value(guestKey{}).(*Guest); ok {
		g.Prove()
	}
}

func guestOf(c net.Conn) *Guest {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	g, _ := c.(*Guest)
	return g
}
