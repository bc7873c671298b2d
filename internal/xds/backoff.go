package xds

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
)

// backoff is what a credential whose calls on one connection were refused of late waits. A refused
// call costs its client next to nothing: so the credential's next one on the same connection
// waits, and nothing of its body is read meanwhile. Open calls, other credentials and other connections wait for
// nothing: behind a proxy many nodes share a connection.
type backoff struct {
	refused int           // calls, until it is forgotten
	pause   time.Duration // what the last refusal added
	until   time.Time
	waiting int
}

const (
	backoffFree    = 4                     // refusals that make nobody wait
	backoffFirst   = 50 * time.Millisecond // doubled by each refusal after that
	backoffMax     = 5 * time.Second
	backoffForget  = time.Minute // after its end
	backoffWaiting = 1000        // calls; more are refused
)

// await returns when a call of the credential may be let in, or why it may not.
func (c *conn) await(ctx context.Context, id fleet.CredentialID) error {
	c.mu.Lock()
	b := c.refused[id]
	if b == nil || time.Until(b.until) <= 0 {
		c.mu.Unlock()
		return nil
	}
	if b.waiting >= backoffWaiting {
		c.mu.Unlock()
		return fmt.Errorf("calls of this credential were refused on this connection and %d wait for the next try: fix what was refused, and wait longer before a retry: %w", b.waiting, fleet.ErrLimit)
	}
	b.waiting++
	timer := time.NewTimer(time.Until(b.until))
	c.mu.Unlock()
	defer timer.Stop()
	defer func() {
		c.mu.Lock()
		b.waiting--
		c.mu.Unlock()
	}()
	select {
	case <-timer.C:
	case <-c.srv.drain:
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	return nil
}

// refuse notes that a call was refused. It looks at all credentials of which that was so on the connection
// within backoffForget.
func (c *conn) refuse(id fleet.CredentialID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = make(map[fleet.CredentialID]*backoff)
	}
	for other, b := range c.refused {
		if time.Since(b.until) > backoffForget {
			delete(c.refused, other)
		}
	}
	b := c.refused[id]
	if b == nil {
		b = &backoff{}
		c.refused[id] = b
	}
	if b.refused++; b.refused > backoffFree {
		b.pause = min(max(2*b.pause, backoffFirst), backoffMax)
	}
	b.until = time.Now().Add(b.pause)
}
