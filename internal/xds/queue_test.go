package xds

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// offers is a listener whose connections and errors the test brings.
type offers struct {
	net.Listener // nil: nothing else is asked of it
	come         chan net.Conn
	broken       chan struct{} // closed: nothing but errors comes
	failures     atomic.Int64
	closed       chan struct{}
}

func newOffers() *offers {
	return &offers{come: make(chan net.Conn), broken: make(chan struct{}), closed: make(chan struct{})}
}

var errNoFiles = errors.New("too many open files")

func (o *offers) Accept() (net.Conn, error) {
	select {
	case c := <-o.come:
		return c, nil
	case <-o.broken:
		o.failures.Add(1)
		return nil, errNoFiles
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
		q := newQueue(o, 4)
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
		close(o.broken)
		q := newQueue(o, 4)
		for i := range 3 {
			if _, err := q.Accept(); !errors.Is(err, errNoFiles) {
				t.Errorf("got %v", err)
			}
			synctest.Wait()
			if o.failures.Load() > int64(i+2) {
				t.Errorf("it was asked %d times in %d turns", o.failures.Load(), i+1)
			}
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestErrorsWaitForConnections: what the listener says comes after those that were taken in before.
func TestErrorsWaitForConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffers()
		q := newQueue(o, 100)
		here, there := net.Pipe()
		go func() { o.come <- here }()
		if _, err := q.Accept(); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			o.come <- here
		}
		close(o.broken)
		synctest.Wait()
		for i := range 100 {
			if _, err := q.Accept(); err != nil {
				t.Fatalf("connection %d of 100 that wait: %v", i, err)
			}
		}
		if _, err := q.Accept(); !errors.Is(err, errNoFiles) {
			t.Errorf("then: %v", err)
		}
		_, _, _ = here.Close(), there.Close(), q.Close()
	})
}

// TestT08_WhoWaitsLeavesFiles: no more wait than a quarter of the files that the process may open, and 16,384; then the listener waits.
func TestT08_WhoWaitsLeavesFiles(t *testing.T) {
	t.Parallel()
	for limit, want := range map[uint64]int{1024: 256, 20_000: 5_000, 1 << 20: 16_384, ^uint64(0): 16_384} {
		if got := mayWait(limit); got != want {
			t.Errorf("of %d files %d may wait, want %d", limit, got, want)
		}
	}
	if n := files(); n == 0 {
		t.Error("the process may open no file")
	}
	synctest.Test(t, func(t *testing.T) {
		o := newOffers()
		q := newQueue(o, 2)
		here, there := net.Pipe()
		go func() { o.come <- here }()
		if _, err := q.Accept(); err != nil {
			t.Fatal(err)
		}
		taken := 0
		go func() {
			for range 10 {
				select {
				case o.come <- here:
					taken++
				case <-o.closed:
					return
				}
			}
		}()
		synctest.Wait()
		if taken != 3 { // two wait, and one waits for a place among them
			t.Errorf("%d were taken in, want 3", taken)
		}
		_, _, _ = q.Close(), here.Close(), there.Close()
	})
}
