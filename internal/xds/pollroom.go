package xds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"fairlead/internal/fleet"
)

const (
	// smallPoll is how long a poll is that waits for room, and is not refused for want of it: an Envoy's has 77 kB, which are its node's.
	smallPoll = 256 << 10
	// mostHeld is how many bytes longer polls, while they are read, and the names of all that wait may have together. Those of one tenant have half of it.
	mostHeld = 128 << 20
)

var errPollsHeld = fmt.Errorf("the polls that are read and those that wait have as many bytes as there is room for: poll for fewer names, or again: %w", fleet.ErrUnavailable)

// pollRoom counts what polls hold. A poll that waits has its names, as another session may have to be begun with them; one credential has as
// many polls as it has connections.
type pollRoom struct {
	mu  sync.Mutex // guards what follows
	all int
	of  map[fleet.TenantID]int // none is 0
}

// take reports whether there is room for so many bytes more of a tenant, and holds them until give.
func (r *pollRoom) take(t fleet.TenantID, size int) bool {
	if size == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all+size > mostHeld || r.of[t]+size > mostHeld/2 {
		return false
	}
	if r.of == nil {
		r.of = map[fleet.TenantID]int{}
	}
	r.all, r.of[t] = r.all+size, r.of[t]+size
	return true
}

func (r *pollRoom) give(t fleet.TenantID, size int) {
	if size == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all -= size
	if r.of[t] -= size; r.of[t] == 0 {
		delete(r.of, t)
	}
}

// enterBody waits until there is room for a poll that says that it has so many bytes, -1: it does not say. leave is called when it is read, once.
func (s *Server) enterBody(ctx context.Context, t fleet.TenantID, says int64) (leave func(), err error) {
	switch {
	case says < 0 || says > smallPoll:
		says = smallPoll
	case says <= freePoll:
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Limits.Receive)
	defer cancel()
	return s.reading.take(ctx, t, says)
}

// readBody reads a poll into the buffer. A long one holds room for the longest until leave is called, once.
func (s *Server) readBody(t fleet.TenantID, into *bytes.Buffer, body io.Reader) (leave func(), err error) {
	leave = func() {}
	if _, err = into.ReadFrom(io.LimitReader(body, smallPoll)); err != nil || into.Len() < smallPoll {
		return leave, err //nolint:wrapcheck // who asks tells what it is
	}
	if !s.held.take(t, maxBody) {
		return leave, errPollsHeld
	}
	_, err = into.ReadFrom(body)
	return func() { s.held.give(t, maxBody) }, err //nolint:wrapcheck // likewise
}

// unread is why a body was not read to its end.
func (s *Server) unread(r *http.Request, err error) error {
	var large *http.MaxBytesError
	var late net.Error
	switch {
	case errors.Is(err, fleet.ErrUnavailable):
		return err
	case errors.As(err, &large):
		return &webError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the poll has more than %d bytes, the limit", maxBody)}
	case errors.As(err, &late) && late.Timeout():
		return &webError{http.StatusRequestTimeout, fmt.Sprintf("the poll did not come to its end within %s", s.cfg.Limits.Receive)}
	case r.Context().Err() != nil:
		return r.Context().Err()
	}
	return &webError{http.StatusBadRequest, "the body cannot be read: " + shortened(err.Error(), maxNote)}
}
