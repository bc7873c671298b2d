package xds

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// maxWaiting is how many connections wait in the server at most until there is room to serve them. The kernel keeps net.core.somaxconn more,
// 4,096 by default, and who finds that full asks again after a second or three. One that waits is a file and some hundred bytes, nothing
// of it is read, and it is not counted as unauthenticated before its turn.
const maxWaiting = 16_384

// mayWait is how many may wait where the process may open so many files: a quarter of them at most, so that those who wait leave enough
// for who is served, and for the database.
func mayWait(files uint64) int { return int(min(maxWaiting, files/4)) } //nolint:gosec // at most maxWaiting

// queue takes connections in as they come, and has them wait.
type queue struct {
	net.Listener
	log    *slog.Logger
	conns  chan net.Conn
	failed chan error // what the listener says for good, while no connection comes
	closed chan struct{}
	filled chan struct{} // closed when nothing is taken in any more
	start  sync.Once
	end    sync.Once
}

func newQueue(lis net.Listener, most int, log *slog.Logger) *queue {
	return &queue{
		Listener: lis, log: log, conns: make(chan net.Conn, most), failed: make(chan error), closed: make(chan struct{}), filled: make(chan struct{}),
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

// The pause after an error that may pass, and how long it gets while the error stays.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// fill ends with the listener. After an error that may pass, as when there is no file for an instant, it pauses and goes on: those who
// wait do not have to be served first.
func (q *queue) fill() {
	defer close(q.filled)
	told := rate.Sometimes{Interval: lastPause}
	pause := firstPause
	for {
		conn, err := q.Listener.Accept()
		switch {
		case err != nil && mayPass(err):
			told.Do(func() { q.log.Warn("no connection can be taken in at the moment", slog.String("reason", err.Error())) })
			select {
			case <-time.After(pause):
			case <-q.closed:
				return
			}
			pause = min(2*pause, lastPause)
			continue
		case err != nil:
			select {
			case q.failed <- err:
			case <-q.closed:
				return
			}
			continue
		}
		pause = firstPause
		select {
		case q.conns <- conn:
		case <-q.closed:
			_ = conn.Close()
			return
		}
	}
}

// mayPass reports whether the next connection may be had although this one was not.
func mayPass(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) ||
		errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ECONNABORTED)
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
