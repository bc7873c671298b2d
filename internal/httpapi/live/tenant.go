package live

import (
	"context"
	"maps"
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const (
	tenantTick  = time.Second // between two questions for the fleets of tenants
	tenantShare = 10          // of its time at most one in so many is spent on them: what takes long is asked less often
	tenantSteps = 16          // changes of which it is kept which fleets they were of
	tenantNames = 100         // fleets that are told by name
)

// namedFeed is one of the fleets of a tenantFeed.
type namedFeed struct {
	fleetFeed
	name string
}

// moves sets the marks, and reports whether they are other ones.
func (f *namedFeed) moves(m Marks, at time.Time) bool {
	was := f.marks
	f.post(m, at)
	return f.marks != was
}

// tenantFeed is a tenant, or a fleet alone, while somebody follows all of it. All who do share it.
type tenantFeed struct {
	listeners int
	fleets    map[fleet.ID]*namedFeed
	marks     TenantMarks
	steps     [][]string // the names of the fleets of the last changes
	upto      int        // how many changes there were
}

// post takes the fleets as they are.
func (f *tenantFeed) post(now []store.NamedMarks, at time.Time) {
	var names []string
	fleets := make(map[fleet.ID]*namedFeed, len(now))
	for _, m := range now {
		x := f.fleets[m.Fleet]
		if x == nil {
			x = &namedFeed{fleetFeed: fleetFeed{marks: MarksOf(m.FleetMarks)}, name: m.Name}
			names = append(names, m.Name)
		} else if x.moves(MarksOf(m.FleetMarks), at) {
			names = append(names, m.Name)
		}
		fleets[m.Fleet] = x
	}
	for id, x := range f.fleets {
		if fleets[id] == nil {
			names = append(names, x.name)
		}
	}
	f.fleets = fleets
	if len(names) == 0 {
		return
	}
	f.marks = tenantMarksOf(fleets)
	f.upto++
	if f.steps = append(f.steps, names); len(f.steps) > tenantSteps {
		f.steps = slices.Clone(f.steps[1:])
	}
}

// namesAfter are those of the fleets that have changed since; none where that is not kept, or they are many.
func (f *tenantFeed) namesAfter(step int) []string {
	kept := f.upto - step
	if kept > len(f.steps) {
		return nil
	}
	names := slices.Concat(f.steps[len(f.steps)-kept:]...)
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > tenantNames {
		return nil
	}
	return names
}

// TenantListener is one request that follows all fleets of a tenant; it belongs to the request's goroutine.
type TenantListener struct {
	tail  *Tail
	scope fleet.Key // zero: of nobody's, it only waits for its end
	with  Holder
	at    TenantMarks // told up to here
	step  int         // the same, as the feed counts
	blind bool        // that is not what the feed has counted: at is what the client said
	names []string    // of the fleets that were told last
}

// FollowTenant begins after a place; now are the scope's fleets as they were just read, and marks what these come to. Whoever
// follows leaves.
func (t *Tail) FollowTenant(scope fleet.Key, with Holder, now []store.NamedMarks, marks, after TenantMarks) *TenantListener {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hearLocked(with)
	l := &TenantListener{tail: t, scope: scope, with: with, at: after, blind: after != marks}
	if scope == (fleet.Key{}) {
		return l
	}
	f := t.tenants[scope]
	if f == nil {
		f = &tenantFeed{}
		t.tenants[scope] = f
	}
	f.post(now, t.now())
	f.listeners++
	if !l.blind {
		l.at, l.step = f.marks, f.upto
	}
	return l
}

// Leave ends it.
func (l *TenantListener) Leave() {
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.tenants[l.scope]; f != nil && f.listeners > 1 {
		f.listeners--
	} else {
		delete(t.tenants, l.scope)
	}
	t.unhearLocked(l.with)
}

// look tells what is not as the listener was told, and what is closed when there may be more.
func (l *TenantListener) look() (what []oapi.TenantLiveWhat, news <-chan struct{}, end End, err error) {
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.tenants[l.scope]
	if end, err = t.endLocked(l.with, false, t.outages[askTenants]); end != "" || f == nil {
		return nil, t.news, end, err
	}
	if what, l.names = f.marks.Since(l.at), nil; len(what) > 0 && !l.blind {
		l.names = f.namesAfter(l.step)
	}
	l.at, l.step, l.blind = f.marks, f.upto, false
	return what, t.news, "", nil
}

// Next waits until there is something to look at again. It returns nothing when stop, wake or ctx
// end it.
func (l *TenantListener) Next(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) ([]oapi.TenantLiveWhat, End, error) {
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

// Names are those of the fleets that were told last; none where they are many.
func (l *TenantListener) Names() []string { return l.names }

// Place is up to where the listener was told, as text.
func (l *TenantListener) Place() string { return l.at.String() }

// Tell is Next, with what a stream says of it; nil: nothing.
func (l *TenantListener) Tell(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) (any, End, error) {
	what, end, err := l.Next(ctx, stop, wake)
	if len(what) == 0 {
		return nil, end, err
	}
	return struct {
		What   []oapi.TenantLiveWhat `json:"what"`
		Fleets []string              `json:"fleets,omitempty"`
	}{what, l.names}, end, err
}

// readTenants asks for the fleets of all tenants that somebody follows, when it is time to.
func (t *Tail) readTenants(ctx context.Context) error {
	t.mu.Lock()
	begun, last := t.now(), t.outages[askTenants].err
	var scopes []fleet.Key
	if !begun.Before(t.later) {
		scopes, last = slices.Collect(maps.Keys(t.tenants)), nil
	}
	t.mu.Unlock()
	if len(scopes) == 0 {
		return last
	}
	marks, err := t.store.TenantMarks(ctx, scopes)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.later = begun.Add(max(tenantTick, tenantShare*now.Sub(begun)))
	if err != nil {
		return err
	}
	for i, k := range scopes {
		if f := t.tenants[k]; f != nil { // else the last one has left meanwhile
			f.post(marks[i], now)
		}
	}
	return nil
}
