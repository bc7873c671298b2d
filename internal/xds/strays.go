package xds

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// strays are names that a stream asks for and nothing of the fleet accounts for. On demand a proxy asks for whatever its own clients put into
// a Host header, a cluster header or a server name: any number of names, of any length and any bytes. None may cost it the
// stream. A name that no resource can have, and one beyond the limits, is not subscribed to: it is told once that there is no such resource,
// and forgotten. The others are looked up in turn, and nothing else waits for that.
type strays struct {
	budget *rate.Limiter      // of look-ups
	queue  []stray            // in the order in which they came
	waits  map[stray]struct{} // those of the queue that wait for the budget; the others were given up
	queued int                // bytes of their names
	absent [fleet.NumTypes][]string
	unsaid int // bytes of absent
}

type stray struct {
	t    fleet.Type
	name string
}

const (
	// maxNameBytes is the most that the names of a stream's subscriptions may take, besides those that the fleet accounts for; that those may take
	// that wait; and that those may take of which is to be told that they do not exist.
	maxNameBytes = 4 << 20
	// maxAbsent is the most names of a type of which is to be told that they do not exist. What is over is told nothing, as is what cannot be
	// written into a response: the client waits for its own timeout.
	maxAbsent = 10_000
)

// limit is how many names of a type a stream may subscribe to: what there is, what clusters need, and so many others.
func (st *stream) limit(t fleet.Type, target *snapshot.Target) int {
	has := target.Types[t].Len()
	if t == fleet.Endpoint {
		has = max(has, target.Types[fleet.Cluster].Len())
	}
	return has + st.srv.cfg.Limits.Names
}

// accounted reports whether the stream is subscribed to the name, or the fleet has it, or has a cluster that needs it.
func (st *stream) accounted(t fleet.Type, name string, target *snapshot.Target) bool {
	return st.client.Subscription(t).Named(name) || target.Types[t].Get(name) != nil || t == fleet.Endpoint && target.Types[fleet.Cluster].HasEDSName(name)
}

// admitted is what of a request is taken up now. The first one of a type waits for nothing: what a client that returns says, it says at once.
func (st *stream) admitted(t fleet.Type, r *request, first bool) planner.Request {
	q, most, target := r.subscription(t), st.srv.cfg.Limits, st.att.Current()
	if n := 2*target.Types[t].Len() + most.Names; r.versions.N > n || !r.versions.plain(most.NameBytes) {
		q.Versions = believable(q.Versions, most.NameBytes, n)
	}
	if len(st.strays.waits) > 0 {
		for b := range q.Dropped.Each {
			st.strays.leave(stray{t, string(b)})
		}
	}
	sub := st.client.Subscription(t)
	alike := !st.delta && !first && sub.Says(q.Names, q.Star) // an answer
	fits := st.srv.names.room(st.id.Key.Tenant, most.TenantNames) && r.names.plain(most.NameBytes) && sub.Len()+r.names.N <= most.Names && r.names.longest*r.names.N <= maxNameBytes-st.client.NameBytes()
	q.Named = r.names.N > 0
	if r.names.N == 0 || alike || fits && (first || !st.delta) {
		return q
	}
	q.Names = st.sift(t, q.Names, target, st.delta && !first)
	return q
}

// sift returns which of the names are taken up. Of those that are not, some wait (patient), and of the others the client is told that they do not
// exist. Of those the fleet is told, and not which ones: they are an outsider's. It keeps no more than is taken up or waits, however many names there are.
func (st *stream) sift(t fleet.Type, names planner.Names, target *snapshot.Target, patient bool) planner.Names {
	room, bytes := st.limit(t, target), maxNameBytes-st.client.NameBytes()
	full := !st.srv.names.room(st.id.Key.Tenant, st.srv.cfg.Limits.TenantNames)
	if st.delta {
		room -= st.client.Subscription(t).Len()
	} else { // the list takes the place of what the stream is subscribed to
		for b := range names.Each {
			if st.accounted(t, string(b), target) {
				room--
			}
		}
	}
	var long, broken, over, crowded, waits bool
	var taken []string
	seen := make(map[string]struct{})
	for b := range names.Each {
		name := string(b)
		if _, again := seen[name]; again {
			continue
		}
		switch {
		case !utf8.Valid(b):
			broken = true
			continue
		case len(b) > st.srv.cfg.Limits.NameBytes:
			long = true
			st.refuse(t, name)
			continue
		case st.accounted(t, name, target):
			taken = append(taken, name)
		case full:
			crowded = true
			st.refuse(t, name)
			continue
		case patient && !st.found(t, name, target) && !st.strays.hasTurn(st.now):
			if !st.strays.wait(stray{t, name}, st.srv.cfg.Limits.Names) {
				over = true
				st.refuse(t, name)
				continue
			}
			waits = true
		case room <= 0 || len(name) > bytes:
			over = true
			st.refuse(t, name)
			continue
		default:
			taken = append(taken, name)
			room, bytes = room-1, bytes-len(name)
		}
		seen[name] = struct{}{}
	}
	st.tellNames(t, long, broken, over)
	if crowded {
		st.deny(fleet.DeniedNames, fmt.Sprintf("%s that the fleet does not have, and all nodes of the tenant ask for more of such names than are kept", t))
	}
	if !long && !broken && !over && !crowded && !waits {
		return names // as they were counted
	}
	return planner.NamesOf(taken...)
}

// tellNames tells the fleet why names were not taken up.
func (st *stream) tellNames(t fleet.Type, long, broken, over bool) {
	if long {
		st.deny(fleet.DeniedNames, fmt.Sprintf("%s with names above %d bytes", t, st.srv.cfg.Limits.NameBytes))
	}
	if broken {
		st.deny(fleet.DeniedNames, fmt.Sprintf("%s with names that are not UTF-8", t))
	}
	if over {
		st.deny(fleet.DeniedNames, fmt.Sprintf("more than %d %s that the fleet does not have", st.srv.cfg.Limits.Names, t))
	}
}

// hasTurn reports whether one more name may be looked up now: none waits, and the budget has one.
func (s *strays) hasTurn(now time.Time) bool { return len(s.waits) == 0 && s.budget.AllowN(now, 1) }

// found: a virtual host is found by the domains of those that there are.
func (st *stream) found(t fleet.Type, name string, target *snapshot.Target) bool {
	return t == fleet.VirtualHost && target.Types[t].Host(name) != nil
}

// wait has a name wait for its turn, if there is room.
func (s *strays) wait(x stray, most int) bool {
	if _, again := s.waits[x]; again {
		return true
	}
	if len(s.queue) >= most || s.queued+len(x.name) > maxNameBytes {
		return false
	}
	if s.waits == nil {
		s.waits = make(map[stray]struct{})
	}
	s.waits[x] = struct{}{}
	s.queue, s.queued = append(s.queue, x), s.queued+len(x.name)
	return true
}

// leave takes a name out of those that wait, and reports whether it was one.
func (s *strays) leave(x stray) bool {
	if _, waits := s.waits[x]; !waits {
		return false
	}
	delete(s.waits, x)
	s.queued -= len(x.name)
	return true
}

// refuse has the client told that there is no such resource, where that can be told.
func (st *stream) refuse(t fleet.Type, name string) {
	a := &st.strays.absent[t]
	if st.client.HearsOfAbsence(t) && len(*a) < maxAbsent && st.strays.unsaid+len(name) <= maxNameBytes {
		*a, st.strays.unsaid = append(*a, name), st.strays.unsaid+len(name)
	}
}

// lookUp takes up the names whose turn it is.
func (st *stream) lookUp() {
	var now [fleet.NumTypes][]string
	some := false
	for len(st.strays.queue) > 0 {
		x := st.strays.queue[0]
		if _, waits := st.strays.waits[x]; waits && !st.strays.budget.AllowN(st.now, 1) {
			break
		}
		if st.strays.queue = st.strays.queue[1:]; st.strays.leave(x) {
			now[x.t], some = append(now[x.t], x.name), true
		}
	}
	if !some {
		return
	}
	target := st.att.Current()
	for i, names := range now {
		if t := fleet.Type(i); len(names) > 0 { //nolint:gosec // one of nine
			st.pass(st.client.Request(st.now, planner.Request{Type: t, Named: true, Names: st.sift(t, planner.NamesOf(names...), target, false)}, target))
		}
	}
	st.countNames()
}

// lookUpAt is when the next name has its turn, zero if none waits.
func (s *strays) lookUpAt(now time.Time) time.Time {
	if len(s.waits) == 0 {
		return time.Time{}
	}
	short := 1 - s.budget.TokensAt(now)
	return now.Add(max(time.Millisecond, time.Duration(short/float64(s.budget.Limit())*float64(time.Second))))
}

// absence is the response that tells of names that do not exist, nil if there are none. What has come to be there meanwhile, or is on its way to
// the client, is left out: a client would drop it.
func (st *stream) absence(target *snapshot.Target) *planner.Response {
	for i := range st.strays.absent {
		t, names := fleet.Type(i), st.strays.absent[i] //nolint:gosec // one of nine
		size, n := 0, 0
		for n < len(names) && size < planner.MaxResponse/4 {
			size += 2*len(names[n]) + 16
			n++
		}
		if n == 0 {
			continue
		}
		part := slices.Clone(names[:n])
		st.strays.absent[i] = slices.Delete(names, 0, n)
		for _, name := range part {
			st.strays.unsaid -= len(name)
		}
		slices.Sort(part)
		part = slices.DeleteFunc(slices.Compact(part), func(name string) bool { return st.accounted(t, name, target) || st.client.Holds(t, name) })
		if len(part) > 0 {
			return st.client.Absent(t, part, target)
		}
	}
	return nil
}

// believable are the versions that are of names which a resource may have, and no more than most.
func believable(v planner.Versions, longest, most int) (out planner.Versions) {
	kept := make(map[string]string)
	for name, version := range v.Each {
		if len(kept) < most && max(len(name), len(version)) <= longest && utf8.Valid(name) && utf8.Valid(version) {
			kept[string(name)] = string(version)
		}
	}
	return planner.VersionsOf(kept)
}
