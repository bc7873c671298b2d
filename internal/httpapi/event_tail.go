package httpapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	tailTick     = 250 * time.Millisecond // between two questions for news
	tailPage     = 1000                   // events of a fleet that one look reads at most
	behindPage   = 100                    // that a listener reads for itself: it holds them alone, for as long as its client does not read
	tailEvents   = 2000                   // that are kept of a fleet for those who listen
	tailBytes    = 1 << 20                // the same, in bytes of their texts
	holdersTick  = 4 * time.Second        // between two looks whether the tokens and sessions still hold: what has ended listens for 5 s at most
	tailPatience = 10 * time.Second       // for how long the database may be away before streams end
)

// tailStore is what a tail asks the database.
type tailStore interface {
	EventsMoved(ctx context.Context, feeds []store.EventFeed) (moved, gone []fleet.Key, err error)
	EventsAfter(ctx context.Context, t fleet.TenantID, f fleet.ID, after store.EventPosition, limit int) ([]store.Event, store.EventPosition, bool, error)
	Marks(ctx context.Context, keys []fleet.Key) (map[fleet.Key]store.FleetMarks, error)
	TenantMarks(ctx context.Context, scopes []fleet.Key) ([][]store.NamedMarks, error)
	LiveTokens(ctx context.Context, ids []fleet.CredentialID) (map[fleet.CredentialID]bool, error)
	LiveSessions(ctx context.Context, ids []fleet.SessionID) (map[fleet.SessionID]bool, error)
}

// tail lets any number of requests listen to the events of any fleets, and follow what changes in any, at the
// price of a question of each kind per tick, and one reading of each fleet that has events. Whoever holds the turn asks
// for all what concerns all, on nobody's share of the connections; the events of a fleet are read by one of those who listen to it, on
// their tenant's: what is slow there, or fails, is theirs alone. There is no goroutine of its own; with the last listener gone nothing is asked.
type tail struct {
	store tailStore
	now   func() time.Time
	turn  chan struct{} // capacity 1: who fills it reads

	mu      sync.Mutex // guards what follows and what is in it
	feeds   map[fleet.Key]*feed
	lives   map[fleet.Key]*liveFeed
	tenants map[fleet.Key]*tenantFeed // of a tenant, or of one fleet alone
	later   time.Time                 // when those are due
	holders map[holder]*heard
	news    chan struct{} // closed and replaced after each tick
	checked time.Time     // when the tokens and sessions were looked up last
	outages [asks]outage
}

// ask is one of the questions of a tick. One that fails ends the streams that live by it, and no others.
type ask int

const (
	askHolders ask = iota // all streams live by it
	askEvents
	askLives
	askTenants
	asks
)

// outage is since when a question is not answered; zero: it is.
type outage struct {
	since time.Time
	err   error
}

func (o *outage) note(err error, now time.Time) {
	switch {
	case err == nil:
		*o = outage{}
	case o.err == nil:
		*o = outage{since: now, err: err}
	}
}

func (o outage) over(now time.Time) bool { return o.err != nil && now.Sub(o.since) > tailPatience }

// feed is a fleet while somebody listens to it. What happened after from and not after upto
// is in events, which are of all listeners and bounded: who is slower reads for itself.
type feed struct {
	listeners  int
	from, upto store.EventPosition
	events     []store.Event
	bytes      int
	gone       bool

	moved   bool          // there is something to read
	reading bool          // by one of the listeners
	news    chan struct{} // closed and replaced after each reading
	outage  outage        // of the readings
}

func newTail(s tailStore, now func() time.Time) *tail {
	return &tail{
		store: s, now: now, turn: make(chan struct{}, 1), feeds: map[fleet.Key]*feed{}, lives: map[fleet.Key]*liveFeed{}, tenants: map[fleet.Key]*tenantFeed{}, holders: map[holder]*heard{},
		news: make(chan struct{}),
	}
}

// eventListener is one request that listens; it belongs to the request's goroutine.
type eventListener struct {
	tail *tail
	key  fleet.Key
	with holder
	at   store.EventPosition // told up to here
}

// listen begins after a place. Whoever listens leaves.
func (t *tail) listen(k fleet.Key, with holder, after store.EventPosition) *eventListener {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hearLocked(with)
	f := t.feeds[k]
	if f == nil {
		f = &feed{from: after, upto: after, news: make(chan struct{})}
		t.feeds[k] = f
	}
	f.listeners++
	return &eventListener{tail: t, key: k, with: with, at: after}
}

func (l *eventListener) leave() {
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.feeds[l.key]; f.listeners > 1 {
		f.listeners--
	} else {
		delete(t.feeds, l.key)
	}
	t.unhearLocked(l.with)
}

// heardOf is what a look at the tail tells a listener.
type heardOf struct {
	events []store.Event   // those that it was not told, oldest first; not to be changed
	behind bool            // it has to read for itself: they are not kept
	reads  bool            // it is the one to read for all who listen to the fleet
	news   <-chan struct{} // closed when there may be more
	own    <-chan struct{} // likewise
	end    streamEnd
	err    error
}

// streamEnd is why a listener is to go; "" where it is not.
type streamEnd string

const (
	endFleet    streamEnd = "the fleet is gone"
	endToken    streamEnd = "the token has ended"
	endSession  streamEnd = "the session has ended"
	endDatabase streamEnd = "the database cannot be reached"
	endServer   streamEnd = "the server stops"
)

// look takes what is kept of what the listener was not told.
func (l *eventListener) look() heardOf {
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.feeds[l.key]
	out := heardOf{news: t.news, own: f.news}
	out.end, out.err = t.endLocked(l.with, f.gone, t.outages[askEvents], f.outage)
	switch {
	case out.end != "":
	case l.at.Compare(f.from) < 0:
		out.behind = true
	default:
		i, _ := slices.BinarySearchFunc(f.events, l.at, func(e store.Event, at store.EventPosition) int {
			if e.Position().Compare(at) <= 0 {
				return -1
			}
			return 1
		})
		out.events = slices.Clip(f.events[i:]) // what is added later is behind it
		if l.at.Compare(f.upto) < 0 {
			l.at = f.upto
		}
		if len(out.events) == 0 && f.moved && !f.reading {
			f.reading, out.reads = true, true
		}
	}
	return out
}

// next waits until there is something to tell, and tells it: at most a page, read by the
// listener itself where it is behind. It returns without events when stop, wake or ctx end it.
func (l *eventListener) next(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) ([]store.Event, streamEnd, error) {
	for {
		h := l.look()
		switch {
		case h.end != "" || len(h.events) > 0:
			return h.events, h.end, h.err
		case h.behind:
			es, upto, _, err := l.tail.store.EventsAfter(ctx, l.key.Tenant, l.key.Fleet, l.at, behindPage)
			if err != nil {
				return nil, "", err
			}
			if l.at = upto; len(es) > 0 {
				return es, "", nil
			}
			// Nothing is there, wherever the others stand: it asks again after a tick, and not at once.
		case h.reads:
			if l.tail.readFeed(ctx, l.key); ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			continue
		}
		if woken, end, err := l.tail.await(ctx, stop, wake, h.news, h.own); woken || end != "" || err != nil {
			return nil, end, err
		}
	}
}

// readFeed reads on in one fleet, for all who listen to it. What fails is asked again after a tick; a reader whose request ends leaves it to
// another listener.
func (t *tail) readFeed(ctx context.Context, k fleet.Key) {
	t.mu.Lock()
	f := t.feeds[k]
	after := f.upto
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		f.reading, f.moved = false, ctx.Err() != nil
		close(f.news)
		f.news = make(chan struct{})
	}()
	es, upto, _, err := t.store.EventsAfter(ctx, k.Tenant, k.Fleet, after, tailPage)
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.outage.note(err, t.now()); err == nil {
		f.add(es, after, upto)
	}
}

// takeTurn pauses, then asks for all. A reader whose request ends, be it by a panic, gives
// the turn back, and another listener takes it.
func (t *tail) takeTurn(ctx context.Context, stop <-chan struct{}) {
	defer func() { <-t.turn }()
	timer := time.NewTimer(tailTick)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
		return
	case <-ctx.Done():
		return
	}
	errs := t.read(ctx)
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, err := range errs {
		t.outages[i].note(err, t.now())
	}
	close(t.news)
	t.news = make(chan struct{})
}

// read asks all questions. One that takes too long by itself keeps the others from nothing; a database that is away does.
func (t *tail) read(ctx context.Context) (errs [asks]error) {
	for i, question := range [asks]func(context.Context) error{t.checkHolders, t.readEvents, t.readLives, t.readTenants} {
		if i > 0 && errs[i-1] != nil && !tookLong(errs[i-1]) {
			errs[i] = errs[i-1]
			continue
		}
		errs[i] = question(ctx)
	}
	return errs
}

// tookLong reports whether the database has given up the question's own work.
func tookLong(err error) bool {
	var e *store.TimeoutError
	return errors.As(err, &e) && e.Wait == store.WaitWork
}

// readEvents asks which fleets have events that were not read.
func (t *tail) readEvents(ctx context.Context) error {
	moved, gone, err := t.store.EventsMoved(ctx, t.asked())
	if err != nil {
		return err
	}
	for _, k := range gone {
		t.update(k, func(f *feed) { f.gone = true })
	}
	for _, k := range moved {
		t.update(k, func(f *feed) { f.moved = true })
	}
	return nil
}

// update changes a fleet's feed while somebody listens to it.
func (t *tail) update(k fleet.Key, change func(*feed)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.feeds[k]; f != nil {
		change(f)
	}
}

func (t *tail) asked() []store.EventFeed {
	t.mu.Lock()
	defer t.mu.Unlock()
	feeds := make([]store.EventFeed, 0, len(t.feeds))
	for k, f := range t.feeds {
		feeds = append(feeds, store.EventFeed{Key: k, Known: f.upto})
	}
	return feeds
}

// add appends what was read after a place, and forgets the oldest beyond the bounds.
func (f *feed) add(es []store.Event, after, upto store.EventPosition) {
	if f.upto.Compare(after) != 0 {
		return // begun anew meanwhile
	}
	f.upto = upto
	f.events = append(f.events, es...)
	for _, e := range es {
		f.bytes += bytesOf(e)
	}
	drop := 0
	for ; len(f.events)-drop > tailEvents || f.bytes > tailBytes; drop++ {
		f.bytes -= bytesOf(f.events[drop])
		f.from = f.events[drop].Position()
	}
	if drop > 0 {
		f.events = slices.Clone(f.events[drop:])
	}
}

func bytesOf(e store.Event) int {
	return 256 + len(e.Node) + len(e.Resource.Name) + len(e.Detail) + len(e.Note)
}
