package xds

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"

	"fairlead/internal/door"
)

// What a client's connection may ask of the server without having a use for it (T16): resets of calls that nothing was answered on,
// and frames that carry nothing. Who does more often is cut off. An Envoy with a stream for each of 10,000 clusters
// may reset them all at once, which are older then, or answered; none is counted of a client of today that does what it should.
const (
	// unauthenticatedBytes is the most that an unauthenticated connection may make the server hold, as
	// frames weighs it: some 30 calls that wait for their verdicts.
	unauthenticatedBytes = 512 << 10
	// unauthenticatedRead is how much is read at once of such a connection beside the DATA frame that comes in: more that is full of calls weighs
	// as much as all of them.
	unauthenticatedRead = 1 << 10
	// maxLeft is how many calls of an authenticated connection may run on after their streams have ended, when more of it is read.
	maxLeft = 256

	resetsAtOnce, resetsPerSecond                               = 2000, 100
	unauthenticatedResetsAtOnce, unauthenticatedResetsPerSecond = 100, 1
	idleAtOnce, idlePerSecond                                   = 2000, 50
	unauthenticatedIdleAtOnce, unauthenticatedIdlePerSecond     = 200, 10
	// strictPart is what a connection has of all that whose address has just had another one cut off.
	strictPart = 10
	// callsBegin is how long a call may take from its headers to its handler, where nothing else is read meanwhile.
	callsBegin = time.Second
)

var errFlooded = errors.New("the client floods the connection")

// bucket is what is left of what may be done at once; it fills as time passes.
type bucket struct {
	left float64
	at   time.Time // zero: it is full
}

// take reports whether n were there.
func (b *bucket) take(n int, now time.Time, perSecond, atOnce float64) bool {
	if b.at.IsZero() {
		b.left = atOnce
	} else {
		b.left = min(atOnce, b.left+now.Sub(b.at).Seconds()*perSecond)
	}
	b.at = now
	b.left -= float64(n)
	return b.left >= 0
}

// flooded says what the client does too much of; "": nothing. c.mu is held.
func (c *conn) flooded(now func() time.Time) string {
	resets, idle := c.frames.spent()
	if resets == 0 && idle == 0 || c.closed {
		return ""
	}
	part := 1.0
	if c.guest != nil && c.guest.Strict() {
		part = strictPart
	}
	at, ra, rs, ia, is := now(), float64(resetsAtOnce), float64(resetsPerSecond), float64(idleAtOnce), float64(idlePerSecond)
	if !c.authenticated {
		ra, rs, ia, is = unauthenticatedResetsAtOnce, unauthenticatedResetsPerSecond, unauthenticatedIdleAtOnce, unauthenticatedIdlePerSecond
	}
	switch {
	case !c.resets.take(resets, at, rs, ra/part):
		return "resets of calls that it has just made"
	case !c.idle.take(idle, at, is, ia/part):
		return "frames that carry nothing"
	}
	return ""
}

// calls counts those of a connection that gRPC has handed to a handler. A stream may be gone while its handler runs.
type calls struct {
	made, begun, ended int
}

// left is how many calls run whose streams have ended. Those that begin cannot be told apart from those that never will:
// gRPC answers some by itself. c.mu is held.
func (c *conn) left() int { return max(0, c.calls.made-c.calls.ended-len(c.frames.incoming)) }

// full reports whether nothing more is to be read. c.mu is held.
func (c *conn) full() bool {
	if c.authenticated {
		return c.left() > maxLeft
	}
	return c.frames.held+c.left()*callWeight > unauthenticatedBytes
}

// wait blocks until more may be read, and returns how much of n bytes.
func (c *conn) wait(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && c.full() {
		c.waitForCalls()
	}
	if !c.authenticated {
		n = min(n, c.frames.in.ofData()+unauthenticatedRead)
	}
	return n
}

// waitForCalls waits for calls to end. If for callsBegin none has begun, those that have not never will. c.mu is held.
func (c *conn) waitForCalls() {
	late, began := false, time.Now()
	defer func() { c.frames.since = c.frames.since.Add(time.Since(began)) }() // what waits to be read gets no older
	timer := time.AfterFunc(callsBegin, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.room.Broadcast()
	})
	defer timer.Stop()
	for begun := c.calls.begun; !c.closed && c.full(); {
		if late {
			if begun == c.calls.begun {
				c.calls.ended += c.calls.made - begun
				c.calls.begun = c.calls.made
			}
			begun, late = c.calls.begun, false
			timer.Reset(callsBegin)
			continue
		}
		c.room.Wait()
	}
}

// countCall is called by gRPC when it hands a call to a handler.
func countCall(ctx context.Context, _ *tap.Info) (context.Context, error) {
	if c := connOf(ctx); c != nil {
		c.mu.Lock()
		c.calls.made++
		c.mu.Unlock()
	}
	return ctx, nil
}

// begin notes that a handler has begun. c may be nil.
func (c *conn) begin() {
	if c != nil {
		c.mu.Lock()
		c.calls.begun++
		c.mu.Unlock()
	}
}

// end notes that a handler has ended. c may be nil.
func (c *conn) end() {
	if c != nil {
		c.mu.Lock()
		c.calls.ended++
		c.room.Broadcast()
		c.mu.Unlock()
	}
}

// say writes a line that those outside can cause as often as they like.
func (s *Server) say(level slog.Level, remote net.Addr, what string, attrs ...slog.Attr) {
	s.entry.Log().Say(level, door.Source(remote), what, append([]slog.Attr{slog.String("remote", remote.String())}, attrs...)...)
}

// addressOf is the address of a call's client; it is nobody's outside of gRPC.
func addressOf(ctx context.Context) net.Addr {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr
	}
	return &net.UnixAddr{}
}

// slowDown waits before a call without a good token is answered, where many come from its address.
func (s *Server) slowDown(ctx context.Context) {
	wait := s.entry.Wait(addressOf(ctx))
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.drain:
	case <-ctx.Done():
	}
}
