package delivery

import (
	"container/heap"
	"time"

	"fairlead/internal/fleet"
)

// checks are the nodes that the next report looks at. Of every other node one has looked, and
// the database holds its row as it is beside the server's settled revision of then: whatever
// may change that row adds the node. A node leaves when a look finds nothing to tell of it.
type checks struct {
	due    map[*node]struct{}
	beside fleet.Revision // the server's settled revision at the last look
	timers timers
}

func newChecks() checks { return checks{due: make(map[*node]struct{})} }

func (c *checks) add(n *node) { c.due[n] = struct{}{} }

// done takes a node out until something happens to it, or the time comes that was set.
func (c *checks) done(n *node) { delete(c.due, n) }

// shrink gives up the room of the many that were due before a look: the next one would pass
// through all of it.
func (c *checks) shrink(before int) {
	if before < 4*len(c.due)+64 {
		return
	}
	due := make(map[*node]struct{}, len(c.due))
	for n := range c.due {
		due[n] = struct{}{}
	}
	c.due = due
}

// drop takes a node out for good.
func (c *checks) drop(n *node) {
	c.timers.set(n, time.Time{})
	c.done(n)
}

// expire adds the nodes whose time has come.
func (c *checks) expire(now time.Time) {
	for len(c.timers) > 0 && !c.timers[0].checkAt.After(now) {
		n := c.timers[0]
		c.add(n)
		c.timers.set(n, time.Time{})
	}
}

// move adds the nodes that follow the server at one of its two settled revisions, the last and
// the next, and have a row of their own at the other.
func (c *checks) move(settled fleet.Revision, ls levels) {
	low, high := min(c.beside, settled), max(c.beside, settled)
	for rev, l := range ls {
		if low <= rev && rev < high {
			for _, n := range l.nodes {
				c.add(n)
			}
		}
	}
	c.beside = settled
}

// alarm is when a node is looked at though nothing happened to it.
type alarm struct {
	checkAt time.Time // zero: never
	slot    int       // its place in timers, if it has one
}

// timers are the nodes that have an alarm, as a heap: the first one's is the soonest.
type timers []*node

// set makes the node's alarm that at the given time; zero: it has none.
func (ts *timers) set(n *node, at time.Time) {
	switch {
	case n.checkAt.Equal(at):
	case n.checkAt.IsZero():
		n.checkAt = at
		heap.Push(ts, n)
	case at.IsZero():
		heap.Remove(ts, n.slot)
		n.alarm = alarm{}
	default:
		n.checkAt = at
		heap.Fix(ts, n.slot)
	}
}

// next is the soonest alarm; zero: there is none.
func (ts timers) next() time.Time {
	if len(ts) == 0 {
		return time.Time{}
	}
	return ts[0].checkAt
}

func (ts timers) Len() int           { return len(ts) }
func (ts timers) Less(i, j int) bool { return ts[i].checkAt.Before(ts[j].checkAt) }

func (ts timers) Swap(i, j int) {
	ts[i], ts[j] = ts[j], ts[i]
	ts[i].slot, ts[j].slot = i, j
}

// Push is heap.Interface's; x is a *node.
func (ts *timers) Push(x any) {
	n := x.(*node)
	n.slot = len(*ts)
	*ts = append(*ts, n)
}

// Pop is heap.Interface's.
func (ts *timers) Pop() any {
	last := len(*ts) - 1
	n := (*ts)[last]
	(*ts)[last] = nil
	*ts = (*ts)[:last]
	return n
}
