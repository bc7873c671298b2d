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
	budget *rate.Limiter           // of look-ups
	queue  []stray                 // in the order in which they came
	waits  map[stray]struct{}      // those of the queue that wait for the budget; the others were given up
	queued int                     // bytes of their names
	absent map[fleet.Type][]string // nil: of none
	unsaid int                     // bytes of absent
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

// admitted is what of a request of the incremental protocol is taken up now. The first one of a type waits for nothing: what a client that
// returns says, it says at once.
func (st *stream) admitted(t fleet.Type, r *request, first bool) planner.Request {
	q, most, target := r.subscription(t), st.srv.cfg.Limits, st.att.Current()
	if n := 2*target.Types[t].Len() + most.Names; r.versions.N > n || !r.versions.plain(most.NameBytes) {
		q.Versions = believable(q.Versions, most.NameBytes, n)
	}
	if len(st.strays.waits) > 0 && q.Dropped.N > 0 {
		for b := range q.Dropped.Each {
			st.strays.leave(stray{t, string(b)})
		}
	}
	if r.names.N == 0 || first && st.fits(r.names, st.client.Subscription(t).Len(), 0) {
		return q
	}
	q.Names, _ = st.sift(t, q.Names, target, sifting{adds: true, patient: !first})
	return q
}

// whole is what of a request of state of the world is taken up, which has all names that the client asks for, and what is left out.
func (st *stream) whole(t fleet.Type, r *request, first bool, target *snapshot.Target) (q planner.Request, left leftOut) {
	sub := st.client.Subscription(t)
	if last := st.said[t]; !first && last.leadsTo(r) && !last.left.mayCome(st, t, target) {
		q = r.goesOn(t)
		if r.grown.more.N > 0 && !st.fits(r.grown.more, sub.Len(), 0) {
			q.Names, left = st.sift(t, q.Names, target, sifting{adds: true})
		}
		return q, left.and(last.left)
	}
	q = r.subscription(t)
	if r.names.N > 0 && (first || !sub.Says(q.Names, q.Star)) && !st.fits(r.names, 0, sub.Bytes()) {
		q.Names, left = st.sift(t, q.Names, target, sifting{})
	}
	return q, left
}

// fits reports whether names may be taken up as they are, beside so many others, and in the place of so many bytes.
func (st *stream) fits(names counted, beside, instead int) bool {
	most := st.srv.cfg.Limits
	return st.srv.names.room(st.id.Key.Tenant, most.TenantNames) && names.plain(most.NameBytes) &&
		beside+names.N <= most.Names && names.bytes <= maxNameBytes-st.client.NameBytes()+instead
}

// said is the last list of names of a type that a stream of state of the world brought, and what it came to. Its next one is nearly always the
// same, or goes on from it.
type said struct {
	list listID
	left leftOut
}

// saidNow is what the request has come to, nil if that is not worth remembering.
func (st *stream) saidNow(t fleet.Type, r *request, left leftOut, target *snapshot.Target) *said {
	if r.grown.whole == (listID{}) {
		return nil
	}
	left.has, left.clusters, left.bytes = target.Types[t].Identity(), target.Types[fleet.Cluster].Identity(), st.client.NameBytes()
	return &said{r.grown.whole, left}
}

// leadsTo reports whether a request asks for what s came to, and for what it adds.
func (s *said) leadsTo(r *request) bool {
	return s != nil && r.grown.from == s.list && !r.grown.more.star
}

// leftOut is what of a list was not taken up, and why.
type leftOut struct {
	long, broken, over, crowded bool
	// What there was then, and what all names took.
	has, clusters snapshot.Identity
	bytes         int
}

func (l leftOut) any() bool { return l.long || l.broken || l.over || l.crowded }

func (l leftOut) and(o leftOut) leftOut {
	return leftOut{long: l.long || o.long, broken: l.broken || o.broken, over: l.over || o.over, crowded: l.crowded || o.crowded}
}

// mayCome reports whether some of what was left out may be taken up by now.
func (l leftOut) mayCome(st *stream, t fleet.Type, target *snapshot.Target) bool {
	return (l.over || l.crowded) && (l.has != target.Types[t].Identity() || t == fleet.Endpoint && l.clusters != target.Types[fleet.Cluster].Identity()) ||
		l.over && st.client.NameBytes() < l.bytes || l.crowded && st.srv.names.room(st.id.Key.Tenant, st.srv.cfg.Limits.TenantNames)
}

// sifting is how names are sifted.
type sifting struct {
	adds    bool // they come beside what the stream is subscribed to, else in its place
	patient bool // some may wait
}

// sift returns which of the names are taken up. Of those that are not, some wait, and of the others the client is told that they do not
// exist. Of those the fleet is told, and not which ones: they are an outsider's. It keeps no more than is taken up or waits, however many names there are.
func (st *stream) sift(t fleet.Type, names planner.Names, target *snapshot.Target, how sifting) (planner.Names, leftOut) {
	room, bytes := st.limit(t, target), maxNameBytes-st.client.NameBytes()
	full := !st.srv.names.room(st.id.Key.Tenant, st.srv.cfg.Limits.TenantNames)
	sub := st.client.Subscription(t)
	if how.adds {
		room -= sub.Len()
	} else {
		for b := range names.Each {
			if st.accounted(t, string(b), target) {
				room--
			}
		}
	}
	var left leftOut
	waits := false
	count := snapshot.Count{}
	seen := make(map[string]bool) // of those that the stream is not subscribed to yet: whether it is taken up
	for b := range names.Each {
		if sub.Named(string(b)) {
			count = count.Plus(snapshot.IDOf(b))
			continue
		}
		name := string(b)
		if _, again := seen[name]; again {
			continue
		}
		switch {
		case !utf8.Valid(b):
			left.broken = true
			continue
		case len(b) > st.srv.cfg.Limits.NameBytes:
			left.long = true
			st.refuse(t, name)
			continue
		case st.accounted(t, name, target):
		case full:
			left.crowded = true
			st.refuse(t, name)
			continue
		case how.patient && !st.found(t, name, target) && !st.strays.hasTurn(st.now):
			if !st.strays.wait(stray{t, name}, st.srv.cfg.Limits.Names) {
				left.over = true
				st.refuse(t, name)
				continue
			}
			waits, seen[name] = true, false
			continue
		case room <= 0 || len(name) > bytes:
			left.over = true
			st.refuse(t, name)
			continue
		default:
			room, bytes = room-1, bytes-len(name)
		}
		seen[name], count = true, count.Plus(snapshot.IDOf(b))
	}
	st.tellNames(t, left)
	if !left.any() && !waits {
		return names, left // as they were counted
	}
	return among(names, count, func(b []byte) bool { return seen[string(b)] || sub.Named(string(b)) }), left
}

// among are those of the names that are taken up, as they were counted.
func among(names planner.Names, count snapshot.Count, taken func([]byte) bool) planner.Names {
	return planner.Names{Count: count, Each: func(yield func([]byte) bool) {
		for b := range names.Each {
			if taken(b) && !yield(b) {
				return
			}
		}
	}}
}

// tellNames tells the fleet why names were not taken up.
func (st *stream) tellNames(t fleet.Type, left leftOut) {
	if left.long {
		st.deny(fleet.DeniedNames, fmt.Sprintf("%s with names above %d bytes", t, st.srv.cfg.Limits.NameBytes))
	}
	if left.broken {
		st.deny(fleet.DeniedNames, fmt.Sprintf("%s with names that are not UTF-8", t))
	}
	if left.over {
		st.deny(fleet.DeniedNames, fmt.Sprintf("more than %d %s that the fleet does not have", st.srv.cfg.Limits.Names, t))
	}
	if left.crowded {
		st.deny(fleet.DeniedNames, fmt.Sprintf("%s that the fleet does not have, and all nodes of the tenant ask for more of such names than are kept", t))
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
	s := &st.strays
	if !st.client.HearsOfAbsence(t) || len(s.absent[t]) >= maxAbsent || s.unsaid+len(name) > maxNameBytes {
		return
	}
	if s.absent == nil {
		s.absent = make(map[fleet.Type][]string)
	}
	s.absent[t], s.unsaid = append(s.absent[t], name), s.unsaid+len(name)
}

// lookUp takes up the names whose turn it is.
func (st *stream) lookUp() {
	if len(st.strays.queue) == 0 {
		return
	}
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
			taken, _ := st.sift(t, planner.NamesOf(names...), target, sifting{adds: true})
			st.pass(st.client.Request(st.now, planner.Request{Type: t, Named: true, Names: taken}, target))
			st.countNames(t)
		}
	}
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
	if len(st.strays.absent) == 0 {
		return nil
	}
	for _, t := range fleet.Types() {
		names := st.strays.absent[t]
		size, n := 0, 0
		for n < len(names) && size < planner.MaxResponse/4 {
			size += 2*len(names[n]) + 16
			n++
		}
		if n == 0 {
			continue
		}
		part := slices.Clone(names[:n])
		if st.strays.absent[t] = slices.Delete(names, 0, n); len(st.strays.absent[t]) == 0 {
			delete(st.strays.absent, t)
		}
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
