package xds

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// offers is a listener whose connections and errors the test brings.
type offers struct {
	net.Listener // nil: nothing else is asked of it
	come         chan net.Conn
	failed       error // nil: it does not fail
	failures     int
	closed       chan struct{}
}

func newOffers() *offers { return &offers{come: make(chan net.Conn), closed: make(chan struct{})} }

func (o *offers) Accept() (net.Conn, error) {
	if o.failed != nil {
		o.failures++
		return nil, o.failed
	}
	select {
	case c := <-o.come:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

func (o *offers) Close() error { close(o.closed); return nil }

// TestConnectionsWaitInTheServer: they are taken in though nobody accepts, come in order, and are closed with the listener.
func TestConnectionsWaitInTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffers()
		q := newQueue(o)
		var here, there [4]net.Conn
		for i := range here {
			here[i], there[i] = net.Pipe()
		}
		go func() { o.come <- here[0] }()
		if c, err := q.Accept(); c != here[0] || err != nil {
			t.Fatalf("got %v, %v, want the first", c, err)
		}
		for _, c := range here[1:] {
			o.come <- c // which blocks, if nobody takes it in
		}
		synctest.Wait()
		if c, err := q.Accept(); c != here[1] || err != nil {
			t.Errorf("got %v, %v, want the second", c, err)
		}
		if err := errors.Join(q.Close(), q.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		for i, c := range there {
			_ = c.SetReadDeadline(time.Now())
			_, err := c.Read(make([]byte, 1))
			if closed := errors.Is(err, io.EOF); closed != (i >= 2) {
				t.Errorf("connection %d: %v, want those closed that waited", i, err)
			}
		}
		if _, err := q.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept after the end: %v", err)
		}
	})
}

// TestAFailingListenerIsNotAskedAllTheTime: of files there may be none left. Who accepts waits then, and until it comes again nobody asks.
func TestAFailingListenerIsNotAskedAllTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffers()
		o.failed = errors.New("too many open files")
		q := newQueue(o)
		for i := range 3 {
			if _, err := q.Accept(); !errors.Is(err, o.failed) {
				t.Errorf("got %v", err)
			}
			synctest.Wait()
			if o.failures > i+2 {
				t.Errorf("it was asked %d times in %d turns", o.failures, i+1)
			}
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
}
