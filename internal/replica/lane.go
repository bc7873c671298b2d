package replica

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// How many questions of one kind are under way at once, as long as the database answers them
// soon, and how many of all kinds that take longer.
const (
	quickAtOnce = 2
	slowAtOnce  = 3
	lateAtOnce  = 1 // of these, by fleets whose last question was not answered in time
)

const (
	quickFor  = 250 * time.Millisecond // then a question goes on among the slow ones, if there is a place
	quickMost = time.Second            // then it ends, and begins anew when there is one
	forever   = time.Duration(math.MaxInt64)
)

var errOvertime = errors.New("others are to have the place")

// lane is the way of one kind of question to the database. All fleets share it, and none of
// them waits long for another one that is slow: such a one makes room, and fleets that were
// not answered in time have one place among them, which is handed out in turn.
type lane struct {
	quick chan struct{} // a place is taken by sending
	*slowLane
}

// slowLane is what all lanes have in common.
type slowLane struct{ slow, late chan struct{} }

func newSlowLane() *slowLane {
	return &slowLane{slow: make(chan struct{}, slowAtOnce), late: make(chan struct{}, lateAtOnce)}
}

func newLane(s *slowLane) *lane { return &lane{make(chan struct{}, quickAtOnce), s} }

// pace is what is known of how fast a fleet's questions are answered. It is of whoever asks
// them one after the other.
type pace struct {
	late   bool // the last one was not answered in time
	queued stopwatch
}

// do asks as soon as there is a place, or gives up when there was none for so long. ask holds
// the place while it runs, so it does nothing but ask; it may be called a second time.
func (l *lane) do(ctx context.Context, p *pace, patience time.Duration, ask func(context.Context) error) error {
	if !p.late {
		if err := l.hurry(ctx, p, patience, ask); !errors.Is(err, errOvertime) {
			return err
		}
	} else {
		if err := p.wait(ctx, l.late, patience); err != nil {
			return err
		}
		defer func() { <-l.late }()
	}
	if err := p.wait(ctx, l.slow, patience); err != nil {
		return err
	}
	defer func() { <-l.slow }()
	return p.judge(ctx, ask)
}

func (l *lane) hurry(ctx context.Context, p *pace, patience time.Duration, ask func(context.Context) error) error {
	if err := p.wait(ctx, l.quick, patience); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	v := &visit{place: l.quick, slow: l.slow, stop: stop}
	defer v.leave()
	v.begin()
	err := p.judge(ctx, ask)
	if err != nil && errors.Is(context.Cause(ctx), errOvertime) {
		p.late = false // it was not given the time
		return errOvertime
	}
	return err
}

func (p *pace) judge(ctx context.Context, ask func(context.Context) error) error {
	begun := time.Now()
	err := ask(ctx)
	p.late = err != nil && time.Since(begun) >= quickFor
	return err
}

// wait takes a place, first come, first served.
func (p *pace) wait(ctx context.Context, place chan<- struct{}, patience time.Duration) error {
	select {
	case place <- struct{}{}:
		return nil
	default:
	}
	p.queued.start()
	defer p.queued.stop()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case place <- struct{}{}:
		return nil
	case <-timer.C:
		return fmt.Errorf("the database is busy with other fleets: %w", fleet.ErrUnavailable)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// visit is the place of one question.
type visit struct {
	slow chan struct{}
	stop context.CancelCauseFunc

	mu    sync.Mutex // guards all below
	place chan struct{}
	timer *time.Timer
	begun time.Time
	left  bool
}

func (v *visit) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begun, v.timer = time.Now(), time.AfterFunc(quickFor, v.makeRoom)
}

// makeRoom goes over to the slow ones, or ends the question.
func (v *visit) makeRoom() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.left {
		return
	}
	select {
	case v.slow <- struct{}{}:
		<-v.place
		v.place = v.slow
		return
	default:
	}
	if time.Since(v.begun) >= quickMost {
		v.stop(errOvertime)
		return
	}
	v.timer.Reset(quickFor)
}

func (v *visit) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.left = true
	v.timer.Stop()
	v.stop(nil)
	<-v.place
}

// stopwatch adds up times, one after the other. It is safe for concurrent use.
type stopwatch struct {
	mu    sync.Mutex // guards both
	total time.Duration
	since time.Time // zero: it stands
}

func (s *stopwatch) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = time.Now()
}

func (s *stopwatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += time.Since(s.since)
	s.since = time.Time{}
}

func (s *stopwatch) read() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return s.total
	}
	return s.total + time.Since(s.since)
}
