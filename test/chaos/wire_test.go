package chaos

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/test/world"
)

// wire stands between two programs, and can lose what goes through it, delay it, or break the connections. It passes bytes on, over TCP
// to a TCP address or a Unix socket.
type wire struct {
	address, network, upstream string

	lis     net.Listener
	running sync.WaitGroup
	lag     atomic.Int64 // time.Duration, each way
	late    atomic.Int64 // when something went on last that had been held, in Unix nanoseconds

	mu    sync.Mutex // guards what follows
	open  chan struct{}
	conns map[net.Conn]struct{}
	ended chan struct{}
}

// held is for how long something is kept that was held. A server does not take a client for stuck before.
const held = 100 * time.Millisecond

// heldSince reports whether something went on since that had been held.
func (w *wire) heldSince(t time.Time) bool { return w.late.Load() >= t.UnixNano() }

func newWire(t testing.TB, network, upstream string) *wire {
	t.Helper()
	lis, err := net.Listen("tcp", world.AnyPort)
	world.Must(t, err)
	w := &wire{address: lis.Addr().String(), network: network, upstream: upstream, lis: lis, open: make(chan struct{}), conns: map[net.Conn]struct{}{}, ended: make(chan struct{})}
	close(w.open)
	w.running.Go(w.accept)
	t.Cleanup(w.close)
	return w
}

func (w *wire) close() {
	close(w.ended)
	_ = w.lis.Close()
	w.reset()
	w.running.Wait()
}

// partition has nothing pass, of new connections neither, until heal.
func (w *wire) partition() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = make(chan struct{})
}

// heal passes on all that waited, and delays nothing any more.
func (w *wire) heal() {
	w.lag.Store(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.open:
	default:
		close(w.open)
	}
}

// reset breaks all connections, by RST.
func (w *wire) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
}

func (w *wire) accept() {
	for {
		down, err := w.lis.Accept()
		if err != nil {
			return
		}
		w.running.Go(func() { w.serve(down) })
	}
}

func (w *wire) serve(down net.Conn) {
	if !w.keep(down) {
		return
	}
	defer w.drop(down)
	if !w.passes() {
		return
	}
	up, err := net.Dial(w.network, w.upstream)
	if err != nil || !w.keep(up) {
		return
	}
	defer w.drop(up)
	over := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{down, up}, {up, down}} {
		w.running.Go(func() { w.pump(way[0], way[1]); over <- struct{}{} })
	}
	<-over // what one side ended is ended
}

func (w *wire) pump(from, to net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		came := time.Now()
		if lag := time.Duration(w.lag.Load()); lag > 0 {
			select {
			case <-time.After(lag):
			case <-w.ended:
			}
		}
		if !w.passes() {
			return
		}
		if now := time.Now(); now.Sub(came) >= held {
			w.late.Store(now.UnixNano())
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// passes waits until the wire is whole; false: it has ended.
func (w *wire) passes() bool {
	w.mu.Lock()
	open := w.open
	w.mu.Unlock()
	select {
	case <-open:
		return true
	case <-w.ended:
		return false
	}
}

func (w *wire) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ended:
		_ = c.Close()
		return false
	default:
		w.conns[c] = struct{}{}
		return true
	}
}

func (w *wire) drop(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
	_ = c.Close()
}
