package replica

// nodes are the node ids of a fleet that have streams, or refused something and are away.
// They change what views their streams have, and tell nobody. Whoever calls holds the
// owner's mu.
type nodes struct {
	views   *views
	builder *builder

	byID     map[string]*node
	excepted map[*node]struct{} // with exceptions
	missed   map[*node]struct{} // with streams; what they left behind could not be read
	missing  chan<- struct{}    // signalled when missed has one more
	away     []*node            // excepted ones, some that have no stream; oldest first
	retried  int                // readings that brought nodes to be offered again what they refused
}

func newNodes(vs *views, bd *builder, missing chan<- struct{}) nodes {
	return nodes{
		views: vs, builder: bd, missing: missing,
		byID:     make(map[string]*node),
		excepted: make(map[*node]struct{}),
		missed:   make(map[*node]struct{}),
	}
}

// node returns the node of that id, a new one if there is none.
func (ns *nodes) node(id string) *node {
	n := ns.byID[id]
	if n == nil {
		n = &node{id: id, streams: make(map[*attachment]struct{})}
		ns.byID[id] = n
	}
	return n
}
