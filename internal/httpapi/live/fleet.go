package live

import (
	"context"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// findingsTick is how often at most it is told that nodes may have changed findings, for which a whole
// fleet is looked at.
const findingsTick = 10 * time.Second

// fleetFeed is a fleet while somebody follows it. All who do share its marks.
type fleetFeed struct {
	listeners int
	marks     Marks
	findings  time.Time // when their mark was set last
	gone      bool
}

// post sets the marks. That of the findings waits where nodes alone have changed.
func (f *fleetFeed) post(m Marks, now time.Time) {
	settled := m[0] == f.marks[0] && m[5] == f.marks[5]
	if settled && now.Sub(f.findings) < findingsTick {
		m[findingsAt] = f.marks[findingsAt]
	} else if m[findingsAt] != f.marks[findingsAt] {
		f.findings = now
	}
	f.marks = m
}

// FleetListener is one request that follows a fleet; it belongs to the request's goroutine.
type FleetListener struct {
	tail *Tail
	key  fleet.Key
	with Holder
	at   Marks // told up to here
}

// Follow begins after a place; now are the fleet's marks as they were just read. Whoever follows leaves.
func (t *Tail) Follow(k fleet.Key, with Holder, now, after Marks) *FleetListener {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hearLocked(with)
	f := t.lives[k]
	if f == nil {
		f = &fleetFeed{marks: now}
		t.lives[k] = f
	} else {
		f.post(now, t.now())
	}
	if after == now {
		after[findingsAt] = f.marks[findingsAt] // what is owed to all is told to all
	}
	f.listeners++
	return &FleetListener{tail: t, key: k, with: with, at: after}
}

// Leave ends it.
func (l *FleetListener) Leave() {
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.lives[l.key]; f.listeners > 1 {
		f.listeners--
	} else {
		delete(t.lives, l.key)
	}
	t.unhearLocked(l.with)
}

// look tells what is not as the listener was told, and what is closed when there may be more.
func (l *FleetListener) look() (what []oapi.LiveWhat, news <-chan struct{}, end End, err error) {
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.lives[l.key]
	if end, err = t.endLocked(l.with, f.gone, t.outages[askLives]); end != "" {
		return nil, nil, end, err
	}
	what = f.marks.Since(l.at)
	l.at = f.marks
	return what, t.news, "", nil
}

// Next waits until there is something to look at again. It returns nothing when stop, wake or ctx
// end it.
func (l *FleetListener) Next(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) ([]oapi.LiveWhat, End, error) {
	for {
		what, news, end, err := l.look()
		if end != "" || len(what) > 0 {
			return what, end, err
		}
		if woken, end, err := l.tail.await(ctx, stop, wake, news, nil); woken || end != "" || err != nil {
			return nil, end, err
		}
	}
}

// Place is up to where the listener was told, as text.
func (l *FleetListener) Place() string { return l.at.String() }

// Tell is Next, with what a stream says of it; nil: nothing.
func (l *FleetListener) Tell(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) (any, End, error) {
	what, end, err := l.Next(ctx, stop, wake)
	if len(what) == 0 {
		return nil, end, err
	}
	return struct {
		What []oapi.LiveWhat `json:"what"`
	}{what}, end, err
}

// readLives asks for the marks of all fleets that somebody follows.
func (t *Tail) readLives(ctx context.Context) error {
	t.mu.Lock()
	keys := make([]fleet.Key, 0, len(t.lives))
	for k := range t.lives {
		keys = append(keys, k)
	}
	t.mu.Unlock()
	var marks map[fleet.Key]store.FleetMarks
	var err error
	if marks, err = t.store.Marks(ctx, keys); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		f := t.lives[k]
		m, there := marks[k]
		switch {
		case f == nil: // the last one left meanwhile
		case !there:
			f.gone = true
		default:
			f.post(MarksOf(m), t.now())
		}
	}
	return nil
}
