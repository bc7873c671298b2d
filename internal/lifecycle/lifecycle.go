// Package lifecycle runs the components of a process together and stops them in order.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// DefaultStopTimeout is how long a component may take to stop.
const DefaultStopTimeout = 10 * time.Second

// ErrStuck says that a component did not return in time after its context had ended.
var ErrStuck = errors.New("did not stop in time")

// errEnded is what a component is held to have said that returned nil too early.
var errEnded = errors.New("ended by itself")

// Component is one part of a process.
type Component struct {
	Name string
	// Run works until its context ends, then returns; nil or the context's error is a good
	// end. What it needs of other components must be ready when Run is called, or it must
	// wait for it by itself.
	Run func(ctx context.Context) error
	// StopTimeout is how long Run may go on after the end of its context; 0 is
	// DefaultStopTimeout.
	StopTimeout time.Duration
}

// running is a component and the two sides of its end.
type running struct {
	Component
	stop context.CancelFunc
	done chan struct{}
	err  error // of the end that it was told to make; set before done is closed
}

// Run starts the components in order and runs them together until ctx ends or the first
// of them returns. Then it stops them one after the other, the last one first, each with
// its own deadline, so that a component can rely on those before it while it ends. It
// returns nil if all ended well after ctx had; otherwise every error, each with its
// component's name. A component that is stuck is reported and left behind.
func Run(ctx context.Context, components ...Component) error {
	first := make(chan error, 1) // of the component that ended before it was told to
	failed := func(err error) {
		select {
		case first <- err:
		default:
		}
	}
	var group sync.WaitGroup
	started := make([]*running, 0, len(components))
	for _, c := range components {
		// Cut off from ctx: its end must reach the last component first.
		own, stop := context.WithCancel(context.WithoutCancel(ctx))
		r := &running{Component: c, stop: stop, done: make(chan struct{})}
		started = append(started, r)
		group.Go(func() {
			defer close(r.done)
			// What a component does not contain by itself ends the process in order.
			err := Contain(slog.Default(), r.Name, func() error { return r.Run(own) })
			switch {
			case own.Err() == nil:
				failed(r.errorf(early(err)))
			case err != nil && !errors.Is(err, context.Canceled):
				r.err = r.errorf(err)
			}
		})
	}
	var errs []error
	select {
	case <-ctx.Done():
	case err := <-first:
		errs = append(errs, err)
	}
	return errors.Join(append(errs, stopAll(started)...)...)
}

func early(err error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// stopAll returns what the components said, or that they would not stop.
func stopAll(started []*running) (errs []error) {
	for i := len(started) - 1; i >= 0; i-- {
		r := started[i]
		limit := r.StopTimeout
		if limit == 0 {
			limit = DefaultStopTimeout
		}
		r.stop()
		timer := time.NewTimer(limit)
		select {
		case <-r.done:
			errs = append(errs, r.err)
		case <-timer.C:
			errs = append(errs, r.errorf(fmt.Errorf("%w (%v)", ErrStuck, limit)))
		}
		timer.Stop()
	}
	return errs
}

func (r *running) errorf(err error) error { return fmt.Errorf("%s: %w", r.Name, err) }
