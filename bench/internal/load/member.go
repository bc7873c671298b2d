package load

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"fairlead/bench/internal/h2"
)

// A client whose connection ends tries again as an Envoy does by default: after a random part of half a second, of twice as much after each
// failure, of at most half a minute.
const (
	leastBackoff = 500 * time.Millisecond
	mostBackoff  = 30 * time.Second
)

// member is a connection's clients. They connect, hang up and come back together. The goroutine of live runs all of it but hangUp.
type member struct {
	churn   *Churn
	clients []*client
	random  *rand.Rand

	mu     sync.Mutex // guards what follows
	conn   *h2.Conn   // nil: it has none
	hungUp bool
}

// live keeps the clients connected, at first to server at, until ctx ends.
func (m *member) live(ctx context.Context, at int) {
	for tries := 0; ctx.Err() == nil; {
		life, answered, err := m.session(ctx, at)
		left := m.left()
		if answered {
			tries = 0
		}
		pause := m.upTo(min(leastBackoff<<min(tries, 10), mostBackoff))
		switch {
		case ctx.Err() != nil:
			return
		case left:
			at, pause = m.random.IntN(len(m.churn.servers)), m.upTo(m.churn.cfg.Away)
			tries = 0
		default:
			m.churn.ended(at, life, err)
			at = (at + 1) % len(m.churn.servers)
			tries++
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if left {
			m.returned()
		}
	}
}

func (m *member) upTo(d time.Duration) time.Duration { return time.Duration(m.random.Int64N(int64(d))) }

// session runs the clients on one connection, until that ends. It tells which life of the server that was, and whether the server has said
// anything.
func (m *member) session(ctx context.Context, at int) (life int, answered bool, err error) {
	select {
	case m.churn.dials <- struct{}{}:
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
	r := m.churn.Runner
	to, life := m.churn.server(at)
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", to.Target)
	<-m.churn.dials
	if err != nil {
		return life, false, err
	}
	conn := r.conn(nc)
	stop := context.AfterFunc(ctx, conn.Close)
	defer stop()
	headers := r.headers(to)
	for _, c := range m.clients {
		c.connect(conn, headers)
	}
	m.mu.Lock()
	m.conn = conn
	m.mu.Unlock()
	err = conn.Run()
	for _, c := range m.clients {
		answered = answered || c.stream.answered
	}
	return life, answered, err
}

// hangUp ends the connection, if there is one. Anybody may call it.
func (m *member) hangUp() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil || m.hungUp {
		return false
	}
	m.hungUp = true
	m.conn.Close()
	return true
}

// left reports whether the connection that has ended was hung up.
func (m *member) left() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.hungUp
	m.conn, m.hungUp = nil, false
	return left
}

// returned has what was changed meanwhile count from now on.
func (m *member) returned() {
	now := time.Now().UnixNano()
	for _, c := range m.clients {
		c.back = now
	}
}
