package xds

import (
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// refusals bound what is logged of refused responses: a bad resource is refused by every node of a fleet. Of a fleet's
// revision and type the first one is logged, then the second, the fourth, the eighth, and one in each minute. It is safe for
// concurrent use, and as large as there are fleets with streams.
type refusals struct {
	mu sync.Mutex // guards of
	of map[fleet.Key]*[fleet.NumTypes]refused
}

// refused is how often a type was refused at a revision, and when that was logged last.
type refused struct {
	history  uint64
	revision fleet.Revision
	times    int
	logged   time.Time
}

// refusalEvery is how long a refusal may go without a line after the last one.
const refusalEvery = time.Minute

// count returns how often the type was refused at the target's revision, and whether that is worth a line. What
// is refused of an older revision counts to the newest.
func (rs *refusals) count(key fleet.Key, t fleet.Type, target *snapshot.Target, now time.Time) (times int, tell bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.of == nil {
		rs.of = make(map[fleet.Key]*[fleet.NumTypes]refused)
	}
	if rs.of[key] == nil {
		rs.of[key] = new([fleet.NumTypes]refused)
	}
	r := &rs.of[key][t]
	if r.history != target.History || r.revision < target.Revision {
		*r = refused{history: target.History, revision: target.Revision}
	}
	r.times++
	if tell = r.times&(r.times-1) == 0 || now.Sub(r.logged) >= refusalEvery; tell {
		r.logged = now
	}
	return r.times, tell
}

// forget is for a fleet that has no streams any more.
func (rs *refusals) forget(key fleet.Key) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.of, key)
}
