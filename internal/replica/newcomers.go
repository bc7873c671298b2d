package replica

import (
	"fmt"
	"maps"
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
// known here.
type newcomers struct {
	of     map[fleet.CredentialID]*left
	trimAt int // how many they get to be before those that have it all again are dropped
}

// left is what one credential has left: the time when it has it all again.
type left struct{ whole time.Time }

// take takes one of what is left of so many; false if nothing is.
func (n *left) take(most int, now time.Time) bool {
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
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.newcomers.left(id, time.Now())
	if !n.take(o.r.cfg.NewNodes, time.Now()) {
		return nil, fmt.Errorf("node credential %s has brought %d node ids that the fleet had not seen, and one more may come each %s: give a proxy one node.id that it keeps, or other proxies a credential of their own: %w",
			id, o.r.cfg.NewNodes, newNodeEvery, fleet.ErrLimit)
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		n.whole = n.whole.Add(-newNodeEvery)
	}, nil
}

// left costs as much as there are credentials once for as many that are new.
func (n *newcomers) left(id fleet.CredentialID, now time.Time) *left {
	if l := n.of[id]; l != nil {
		return l
	}
	if n.of == nil {
		n.of = make(map[fleet.CredentialID]*left)
	}
	if len(n.of) >= n.trimAt {
		maps.DeleteFunc(n.of, func(_ fleet.CredentialID, l *left) bool { return !l.whole.After(now) })
		n.trimAt = 2*len(n.of) + 64
	}
	l := &left{}
	n.of[id] = l
	return l
}
