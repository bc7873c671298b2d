package auth

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// Bounds of what tokens that are no good may cost.
const (
	RejectedFor  = time.Minute
	MaxRejected  = 20_000 // tokens that are remembered
	maxAddresses = 20_000 // where they came from, likewise
	forgiven     = 10     // tokens that are no good, from one address within RejectedFor
)

// ErrTooMany ends the wait for a look-up. It says nothing of whoever would have been asked.
var ErrTooMany = fmt.Errorf("the token cannot be checked now, too many wait for it: try again: %w", fleet.ErrUnavailable)

// Lookups bounds what tokens cost that the caller does not know: one that was found to be no
// good is not looked up again for a while, and addresses that many of them come from take
// turns among themselves, so that others do not wait behind them. Its methods are safe for
// concurrent use.
type Lookups struct {
	clear, doubted chan struct{} // a place is taken by sending; nil: there is always one

	mu        sync.Mutex // guards all below
	rejected  generations[[32]byte, rejection]
	addresses generations[string, int]
}

type rejection struct {
	why error
	at  time.Time
}

// NewLookups has so many places for look-ups at the same time, and so many beside them for
// addresses in doubt. Without a number there is always a place.
func NewLookups(clear, doubted int) *Lookups {
	places := func(n int) chan struct{} {
		if n == 0 {
			return nil
		}
		return make(chan struct{}, n)
	}
	return &Lookups{
		clear: places(clear), doubted: places(doubted),
		rejected:  generations[[32]byte, rejection]{most: MaxRejected / 2},
		addresses: generations[string, int]{most: maxAddresses / 2},
	}
}

// Rejected says why the token of this hash was found to be no good lately, nil if it was not.
// Whoever does not have a token cannot have it rejected. One that is no good becomes good by a
// restoration alone, of its fleet or its tenant: its row is committed before it is shown, and
// no other end is taken back.
func (l *Lookups) Rejected(hash [32]byte, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.rejected.get(hash, now)
	if !ok || now.Sub(r.at) >= RejectedFor {
		return nil
	}
	return r.why
}

// Reject remembers that the token of this hash, which came from the address, is no good.
func (l *Lookups) Reject(hash [32]byte, address string, why error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rejected.put(hash, rejection{why, now}, now)
	l.doubtLocked(address, now)
}

// Doubt counts a token from the address of which it cannot be said whether it is good: many of them are no cheaper than bad ones.
func (l *Lookups) Doubt(address string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubtLocked(address, now)
}

func (l *Lookups) doubtLocked(address string, now time.Time) {
	address = origin(address)
	n, _ := l.addresses.get(address, now)
	l.addresses.put(address, n+1, now)
}

// Begin waits for a place; leave gives it back. When ctx ends before it is ErrTooMany, a
// fleet.ErrUnavailable.
func (l *Lookups) Begin(ctx context.Context, address string, now time.Time) (leave func(), err error) {
	l.mu.Lock()
	places := l.clear
	if n, _ := l.addresses.get(origin(address), now); n >= forgiven {
		places = l.doubted
	}
	l.mu.Unlock()
	if places == nil {
		return func() {}, nil
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ErrTooMany
	}
}

// origin is what is counted of an address: without the port, and of IPv6 the network, of
// which one host may have all.
func origin(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	a, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	a = a.Unmap()
	if a.Is4() {
		return a.String()
	}
	p, _ := a.WithZone("").Prefix(64) // cannot fail: it has 128 bits
	return p.String()
}

// generations is a map that forgets the older half when it is full, or when that is older than
// RejectedFor.
type generations[K comparable, V any] struct {
	most       int // of one half
	young, old map[K]V
	began      time.Time // young
}

func (g *generations[K, V]) get(k K, now time.Time) (V, bool) {
	g.turn(now)
	v, ok := g.young[k]
	if !ok {
		v, ok = g.old[k]
	}
	return v, ok
}

func (g *generations[K, V]) put(k K, v V, now time.Time) {
	g.turn(now)
	g.young[k] = v
}

func (g *generations[K, V]) turn(now time.Time) {
	age := now.Sub(g.began)
	if g.young != nil && len(g.young) < g.most && age < RejectedFor {
		return
	}
	g.old = g.young
	if age >= 2*RejectedFor {
		g.old = nil
	}
	g.young, g.began = make(map[K]V), now
}
