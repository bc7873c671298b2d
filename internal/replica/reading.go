package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/internal/fleet"
)

// held is what is known of a fleet. It is immutable and swapped as a whole.
type held struct {
	at      fleet.Position
	content *content
	creds   map[fleet.CredentialID]fleet.Credential
	// exclusive: one client at a time may have a node id.
	exclusive bool
}

// reading is where a fleet is with the database. Its owner's goroutine alone reads and
// writes here; others ring, and look at what is atomic.
type reading struct {
	dirty     chan struct{} // capacity 1: look again
	loaded    chan struct{} // closed when the fleet is held, or gone
	held      atomic.Pointer[held]
	bell      atomic.Pointer[bell] // the first since the last reading; of traces alone
	failing   atomic.Bool
	notBefore atomic.Int64 // Unix ns: a storm's reading waits until then
	confirmed atomic.Int64 // Unix ns: the feed said so then that held is the present
	finished  finished

	failures    int
	pace        pace // of readings; anybody may ask how long it was queued
	missedPace  pace // of questions about nodes that came before
	retryAt     time.Time
	expiryAt    time.Time    // of the credential that ends next
	ends        atomic.Int64 // Unix ns, of those that are not revoked; 0: none ends. Anybody may ask
	unpublished unpublished
	indexed     map[fleet.CredentialID]fleet.Credential // by which the fleet is found
}

func newReading() reading {
	return reading{dirty: make(chan struct{}, 1), loaded: make(chan struct{})}
}

// read catches up once. On an error everything that is held goes on being served.
func (o *owner) read(ctx context.Context) (gone error) {
	if !o.pause(ctx) {
		return nil
	}
	gone, err := o.catchUp(ctx)
	if err == nil {
		if o.failing.Swap(false) {
			o.r.log.Info("the fleet is up to date again", "fleet", o.key)
		}
		o.retryAt = time.Time{}
		return gone
	}
	if ctx.Err() == nil {
		o.failed(err)
	}
	return nil
}

// failed sets when to try again.
func (o *owner) failed(err error) {
	if !o.failing.Swap(true) {
		o.r.log.Warn("the fleet cannot be read: what is held is served on", "fleet", o.key, "error", err)
	}
	o.r.cfg.Metrics.Failed()
	back := min(retryMost, retryFirst<<min(o.failures, 10))
	o.failures++
	o.retryAt = time.Now().Add(back/2 + rand.N(back))
}

// pause waits for this fleet's turn in a storm of reloads; false if ctx ends.
func (o *owner) pause(ctx context.Context) bool {
	at := o.notBefore.Swap(0)
	if at == 0 {
		return true
	}
	timer := time.NewTimer(time.Until(time.Unix(0, at)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ask reads what has changed, between begun and ended. Who else waits for the database
// does not wait for what is made of the answer.
func (o *owner) ask(ctx context.Context, known fleet.Known) (changes []fleet.Change, begun, ended time.Time, err error) {
	lane := o.r.reads
	if o.held.Load() == nil {
		lane = o.r.loads
	}
	err = lane.do(ctx, &o.pace, forever, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		begun = time.Now()
		changes, err = o.r.cfg.Feed.CatchUp(ctx, []fleet.Known{known})
		ended = time.Now()
		return err
	})
	if err != nil {
		return nil, begun, ended, fmt.Errorf("catch up after revision %d: %w", known.At.Revision, err)
	}
	return changes, begun, ended, nil
}

// catchUp also returns why the fleet is served no more; nil: it is.
func (o *owner) catchUp(ctx context.Context) (gone, err error) {
	round, turn := o.beginRound(), time.Now()
	old, rung := o.held.Load(), o.bell.Swap(nil)
	read := o.r.cfg.Metrics.CaughtUp
	if old == nil {
		read = o.r.cfg.Metrics.Loaded
	}
	found, seen := false, catchUp{turn: turn, bell: rung}
	known := fleet.Known{Key: o.key}
	if old != nil {
		known.At = old.at
	}
	changes, begun, ended, err := o.ask(ctx, known)
	if err != nil {
		if old != nil {
			o.finish(nil) // what a panic has left does not wait for the database
		}
		return nil, err
	}
	for _, c := range changes {
		if c.Key != o.key {
			continue
		}
		if c.Gone {
			return errGone, nil
		}
		if old == nil && !c.Reload {
			return nil, errors.New("the feed gave a difference to a fleet that is not held")
		}
		if err := unreadable(old, c); err != nil {
			return nil, err
		}
		moved, err := o.moved(ctx, old, c)
		switch {
		case err != nil:
			return nil, err
		case moved:
			return ErrMoved, nil
		}
		if !c.Now.IsZero() {
			if d, used := o.r.clock.learn(c.Now, begun, ended); used {
				o.r.cfg.Recorder.SetClockOffset(d)
			}
		}
		o.take(old, c)
		seen.took(old, c, begun, ended)
		old, found = o.held.Load(), true
	}
	if old == nil {
		return nil, errors.New("the feed gave nothing for a fleet that is not held")
	}
	o.finish(nil) // what a panic has left
	if found {
		read(time.Since(turn))
		o.tell(seen)
	}
	o.confirm(begun)
	o.finished.to(round)
	o.wakeCaughtUp()
	o.sweepUnknown(round)
	return nil, nil
}

func (o *owner) confirm(at time.Time) { o.confirmed.Store(at.UnixNano()) }

// finished is which reading of the fleet is the last that is brought to the streams. Its zero value is ready.
type finished struct {
	mu    sync.Mutex    // guards both
	round int           // its number; see streams.rounds
	next  chan struct{} // closed with the next one; nil: nobody waits
}

func (f *finished) to(round int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.round = round; f.next != nil {
		close(f.next)
		f.next = nil
	}
}

// after returns nil if a reading that began after that one has finished, else what is closed when another one has.
func (f *finished) after(round int) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.round > round {
		return nil
	}
	if f.next == nil {
		f.next = make(chan struct{})
	}
	return f.next
}

// take makes a change the present. The recorder hears of the revision before any
// stream can see it.
func (o *owner) take(old *held, c fleet.Change) {
	next := &held{at: c.At}
	if old != nil {
		next.content, next.creds, next.exclusive = old.content, old.creds, old.exclusive
	}
	if c.EpochMoved || old == nil {
		next.exclusive = c.NodeIDs == fleet.NodeIDsExclusive
		next.creds = make(map[fleet.CredentialID]fleet.Credential, len(c.Credentials))
		for _, x := range c.Credentials {
			next.creds[x.ID] = x
		}
	}
	var t *viewUpdate
	if old == nil || c.Reload || c.At.Revision != old.at.Revision || len(c.Rows) > 0 {
		// Nobody has confirmed anything of an empty fleet: its first content cuts nothing.
		cut := old != nil && c.Reload && old.at.Revision > 0
		d := o.builder.derive(next.content, c, cut)
		if o.unpublished.views {
			d.last = nil // some streams have views of it, others of the one before
		}
		t = newViewUpdate(d)
		t.prepare(o.holders(t.reselects()))
		next.content = t.next
		if cut {
			if c.At.Revision <= old.at.Revision || c.Compacted <= old.at.Revision { // else it is compacted away
				o.r.log.Warn("the database has lost revisions that were served", "fleet", o.key, "served", old.at.Revision, "revision", c.At.Revision)
			}
			o.r.cfg.Recorder.Restart(o.key, c.At, c.CommittedAt)
		} else {
			o.r.cfg.Recorder.Head(o.key, c.At, c.CommittedAt)
		}
	}
	o.unpublished.creds = o.unpublished.creds || old == nil || c.EpochMoved
	o.unpublished.views = o.unpublished.views || t != nil
	o.unpublished.retries = append(o.unpublished.retries, c.Retries...)
	o.held.Store(next)
	o.finish(t)
}

// unpublished is what is held and was not brought to the streams yet. It outlives a turn
// that ends by a panic alone.
type unpublished struct {
	creds   bool
	views   bool
	retries []string
}

// finish brings what is held to the streams. It may be called again after a panic in it,
// also with nothing to do; then it makes their views out of nothing.
func (o *owner) finish(t *viewUpdate) {
	h := o.held.Load()
	if o.unpublished.creds {
		o.r.index(o, o.indexed, h.creds)
		o.indexed = h.creds
		o.sweep()
		o.unpublished.creds = false
	}
	if o.unpublished.views {
		if t == nil {
			t = newViewUpdate(difference{next: h.content})
			t.prepare(o.holders(t.reselects()))
		}
		o.publish(t)
		o.unpublished.views = false
	}
	o.retry(o.unpublished.retries)
	o.unpublished.retries = nil
	o.open()
}

// open lets those go on who wait for the first load.
func (o *owner) open() {
	select {
	case <-o.loaded:
	default:
		close(o.loaded)
	}
}
