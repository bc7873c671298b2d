package httpapi

import (
	"context"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	tailTick     = 250 * time.Millisecond // between two questions for news
	tailPage     = 1000                   // events of a fleet that one look reads at most
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
// price of a question of each kind per tick, and one reading of each fleet that has events: whoever holds the turn asks
// for all. There is no goroutine of its own; with the last listener gone nothing is asked.
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
	news    chan struct{} // closed and replaced after each reading
	checked time.Time     // when the tokens and sessions were looked up last
	failing time.Time     // since when the database does not answer; zero: it does
	err     error
}

// feed is a fleet while somebody listens to it. What happened after from and not after upto
// is in events, which are of all listeners and bounded: who is slower reads for itself.
type feed struct {
	listeners  int
	from, upto store.EventPosition
	events     []store.Event
	bytes      int
	gone       bool
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
		f = &feed{from: after, upto: after}
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
	news   <-chan struct{} // closed when there may be more
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
	f, out := t.feeds[l.key], heardOf{news: t.news}
	out.end, out.err = t.endLocked(l.with, f.gone)
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
		out.events = slices.Clone(f.events[i:])
		if l.at.Compare(f.upto) < 0 {
			l.at = f.upto
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
			es, upto, _, err := l.tail.store.EventsAfter(ctx, l.key.Tenant, l.key.Fleet, l.at, tailPage)
			if err != nil {
				return nil, "", err
			}
			if l.at = upto; len(es) > 0 {
				return es, "", nil
			}
			continue
		}
		if woken, end, err := l.tail.await(ctx, stop, wake, h.news); woken || end != "" || err != nil {
			return nil, end, err
		}
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
	err := t.read(ctx)
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil:
		t.failing, t.err = time.Time{}, nil
	case t.failing.IsZero():
		t.failing, t.err = t.now(), err
	}
	close(t.news)
	t.news = make(chan struct{})
}

func (t *tail) read(ctx context.Context) error {
	if err := t.checkHolders(ctx); err != nil {
		return err
	}
	moved, gone, err := t.store.EventsMoved(ctx, t.asked())
	if err != nil {
		return err
	}
	for _, k := range gone {
		t.update(k, func(f *feed) { f.gone = true })
	}
	for _, k := range moved {
		var after store.EventPosition
		if !t.update(k, func(f *feed) { after = f.upto }) {
			continue
		}
		es, upto, _, err := t.store.EventsAfter(ctx, k.Tenant, k.Fleet, after, tailPage)
		if err != nil {
			return err
		}
		t.update(k, func(f *feed) { f.add(es, after, upto) })
	}
	if err := t.readLives(ctx); err != nil {
		return err
	}
	return t.readTenants(ctx)
}

// update reports whether somebody still listens to the fleet.
func (t *tail) update(k fleet.Key, change func(*feed)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.feeds[k]
	if f != nil {
		change(f)
	}
	return f != nil
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
