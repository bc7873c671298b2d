package delivery

import (
	"time"

	"fairlead/internal/fleet"
)

// Bounds of what is remembered of nodes that are gone.
const (
	maxGone     = 2_048   // remembered to count nobody twice
	maxGoneHard = 100_000 // the same, of those whose end the database must still hear of
	rememberFor = time.Minute
)

// roster is a fleet's nodes on this server: live ones and some that are gone.
type roster struct {
	nodes  map[string]*node // by node id
	levels levels
	checks checks
	// awaited are the live nodes some stream of which is waited for.
	awaited map[*node]struct{}
	gone    []gone // oldest first
	trimAt  int    // how long gone gets before it is trimmed
}

// gone is a node's end.
type gone struct {
	node *node
	at   time.Time
}

func newRoster() roster {
	return roster{nodes: make(map[string]*node), levels: make(levels), checks: newChecks(), awaited: make(map[*node]struct{}), trimAt: maxGone}
}

// await has the next report look whether a node's lost streams are still waited for.
func (r *roster) await(n *node) {
	if len(n.lost) > 0 {
		r.awaited[n] = struct{}{}
	}
}

// find returns the node with the id that a client says it has; nil if nothing is known of it.
func (r *roster) find(id string) *node { return r.nodes[plain(id, maxNodeText)] }

// check has the next report look at a node, if that is still one of the roster: the last words
// of a stream may come when its node is forgotten.
func (r *roster) check(n *node) {
	if r.nodes[n.row.Node] == n {
		r.checks.add(n)
	}
}

// checkAll has the next report look at every node.
func (r *roster) checkAll() {
	for _, n := range r.nodes {
		r.checks.add(n)
	}
}

// advance has the next report look at the nodes that had all there was and wait for something:
// from now on they wait for what a receipt tells of.
func (r *roster) advance(before fleet.Revision) {
	for rev, l := range r.levels {
		if rev < before {
			continue
		}
		for _, n := range l.nodes { // each has settled since the last head: they are as many as have moved
			if !n.waitsSince.IsZero() {
				r.checks.add(n)
			}
		}
	}
}

// restart begins anew at rev: no node has settled anything.
func (r *roster) restart(rev fleet.Revision) {
	for _, n := range r.nodes {
		n.restart(rev)
		r.levels.place(n)
	}
	r.checkAll()
}

// unflushed reports whether something of a node is not acked yet.
func (r *roster) unflushed() bool {
	for n := range r.checks.due {
		if n.dirty || !n.acked {
			return true
		}
	}
	return false
}

// forget makes all nodes unflushed, those too that have gone lately: the database may hold them as connected.
func (r *roster) forget() {
	for _, n := range r.nodes {
		n.acked = false
		r.checks.add(n)
	}
}

// remove forgets a node that is gone.
func (r *roster) remove(n *node) {
	delete(r.nodes, n.row.Node)
	r.checks.drop(n)
}

// leave notes the end of a node's last stream.
func (r *roster) leave(n *node, now time.Time) {
	n.goneAt = now
	r.gone = append(r.gone, gone{n, now})
	if len(r.gone) > r.trimAt {
		r.trim(now)
	}
}

// trim drops nodes that are gone: the old ones, and the oldest when there are too
// many. Clients with a fresh id each time leave nothing behind (T14).
func (r *roster) trim(now time.Time) {
	keep := r.gone[:0]
	over := len(r.gone) - maxGone
	hard := len(r.gone) - maxGoneHard
	for i, g := range r.gone {
		n := g.node
		if !n.goneAt.Equal(g.at) || r.nodes[n.row.Node] != n {
			continue // it came back
		}
		acked := n.acked && !n.dirty
		old := now.Sub(g.at) > rememberFor
		if acked && (old || i < over) || !acked && !n.tried && i < over || i < hard {
			r.remove(n)
			continue
		}
		keep = append(keep, g)
	}
	clear(r.gone[len(keep):])
	r.gone = keep
	r.trimAt = max(maxGone, len(keep)+maxGone/4) // so that a long list is not walked for every end
}
