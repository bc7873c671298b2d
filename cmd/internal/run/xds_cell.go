package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/replica"
	"fairlead/internal/xds"
)

const (
	// cellRests is for how long a cell that did not answer is not asked for tokens that may be of any.
	cellRests = time.Second
	// cellAgain is when a cell is tried again whose database is not fit.
	cellAgain = 10 * time.Second
)

var errCellAway = fmt.Errorf("the database of the node token's cell was not reached yet: try again: %w", fleet.ErrUnavailable)

// xdsCell is one of several databases of an xDS server. It is opened when it can be.
type xdsCell struct {
	name  string
	url   string
	open  func(ctx context.Context) (*xdsStack, error) // waits for the database
	log   *slog.Logger
	waits *Waits                   // for its database
	stack atomic.Pointer[xdsStack] // nil: it is not open yet
	since atomic.Int64             // Unix ns, when it was asked last and did not answer; 0: it did
}

// run serves the cell until ctx ends. Whatever is wrong with its database costs no other cell.
func (c *xdsCell) run(ctx context.Context) error {
	s := c.opened(ctx)
	if s == nil {
		return nil // ctx has ended
	}
	defer s.close()
	c.stack.Store(s)
	c.log.Info("the cell is open")
	return lifecycle.Run(ctx, s.components()...)
}

func (c *xdsCell) opened(ctx context.Context) *xdsStack {
	for {
		s, err := c.open(ctx)
		switch {
		case err == nil:
			return s
		case ctx.Err() != nil:
			return nil
		}
		c.log.Error("the cell cannot be served: it is tried again", "reason", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(cellAgain):
		}
	}
}

// askCell finds whom a token speaks for in a database.
type askCell func(context.Context, *replica.Replica) (xds.Identity, error)

// ask asks the cell, and notes whether it answers.
func (c *xdsCell) ask(ctx context.Context, ask askCell) (xds.Identity, error) {
	s := c.stack.Load()
	if s == nil {
		return xds.Identity{}, errCellAway
	}
	who, err := ask(ctx, s.replica)
	who.Cell = c.name
	c.note(ctx, err)
	return who, err
}

// askWithin is ask, for so long at most.
func (c *xdsCell) askWithin(ctx context.Context, most time.Duration, ask askCell) (xds.Identity, error) {
	return c.ask(ctx, func(ctx context.Context, r *replica.Replica) (xds.Identity, error) {
		within, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return ask(within, r)
	})
}

func (c *xdsCell) note(ctx context.Context, err error) {
	switch {
	case !errors.Is(err, fleet.ErrUnavailable):
		c.since.Store(0)
	case errors.Is(err, auth.ErrTooMany): // its database was not asked
	case ctx.Err() == nil: // else its caller has given up
		c.since.Store(time.Now().UnixNano())
	}
}

// answers reports whether the cell answered when it was asked last, and the last poll.
func (c *xdsCell) answers() bool {
	s := c.stack.Load()
	return s != nil && s.replica.Answers() && c.since.Load() == 0
}

// away names a cell that does not answer, and why where that is known.
func (c *xdsCell) away() string {
	if why := c.waits.reason(); c.stack.Load() == nil && why != "" {
		return c.name + " (" + why + ")"
	}
	return c.name
}

// alive asks the cell's database for a sign of life.
func (c *xdsCell) alive(ctx context.Context) (alive bool) {
	s := c.stack.Load()
	if s == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, cellRests)
	defer cancel()
	_ = lifecycle.Contain(c.log, "a sign of life of a cell", func() error {
		alive = s.store.Ping(ctx) == nil
		return nil
	})
	return alive
}

// rests reports whether it is known that the cell does not answer.
func (c *xdsCell) rests() bool {
	if c.stack.Load() == nil {
		return true
	}
	at := c.since.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < cellRests
}
