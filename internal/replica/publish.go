package replica

import (
	"errors"

	"fairlead/internal/fleet"
)

// publish gives all streams the views of the next content, and wakes them.
func (o *owner) publish(t *viewUpdate) {
	wake(o.show(t))
}

func (o *owner) show(t *viewUpdate) (tied []*attachment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var resolved []fleet.Refusal
	defer func() { o.r.cfg.Recorder.Resolved(o.key, resolved) }() // by a panic too: nobody would find them again
	o.views.replace(t.next)
	o.r.cfg.Recorder.Refused(o.key, o.nodes.again(t))
	for s := range o.subscribers() {
		v := t.of(s, s.view)
		s.moved = s.moved || v.id != s.view.id
		s.view = v
		o.views.add(v)
	}
	o.views.addSpare(t.views)
	for n := range o.nodes.excepted {
		resolved = append(resolved, o.nodes.renew(n)...)
	}
	for a := range o.streams.tied {
		if _, ok := o.nodes.excepted[a.node]; !ok { // else it has its own already
			a.subscriber.target.Store(o.views.target(&a.subscriber, 0))
		}
		if a.subscriber.moved {
			a.record.View(a.subscriber.view.id)
			a.subscriber.moved = false
		}
	}
	return o.streams.all()
}

// end lets all streams of a fleet go that is not there any more.
func (o *owner) end(why error) {
	if errors.Is(why, ErrMoved) {
		o.r.finds.forget() // who comes again is to find the other database at once
	}
	o.endStreams(why)
	if errors.Is(why, errGone) {
		o.r.gone.add(o.key)
	}
	o.r.drop(o)
	o.open()
}

func (o *owner) endStreams(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams.endAll(why)
}

// wakeCaughtUp wakes the streams that waited for the reading that has finished.
func (o *owner) wakeCaughtUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams.caughtUp()
}

func (o *owner) beginRound() (round int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.streams.beginRound()
}

// round is that of the last reading that has begun.
func (o *owner) round() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.streams.rounds
}

// sweepUnknown: see there.
func (o *owner) sweepUnknown(round int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams.sweepUnknown(o.held.Load().creds, round)
}
