package xds

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// endless is a connection that has always more to read and takes whatever is written.
type endless struct {
	net.Conn
	next func() []byte
	rest []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = e.next()
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *endless) Write(p []byte) (int, error) { return len(p), nil }

func (e *endless) Close() error { return nil }

// TestT39_LittleIsReadBeforeTheVerdict: without an authenticated call a connection is read
// as far as the calls that wait for their verdicts weigh half a MiB: whether they weigh by
// their number, by their bytes or by their frames, and also when the client ended them.
// A verdict, an authenticated call and the connection's end let it go on.
func TestT39_LittleIsReadBeforeTheVerdict(t *testing.T) {
	t.Parallel()
	headers := func(id uint32) []byte { return frame(frameHeaders, 4, id, 1) }
	for name, c := range map[string]struct {
		call func(id uint32) []byte
		most int // calls that are read before the pause
	}{
		"nothing but headers": {headers, 33},
		"with a body": {func(id uint32) []byte {
			return append(headers(id), frame(frameData, 0, id, make([]byte, 48<<10)...)...)
		}, 8},
		"with a body that ended": {func(id uint32) []byte {
			return append(headers(id), frame(frameData, flagEndStream, id, make([]byte, 48<<10)...)...)
		}, 8},
		"in small frames": {func(id uint32) []byte {
			return append(headers(id), bytes.Repeat(frame(frameData, 0, id, make([]byte, smallData)...), 64)...)
		}, 10},
	} {
		for what, goOn := range map[string]func(*conn){
			"a verdict":             func(c *conn) { _, _ = c.Write(frame(frameReset, 0, 1, 0, 0, 0, 0)) },
			"an authenticated call": (*conn).admit,
			"the end":               func(c *conn) { _ = c.Close() },
		} {
			t.Run(name+", then "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var calls atomic.Uint32
					read := make(chan int)
					raw := &endless{rest: preface(), next: func() []byte { return c.call(2*calls.Add(1) - 1) }}
					cn := newConn(&Server{cfg: Config{Limits: Limits{}.withDefaults()}}, raw, nil)
					stop := make(chan struct{})
					go func() {
						defer close(read)
						buf := make([]byte, 256<<10)
						for {
							n, _ := cn.Read(buf)
							select {
							case read <- n:
							case <-stop:
								return
							}
						}
					}()
					<-read // the preface
					pause := func() {
						for calls.Load() < 100 {
							synctest.Wait()
							select {
							case <-read:
							default:
								return
							}
						}
					}
					pause()
					if calls.Load() != uint32(c.most) {
						t.Errorf("%d calls were read, want %d", calls.Load(), c.most)
					}
					before := calls.Load()
					goOn(cn)
					pause()
					if calls.Load() == before {
						t.Error("nothing more was read")
					}
					close(stop)
					cn.admit() // ends its wait
				})
			})
		}
	}
}
