package door

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// struckFor is how long less is let in from a source after a connection of it was ended for a flood.
	struckFor = time.Minute
	// turnsPerSecond are how many new connections of such a source are read in a second; maxTurn is how long one waits for that at most:
	// others may come from there too, and a server of gRPC closes a connection that says nothing for 5 s.
	turnsPerSecond = 50
	maxTurn        = time.Second
	// maxSources is how many sources are remembered.
	maxSources = 4096
	// callsAtOnce and failuresAtOnce are how many seconds' worth may come at once.
	callsAtOnce, failuresAtOnce = 5, 10
	// maxCallWait is how long one waits at most.
	maxCallWait = 5 * time.Second
)

// sources remembers of where something came what bounds the next that comes from there.
type sources struct {
	calls, failures rates

	mu     sync.Mutex // guards all below
	struck map[netip.Prefix]*strike
	swept  time.Time
}

// rates bound how often something comes from each source.
type rates struct {
	perSecond, atOnce int

	mu     sync.Mutex // guards all below
	of     map[netip.Prefix]*rate.Limiter
	others *rate.Limiter // of those that there is no room for
	swept  time.Time
}

// strike is the last connection of a source that was ended for a flood, and when those that come after it are read.
type strike struct {
	at    time.Time
	turns *rate.Limiter
}

func newSources(calls, failures int) *sources {
	return &sources{
		calls: newRates(calls, callsAtOnce), failures: newRates(failures, failuresAtOnce), struck: make(map[netip.Prefix]*strike),
	}
}

func newRates(perSecond, seconds int) rates {
	return rates{
		perSecond: perSecond, atOnce: seconds * perSecond, of: make(map[netip.Prefix]*rate.Limiter),
		others: rate.NewLimiter(rate.Limit(perSecond), seconds*perSecond),
	}
}

// strike notes that a connection of the source was ended for a flood.
func (s *sources) strike(from netip.Prefix) {
	if !from.IsValid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if last := s.struck[from]; last != nil {
		last.at = now
		return
	}
	if len(s.struck) >= maxSources {
		if s.sweep(now); len(s.struck) >= maxSources {
			return
		}
	}
	s.struck[from] = &strike{now, rate.NewLimiter(turnsPerSecond, turnsPerSecond)}
}

// turn reports whether that was so within struckFor, and for how long a new connection of the source is to wait then before it is read.
func (s *sources) turn(from netip.Prefix) (wait time.Duration, struck bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, now := s.struck[from], time.Now()
	switch {
	case last == nil:
		return 0, false
	case now.Sub(last.at) > struckFor:
		delete(s.struck, from)
		return 0, false
	}
	return delay(last.turns, now, maxTurn), true
}

// delay is for how long one has to wait, most at most.
func delay(l *rate.Limiter, now time.Time, most time.Duration) time.Duration {
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > most {
		r.CancelAt(now) // no one waits for longer, and none of them is to be owed
		return most
	}
	return wait
}

// fail counts a connection that ended before anybody had proved who they are. More of them than there may be are a flood.
func (s *sources) fail(from netip.Prefix) {
	if s.failures.perSecond > 0 && from.IsValid() && !s.failures.limiter(from, time.Now()).Allow() {
		s.strike(from)
	}
}

// call counts a call without a good token, and returns for how long its answer is to wait.
func (s *sources) call(from netip.Prefix) time.Duration {
	if !from.IsValid() {
		return 0
	}
	now := time.Now()
	return delay(s.calls.limiter(from, now), now, maxCallWait)
}

func (r *rates) limiter(from netip.Prefix, now time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.of[from]; l != nil {
		return l
	}
	if len(r.of) >= maxSources {
		if r.sweep(now); len(r.of) >= maxSources {
			return r.others
		}
	}
	l := rate.NewLimiter(rate.Limit(r.perSecond), r.atOnce)
	r.of[from] = l
	return l
}

// sweep forgets the limiters that bound nobody any more, once in a second at most. r.mu is held.
func (r *rates) sweep(now time.Time) {
	if now.Sub(r.swept) < time.Second {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.of, func(_ netip.Prefix, l *rate.Limiter) bool { return l.TokensAt(now) >= float64(l.Burst()) })
}

// sweep forgets the strikes that bound nobody any more, once in a second at most. s.mu is held.
func (s *sources) sweep(now time.Time) {
	if now.Sub(s.swept) < time.Second {
		return
	}
	s.swept = now
	maps.DeleteFunc(s.struck, func(_ netip.Prefix, last *strike) bool { return now.Sub(last.at) > struckFor })
}
