package xds

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/door"
)

// offers is a listener whose connections and errors the test brings.
type offers struct {
	net.Listener // nil: nothing else is asked of it
	come         chan net.Conn
	broken       chan error // one for each error that comes; closed: nothing but errors comes
	failures     atomic.Int64
	closed       chan struct{}
}

func newOffers() *offers {
	return &offers{come: make(chan net.Conn), broken: make(chan error), closed: make(chan struct{})}
}

var (
	errNoFiles = &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	errBroken  = errors.New("the socket is broken")
)

func (o *offers) Accept() (net.Conn, error) {
	select {
	case c := <-o.come:
		return c, nil
	case err, more := <-o.broken:
		o.failures.Add(1)
		if more {
			return nil, err
		}
		return nil, errBroken
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
		q := newQueue(o, 4, slog.New(slog.DiscardHandler))
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

// TestAFailingListenerIsNotAskedAllTheTime: what it says for good who accepts is told, and until that one comes again nobody asks.
func TestAFailingListenerIsNotAskedAllTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffers()
		close(o.broken)
		q := newQueue(o, 4, slog.New(slog.DiscardHandler))
		for i := range 3 {
			if _, err := q.Accept(); !errors.Is(err, errBroken) {
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

// TestOneErrorDoesNotStopTheIntake: in a storm there is no file for an instant, while others wait. Those that come after it are taken in before
// those that wait have been served. While there is none it is asked for at most once in a second or so, and told once a second.
func TestOneErrorDoesNotStopTheIntake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, logged := newOffers(), &countedLog{}
		q := newQueue(o, 100, slog.New(logged))
		here, there := net.Pipe()
		go func() { o.come <- here }()
		if _, err := q.Accept(); err != nil {
			t.Fatal(err)
		}
		o.come <- here // it waits
		began := time.Now()
		for range 20 {
			o.broken <- errNoFiles
		}
		if took := time.Since(began); took < 10*time.Second || took > 20*time.Second {
			t.Errorf("20 errors in a row took %v", took)
		}
		for range 50 {
			o.come <- here
		}
		synctest.Wait()
		if n := len(q.conns); n != 51 {
			t.Errorf("%d wait, want 51", n)
		}
		if n := logged.Load(); n < 10 || n > 20 {
			t.Errorf("it was told %d times", n)
		}
		began = time.Now()
		o.broken <- errNoFiles // long after: the pause is short again
		o.come <- here
		if took := time.Since(began); took > 10*time.Millisecond {
			t.Errorf("one error cost %v", took)
		}
		o.broken <- errNoFiles
		_, _, _ = q.Close(), here.Close(), there.Close() // it does not wait for the pause
	})
}

// countedLog counts what is told.
type countedLog struct{ atomic.Int64 }

func (c *countedLog) Enabled(context.Context, slog.Level) bool  { return true }
func (c *countedLog) Handle(context.Context, slog.Record) error { c.Add(1); return nil }
func (c *countedLog) WithAttrs([]slog.Attr) slog.Handler        { return c }
func (c *countedLog) WithGroup(string) slog.Handler             { return c }

// TestErrorsWaitForConnections: what the listener says comes after those that were taken in before.
func TestErrorsWaitForConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffers()
		q := newQueue(o, 100, slog.New(slog.DiscardHandler))
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
		if _, err := q.Accept(); !errors.Is(err, errBroken) {
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
	if n := door.Files(); n == 0 {
		t.Error("the process may open no file")
	}
	synctest.Test(t, func(t *testing.T) {
		o := newOffers()
		q := newQueue(o, 2, slog.New(slog.DiscardHandler))
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
