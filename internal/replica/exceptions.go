package replica

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

const (
	maxExceptions = 100   // per node and type (SEMANTICS 3.7)
	maxOrphans    = 1_000 // nodes per fleet that refused something and are away
	spareTargets  = 16    // targets that are kept beyond twice the nodes that have one of their own
)

// What was done about a refusal, as people read it.
const (
	actionKept      = "kept the last good version"
	actionLeft      = "left alone: the version that this node has is not known to this server"
	actionRemoved   = fleet.ActionRemoved + " from this node: no version of it was ever accepted"
	actionBothBad   = "left alone: the version that stood in for it was refused too"
	actionNewer     = "nothing kept back: another version is in force by now"
	actionDeleted   = "nothing kept back: the resource is deleted by now"
	actionFrozen    = fleet.ActionFrozen + ": this node refuses so many resources of this type that it keeps those it had, until all are mended or a retry"
	actionLost      = "left alone: the bytes of the last good version are not there any more; write the resource again"
	actionNoSuspect = "nothing sent: no resource could be held responsible"
)

// node is one node with streams or exceptions. It is guarded by its owner's mu.
type node struct {
	id         string
	streams    map[*attachment]struct{}
	exceptions []snapshot.Exception
	past       xds.Past // before the first of its streams
	retries    int      // how often it was to be offered again what it refused
	frozen     map[fleet.Type]*freeze
	lost       map[fleet.Ref]string             // the refused version of what has a good one that cannot be had
	over       map[fleet.Ref]snapshot.Exception // the last one of a name that has ended
	left       *seat                            // of its last stream, if none lives
	ahead      []fleet.PastRefusal              // of revisions that this server does not know yet
}

// seats yields the seats of a node: of its streams, or of the last one. Two clients that
// use one id may have different labels, and so different views.
func (n *node) seats() iter.Seq[*seat] {
	return func(yield func(*seat) bool) {
		if len(n.streams) == 0 && n.left != nil {
			yield(n.left)
			return
		}
		for a := range n.streams {
			if !yield(&a.seat) {
				return
			}
		}
	}
}

// seats yields the seats of all nodes: those without streams have exceptions. o.mu is held.
func (o *owner) seats() iter.Seq[*seat] {
	return func(yield func(*seat) bool) {
		for a := range o.streams {
			if !yield(&a.seat) {
				return
			}
		}
		for n := range o.excepted {
			if len(n.streams) == 0 && n.left != nil && !yield(n.left) {
				return
			}
		}
	}
}

// node returns the node of that id, a new one if there is none. o.mu is held.
func (o *owner) node(id string) *node {
	n := o.nodes[id]
	if n == nil {
		n = &node{id: id, streams: make(map[*attachment]struct{})}
		o.nodes[id] = n
	}
	return n
}

// release takes a stream from its node. A node that refused something is remembered
// without streams, so that the next one is not offered the same. o.mu is held.
func (o *owner) release(a *attachment) {
	n := a.node
	delete(n.streams, a)
	if len(n.streams) > 0 {
		return
	}
	delete(o.missed, n)
	n.left, n.ahead = &a.seat, nil // whoever takes its next stream asks for them again
	if len(n.exceptions) == 0 {
		delete(o.nodes, n.id)
		delete(o.excepted, n)
		return
	}
	o.orphans = slices.DeleteFunc(o.orphans, func(x *node) bool {
		return x == n || len(x.streams) > 0 || len(x.exceptions) == 0
	})
	o.orphans = append(o.orphans, n)
	for len(o.orphans) > maxOrphans {
		old := o.orphans[0]
		o.orphans = slices.Delete(o.orphans, 0, 1)
		delete(o.nodes, old.id)
		delete(o.excepted, old)
	}
}

// except makes the culprits of a refusal exceptions of the stream's node.
func (o *owner) except(a *attachment, r xds.Refusal) (refusals []fleet.Refusal, resolved []fleet.Resolution) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, snap := a.node, a.seat.view.snap
	o.testify(a.build, r)
	if len(r.Culprits) == 0 {
		return []fleet.Refusal{{
			Node: n.id, Type: r.Type, Revision: snap.Revision, Detail: r.Detail, Action: actionNoSuspect,
		}}, nil
	}
	for _, c := range r.Culprits {
		f := fleet.Refusal{
			Node: n.id, Type: r.Type, Name: c.Refused.Name, Version: c.Refused.Version,
			Revision: c.Refused.Revision, Detail: r.Detail,
		}
		f.Action, f.Good = n.except(snap, r.Type, c)
		over := f.Action == actionNewer || f.Action == actionDeleted
		if e, ok := n.over[fleet.Ref{Type: r.Type, Name: f.Name}]; over && ok && e.Refused == f.Version {
			f.Action, f.Good = outcome(e.Good) // the words came late, to what was done before
		}
		refusals = append(refusals, f)
		if over {
			resolved = append(resolved, fleet.Resolution{
				Node: n.id, Type: r.Type, Name: f.Name, Version: f.Version, By: snap.Revision,
			})
		}
	}
	o.retarget(n)
	return refusals, resolved
}

// except adds one exception, if there is something to except; it says what was done, and
// the version that stands in. A substitute that is refused too stays the node's target:
// the node has confirmed the name, so it is never removed (SEMANTICS 3.2), and a stream
// is not sent again what it refused.
func (n *node) except(snap *snapshot.Snapshot, t fleet.Type, c xds.Culprit) (action, good string) {
	present := snap.Types[t].Get(c.Refused.Name)
	i := slices.IndexFunc(n.exceptions, func(e snapshot.Exception) bool { return e.Type == t && e.Name == c.Refused.Name })
	if i >= 0 {
		if e := &n.exceptions[i]; e.Good != nil && e.Good.Version == c.Refused.Version {
			return actionBothBad, ""
		} else if e.Refused == c.Refused.Version {
			return outcome(e.Good)
		}
	}
	switch {
	case n.freezes(present, t, c):
		return n.freeze(snap, t, c)
	case present == nil:
		return actionDeleted, ""
	case present.Version != c.Refused.Version:
		return actionNewer, ""
	case n.count(t) >= maxExceptions:
		return n.freeze(snap, t, c)
	case c.Good == nil && n.lost[fleet.Ref{Type: t, Name: c.Refused.Name}] == c.Refused.Version:
		return actionLost, ""
	}
	e := snapshot.Exception{Type: t, Name: c.Refused.Name, Refused: c.Refused.Version}
	if c.Good != nil && c.Good.Version != c.Refused.Version {
		e.Good = c.Good
	}
	e.Leave = e.Good == nil && c.Leave
	n.insert(e)
	if e.Leave {
		return actionLeft, ""
	}
	return outcome(e.Good)
}

// excepts reports whether the name has an exception, and refuses whether that is of the
// same version.
func (n *node) excepts(t fleet.Type, name string) bool {
	return slices.ContainsFunc(n.exceptions, func(x snapshot.Exception) bool { return x.Type == t && x.Name == name })
}

func (n *node) refuses(e snapshot.Exception) bool {
	return slices.ContainsFunc(n.exceptions, func(x snapshot.Exception) bool {
		return x.Type == e.Type && x.Name == e.Name && x.Refused == e.Refused
	})
}

func (n *node) insert(e snapshot.Exception) {
	at, _ := slices.BinarySearchFunc(n.exceptions, e, byName)
	n.exceptions = slices.Insert(n.exceptions, at, e)
}

func outcome(good *snapshot.Resource) (action, version string) {
	if good == nil {
		return actionRemoved, ""
	}
	return actionKept, good.Version
}

func (n *node) count(t fleet.Type) int {
	c := 0
	for _, e := range n.exceptions {
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
	return strings.Compare(a.Name, b.Name)
}

// internKey is of the targets of nodes with exceptions.
type internKey struct {
	view       *view
	exceptions string // node.internKey
}

// retarget gives the node's streams their targets: the view's, if it has no exceptions and
// was never to be offered them again; else one that it shares with the nodes of the view
// that have the same. o.mu is held.
func (o *owner) retarget(n *node) {
	alone := len(n.streams) == 0
	if len(n.exceptions) == 0 && (alone || n.retries == 0) {
		delete(o.excepted, n)
		for s := range n.seats() {
			s.target.Store(s.view.target)
		}
		if alone {
			delete(o.nodes, n.id)
		}
		return
	}
	o.excepted[n] = struct{}{}
	exceptions := n.internKey()
	for s := range n.seats() {
		k := internKey{s.view, exceptions}
		if o.interned[k] == nil {
			o.interned[k] = n.newTarget(s.view.snap)
		}
		s.target.Store(o.interned[k])
	}
	o.trimInterned()
}

// trimInterned drops the targets that no node has any more, when they have become many:
// between two views every refusal may leave one behind. o.mu is held.
func (o *owner) trimInterned() {
	if len(o.interned) <= 2*len(o.excepted)+spareTargets {
		return
	}
	o.interned = make(map[internKey]*snapshot.Target, len(o.excepted))
	for n := range o.excepted {
		exceptions := n.internKey()
		for s := range n.seats() {
			o.interned[internKey{s.view, exceptions}] = s.target.Load()
		}
	}
}

// renew ends the exceptions whose name has another version in the node's new view, and
// gives a node that has some its new target. o.mu is held.
func (o *owner) renew(n *node) (resolved []fleet.Resolution) {
	by := o.content.revision
	n.exceptions = slices.DeleteFunc(n.exceptions, func(e snapshot.Exception) bool {
		if n.applies(e) {
			return false
		}
		resolved = append(resolved, fleet.Resolution{
			Node: n.id, Type: e.Type, Name: e.Name, Version: e.Refused, By: by,
		})
		n.end(e)
		return true
	})
	resolved = append(resolved, n.thaw(by)...)
	o.retarget(n)
	return resolved
}

// end remembers an exception whose name has another version by now.
func (n *node) end(e snapshot.Exception) {
	if len(n.over) >= maxExceptions || e.Leave {
		return
	}
	if n.over == nil {
		n.over = make(map[fleet.Ref]snapshot.Exception)
	}
	n.over[fleet.Ref{Type: e.Type, Name: e.Name}] = e
}

// applies reports whether some view of the node still has what it refused.
func (n *node) applies(e snapshot.Exception) bool {
	for s := range n.seats() {
		if e.Applies(s.view.snap) {
			return true
		}
	}
	return false
}

// internKey is equal for nodes with equal exceptions that were offered them again as
// often. Every part carries its length.
func (n *node) internKey() string {
	b := binary.AppendUvarint(nil, uint64(n.retries))
	put := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, e := range n.exceptions {
		b = append(b, byte(e.Type))
		put(e.Name)
		put(e.Refused)
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
	for _, t := range fleet.Types() {
		if f := n.frozen[t]; f != nil {
			b = append(b, byte(t))
			b = fmt.Append(b, f.set.Sum())
		}
	}
	return string(b)
}
