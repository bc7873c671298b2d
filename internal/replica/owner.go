package replica

import (
	"context"
	"iter"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// owner is one active fleet: its goroutine, and the rooms that it shares with the streams.
type owner struct {
	r   *Replica
	key fleet.Key

	reading           // what the database has told; its owner's goroutine's
	builder   builder // has no state
	users     int     // guarded by Replica.mu, as idleSince is
	idleSince time.Time

	asker     asker // each with a lock of its own
	earlier   earlierContents
	newcomers newcomers

	mu      sync.Mutex // guards the three below; taken before Replica.mu and before theirs, never held while the feed or the recorder's sink is called
	views   views
	nodes   nodes
	streams streams
}

func newOwner(r *Replica, key fleet.Key) *owner {
	o := &owner{
		r: r, key: key,
		reading:   newReading(),
		builder:   newBuilder(key, r.cfg.Opener, r.log),
		streams:   streams{tied: make(map[*attachment]struct{}), awaiting: make(map[*attachment]struct{})},
		asker:     asker{key: key, feed: r.cfg.Feed, lane: r.lastStreams, log: r.log},
		earlier:   earlierContents{reading: make(chan struct{}, 1)},
		idleSince: time.Now(),
	}
	o.nodes = newNodes(&o.views, &o.builder, o.dirty)
	signal(o.dirty) // the first load
	return o
}

// subscribers yields those of all streams, and what streams that have ended refused. o.mu is
// held.
func (o *owner) subscribers() iter.Seq[*subscriber] {
	return func(yield func(*subscriber) bool) {
		for a := range o.streams.tied {
			if !yield(&a.subscriber) {
				return
			}
		}
		for n := range o.nodes.excepted {
			if n.ofEnded != nil && !yield(n.ofEnded) {
				return
			}
		}
	}
}

// holders are the views that somebody has, or all subscribers with theirs.
func (o *owner) holders(subscribers bool) (all []holder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !subscribers {
		for _, v := range o.views.byVector {
			all = append(all, holder{view: v})
		}
		return all
	}
	for s := range o.subscribers() {
		all = append(all, holder{s, s.view})
	}
	return all
}

// shown is the content as the streams see it.
func (o *owner) shown() *content {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.views.content
}

// resolve works on the nodes, and records what has ended by that.
func (o *owner) resolve(do func(*nodes) []fleet.Refusal) {
	resolved := func() []fleet.Refusal {
		o.mu.Lock()
		defer o.mu.Unlock()
		return do(&o.nodes)
	}()
	o.r.cfg.Recorder.Resolved(o.key, resolved)
}

// run reads when the bell rings, when a retry is due, and ends streams whose
// credentials have; until ctx ends, the fleet is gone, or nobody has used it for long.
// A panic ends the turn (T36): what is held is served on, and the fleet is not looked at
// again before a pause is over, whoever rings.
func (o *owner) run(ctx context.Context) {
	timer := time.NewTimer(o.r.cfg.IdleAfter)
	defer timer.Stop()
	for {
		rung := false
		select {
		case <-ctx.Done():
			return
		case <-o.dirty:
			rung = true
		case <-timer.C:
		}
		var over bool
		var idle time.Duration
		err := lifecycle.Contain(o.r.log, "a fleet's turn", func() error {
			over, idle = o.step(ctx, rung)
			return nil
		}, "fleet", o.key)
		if err != nil {
			if over = o.afterPanic(ctx, err); !over {
				signal(o.dirty)
			}
		}
		if over {
			return
		}
		timer.Reset(o.wait(idle))
	}
}

// step does what is due; over: the fleet is not served any more.
func (o *owner) step(ctx context.Context, rung bool) (over bool, idle time.Duration) {
	if rung && !o.rests() || o.due() {
		if gone := o.read(ctx); gone != nil {
			o.end(gone)
			return true, 0
		}
		if !o.failing.Load() && o.held.Load() != nil {
			o.askMissed(ctx)
			o.failures = 0
		}
	}
	if o.expired() {
		o.sweep()
	}
	return o.r.dropIfIdle(o)
}

// due reports whether it is time to try again.
func (o *owner) due() bool { return !o.retryAt.IsZero() && !time.Now().Before(o.retryAt) }

// rests reports whether the fleet is not to be read before it is due, whoever rings: the last
// reading took its time and came to nothing.
func (o *owner) rests() bool { return o.failing.Load() && o.pace.late && !o.retryAt.IsZero() }

// afterPanic rests; over: ctx has ended, or the fleet is not used any more.
func (o *owner) afterPanic(ctx context.Context, err error) (over bool) {
	o.failed(err)
	timer := time.NewTimer(time.Until(o.retryAt))
	defer timer.Stop()
	o.retryAt = time.Time{}
	select {
	case <-timer.C:
	case <-ctx.Done():
		return true
	}
	_ = lifecycle.Contain(o.r.log, "a fleet's turn", func() error {
		over, _ = o.r.dropIfIdle(o)
		return nil
	}, "fleet", o.key)
	return over
}

// wait is how long the goroutine can sleep without a bell.
func (o *owner) wait(idle time.Duration) time.Duration {
	w := idle
	if !o.retryAt.IsZero() {
		w = min(w, time.Until(o.retryAt))
	}
	if !o.expiryAt.IsZero() {
		w = min(w, o.expiryAt.Sub(o.r.clock.now()))
	}
	return max(w, time.Millisecond)
}
