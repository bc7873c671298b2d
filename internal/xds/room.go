package xds

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// room says whether sending on a stream would wait for its client. grpc takes any message while less
// than 64 KiB of the stream's are unwritten, and makes the sender wait otherwise: a response waits here
// instead, and its stream's owner goes on.
type room struct {
	held    *handed   // the last response that grpc has, nil if there was none
	unsent  int       // bytes handed to grpc since all was seen to be gone
	waiting *response // until what was handed is gone
	since   time.Time // when waiting was made
}

// maxUnsent is how many bytes of a stream may be on their way when another response is handed to
// grpc: half of what it allows.
const maxUnsent = 32 << 10

// full reports whether what is handed to grpc now may have to wait.
func (r *room) full() bool {
	if r.held == nil || r.held.isGone() {
		r.unsent = 0
	}
	return r.unsent >= maxUnsent
}

// freed is closed when there is room for what waits; nil: nothing does.
func (r *room) freed() <-chan struct{} {
	if r.waiting == nil {
		return nil
	}
	return r.held.gone
}

// messagePrefix is what gRPC puts before each message, in bytes.
const messagePrefix = 5

// offer sends what waits, if there is room, and ends the stream of a client that reads nothing.
func (st *stream) offer() (wrote bool, err error) {
	limit := st.srv.cfg.Limits.Write
	if st.full() {
		if st.now.Sub(st.since) >= limit {
			return false, status.Errorf(codes.ResourceExhausted, "the client read nothing for %s", limit)
		}
		return false, nil
	}
	r := st.waiting
	r.hand(st.now, limit)
	st.waiting, st.held = nil, &r.handed
	st.unsent += messagePrefix + len(r.shared) + r.Len()
	err = st.ss.SendMsg(r)
	r.shared = nil   // grpc has it, and held keeps r
	return true, err //nolint:wrapcheck // it is a status, or the end of the stream
}
