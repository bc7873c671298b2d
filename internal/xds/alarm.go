package xds

import "time"

// alarm tells a stream's owner to look again though nothing happened. It may ring in vain: one that is set is not
// put off, since most are for an ACK that does come, with each response anew.
type alarm struct {
	rung  chan struct{} // capacity 1
	at    time.Time     // when it rings; zero: it does not
	timer *time.Timer   // nil before the first
}

// set has it ring at a time, or before; zero is never.
func (a *alarm) set(now, at time.Time) {
	if at.IsZero() || !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	if a.timer == nil {
		a.timer = time.AfterFunc(at.Sub(now), a.ring)
	} else {
		a.timer.Reset(at.Sub(now))
	}
}

func (a *alarm) ring() {
	select {
	case a.rung <- struct{}{}:
	default:
	}
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// setAlarm has the stream look again when something is to be said, or done, by the clock. While a response waits
// nothing else is said.
func (st *stream) setAlarm() {
	st.alarm.set(st.now, st.opening)
	st.alarm.set(st.now, st.leave)
	if st.waiting != nil {
		st.alarm.set(st.now, st.since.Add(st.srv.cfg.Limits.Write))
		return
	}
	st.alarm.set(st.now, st.client.Due(st.now))
	st.alarm.set(st.now, st.strays.lookUpAt(st.now))
	st.alarm.set(st.now, st.keeps.next())
	if tell := st.behind.Add(tellAfter); !st.behind.IsZero() && tell.After(st.now) {
		st.alarm.set(st.now, tell)
	}
}
