package httpapi

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

// liveFeed is a fleet while somebody follows it. All who do share its marks.
type liveFeed struct {
	listeners int
	marks     liveMarks
	findings  time.Time // when their mark was set last
	gone      bool
}

// post sets the marks. That of the findings waits where nodes alone have changed.
func (f *liveFeed) post(m liveMarks, now time.Time) {
	settled := m[0] == f.marks[0] && m[5] == f.marks[5]
	if settled && now.Sub(f.findings) < findingsTick {
		m[findingsAt] = f.marks[findingsAt]
	} else if m[findingsAt] != f.marks[findingsAt] {
		f.findings = now
	}
	f.marks = m
}

// liveListener is one request that follows a fleet; it belongs to the request's goroutine.
type liveListener struct {
	tail *tail
	key  fleet.Key
	with holder
	at   liveMarks // told up to here
}

// follow begins after a place; now are the fleet's marks as they were just read. Whoever follows leaves.
func (t *tail) follow(k fleet.Key, with holder, now, after liveMarks) *liveListener {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hearLocked(with)
	f := t.lives[k]
	if f == nil {
		f = &liveFeed{marks: now}
		t.lives[k] = f
	} else {
		f.post(now, t.now())
	}
	if after == now {
		after[findingsAt] = f.marks[findingsAt] // what is owed to all is told to all
	}
	f.listeners++
	return &liveListener{tail: t, key: k, with: with, at: after}
}

func (l *liveListener) leave() {
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
func (l *liveListener) look() (what []oapi.LiveWhat, news <-chan struct{}, end streamEnd, err error) {
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.lives[l.key]
	if end, err = t.endLocked(l.with, f.gone, t.outages[askLives]); end != "" {
		return nil, nil, end, err
	}
	what = f.marks.since(l.at)
	l.at = f.marks
	return what, t.news, "", nil
}

// next waits until there is something to look at again. It returns nothing when stop, wake or ctx
// end it.
func (l *liveListener) next(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) ([]oapi.LiveWhat, streamEnd, error) {
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

func (l *liveListener) place() string { return l.at.String() }

func (l *liveListener) tell(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) (any, streamEnd, error) {
	what, end, err := l.next(ctx, stop, wake)
	if len(what) == 0 {
		return nil, end, err
	}
	return struct {
		What []oapi.LiveWhat `json:"what"`
	}{what}, end, err
}

// readLives asks for the marks of all fleets that somebody follows.
func (t *tail) readLives(ctx context.Context) error {
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
			f.post(marksOf(m), t.now())
		}
	}
	return nil
}
