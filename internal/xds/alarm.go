package xds

import (
	"sync"
	"time"
)

// alarm rings the bell of a stream at a time, though nothing happened.
type alarm struct {
	bell Bell

	mu    sync.Mutex  // guards what follows
	due   time.Time   // when there is something to do; zero: never
	set   time.Time   // when the timer fires; zero: it does not
	timer *time.Timer // nil before the first
}

// at is when it rings, in the place of what was said before; zero is never. A timer that is set for earlier is left: most are for an ACK that
// does come, with each response anew.
func (a *alarm) at(now, due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = due
	if due.IsZero() || !a.set.IsZero() && !due.Before(a.set) {
		return
	}
	a.fireIn(due.Sub(now))
	a.set = due
}

func (a *alarm) fireIn(d time.Duration) {
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.fires)
	} else {
		a.timer.Reset(d)
	}
}

// fires rings if there is something to do, and wakes nobody if what it was set for has come about.
func (a *alarm) fires() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set = time.Time{}
	switch left := time.Until(a.due); {
	case a.due.IsZero():
	case left > 0:
		a.fireIn(left)
		a.set = a.due
	default:
		a.bell.Ring()
	}
}

func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = time.Time{}
	if a.timer != nil {
		a.timer.Stop()
	}
}

// setAlarm has the stream look again when something is to be said, or done, by the clock. While a response waits
// nothing else is said.
func (st *stream) setAlarm() {
	due := sooner(st.opening, st.leave)
	switch told := st.heldSince.Add(heldPoll); {
	case st.waiting != nil:
		due = sooner(due, st.since.Add(st.srv.cfg.Limits.Write))
	case !st.heldSince.IsZero(): // nothing else is done until the database was read
		if st.polls != nil && told.After(st.now) {
			due = sooner(due, told)
		}
	default:
		due = sooner(due, st.client.Due(st.now))
		due = sooner(due, st.strays.lookUpAt(st.now))
		due = sooner(due, st.keeps.next())
		if tell := st.behind.Add(tellAfter); !st.behind.IsZero() && tell.After(st.now) {
			due = sooner(due, tell)
		}
	}
	st.alarm.at(st.now, due)
}

// sooner is the earlier one of two times of which zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
