package planner

import (
	"maps"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// warmsLong is how long resources are unanswered before they count as warming.
const warmsLong = 200 * time.Millisecond

// Waits tells what keeps the client from the target: what is withheld from it, until it
// has it, and, if warming is asked for, what it was sent and warms.
func (c *Client) Waits(now time.Time, target *snapshot.Target, warming bool) (w fleet.Waits) {
	c.now = now
	l := c.inputs(c.effective(target))
	l.base = l.target
	for _, t := range fleet.Types() {
		if !c.pos.subscribed(t) {
			continue
		}
		var waits fleet.Waits
		if f := c.inFlight[t]; warming && f != nil && now.Sub(f.sentAt) >= warmsLong {
			waits.Warming = f.warming()
		}
		waits.Withheld = c.withheld(l, t)
		w = w.With(waits)
	}
	return w
}

// withheld is what is withheld of a type, and forgets what is not any more. Where the record
// bends nothing it is worked out once for all.
func (c *Client) withheld(l *inputs, t fleet.Type) (all []fleet.Withheld) {
	m := c.in.memoOf(l.target)
	if m == nil || len(c.settled.kept) > 0 || l.rec.bends() {
		return c.withheldNow(l, t)
	}
	if m.whole.of(l.target) {
		return nil
	}
	return remembered(&m.mu, &m.withheld, withheldKey{c.in.keyOf(&c.pos), t}, func() []fleet.Withheld {
		all := c.withheldNow(l, t)
		c.in.grow(m, stepSize+64*len(all)+c.pos.keeps())
		return all
	})
}

// whole is what a target is that has all that anything of it needs: nothing of it is withheld
// from anybody.
type whole struct {
	once sync.Once
	is   bool
}

// of looks at every listener and every cluster, once for a target.
func (w *whole) of(target *snapshot.Target) bool {
	w.once.Do(func() { w.is = target.Plain() && !lacksAnything(target) })
	return w.is
}

func lacksAnything(target *snapshot.Target) bool {
	for _, t := range []fleet.Type{fleet.Listener, fleet.Cluster} {
		for r := range target.Types[t].All() {
			if _, lacks := lacking(t, change{new: r}, target); lacks {
				return true
			}
		}
	}
	return false
}

func (c *Client) withheldNow(l *inputs, t fleet.Type) (all []fleet.Withheld) {
	still := make(map[fleet.Ref]struct{})
	tell := func(ref, by fleet.Ref, sealed bool, since, rev fleet.Revision) {
		still[ref] = struct{}{}
		h := fleet.Withheld{Ref: ref, By: by, Revision: rev, Sealed: sealed || by.Type == fleet.Secret && l.target.Sealed.Get(by.Name) != nil}
		all = append(all, h)
		if since > 0 && since < rev {
			h.Revision = since
			all = append(all, h)
		}
	}
	for r := range l.sealed(t) {
		ref := fleet.Ref{Type: t, Name: r.Name}
		tell(ref, ref, true, c.settled.kept[ref].since, r.Revision)
	}
	for ch := range l.differences(t) {
		ref := fleet.Ref{Type: t, Name: ch.name}
		if _, told := still[ref]; told {
			continue // what stands in for it is on its way
		}
		by, ok := l.waitsFor(t, ch)
		sealed, before := false, c.settled.kept[ref]
		if ok = ok && !(c.pos.Types[t].Unknown && t.FullSet()); !ok && ch.new != nil {
			by, sealed, ok = before.by, before.sealed, before != keeping{} // it is on its way, and counts as settled
		}
		if !ok {
			continue
		}
		tell(ref, by, sealed, before.since, ch.new.Revision)
	}
	maps.DeleteFunc(c.settled.kept, func(ref fleet.Ref, _ keeping) bool {
		_, ok := still[ref]
		return !ok && ref.Type == t
	})
	return all
}
