package load

import (
	"math/rand/v2"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/h2"
	"fairlead/bench/internal/xds"
)

// client is one xDS client: a node with one ADS stream, or one that polls. The goroutine of its connection runs
// all of its code, and that of the others which share the connection.
type client struct {
	run    *Runner
	id     string
	stream *stream
	types  [xds.Kinds]typeState
	own    bool // names clusters instead of asking for all

	epoch uint64 // the newest change that it has
	full  bool   // has had all resources of all kinds
	back  int64  // when it came back last, in Unix nanoseconds; 0: it was always there
}

// typeState is what a client has of one kind. It outlives a connection.
type typeState struct {
	got     bool
	version []byte
	nonce   []byte
	revs    []int32 // by name: id of the revision + 1
	known   int     // non-zero entries of revs
	all     setKey  // of the last wildcard response in SotW
	sub     *nameSet
	missing int // subscribed names without a revision
}

func newClient(r *Runner, i int) *client { return &client{run: r, id: fleet.NodeID(i)} }

// choose has the client name all clusters but some, which no two clients leave out alike.
func (c *client) choose(i int) {
	random := rand.New(rand.NewPCG(1, uint64(i)))
	out := make(map[int]bool, leftOut)
	for len(out) < leftOut {
		out[commonClusters+random.IntN(c.run.cfg.Clusters-commonClusters)] = true
	}
	var ids []int32
	var key setKey
	for i := range c.run.cfg.Clusters {
		if !out[i] {
			id := c.run.catalog.nameID(xds.Clusters, fleet.ClusterName(i))
			ids = append(ids, id)
			key.add(id)
		}
	}
	t := &c.types[xds.Clusters]
	t.sub, t.missing = c.run.catalog.set(xds.Clusters, key, ids), len(ids)
	c.own = true
}

// connect starts the client's stream on conn with what it has to ask at once.
func (c *client) connect(conn *h2.Conn, headers []byte) {
	c.stream = &stream{client: c}
	c.stream.h2 = conn.Open(headers, c.stream)
	for k := range c.kinds() {
		c.types[k].nonce = nil
		if !c.named(k) || c.types[k].sub != nil {
			c.first(k)
		}
	}
}

// forget has the client be a new process: it chooses the clusters that it chose, and holds nothing.
func (c *client) forget() {
	for k := range c.types {
		sub := c.types[k].sub
		if c.types[k] = (typeState{}); c.own && xds.Kind(k) == xds.Clusters {
			c.types[k].sub, c.types[k].missing = sub, len(sub.ids)
		}
	}
}

// kinds are those that the client asks for: all, or clusters alone.
func (c *client) kinds() xds.Kind {
	if c.run.cfg.Only {
		return xds.Clusters + 1
	}
	return xds.Kinds
}

// named reports whether k is subscribed to by name.
func (c *client) named(k xds.Kind) bool {
	_, child := k.Parent()
	return child || c.own && k == xds.Clusters
}

// subscribe names the resources of kind k that those of its parent need.
func (c *client) subscribe(k xds.Kind) {
	t, parent := &c.types[k], k-1
	revs := c.run.catalog.revisions(parent)
	seen := make([]bool, len(c.run.catalog.names(k)))
	var ids []int32
	var key setKey
	for _, id := range c.types[parent].revs {
		if id == 0 {
			continue
		}
		for _, child := range revs[id-1].children {
			if !seen[child] {
				seen[child] = true
				ids = append(ids, child)
				key.add(child)
			}
		}
	}
	old, set := t.sub, c.run.catalog.set(k, key, ids)
	if set == old {
		return
	}
	t.sub, t.missing = set, len(set.ids)
	for id := range t.revs {
		switch {
		case t.revs[id] == 0:
		case set.member[int32(id)]:
			t.missing--
		default:
			t.revs[id] = 0
			t.known--
		}
	}
	switch {
	case old == nil && len(set.ids) == 0: // an empty list would be a wildcard
	case !c.run.delta():
		c.request(k)
	case old == nil:
		c.first(k)
	default:
		c.deltaRequest(k, c.difference(k, old, set))
	}
}

// complete reports whether the client has all that it has asked for.
func (c *client) complete() bool {
	for k := range c.kinds() {
		t := &c.types[k]
		switch {
		case c.named(k):
			if t.sub == nil || t.missing > 0 {
				return false
			}
		case !t.got, k == xds.Clusters && t.known < c.run.cfg.Clusters:
			return false
		}
	}
	return true
}

// learn takes note of a response that went to epoch, or brought no change.
func (c *client) learn(epoch uint64) {
	if epoch > c.epoch {
		c.run.seen(c, c.epoch, epoch)
		c.epoch = epoch
	}
	if !c.full && c.complete() {
		c.full = true
		c.run.isFull()
	}
}
