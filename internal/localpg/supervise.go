package localpg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/internal/childproc"
	"fairlead/internal/fleet"
)

// The pauses between attempts to start Postgres again double from the first to the last.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

var errStopped = fmt.Errorf("the Postgres was stopped: %w", fleet.ErrConflict)

// startTimeout bounds one start; a recovery after a crash takes seconds.
const startTimeout = time.Minute

// Run starts Postgres again whenever it dies by itself, until ctx ends; then it stops
// it and returns nil, as it does after Stop. It goes on for ever about a server that will not start.
func (s *Server) Run(ctx context.Context) error {
	for {
		proc, pause := s.process(), firstPause
		select {
		case <-ctx.Done():
			return s.end()
		case <-proc.Done():
		}
		if s.hasStopped() {
			return nil
		}
		if s.process() != proc { // Restart was called
			continue
		}
		s.config.Event(fmt.Sprintf("Postgres has ended (%v): starting it again.", proc.Err()))
		for err := s.replace(ctx, proc); err != nil && ctx.Err() == nil; err = s.replace(ctx, proc) {
			s.config.Event(fmt.Sprintf("Postgres does not start: %v. Next try in %v.", err, pause))
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, lastPause)
		}
		if ctx.Err() == nil {
			s.config.Event("Postgres is up again.")
		}
	}
}

// end stops what runs now; ctx, which has ended, must not turn it into a kill.
func (s *Server) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return s.Stop(ctx)
}

func (s *Server) hasStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// Restart stops Postgres if it runs, and starts it again on the same socket and port.
// After Stop it is ErrConflict.
func (s *Server) Restart(ctx context.Context) error { return s.replace(ctx, s.process()) }

// replace is Restart, unless somebody else has already replaced old.
func (s *Server) replace(ctx context.Context, old *childproc.Process) error {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	if s.hasStopped() {
		return errStopped
	}
	if s.process() != old {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := old.Stop(); err != nil && !errors.Is(err, childproc.ErrKilled) {
		return err
	}
	if err := endOrphans(s.layout.data, stopSignal(s.config.Ephemeral)); err != nil {
		return err
	}
	return s.launch(ctx)
}
