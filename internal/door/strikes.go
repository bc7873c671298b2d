package door

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// struckFor is how long less is let in from a source after a connection of it was ended for a flood.
	struckFor = time.Minute
	// maxSources is how many sources are remembered.
	maxSources = 4096
	// atOnce is how many seconds' worth of calls may come at once.
	atOnce = 5
	// maxCallWait is how long one waits at most.
	maxCallWait = 5 * time.Second
)

// sources remembers of where something came what bounds the next that comes from there.
type sources struct {
	perSecond int

	mu     sync.Mutex // guards all below
	struck map[netip.Prefix]time.Time
	calls  map[netip.Prefix]*rate.Limiter // of calls without a good token
	others *rate.Limiter                  // of those that there is no room for
	swept  time.Time
}

func newSources(perSecond int) *sources {
	s := &sources{perSecond: perSecond, struck: make(map[netip.Prefix]time.Time), calls: make(map[netip.Prefix]*rate.Limiter)}
	s.others = s.newLimiter()
	return s
}

func (s *sources) newLimiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(s.perSecond), atOnce*s.perSecond)
}

// strike notes that a connection of the source was ended for a flood.
func (s *sources) strike(from netip.Prefix) {
	if !from.IsValid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if _, known := s.struck[from]; !known && len(s.struck) >= maxSources {
		if s.sweep(now); len(s.struck) >= maxSources {
			return
		}
	}
	s.struck[from] = now
}

// isStruck reports whether that was so within struckFor.
func (s *sources) isStruck(from netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.struck[from]
	if ok && time.Since(at) > struckFor {
		delete(s.struck, from)
		return false
	}
	return ok
}

// call counts a call without a good token, and returns for how long its answer is to wait.
func (s *sources) call(from netip.Prefix) time.Duration {
	if !from.IsValid() {
		return 0
	}
	now := time.Now()
	r := s.limiter(from, now).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > maxCallWait {
		r.CancelAt(now) // no one waits for longer, and none of them is to be owed
		return maxCallWait
	}
	return wait
}

func (s *sources) limiter(from netip.Prefix, now time.Time) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.calls[from]; l != nil {
		return l
	}
	if len(s.calls) >= maxSources {
		if s.sweep(now); len(s.calls) >= maxSources {
			return s.others
		}
	}
	l := s.newLimiter()
	s.calls[from] = l
	return l
}

// sweep forgets what bounds nobody any more, once in a second at most. s.mu is held.
func (s *sources) sweep(now time.Time) {
	if now.Sub(s.swept) < time.Second {
		return
	}
	s.swept = now
	for p, at := range s.struck {
		if now.Sub(at) > struckFor {
			delete(s.struck, p)
		}
	}
	for p, l := range s.calls {
		if l.TokensAt(now) >= float64(l.Burst()) {
			delete(s.calls, p)
		}
	}
}
