package world

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// wires is a listener whose connections deliver what the client sends late, and can all
// be cut.
type wires struct {
	net.Listener
	lag     atomic.Int64 // time.Duration
	down    atomic.Bool  // connections are closed as they come
	refused atomic.Int64 // that many were

	mu   sync.Mutex // guards open
	open map[*wire]struct{}
}

func newWires(lis net.Listener) *wires {
	return &wires{Listener: lis, open: map[*wire]struct{}{}}
}

// Accept is net.Listener's.
func (ws *wires) Accept() (net.Conn, error) {
	c, err := ws.Listener.Accept()
	for err == nil && ws.down.Load() {
		_ = c.Close()
		ws.refused.Add(1)
		c, err = ws.Listener.Accept()
	}
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: c, of: ws, chunks: make(chan chunk, 1024), closed: make(chan struct{})}
	ws.mu.Lock()
	ws.open[w] = struct{}{}
	ws.mu.Unlock()
	go w.read()
	return w, nil
}

// cut closes every connection.
func (ws *wires) cut() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.open {
		_ = w.Conn.Close()
	}
}

// wire is one connection. What was read from it waits in chunks until it is due, so that
// a long delay makes nothing slower than that delay.
type wire struct {
	net.Conn
	of     *wires
	chunks chan chunk
	now    chunk // what is being read
	once   sync.Once
	closed chan struct{}
}

type chunk struct {
	bytes []byte
	err   error
	due   time.Time
}

func (w *wire) read() {
	for {
		b := make([]byte, 32<<10)
		n, err := w.Conn.Read(b)
		select {
		case w.chunks <- chunk{b[:n], err, time.Now().Add(time.Duration(w.of.lag.Load()))}:
		case <-w.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read is net.Conn's; grpc calls it from one goroutine.
func (w *wire) Read(p []byte) (int, error) {
	for len(w.now.bytes) == 0 {
		if w.now.err != nil {
			return 0, w.now.err
		}
		select {
		case w.now = <-w.chunks:
		case <-w.closed:
			return 0, net.ErrClosed
		}
		if late := time.Until(w.now.due); late > 0 {
			select {
			case <-time.After(late):
			case <-w.closed:
				return 0, net.ErrClosed
			}
		}
	}
	n := copy(p, w.now.bytes)
	w.now.bytes = w.now.bytes[n:]
	return n, nil
}

// Close is net.Conn's.
func (w *wire) Close() error {
	w.once.Do(func() {
		close(w.closed)
		w.of.mu.Lock()
		defer w.of.mu.Unlock()
		delete(w.of.open, w)
	})
	return w.Conn.Close()
}
