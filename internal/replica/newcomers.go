package replica

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// A credential may bring as many node ids that its fleet has never seen as a fleet's first boot
// needs at once, and a steady trickle. Each costs a query, a row, and some memory for a minute.
const (
	defaultNewNodes = 20_000
	newNodeEvery    = 100 * time.Millisecond
)

// newcomers are what each credential of a fleet has left to bring of node ids that are not
// known here. They are safe for concurrent use and call nobody.
type newcomers struct {
	mu     sync.Mutex // guards all below
	of     map[fleet.CredentialID]*allowance
	trimAt int // how many they get to be before those that have it all again are dropped
}

// allowance is what one credential has left: the time when it has it all again.
type allowance struct{ whole time.Time }

// take takes one of what is left of so many; false if nothing is.
func (n *allowance) take(most int, now time.Time) bool {
	if n.whole.Before(now) {
		n.whole = now
	}
	if n.whole.Sub(now) > time.Duration(most-1)*newNodeEvery {
		return false
	}
	n.whole = n.whole.Add(newNodeEvery)
	return true
}

// admit refuses a node id of which nothing is known here, when its credential has brought too
// many that were new (T14). Nothing is asked of the database before. If the id turns out not to
// be new, known gives back what it took.
func (o *owner) admit(id fleet.CredentialID, node string) (known func(), err error) {
	if o.r.cfg.Recorder.Remembers(o.key, node) {
		return func() {}, nil
	}
	giveBack, ok := o.newcomers.take(id, o.r.cfg.NewNodes, time.Now())
	if !ok {
		return nil, fmt.Errorf("node credential %s has brought %d node ids that the fleet had not seen, and one more may come each %s: give a proxy one node.id that it keeps, or other proxies a credential of their own: %w",
			id, o.r.cfg.NewNodes, newNodeEvery, fleet.ErrLimit)
	}
	return giveBack, nil
}

// take takes one of what a credential has left; false if nothing is.
func (n *newcomers) take(id fleet.CredentialID, most int, now time.Time) (giveBack func(), ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.allowance(id, now)
	if !a.take(most, now) {
		return nil, false
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		a.whole = a.whole.Add(-newNodeEvery)
	}, true
}

// allowance costs as much as there are credentials once for as many that are new. n.mu is held.
func (n *newcomers) allowance(id fleet.CredentialID, now time.Time) *allowance {
	if l := n.of[id]; l != nil {
		return l
	}
	if n.of == nil {
		n.of = make(map[fleet.CredentialID]*allowance)
	}
	if len(n.of) >= n.trimAt {
		maps.DeleteFunc(n.of, func(_ fleet.CredentialID, l *allowance) bool { return !l.whole.After(now) })
		n.trimAt = 2*len(n.of) + 64
	}
	l := &allowance{}
	n.of[id] = l
	return l
}
