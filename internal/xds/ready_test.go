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
	"google.golang.org/grpc/mem"
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

// script is a connection of which all is there to be read.
type script struct {
	net.Conn
	*bytes.Reader
	reads, most int
}

func (s *script) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.reads, s.most = s.reads+1, max(s.most, n)
	return n, err //nolint:wrapcheck // it is the reader's
}

func (s *script) Close() error { return nil }

// TestAnUnauthenticatedConnectionIsReadByFrames: the names of who comes back come before it is known who that is, in DATA frames of 16 KiB. Of what may
// be calls little is read at once.
func TestAnUnauthenticatedConnectionIsReadByFrames(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		frames      func(*http2.Framer)
		reads, most int
	}{
		"a large request": {func(f *http2.Framer) {
			for range 8 {
				_ = f.WriteData(1, false, make([]byte, 16<<10))
			}
		}, 8 + 4, 16<<10 + unauthenticatedRead},
		"small frames": {func(f *http2.Framer) {
			for range 400 {
				_ = f.WriteData(1, false, make([]byte, 4))
			}
		}, 400 * 13 / glance, unauthenticatedRead + 4},
	} {
		s, err := New(Config{Source: struct{ Source }{}, Anonymous: &Identity{}})
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.NewBufferString(http2.ClientPreface)
		f := http2.NewFramer(b, nil)
		_ = f.WriteSettings()
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true})
		x.frames(f)
		all, got := b.Len(), 0
		w := &script{Reader: bytes.NewReader(b.Bytes())}
		c := newConn(s, w, nil)
		for pool := mem.DefaultBufferPool(); got < all; {
			buf, n, err := c.ReadOnReady(32<<10, pool)
			if err != nil {
				t.Fatalf("%s: after %d bytes: %v", name, got, err)
			}
			got += n
			pool.Put(buf)
		}
		if w.reads > x.reads || w.most > x.most {
			t.Errorf("%s: %d reads of at most %d bytes, want %d of %d at most", name, w.reads, w.most, x.reads, x.most)
		}
		_ = c.Close() // else it looks later whether the message has come to its end
		s.Drain()
	}
}
