package xds

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// handed is a buffer that was handed to grpc for a client, the last of a message. For grpc it is
// sent then, though all of it may wait for a client that reads nothing.
type handed struct {
	mem.SliceBuffer               // the bytes; it counts no references, and has those of grpc's methods that are not exported
	refs            atomic.Int32  // besides the first one, which the codec gives to grpc
	gone            chan struct{} // closed when it was written, or dropped
	until           time.Time     // when it must be gone
}

// hand is called before grpc has it.
func (h *handed) hand(now time.Time, limit time.Duration) {
	h.gone, h.until = make(chan struct{}), now.Add(limit)
}

// Ref is called by grpc.
func (h *handed) Ref() { h.refs.Add(1) }

// Free is called by grpc, at last when it was written or dropped.
func (h *handed) Free() {
	if h.refs.Add(-1) < 0 {
		close(h.gone)
	}
}

// answer is a message of a talk.
type answer struct {
	message proto.Message
	handed
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
			s.say(slog.LevelWarn, addressOf(ctx), "connection closed: its client does not read what it asked for", slog.Duration("within", s.cfg.Limits.Write))
			_ = c.Close() // it is of no use any more
		}
	}
}
