package xds

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
)

// waiting is a connection that knows what is waited for.
type waiting struct {
	net.Conn
	room atomic.Int64 // bytes of the buffer of the last Read
}

func (w *waiting) Read(p []byte) (int, error) {
	w.room.Store(int64(len(p)))
	return w.Conn.Read(p) //nolint:wrapcheck // it is the connection's
}

// one is a listener of one connection, which it gives once.
type one chan net.Conn

func (l one) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (one) Addr() net.Addr { return &net.UnixAddr{} }

func (one) Close() error { return nil }

// TestAQuietConnectionHoldsNoBufferOfGRPCs: neither before anything came nor after much did.
func TestAQuietConnectionHoldsNoBufferOfGRPCs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Source: struct{ Source }{}, Anonymous: &Identity{}})
		if err != nil {
			t.Fatal(err)
		}
		near, far := net.Pipe()
		w, lis, gs := &waiting{Conn: near}, make(one, 1), grpc.NewServer(s.Options()...)
		go func() { _ = gs.Serve(lis) }()
		lis <- w
		go func() { _, _ = io.Copy(io.Discard, far) }()
		say := func(p []byte) {
			t.Helper()
			if _, err := far.Write(p); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if n := w.room.Load(); n > glance {
				t.Errorf("%d bytes came, and the next are waited for with a buffer of %d, want %d", len(p), n, glance)
			}
		}
		say([]byte(http2.ClientPreface))
		var b bytes.Buffer
		f := http2.NewFramer(&b, nil)
		_ = f.WriteSettings()
		say(b.Bytes())
		for b.Len() < 3*glance {
			_ = f.WriteSettingsAck()
			_ = f.WriteWindowUpdate(0, 1)
		}
		say(b.Bytes()[9:])
		close(lis)
		gs.Stop()
		_ = far.Close()
		s.Drain()
	})
}
