package xds

import (
	"net"
	"sync"
	"syscall"
)

// maxWaiting is how many connections wait in the server at most until there is room to serve them. The kernel keeps net.core.somaxconn more,
// 4,096 by default, and who finds that full asks again after a second or three. One that waits is a file and some hundred bytes, nothing
// of it is read, and it is not counted as unauthenticated before its turn.
const maxWaiting = 16_384

// mayWait is how many may wait where the process may open so many files: a quarter of them at most, so that those who wait leave enough
// for who is served, and for the database.
func mayWait(files uint64) int { return int(min(maxWaiting, files/4)) } //nolint:gosec // at most maxWaiting

// files is how many files the process may have open.
func files() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 4 * maxWaiting // accept says when there are none left
	}
	return uint64(limit.Cur) //nolint:unconvert // signed on some systems
}

// queue takes connections in as they come, and has them wait.
type queue struct {
	net.Listener
	conns  chan net.Conn
	failed chan error // what the listener says while no connection comes
	closed chan struct{}
	filled chan struct{} // closed when nothing is taken in any more
	start  sync.Once
	end    sync.Once
}

func newQueue(lis net.Listener, most int) *queue {
	return &queue{
		Listener: lis, conns: make(chan net.Conn, most), failed: make(chan error), closed: make(chan struct{}), filled: make(chan struct{}),
	}
}

// Accept returns the connection that has waited for the longest time.
func (q *queue) Accept() (net.Conn, error) {
	q.start.Do(func() { go q.fill() })
	select {
	case conn := <-q.conns:
		return conn, nil
	default:
	}
	select {
	case conn := <-q.conns:
		return conn, nil
	case err := <-q.failed:
		return nil, err
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// fill ends with the listener. Who accepts decides how long to wait after an error.
func (q *queue) fill() {
	defer close(q.filled)
	for {
		conn, err := q.Listener.Accept()
		if err != nil {
			select {
			case q.failed <- err:
				continue
			case <-q.closed:
				return
			}
		}
		select {
		case q.conns <- conn:
		case <-q.closed:
			_ = conn.Close()
			return
		}
	}
}

// Close closes those that wait too: their clients go to another server. It may be called more than once.
func (q *queue) Close() error {
	var err error
	q.end.Do(func() {
		close(q.closed)
		err = q.Listener.Close()
		q.start.Do(func() { close(q.filled) }) // nothing was taken in
		<-q.filled
		for len(q.conns) > 0 {
			select {
			case conn := <-q.conns:
				_ = conn.Close()
			default: // Accept took it
			}
		}
	})
	return err
}
