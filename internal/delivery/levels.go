package delivery

import "fairlead/internal/fleet"

// level is the live nodes that have settled the same revision, in no order.
type level struct {
	rev   fleet.Revision
	nodes []*node
}

// levels are a fleet's live nodes by what they have settled; no level is empty. There are as
// many as revisions at which nodes are: few, as most nodes are at the head.
type levels map[fleet.Revision]*level

// position is where a node stands in its level.
type position struct {
	level *level // nil: in none
	index int
}

// place puts a node where its settled revision is now, and one that is gone nowhere.
func (ls levels) place(n *node) {
	if l := n.level; l != nil {
		if n.live() && l.rev == n.settled {
			return
		}
		last := l.nodes[len(l.nodes)-1]
		l.nodes[n.index], last.index = last, n.index
		l.nodes[len(l.nodes)-1] = nil
		l.nodes = l.nodes[:len(l.nodes)-1]
		if len(l.nodes) == 0 {
			delete(ls, l.rev)
		}
		n.position = position{}
	}
	if !n.live() {
		return
	}
	l := ls[n.settled]
	if l == nil {
		l = &level{rev: n.settled}
		ls[n.settled] = l
	}
	n.position = position{l, len(l.nodes)}
	l.nodes = append(l.nodes, n)
}
