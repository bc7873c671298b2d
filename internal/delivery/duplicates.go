package delivery

import (
	"strings"
	"time"
)

// duplicateAfter is how long two streams of a kind live side by side before they are taken
// for two clients: one that reconnects leaves its old stream behind for a while.
const duplicateAfter = 30 * time.Second

// lookEvery is how many seconds' nodes are looked for on other servers together.
const lookEvery = 5 * time.Second

// single reports whether one client has one stream of the kind at most: for a type that is
// asked for by names, such as endpoints, an Envoy opens a stream for each.
func single(kind string) bool {
	for _, service := range []string{"ADS", "CDS", "LDS", "SRDS"} {
		if strings.HasSuffix(kind, " "+service) {
			return true
		}
	}
	return false
}

// countDuplicates sees how many clients seem to have the node's id, 0 for one (SEMANTICS 6.3).
// The node's row is written when the number has changed.
func (n *node) countDuplicates(now time.Time) {
	most := 0
	if len(n.streams) > 1 {
		kinds := make(map[string]int)
		for s := range n.streams {
			if !single(s.kind) || s.begun.Add(duplicateAfter).After(now) {
				continue
			}
			kinds[s.kind]++
			most = max(most, kinds[s.kind])
		}
	}
	if most < 2 {
		most = 0
	}
	if most != n.row.Duplicates {
		n.row.Duplicates, n.dirty = most, true
	}
}

// addLasting tells of a node that has lasted, so that it is looked for on other servers
// (SEMANTICS 6.3): whichever of two is the later one finds the other. false: it has not lasted,
// or the database knows.
func (f *fleetStatus) addLasting(rep *report, n *node) bool {
	switch {
	case n.lookAt.IsZero() || !n.live() || f.closing || n.lookAt.After(rep.begun):
		return false
	case len(rep.lasting) == rep.rows:
		rep.more = true
	default:
		rep.status.Lasting = append(rep.status.Lasting, n.row.Node)
		rep.lasting = append(rep.lasting, n)
	}
	return true
}
