package planner

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// memo is what was worked out of one target. It goes with the target, and forgetting it
// earlier is always safe.
type memo struct {
	seed     maphash.Seed
	whole    whole
	mu       sync.RWMutex        // guards what follows
	seen     map[uint64]struct{} // hashes of positions that somebody was in
	steps    map[stepKey]*entry[*step]
	beliefs  map[beliefKey]*entry[belief]
	resumes  map[resumeKey]*entry[resumed]
	withheld map[withheldKey]*entry[[]fleet.Withheld]
	size     int
}

// entry is worked out once, however many ask at a time.
type entry[V any] struct {
	once  sync.Once
	done  atomic.Bool
	value V
}

// stepKey has a position without its Warm: a target that was remembered here would have the one before it
// remembered, and so on.
type stepKey struct {
	fleet fleet.Key
	pos   Position
	warm  uint64 // the serial of the position's Warm, 0 if it has none
}

func (in interner) keyOf(p *Position) stepKey {
	k := stepKey{fleet: in.key, pos: *p}
	if p.Warm != nil {
		k.pos.Warm, k.warm = nil, p.Warm.Serial()
	}
	return k
}

// withheldKey is of what is withheld of a type in a position.
type withheldKey struct {
	stepKey
	typ fleet.Type
}

// seenSize is about what it takes to remember that somebody was in a position.
const seenSize = 32

// stepSize is about what it takes to remember a step, its bytes and names apart.
const stepSize = 2 << 10

// nameSize is about what it takes to remember a name of a subscription, its bytes apart: it stands in the subscription, and in what is
// pending or not there.
const nameSize = 256

// keeps is what is kept with a position that is remembered: names that its streams may have given up since.
func (p *Position) keeps() (size int) {
	for i := range p.Types {
		size += p.Types[i].Sub.keeps() + p.Types[i].Doubts.keeps() + p.Types[i].NextDoubts.keeps()
	}
	return size
}

func (s *Subscription) keeps() int { return s.Bytes() + nameSize*s.Len() }

// memoOf is the target's memo, nil if nothing is remembered.
func (pl *Planner) memoOf(t *snapshot.Target) *memo {
	if pl.maxMemo == 0 {
		return nil
	}
	all, _ := t.Memo(func() any { return new(targetMemos) }).(*targetMemos)
	return all.of(pl)
}

// targetMemos are those of one target, by the planner: there is one in a server, and several
// in tests.
type targetMemos struct {
	mu   sync.Mutex // guards list
	list []ownMemo
}

type ownMemo struct {
	planner *Planner
	memo    *memo
}

func (ts *targetMemos) of(pl *Planner) *memo {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, o := range ts.list {
		if o.planner == pl {
			return o.memo
		}
	}
	m := &memo{seed: maphash.MakeSeed()}
	pl.memos.add(m)
	ts.list = append(ts.list, ownMemo{pl, m})
	return m
}

// remembered returns the remembered step of a position, nil if there is none. It allocates nothing.
func (in interner) remembered(p *Position, rec *Record, target *snapshot.Target) *step {
	if in.maxMemo == 0 || rec.bends() {
		return nil
	}
	m := in.memoOf(target)
	m.mu.RLock()
	e := m.steps[in.keyOf(p)]
	m.mu.RUnlock()
	if e == nil || !e.done.Load() {
		return nil
	}
	if r := e.value.response; r != nil && rec.refuses(r.Type, r.content) {
		return nil
	}
	return e.value
}

// step returns what to do of some inputs: as it is remembered, or worked out.
func (in interner) step(l *inputs) *step {
	if l.rec.bends() || l.target != l.base {
		return l.walk()
	}
	m := in.memoOf(l.target)
	if m == nil {
		return l.walk()
	}
	k := in.keyOf(l.pos)
	if first(in, m, k) {
		return l.walk()
	}
	s := remembered(&m.mu, &m.steps, k, func() *step {
		healthy := *l
		healthy.rec = nil
		s := healthy.walk()
		if s.after.Warm != l.target {
			s.after.Warm, s.warmStays = nil, true // see stepKey
		}
		in.note(m, l.pos, l.target, s)
		return s
	})
	if s.response != nil && l.rec.refuses(s.response.Type, s.response.content) {
		return l.walk()
	}
	return s
}

// first reports whether nobody was in the position before, or came with that: then it may be one stream's own, and
// is not worth remembering.
func first[K comparable](in interner, m *memo, k K) bool {
	h := maphash.Comparable(m.seed, k)
	m.mu.Lock()
	_, seen := m.seen[h]
	if !seen {
		if m.seen == nil {
			m.seen = make(map[uint64]struct{})
		}
		m.seen[h] = struct{}{}
	}
	m.mu.Unlock()
	if !seen {
		in.grow(m, seenSize)
	}
	return !seen
}

// remembered returns what is remembered under a key, or what work returns.
func remembered[K comparable, V any](mu *sync.RWMutex, all *map[K]*entry[V], k K, work func() V) V {
	mu.RLock()
	e := (*all)[k]
	mu.RUnlock()
	if e == nil {
		mu.Lock()
		if e = (*all)[k]; e == nil {
			if *all == nil {
				*all = make(map[K]*entry[V])
			}
			e = new(entry[V])
			(*all)[k] = e
		}
		mu.Unlock()
	}
	e.once.Do(func() {
		e.value = work()
		e.done.Store(true)
	})
	return e.value
}

// note counts what a step takes, with its bytes and its changes, and has everything
// forgotten when that has become too much.
func (in interner) note(m *memo, p *Position, target *snapshot.Target, s *step) {
	size := stepSize + p.keeps()
	for t := range p.Types {
		size += in.beside(fleet.Type(t), p.Types[t].Held, target) //nolint:gosec // one of nine
	}
	if r := s.response; r != nil {
		for _, x := range r.Resources {
			size += x.Size()
		}
		size += 128 * (len(r.changes) + len(r.Resources) + len(r.Removed))
		for _, e := range r.Errors { // with its bytes
			size += 2*e.size() + nameSize
		}
	}
	in.grow(m, size)
}

// besideMost is the part of all that may be remembered that one set counts for at most, so that large ones do not have it forgotten each time.
const besideMost = 8

// beside is about what remembering a client's set keeps in memory of a type beside a target that has other versions, or none. What the target's view had lately
// is kept with that.
func (in interner) beside(t fleet.Type, held *snapshot.Set, target *snapshot.Target) (size int) {
	has, most := target.Types[t], in.maxMemo/besideMost
	count := func(r *snapshot.Resource) bool {
		if lately := target.Recent.Find(t, r.Name, r.Version); lately == nil || !lately.Shares(r) {
			size += r.Size()
		}
		return size < most
	}
	if held.Len() < has.Len()/8 { // of a few names
		for r := range held.All() {
			if own := has.Get(r.Name); (own == nil || !own.Shares(r)) && !count(r) {
				break
			}
		}
		return min(size, most)
	}
	for own, r := range snapshot.DiffBytes(has, held) {
		if r != nil && (own == nil || !own.Shares(r)) && !count(r) {
			break
		}
	}
	return min(size, most)
}

func (in interner) grow(m *memo, size int) {
	m.mu.Lock()
	m.size += size
	m.mu.Unlock()
	in.memos.grow(size, in.maxMemo)
}

func (m *memo) clear() (size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen, m.steps, m.beliefs, m.resumes, m.withheld = nil, nil, nil, nil, nil
	size, m.size = m.size, 0
	return size
}

// memos are all of a planner's, and what they take.
type memos struct {
	mu   sync.Mutex // guards what follows
	all  []weak.Pointer[memo]
	size int // of those whose target is gone too, until all is forgotten
}

// add drops those whose target is gone each time that there is no room, which costs one look at a memo for each that is added.
func (ms *memos) add(m *memo) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if len(ms.all) == cap(ms.all) {
		ms.all = slices.DeleteFunc(ms.all, func(p weak.Pointer[memo]) bool { return p.Value() == nil })
		ms.all = slices.Grow(ms.all, len(ms.all)+1)
	}
	ms.all = append(ms.all, weak.Make(m))
}

func (ms *memos) grow(size, most int) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.size += size; ms.size <= most {
		return
	}
	ms.size = 0
	for _, p := range ms.all {
		if m := p.Value(); m != nil {
			m.clear()
		}
	}
}

// live are those whose target is not gone.
func (ms *memos) live() (all []*memo) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, p := range ms.all {
		if m := p.Value(); m != nil {
			all = append(all, m)
		}
	}
	return all
}
