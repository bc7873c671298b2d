package live

import (
	"context"
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

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

// EventListener is one request that listens; it belongs to the request's goroutine.
type EventListener struct {
	tail *Tail
	key  fleet.Key
	with Holder
	at   store.EventPosition // told up to here
}

// Listen begins after a place. Whoever listens leaves.
func (t *Tail) Listen(k fleet.Key, with Holder, after store.EventPosition) *EventListener {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hearLocked(with)
	f := t.feeds[k]
	if f == nil {
		f = &feed{from: after, upto: after, news: make(chan struct{})}
		t.feeds[k] = f
	}
	f.listeners++
	return &EventListener{tail: t, key: k, with: with, at: after}
}

// At is up to where the listener was told.
func (l *EventListener) At() store.EventPosition { return l.at }

// Leave ends it.
func (l *EventListener) Leave() {
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
	end    End
	err    error
}

// look takes what is kept of what the listener was not told.
func (l *EventListener) look() heardOf {
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

// Next waits until there is something to tell, and tells it: at most a page, read by the
// listener itself where it is behind. It returns without events when stop, wake or ctx end it.
func (l *EventListener) Next(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) ([]store.Event, End, error) {
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
func (t *Tail) readFeed(ctx context.Context, k fleet.Key) {
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
	es, upto, _, err := t.store.EventsAfter(ctx, k.Tenant, k.Fleet, after, Page)
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.outage.note(err, t.now()); err == nil {
		f.add(es, after, upto)
	}
}

// readEvents asks which fleets have events that were not read.
func (t *Tail) readEvents(ctx context.Context) error {
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
func (t *Tail) update(k fleet.Key, change func(*feed)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.feeds[k]; f != nil {
		change(f)
	}
}

func (t *Tail) asked() []store.EventFeed {
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
	for ; len(f.events)-drop > keptEvents || f.bytes > keptBytes; drop++ {
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
