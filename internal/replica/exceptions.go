package replica

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

const (
	maxExceptions = 1_000 // per stream and type
	maxBeside     = 2_000 // refused versions of a stream beside its exceptions
	maxAway       = 1_000 // nodes per fleet that refused something and are away
	spareTargets  = 16    // targets that are kept beyond twice the nodes that have one of their own
)

// exceptions are what one stream refuses, or what a node's streams refused that have ended.
// They are guarded by the owner's mu.
type exceptions struct {
	list  []snapshot.Exception        // by type and name; insert and drop change it
	key   string                      // of the list, "" while nobody has asked for it
	lost  map[fleet.Ref]string        // the refused version of what has a good one that cannot be had
	ended map[fleet.Ref]fleet.Refusal // the last one of a name that has ended, or that its client cast doubt on; the latest of them
	// beside are the refused versions that have no exception, and what was done. They end when the client is in step.
	beside map[refusal.Key]fleet.Action
	ahead  []fleet.Refusal // past ones that are not judged yet, and those of revisions that this server does not know: readopt judges them
}

// except makes the culprits of a refusal exceptions of the stream, and of no other one that
// its node has: those may be of another client (T41).
func (ns *nodes) except(a *attachment, v snapshot.Verdict) (refusals []fleet.Refusal, resolved []fleet.Refusal) {
	n, snap, now := a.node, a.subscriber.view.snap, ns.offer(a.node).refused()
	n.refusedAt = time.Now()
	if len(v.Blame) == 0 {
		a.subscriber.note(refusal.Key{Type: v.Type}, fleet.ActionNoSuspect)
		n.note()
		return []fleet.Refusal{{
			Node: n.id, Type: v.Type, Revision: snap.Revision, Detail: v.Detail, Action: fleet.ActionNoSuspect, Offer: now.number,
		}}, nil
	}
	for _, c := range v.Blame {
		f := fleet.Refusal{
			Node: n.id, Type: v.Type, Name: c.Refused.Name, Version: c.Refused.Version,
			Revision: a.broughtBy(v.Type, c.Refused, snap), Detail: v.Detail, Offer: now.number,
		}
		f.Action, f.Good = a.subscriber.except(snap, c)
		if c.Rival != nil {
			f.Rival = fleet.Rival{Name: c.Rival.Name, Version: c.Rival.Version}
		}
		if len(c.Lacked) > 0 && c.Lacked[0].Version == "" {
			f.Lacked = c.Lacked[0].Name
		}
		if f.Action == fleet.ActionStandInRefused || f.Action == fleet.ActionLost || f.Action == fleet.ActionFrozen {
			a.subscriber.note(refusal.KeyOf(f), f.Action)
		}
		over := f.Action == fleet.ActionSuperseded || f.Action == fleet.ActionDeleted
		if e, ok := a.subscriber.ended[fleet.Ref{Type: v.Type, Name: f.Name}]; over && ok && e.Version == f.Version && e.Action != fleet.ActionUnknown {
			f.Action, f.Good = e.Action, e.Good // the words came late, to what was done before
		}
		f.Beside = !over && n.besides(a, v.Type)
		refusals = append(refusals, f)
		if over {
			resolved = append(resolved, now.end(c.Key(), howEnded(c, snap)))
		}
	}
	n.note()
	ns.retarget(n)
	return refusals, n.ended(resolved)
}

// broughtBy returns the revision that brought a refused version to the node: the one that introduced it or, where nothing named it before, the
// one that has the client ask for it, as when a listener moves to a route. Since when it is named is told by what the view had before or, as far as
// that is not known, by what the stream has confirmed, or its node.
func (a *attachment) broughtBy(t fleet.Type, refused *snapshot.Resource, snap *snapshot.Snapshot) fleet.Revision {
	ref := fleet.Ref{Type: t, Name: refused.Name}
	by := namersOf(snap.Types, ref)
	first, named := by.firstIn(snap.Types)
	if !named {
		return refused.Revision
	}
	for _, e := range snap.Recent {
		before, named := by.firstIn(e.Types)
		switch {
		case !named:
			return max(refused.Revision, first)
		case !snapshot.Same(e.Types[t].Get(ref.Name), refused):
			return refused.Revision
		}
		first = before
	}
	before := a.inStep(snap.History)
	switch {
	case before != nil:
		if _, named := by.firstIn(before.Types); !named {
			return max(refused.Revision, first)
		}
	case refused.Revision <= a.last.Settled && first > a.last.Settled: // it would have refused it then
		return first
	}
	return refused.Revision
}

// namers are who names a resource.
type namers struct {
	ref fleet.Ref
	of  []fleet.Ref
}

func namersOf(types [fleet.NumTypes]*snapshot.Set, ref fleet.Ref) namers {
	n := namers{ref: ref}
	for t, set := range types {
		for _, r := range set.Naming(ref) {
			n.of = append(n.of, fleet.Ref{Type: fleet.Type(t), Name: r.Name}) //nolint:gosec // one of nine
		}
	}
	return n
}

// firstIn returns the revision of the oldest of them that names it in those sets too.
func (n namers) firstIn(types [fleet.NumTypes]*snapshot.Set) (first fleet.Revision, any bool) {
	for _, x := range n.of {
		if r := types[x.Type].Get(x.Name); r != nil && r.Names(n.ref) && (!any || r.Revision < first) {
			first, any = r.Revision, true
		}
	}
	return first, any
}

// except adds one exception, if there is something to except; it says what was done, and
// the version that stands in. A substitute that is refused too stays the stream's target:
// the client has confirmed the name, so it is never removed (SEMANTICS 3.2), and a stream
// is not sent again what it refused. One of too many is kept back by the stream alone, for as long as that lives.
func (x *exceptions) except(snap *snapshot.Snapshot, e snapshot.Exception) (action fleet.Action, good string) {
	present := snap.Types[e.Type].Get(e.Refused.Name)
	if was := x.of(e.Type, e.Refused.Name); was != nil {
		switch {
		case snapshot.Same(was.Good, e.Refused):
			return fleet.ActionStandInRefused, ""
		case snapshot.Same(was.Refused, e.Refused):
			return outcome(was.Good)
		}
	}
	switch {
	case present == nil:
		return fleet.ActionDeleted, ""
	case !e.Applies(snap):
		return fleet.ActionSuperseded, ""
	case x.count(e.Type) >= maxExceptions:
		_, good = done(e)
		return fleet.ActionFrozen, good
	case e.Good == nil && x.lost[e.Ref()] == e.Refused.Version:
		return fleet.ActionLost, ""
	}
	if snapshot.Same(e.Good, e.Refused) {
		e.Good = nil
	}
	e.Leave = e.Leave && e.Good == nil
	x.insert(e)
	return done(e)
}

// none: nothing is refused.
func (x *exceptions) none() bool { return len(x.list) == 0 }

// excepts reports whether the name has an exception, and refuses whether the version is
// kept back.
func (x *exceptions) excepts(t fleet.Type, name string) bool { return x.of(t, name) != nil }

// of is the exception of a name, nil if it has none.
func (x *exceptions) of(t fleet.Type, name string) *snapshot.Exception {
	at, ok := slices.BinarySearchFunc(x.list, snapshot.Exception{Type: t, Refused: snapshot.Reported(name, "")}, byName)
	if !ok {
		return nil
	}
	return &x.list[at]
}

func (x *exceptions) refuses(k refusal.Key) bool {
	_, beside := x.beside[k]
	e := x.of(k.Type, k.Name)
	return beside || e != nil && e.Key() == k
}

func (x *exceptions) insert(e snapshot.Exception) {
	at, _ := slices.BinarySearchFunc(x.list, e, byName)
	x.list, x.key = slices.Insert(x.list, at, e), ""
}

// drop takes out the exceptions that are gone.
func (x *exceptions) drop(gone func(snapshot.Exception) bool) {
	before := len(x.list)
	if x.list = slices.DeleteFunc(x.list, gone); len(x.list) < before {
		x.key = ""
	}
}

func outcome(good *snapshot.Resource) (action fleet.Action, version string) {
	if good == nil {
		return fleet.ActionRemoved, ""
	}
	return fleet.ActionKept, good.Version
}

// done is what is done about what an exception is of, and the version that stands in.
func done(e snapshot.Exception) (action fleet.Action, version string) {
	if e.Leave {
		return fleet.ActionUnknown, ""
	}
	return outcome(e.Good)
}

func (x *exceptions) count(t fleet.Type) int {
	c := 0
	for _, e := range x.list {
		if e.Type == t {
			c++
		}
	}
	return c
}

func byName(a, b snapshot.Exception) int {
	if a.Type != b.Type {
		return int(a.Type) - int(b.Type)
	}
	return strings.Compare(a.Refused.Name, b.Refused.Name)
}

// note remembers a refused version that has no exception.
func (x *exceptions) note(k refusal.Key, done fleet.Action) {
	if len(x.beside) >= maxBeside {
		return // a retry ends them
	}
	if x.beside == nil {
		x.beside = make(map[refusal.Key]fleet.Action)
	}
	x.beside[k] = done
}

// undone are the versions about which nothing is done.
func (x *exceptions) undone() (ks []refusal.Key) {
	return slices.Collect(maps.Keys(x.beside))
}

// renew ends the exceptions whose name has another version in the view, or what the client would not take it beside, or that lacked what has come.
func (x *exceptions) renew(snap *snapshot.Snapshot, now offer) (resolved []fleet.Refusal) {
	for i := range x.list {
		e := &x.list[i]
		e.Refused = snap.Types[e.Type].Own(e.Refused)
	}
	x.drop(func(e snapshot.Exception) bool {
		if e.Applies(snap) {
			return false
		}
		resolved = append(resolved, x.end(e, now, howEnded(e, snap)))
		return true
	})
	return resolved
}

// howEnded says of an exception that does not apply any more whether that is for its own name, or for what the client would not take it beside, or
// what it lacked.
func howEnded(e snapshot.Exception, snap *snapshot.Snapshot) fleet.End {
	if e.Rival, e.Lacked = nil, nil; e.Applies(snap) {
		return fleet.EndOffered
	}
	return fleet.EndReplaced
}

// end ends an exception whose name has another version by now, or that its client has cast doubt on, and remembers it.
func (x *exceptions) end(e snapshot.Exception, now offer, how fleet.End) fleet.Refusal {
	end := now.end(e.Key(), how)
	f := end
	f.Action, f.Good = done(e)
	x.rememberEnd(f)
	return end
}

// rememberEnd puts what has ended in the place of what ended first if there is much.
func (x *exceptions) rememberEnd(f fleet.Refusal) {
	if x.ended == nil {
		x.ended = make(map[fleet.Ref]fleet.Refusal)
	}
	ref := fleet.Ref{Type: f.Type, Name: f.Name}
	if _, known := x.ended[ref]; !known && len(x.ended) >= maxExceptions {
		delete(x.ended, slices.MinFunc(slices.Collect(maps.Keys(x.ended)), func(a, b fleet.Ref) int { return cmp.Compare(x.ended[a].By, x.ended[b].By) }))
	}
	x.ended[ref] = f
}

// internKey is equal for streams with equal exceptions that were offered them again as
// often. It costs what the list has once, and nothing until that changes.
func (x *exceptions) internKey(retries int) string {
	if x.key == "" && len(x.list) > 0 {
		x.key = listKey(x.list)
	}
	if retries == 0 {
		return x.key
	}
	return string(binary.AppendUvarint(append([]byte(x.key), beyondList), uint64(retries)))
}

// beyondList ends the exceptions of a key: it is no type.
const beyondList = 255

// listKey: every part carries its length.
func listKey(list []snapshot.Exception) string {
	var b []byte
	put := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, e := range list {
		b = append(b, byte(e.Type))
		put(e.Refused.Name)
		put(e.Refused.Version)
		if e.Good == nil {
			b = append(b, 0)
			if e.Leave {
				b[len(b)-1] = 2
			}
			continue
		}
		b = append(b, 1)
		put(e.Good.Version)
	}
	return string(b)
}
