package xds

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
)

// handed is what was handed to grpc for a client. For grpc it is sent then, though all of it
// may wait for a client that reads nothing.
type handed struct {
	gone  chan struct{} // closed when it was written, or dropped
	until time.Time     // when it must be gone
}

func newHanded(limit time.Duration) *handed {
	return &handed{gone: make(chan struct{}), until: time.Now().Add(limit)}
}

// minHanded is the capacity that makes a buffer one that grpc gives back.
const minHanded = 1<<10 + 128

// Get is never called: handed is the pool of one buffer.
func (*handed) Get(n int) *[]byte { b := make([]byte, n); return &b }

// Put is called when nobody has the buffer any more.
func (h *handed) Put(*[]byte) { close(h.gone) }

// answer is a message of a talk.
type answer struct {
	message proto.Message
	*handed
}

func (h *handed) isGone() bool {
	select {
	case <-h.gone:
		return true
	default:
		return false
	}
}

// release waits until nothing is held here for a call's client, and ends the connection of one
// that does not read: grpc has no other way to take back what it was given. Whatever counts
// the call is to count it until then. ctx is grpc's own for the call; h may be nil.
func (s *Server) release(ctx context.Context, h *handed) {
	if h == nil || h.isGone() { // what is gone long since has no time left either
		return
	}
	timer := time.NewTimer(time.Until(h.until))
	defer timer.Stop()
	select {
	case <-h.gone:
	case <-ctx.Done(): // reset, or without a connection: it is dropped
	case <-timer.C:
		if c := connOf(ctx); c != nil {
			s.log.Warn("connection closed: its client does not read what it asked for", "remote", remote(ctx), "within", s.cfg.Limits.Write)
			_ = c.Close() // it is of no use any more
		}
	}
}
