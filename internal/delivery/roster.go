package delivery

import "time"

// Bounds of what is remembered of nodes that are gone.
const (
	maxGone     = 2_048   // remembered to count nobody twice
	maxGoneHard = 100_000 // the same, of those whose end the database must still hear of
	rememberFor = time.Minute
)

// roster is a fleet's nodes on this server: live ones and some that are gone.
type roster struct {
	nodes  map[string]*node // by node id
	gone   []gone           // oldest first
	trimAt int              // how long gone gets before it is trimmed
}

// gone is a node's end.
type gone struct {
	node *node
	at   time.Time
}

func newRoster() roster { return roster{nodes: make(map[string]*node), trimAt: maxGone} }

// find returns the node with the id that a client says it has; nil if nothing is known of it.
func (r *roster) find(id string) *node { return r.nodes[plain(id, maxNodeText)] }

func (r *roster) live() int {
	n := 0
	for _, x := range r.nodes {
		if x.live() {
			n++
		}
	}
	return n
}

// unflushed reports whether something of a node is not acked yet.
func (r *roster) unflushed() bool {
	for _, n := range r.nodes {
		if n.dirty || !n.acked {
			return true
		}
	}
	return false
}

// forget makes all live nodes unflushed.
func (r *roster) forget() {
	for _, n := range r.nodes {
		if n.live() {
			n.acked = false
		}
	}
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
			delete(r.nodes, n.row.Node)
			continue
		}
		keep = append(keep, g)
	}
	clear(r.gone[len(keep):])
	r.gone = keep
	r.trimAt = max(maxGone, len(keep)+maxGone/4) // so that a long list is not walked for every end
}
