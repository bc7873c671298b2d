package planner

import (
	"slices"
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Subscription is what a client wants of one type: everything, names, or both
// (PROTOCOL rules 1 and 2). It is interned: clients that want the same have the same one.
type Subscription struct {
	typ      fleet.Type
	wildcard bool
	explicit bool          // the wildcard was asked for as "*"
	names    *snapshot.Set // of names
	bytes    int           // of the names
	// nameless is the wildcard alone, of a wildcard with names: what it wants of a set is shared by all that are made of it.
	nameless *Subscription

	mu   sync.Mutex // guards last
	last answer
}

// answer is what is wanted of a set.
type answer struct {
	known   bool
	of      *snapshot.Set
	want    *snapshot.Set
	missing *snapshot.Set // names that the set has not
}

type subKey struct {
	fleet              fleet.Key
	typ                fleet.Type
	wildcard, explicit bool
	names              snapshot.Count
}

// Has reports whether the client wants the resource of that name.
func (s *Subscription) Has(name string) bool { return s != nil && (s.wildcard || s.Named(name)) }

// Gets reports whether the client is to have a resource that there is: of a wildcard what is delivered by name alone is no part.
func (s *Subscription) Gets(r *snapshot.Resource) bool {
	return s != nil && (s.wildcard && !r.ByName || s.Named(r.Name))
}

// Named reports whether the client asked for the name itself.
func (s *Subscription) Named(name string) bool { return s != nil && s.names.Get(name) != nil }

// Bytes is what the names take.
func (s *Subscription) Bytes() int {
	if s == nil {
		return 0
	}
	return s.bytes
}

// Says reports whether the client asks for these names and no others, and for everything or not.
func (s *Subscription) Says(names Names, star bool) bool {
	return s != nil && s.names.Names() == names.Count && s.explicit == star && s.wildcard == star
}

// Len is the number of names.
func (s *Subscription) Len() int {
	if s == nil {
		return 0
	}
	return s.names.Len()
}

// whole reports whether all of a set is wanted.
func (s *Subscription) whole(set *snapshot.Set) bool { return s.wildcard && !set.SomeByName() }

// wants returns what of a set is wanted, and the names that it has not; of a wildcard these are not looked for.
func (s *Subscription) wants(in interner, set *snapshot.Set) (want, missing *snapshot.Set) {
	if s.whole(set) {
		return set, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.known || s.last.of != set {
		s.last = s.follow(in, s.last, set)
	}
	return s.last.want, s.last.missing
}

// answeredBy reports whether a set is what is wanted of another one, if that was worked out last.
func (s *Subscription) answeredBy(of, want *snapshot.Set) bool {
	if s.whole(of) {
		return of == want
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.known && s.last.of == of && s.last.want == want
}

// wantedOf is wants of a set that is not the present one.
func (s *Subscription) wantedOf(in interner, set *snapshot.Set) (want, missing *snapshot.Set) {
	if s.whole(set) {
		return set, nil
	}
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if !last.known || last.of != set {
		last = s.follow(in, last, set)
	}
	return last.want, last.missing
}

func (s *Subscription) follow(in interner, last answer, set *snapshot.Set) answer {
	next := answer{known: true, of: set, want: last.want, missing: last.missing}
	switch {
	case s.wildcard:
		next.want = s.followWildcard(in, last, set)
	case s.typ == fleet.VirtualHost:
		next.want = s.followHosts(in, last, set)
	case s.names.Names() == set.Names():
		next.want, next.missing = set, nil
	case !last.known:
		has := make([]snapshot.Edit, 0, min(s.names.Len(), set.Len()))
		var lacks []snapshot.Edit
		for n := range s.names.All() {
			if r := set.Get(n.Name); r != nil {
				has = append(has, snapshot.Edit{New: r})
			} else {
				lacks = append(lacks, snapshot.Edit{New: n})
			}
		}
		next.want, next.missing = in.apply(s.typ, nil, has), in.apply(s.typ, nil, lacks)
	default:
		var has, lacks []snapshot.Edit
		for old, now := range snapshot.Diff(last.of, set) {
			name := snapshot.Edit{Old: old, New: now}.Name()
			n := s.names.Get(name)
			if n == nil {
				continue
			}
			has = append(has, snapshot.Edit{Old: last.want.Get(name), New: now})
			switch {
			case old == nil:
				lacks = append(lacks, snapshot.Edit{Old: last.missing.Get(name)})
			case now == nil:
				lacks = append(lacks, snapshot.Edit{New: n})
			}
		}
		next.want, next.missing = in.apply(s.typ, last.want, has), in.apply(s.typ, last.missing, lacks)
	}
	return next
}

// fewNames: a wildcard with no more names is made anew of what the wildcard alone wants, at each set. Then all that is its own are the paths to its
// names. One with more names follows the difference: that costs less each time, and what it holds becomes its own by and by.
const fewNames = 32

// followWildcard is everything but what is delivered by name and was not named. It costs what differs, once the first set was looked at.
func (s *Subscription) followWildcard(in interner, last answer, set *snapshot.Set) *snapshot.Set {
	if s.nameless != nil && (!last.known || s.names.Len() <= fewNames) {
		return s.withNamed(in, set)
	}
	var edits []snapshot.Edit
	if !last.known {
		for r := range set.All() {
			if !s.Gets(r) {
				edits = append(edits, snapshot.Edit{Old: r})
			}
		}
		return in.apply(s.typ, set, edits)
	}
	for old, now := range snapshot.DiffDelivery(last.of, set) {
		was := last.want.Get(snapshot.Edit{Old: old, New: now}.Name())
		if now != nil && !s.Gets(now) {
			now = nil
		}
		if was != nil || now != nil {
			edits = append(edits, snapshot.Edit{Old: was, New: now})
		}
	}
	return in.apply(s.typ, last.want, edits)
}

// withNamed is what the wildcard alone wants, with what is delivered by name of the names. It costs what these do.
func (s *Subscription) withNamed(in interner, set *snapshot.Set) *snapshot.Set {
	all, _ := s.nameless.wants(in, set)
	edits := make([]snapshot.Edit, 0, s.names.Len())
	for n := range s.names.All() {
		if r := set.Get(n.Name); r != nil && r.ByName {
			edits = append(edits, snapshot.Edit{New: r})
		}
	}
	return in.apply(s.typ, all, edits)
}

// leadWildcard is the last answer with what is delivered by the names that edits add or give up.
func (s *Subscription) leadWildcard(in interner, last answer, edits []snapshot.Edit) answer {
	var has []snapshot.Edit
	for _, e := range edits {
		r := last.of.Get(e.Name())
		if r == nil || !r.ByName {
			continue
		}
		if was := last.want.Get(r.Name); e.New == nil {
			has = append(has, snapshot.Edit{Old: was})
		} else {
			has = append(has, snapshot.Edit{Old: was, New: r})
		}
	}
	last.want = in.apply(s.typ, last.want, has)
	return last
}

// hosts are the virtual hosts that are wanted: a name may be an alias.
func (s *Subscription) hosts(in interner, set *snapshot.Set) *snapshot.Set {
	var all []*snapshot.Resource
	for n := range s.names.All() {
		if r := set.Host(n.Name); r != nil {
			all = append(all, r)
		}
	}
	return in.adding(s.typ, nil, all...)
}

// followHosts costs what differs, as long as no domain comes or goes: then each name may lead to another host.
func (s *Subscription) followHosts(in interner, last answer, set *snapshot.Set) *snapshot.Set {
	if !last.known {
		return s.hosts(in, set)
	}
	var has []snapshot.Edit
	for old, now := range snapshot.Diff(last.of, set) {
		if old == nil || now == nil || !slices.Equal(old.Domains, now.Domains) {
			return s.hosts(in, set)
		}
		if r := last.want.Get(now.Name); r != nil {
			has = append(has, snapshot.Edit{Old: r, New: now})
		}
	}
	return in.apply(s.typ, last.want, has)
}

// leadHosts is the last answer with the names that edits add. A host whose name is given up may be wanted by another one: then nothing is known.
func (s *Subscription) leadHosts(in interner, last answer, edits []snapshot.Edit) answer {
	var all []*snapshot.Resource
	for _, e := range edits {
		if r := last.of.Host(e.Name()); r != nil && e.New == nil {
			return answer{}
		} else if r != nil {
			all = append(all, r)
		}
	}
	last.want = in.adding(s.typ, last.want, all...)
	return last
}

// subscription returns the one with these names that is known already, nil if none is.
func (in interner) subscription(t fleet.Type, wildcard, explicit bool, names snapshot.Count) *Subscription {
	return in.subs.get(subKey{in.key, t, wildcard, explicit, names})
}

// derive returns the subscription that edits of the names lead to; s may be a zero one.
func (in interner) derive(s *Subscription, wildcard, explicit bool, edits []snapshot.Edit) *Subscription {
	k := subKey{in.key, s.typ, wildcard, explicit, s.names.NamesAfter(edits)}
	if known := in.subs.get(k); known != nil {
		return known
	}
	next := &Subscription{typ: s.typ, wildcard: wildcard, explicit: explicit, bytes: s.bytes, names: in.apply(s.typ, s.names, edits)}
	for _, e := range edits {
		if e.New != nil {
			next.bytes += len(e.New.Name)
		} else {
			next.bytes -= len(e.Old.Name)
		}
	}
	if wildcard && next.names.Len() > 0 {
		next.nameless = in.nameless(s.typ)
	}
	if wildcard == s.wildcard {
		next.last = s.lead(in, edits)
	}
	return in.subs.put(k, next)
}

// nameless is the wildcard without names.
func (in interner) nameless(t fleet.Type) *Subscription {
	k := subKey{fleet: in.key, typ: t, wildcard: true}
	if known := in.subs.get(k); known != nil {
		return known
	}
	return in.subs.put(k, &Subscription{typ: t, wildcard: true})
}

// lead is the last answer as that of a subscription that edits lead to: it is one step away
// as well.
func (s *Subscription) lead(in interner, edits []snapshot.Edit) answer {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	switch {
	case !last.known:
		return last
	case s.wildcard:
		return s.leadWildcard(in, last, edits)
	case s.typ == fleet.VirtualHost:
		return s.leadHosts(in, last, edits)
	}
	var has, lacks []snapshot.Edit
	for _, e := range edits {
		name := e.Name()
		switch r := last.of.Get(name); {
		case e.New != nil && r != nil:
			has = append(has, snapshot.Edit{New: r})
		case e.New != nil:
			lacks = append(lacks, snapshot.Edit{New: e.New})
		case last.want.Get(name) != nil:
			has = append(has, snapshot.Edit{Old: last.want.Get(name)})
		default:
			lacks = append(lacks, snapshot.Edit{Old: last.missing.Get(name)})
		}
	}
	last.want, last.missing = in.apply(s.typ, last.want, has), in.apply(s.typ, last.missing, lacks)
	return last
}

// adding and dropping are the edits of the names that a request adds or gives up. Of the
// fleet's resources the names are lent. same counts those that are asked for already.
func (s *Subscription) adding(names Names, set *snapshot.Set) (edits []snapshot.Edit, same snapshot.Count) {
	if names.N == 0 {
		return nil, same
	}
	var seen map[string]struct{}
	edits = make([]snapshot.Edit, 0, max(0, names.N-s.Len()))
	for b := range names.Each {
		if n := s.names.Get(string(b)); n != nil {
			same = same.Plus(n.NameID())
			continue
		}
		if _, again := seen[string(b)]; again {
			continue
		}
		var n *snapshot.Resource
		if r := set.Get(string(b)); r != nil {
			n = r.NameOnly()
		} else {
			n = snapshot.NameOnly(string(b))
		}
		if seen == nil {
			seen = make(map[string]struct{}, max(0, names.N-s.Len()))
		}
		seen[n.Name] = struct{}{}
		edits = append(edits, snapshot.Edit{New: n})
	}
	return edits, same
}

func (s *Subscription) dropping(names Names) (edits []snapshot.Edit) {
	if names.N == 0 {
		return nil
	}
	seen := make(map[string]struct{}, min(names.N, s.Len()))
	for b := range names.Each {
		n := s.names.Get(string(b))
		if n == nil {
			continue
		}
		if _, again := seen[n.Name]; !again {
			seen[n.Name] = struct{}{}
			edits = append(edits, snapshot.Edit{Old: n})
		}
	}
	return edits
}

// replacing are the edits that lead to these names alone.
func (s *Subscription) replacing(names Names, set *snapshot.Set) (edits []snapshot.Edit) {
	edits, same := s.adding(names, set)
	if same == s.names.Names() {
		return edits // nothing is given up
	}
	stay := make(map[string]struct{}, min(names.N, s.names.Len()))
	if names.N > 0 {
		for b := range names.Each {
			if n := s.names.Get(string(b)); n != nil {
				stay[n.Name] = struct{}{}
			}
		}
	}
	if len(stay) == s.names.Len() {
		return edits
	}
	for n := range s.names.All() {
		if _, ok := stay[n.Name]; !ok {
			edits = append(edits, snapshot.Edit{Old: n})
		}
	}
	return edits
}
