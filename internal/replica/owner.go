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
	"fairlead/internal/lifecycle"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// held is what is known of a fleet. It is immutable and swapped as a whole.
type held struct {
	at      fleet.Position
	content *content
	creds   map[fleet.CredentialID]fleet.Credential
	// exclusive: one client at a time may have a node id.
	exclusive bool
}

// owner is one active fleet. Its goroutine alone reads the feed for it.
type owner struct {
	r   *Replica
	key fleet.Key

	dirty     chan struct{} // capacity 1: look again
	loaded    chan struct{} // closed when the fleet is held, or gone
	held      atomic.Pointer[held]
	failing   atomic.Bool
	notBefore atomic.Int64 // Unix ns: a storm's reading waits until then
	confirmed atomic.Int64 // Unix ns: the feed said so then that held is the present

	// of the owner's goroutine alone
	failures int
	retryAt  time.Time
	expiryAt time.Time
	late     unfinished
	indexed  map[fleet.CredentialID]fleet.Credential // by which the fleet is found

	mu          sync.Mutex // guards all below; taken before Replica.mu, never held while the feed or the recorder's sink is called
	gone        bool
	content     *content                  // as the streams see it
	views       map[selector.Vector]*view // of that content; those that somebody has, and some more
	rounds      int                       // readings begun
	retried     int                       // readings that brought nodes to be offered again what they refused
	streams     map[*attachment]struct{}
	nodes       map[string]*node
	excepted    map[*node]struct{} // nodes with exceptions
	testimonies map[testimony]struct{}
	befores     map[fleet.Revision]*earlier    // what some nodes that came back had settled
	missed      map[*node]struct{}             // with streams; what they left behind could not be read
	orphans     []*node                        // of them, some that have no stream; oldest first
	interned    map[internKey]*snapshot.Target // for the present views
	newcomers   newcomers
	// internedMost is how many of them there may be before those that nobody has are looked for.
	internedMost int

	users     int // guarded by Replica.mu
	idleSince time.Time
}

func newOwner(r *Replica, key fleet.Key) *owner {
	o := &owner{
		r: r, key: key,
		dirty:     make(chan struct{}, 1),
		loaded:    make(chan struct{}),
		streams:   make(map[*attachment]struct{}),
		nodes:     make(map[string]*node),
		excepted:  make(map[*node]struct{}),
		missed:    make(map[*node]struct{}),
		idleSince: time.Now(),
	}
	signal(o.dirty) // the first load
	return o
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
			over, idle = o.turn(ctx, rung)
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

// turn does what is due; over: the fleet is not served any more.
func (o *owner) turn(ctx context.Context, rung bool) (over bool, idle time.Duration) {
	if rung || !o.retryAt.IsZero() && !time.Now().Before(o.retryAt) {
		if gone := o.read(ctx); gone {
			o.end()
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
		w = min(w, o.expiryAt.Sub(o.r.now()))
	}
	return max(w, time.Millisecond)
}

// read catches up once. On an error everything that is held goes on being served.
func (o *owner) read(ctx context.Context) (gone bool) {
	if !o.pause(ctx) {
		return false
	}
	places := o.r.reads
	if o.held.Load() == nil {
		places = o.r.loads
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		return false
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
	return false
}

// failed sets when to try again.
func (o *owner) failed(err error) {
	if !o.failing.Swap(true) {
		o.r.log.Warn("the fleet cannot be read: what is held is served on", "fleet", o.key, "error", err)
	}
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

func (o *owner) catchUp(ctx context.Context) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()

	o.mu.Lock()
	o.rounds++
	round := o.rounds
	o.mu.Unlock()
	old := o.held.Load()
	known := fleet.Known{Key: o.key}
	if old != nil {
		known.At = old.at
	}
	begun := time.Now()
	changes, err := o.r.cfg.Feed.CatchUp(ctx, []fleet.Known{known})
	if err != nil {
		return false, fmt.Errorf("catch up after revision %d: %w", known.At.Revision, err)
	}
	for _, c := range changes {
		if c.Key != o.key {
			continue
		}
		if c.Gone {
			return true, nil
		}
		if old == nil && !c.Reload {
			return false, errors.New("the feed gave a difference to a fleet that is not held")
		}
		if err := unreadable(old, c); err != nil {
			return false, err
		}
		o.learnClock(c.Now, begun)
		o.take(old, c)
		old = o.held.Load()
	}
	if old == nil {
		return false, errors.New("the feed gave nothing for a fleet that is not held")
	}
	o.finish(nil) // what a panic has left
	o.confirm(begun)
	o.sweepUnknown(round)
	return false, nil
}

// learnClock takes the middle of the call for the moment at which now was read.
func (o *owner) learnClock(now, begun time.Time) {
	if now.IsZero() {
		return
	}
	middle := begun.Add(time.Since(begun) / 2)
	d := now.Sub(middle)
	o.r.offset.Store(int64(d))
	o.r.cfg.Recorder.SetClockOffset(d)
}

func (o *owner) confirm(at time.Time) { o.confirmed.Store(at.UnixNano()) }

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
	var t *turn
	if old == nil || c.Reload || c.At.Revision != old.at.Revision || len(c.Rows) > 0 {
		// Nobody has confirmed anything of an empty fleet: its first content cuts nothing.
		cut := old != nil && c.Reload && old.at.Revision > 0
		d := o.derive(next.content, c, cut)
		if o.late.show {
			d.last = nil // some streams have views of it, others of the one before
		}
		t = newTurn(d)
		t.prepare(o)
		next.content = t.next
		if cut {
			o.r.cfg.Recorder.Restart(o.key, c.At.Revision, c.CommittedAt)
		} else {
			o.r.cfg.Recorder.Head(o.key, c.At.Revision, c.CommittedAt)
		}
	}
	o.late.creds = o.late.creds || old == nil || c.EpochMoved
	o.late.show = o.late.show || t != nil
	o.late.retries = append(o.late.retries, c.Retries...)
	o.held.Store(next)
	o.finish(t)
}

// unfinished is what is held and was not brought to the streams yet. It outlives a turn
// that ends by a panic alone.
type unfinished struct {
	creds   bool
	show    bool
	retries []string
}

// finish brings what is held to the streams. It may be called again after a panic in it,
// also with nothing to do; then it makes their views out of nothing.
func (o *owner) finish(t *turn) {
	h := o.held.Load()
	if o.late.creds {
		o.r.index(o, o.indexed, h.creds)
		o.indexed = h.creds
		o.sweep()
		o.late.creds = false
	}
	if o.late.show {
		if t == nil {
			t = newTurn(difference{next: h.content})
			t.prepare(o)
		}
		o.show(t)
		o.late.show = false
	}
	o.retry(o.late.retries)
	o.late.retries = nil
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

// show gives all streams the views of the next content.
func (o *owner) show(t *turn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var resolved []fleet.Resolution
	defer func() { o.r.cfg.Recorder.Resolved(o.key, resolved) }() // by a panic too: nobody would find them again
	o.content, o.views = t.next, make(map[selector.Vector]*view)
	for s := range o.seats() {
		v := t.of(s, s.view)
		s.moved = s.moved || v.id != s.view.id
		s.view = v
		if o.views[v.vector] == nil {
			o.views[v.vector] = v
		}
	}
	o.interned = make(map[internKey]*snapshot.Target)
	for n := range o.excepted {
		resolved = append(resolved, o.renew(n)...)
	}
	for a := range o.streams {
		resolved = append(resolved, o.catchUpWith(a)...)
	}
	o.forgetTestimonies()
	for a := range o.streams {
		if _, ok := o.excepted[a.node]; !ok { // else it has its own already
			a.seat.target.Store(a.seat.view.target)
		}
		if a.seat.moved {
			a.record.View(a.seat.view.id)
			a.seat.moved = false
		}
		signal(a.changed)
	}
}

// end lets all streams of a deleted fleet go.
func (o *owner) end() {
	o.endStreams()
	o.r.drop(o)
	o.open()
}

func (o *owner) endStreams() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone = true
	for a := range o.streams {
		a.end(errGone)
	}
}
