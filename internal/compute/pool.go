package compute

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// Slice is for how long a computation goes on before it lets others have their turn.
const Slice = 20 * time.Millisecond

// unwatched is for how long a computation goes on at most before it has somebody wait for the network.
const unwatched = time.Millisecond

// leastComputed is how long a large computation goes on between two pauses at least.
const leastComputed = time.Millisecond

// Kind is how large a computation is, as far as can be told before it begins.
type Kind int

// The kinds. A tenant's small ones come before its large ones.
const (
	Small Kind = iota
	Large
)

// Config is what a Pool needs.
type Config struct {
	Slots    int           // how many compute at the same time
	Reserved int           // how many of them large ones never have
	Waiting  int           // how many of one tenant may wait
	Patience time.Duration // for how long one waits
}

// Pool lets computations in. Of the tenants that wait, the one with the fewest computations is
// next, and among equals the one whose turn is longest ago; so a tenant has all slots while nobody else
// wants one. It is safe for concurrent use.
type Pool struct {
	Config

	mu      sync.Mutex // guards what follows
	free    int
	large   int           // how many large ones compute
	began   chan struct{} // a large one has, since somebody asked
	brief   int           // works that take no turn
	calm    chan struct{} // closed when brief is 0 again; nil: nobody waits for that
	tenants map[fleet.TenantID]*tenant
	line    []*tenant // those with somebody waiting: the longest without a turn is the first
}

// tenant is one while it computes or waits.
type tenant struct {
	id      fleet.TenantID
	running int
	waiting []*waiter // the small ones first, each kind in its order
}

// waiter is let in by the closing of in.
type waiter struct {
	kind Kind
	in   chan struct{}
}

// New makes a Pool.
func New(c Config) *Pool {
	return &Pool{Config: c, free: c.Slots, began: make(chan struct{}, 1), tenants: map[fleet.TenantID]*tenant{}}
}

// BusyError says that a computation was not begun, because others of the tenant, or of all, have the slots.
type BusyError struct {
	Crowded  bool // so many of the tenant wait already
	Patience time.Duration
	cause    error
}

func (e *BusyError) Error() string {
	if e.Crowded {
		return "too many of the tenant's computations wait already"
	}
	return fmt.Sprintf("no turn to compute within %v", e.Patience)
}

// Unwrap makes it an fleet.ErrUnavailable.
func (e *BusyError) Unwrap() []error {
	return slices.DeleteFunc([]error{fleet.ErrUnavailable, e.cause}, func(err error) bool { return err == nil })
}

// Turn is a slot that its holder has. It belongs to one goroutine.
type Turn struct {
	pool    *Pool
	tenant  fleet.TenantID
	kind    Kind
	since   time.Time
	resumed time.Time     // it goes on since then
	credit  time.Duration // for which it may pause
	held    bool
	watched time.Time // somebody may wait for the network since then
}

// Enter waits for a slot, until ctx ends or the patience is over. Whoever has a Turn calls Leave.
func (p *Pool) Enter(ctx context.Context, id fleet.TenantID, kind Kind) (*Turn, error) {
	t := &Turn{pool: p, tenant: id, kind: kind}
	if err := t.enter(ctx, p.Waiting); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Turn) enter(ctx context.Context, most int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, crowded := t.pool.join(t.tenant, t.kind, most)
	if crowded {
		return &BusyError{Crowded: true, Patience: t.pool.Patience}
	}
	within, cancel := context.WithTimeout(ctx, t.pool.Patience)
	defer cancel()
	select {
	case <-w.in:
	case <-within.Done():
		if !t.pool.giveUp(t.tenant, w) { // it was let in meanwhile
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return &BusyError{Patience: t.pool.Patience, cause: within.Err()}
	}
	now := time.Now()
	t.held, t.since, t.resumed = true, now, now
	return nil
}

// Leave gives the slot back. Again it does nothing.
func (t *Turn) Leave() {
	if t.held {
		t.held = false
		t.pool.leave(t.tenant, t.kind)
	}
}

// Yield tells whether to go on: it returns ctx's error when that has ended. After each Slice it lets those have the slot first
// who wait and come before it, and a large one pauses for brief work (Brief). It is cheap, so loops call it for each of their steps.
func (t *Turn) Yield(ctx context.Context) error {
	t.watchNetwork()
	if t.kind == Large {
		t.pause(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if time.Since(t.since) < Slice {
		return nil
	}
	t.since = time.Now()
	if !t.pool.others(t) {
		return nil
	}
	t.Leave()
	return t.enter(ctx, int(^uint(0)>>1)) // it has begun: its place in the line is not in question
}

// watchNetwork starts a goroutine that does nothing: for that the runtime wakes the thread of an idle processor, which waits for the network then. A
// computation that the network woke has the thread that waited for it, and the runtime wakes no other: what others get from their clients, and
// from the database, is read up to 10 ms later, while a processor idles.
func (t *Turn) watchNetwork() {
	if now := time.Now(); now.Sub(t.watched) >= unwatched {
		t.watched = now
		go func() {}()
	}
}

// Brief tells of work that takes no turn, until over is called, or for as long as it lasts at most. Large computations pause meanwhile, as
// what is brief would have to wait for their processors otherwise.
func (p *Pool) Brief(most time.Duration) (over func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.brief++
	end := sync.OnceFunc(p.endBrief)
	timer := time.AfterFunc(most, end)
	return func() { timer.Stop(); end() }
}

func (p *Pool) endBrief() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.brief--; p.brief == 0 && p.calm != nil {
		close(p.calm)
		p.calm = nil
	}
}

// calmed is closed when no brief work is left; nil: there is none.
func (p *Pool) calmed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.brief > 0 && p.calm == nil {
		p.calm = make(chan struct{})
	}
	return p.calm
}

// pause waits while there is brief work, for no longer than was computed and not yet paused for: a large computation has half of its time at least.
func (t *Turn) pause(ctx context.Context) {
	now := time.Now()
	t.credit, t.resumed = min(t.credit+now.Sub(t.resumed), Slice), now
	if t.credit < leastComputed {
		return
	}
	calm := t.pool.calmed()
	if calm == nil {
		return
	}
	enough := time.NewTimer(t.credit)
	defer enough.Stop()
	select {
	case <-calm:
	case <-enough.C:
	case <-ctx.Done():
	}
	t.resumed = time.Now()
	t.credit -= t.resumed.Sub(now)
}

// TellLarge calls f with true when a large computation begins, and with false when none has been at work for rest, time and again until ctx
// ends. A pool has one caller.
func (p *Pool) TellLarge(ctx context.Context, rest time.Duration, f func(here bool)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.began:
		}
		f(true)
		p.awaitRest(ctx, rest)
		f(false)
	}
}

func (p *Pool) awaitRest(ctx context.Context, rest time.Duration) {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.began:
		case <-timer.C:
			if p.State().Running[Large] == 0 {
				return
			}
		}
		timer.Reset(rest)
	}
}

// join takes a slot, whose waiter is let in, or stands in line.
func (p *Pool) join(id fleet.TenantID, kind Kind, most int) (w *waiter, crowded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tenants[id]
	if t == nil {
		t = &tenant{id: id}
		p.tenants[id] = t
	}
	if len(t.waiting) >= most {
		return nil, true
	}
	w = &waiter{kind: kind, in: make(chan struct{})}
	at := len(t.waiting)
	for kind == Small && at > 0 && t.waiting[at-1].kind != Small {
		at--
	}
	if t.waiting = slices.Insert(t.waiting, at, w); len(t.waiting) == 1 {
		p.line = append(p.line, t)
	}
	p.serveLocked()
	return w, false
}

// State is what a pool does now, by kind.
type State struct {
	Slots            int
	Running, Waiting [2]int // by Kind
	Brief            int    // works that take no turn
}

// State looks once at each tenant that waits, and at those of its computations that do.
func (p *Pool) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := State{Slots: p.Slots, Running: [2]int{Small: p.Slots - p.free - p.large, Large: p.large}, Brief: p.brief}
	for _, t := range p.line {
		for _, w := range t.waiting {
			s.Waiting[w.kind]++
		}
	}
	return s
}

// Waits tells how many of a tenant stand in line.
func (p *Pool) Waits(id fleet.TenantID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tenants[id]; t != nil {
		return len(t.waiting)
	}
	return 0
}

// giveUp takes a waiter out of the line; false: it was let in.
func (p *Pool) giveUp(id fleet.TenantID, w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tenants[id]
	if t == nil {
		return false
	}
	at := slices.Index(t.waiting, w)
	if at < 0 {
		return false
	}
	if t.waiting = slices.Delete(t.waiting, at, at+1); len(t.waiting) == 0 {
		p.line = slices.DeleteFunc(p.line, func(o *tenant) bool { return o == t })
	}
	p.forgetLocked(t)
	return true
}

func (p *Pool) leave(id fleet.TenantID, kind Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tenants[id]
	t.running--
	p.countLocked(kind, -1)
	p.serveLocked()
	p.forgetLocked(t)
}

// others reports whether somebody waits who comes before t: another tenant, or something smaller.
func (p *Pool) others(t *Turn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.line, func(o *tenant) bool { return o.id != t.tenant || o.waiting[0].kind < t.kind })
}

// serveLocked lets in as many as there are slots.
func (p *Pool) serveLocked() {
	for {
		at := p.nextLocked()
		if at < 0 {
			return
		}
		t := p.line[at]
		p.line = slices.Delete(p.line, at, at+1)
		w := t.waiting[0]
		if t.waiting = t.waiting[1:]; len(t.waiting) > 0 {
			p.line = append(p.line, t)
		}
		t.running++
		p.countLocked(w.kind, 1)
		close(w.in)
	}
}

// countLocked notes that so many more compute.
func (p *Pool) countLocked(kind Kind, n int) {
	p.free -= n
	if kind != Large {
		return
	}
	if p.large += n; n > 0 {
		select {
		case p.began <- struct{}{}:
		default:
		}
	}
}

// nextLocked is whose turn it is in the line, or -1. Of a tenant what is small is the first that waits.
func (p *Pool) nextLocked() int {
	at := -1
	if p.free == 0 {
		return at
	}
	for i, t := range p.line {
		fits := t.waiting[0].kind == Small || p.large < p.Slots-p.Reserved
		if fits && (at < 0 || t.running < p.line[at].running) {
			at = i
		}
	}
	return at
}

func (p *Pool) forgetLocked(t *tenant) {
	if t.running == 0 && len(t.waiting) == 0 {
		delete(p.tenants, t.id)
	}
}
