// Package fleet builds the configuration that all servers of a run serve: R clusters by EDS,
// R load assignments, one listener and one route table with R routes. Equal calls build
// equal bytes, in whatever process.
package fleet

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"fairlead/bench/internal/xds"
)

// Fleet is the current configuration. Messages are replaced, never changed, so that they can
// be shared; the Fleet itself has one owner.
type Fleet struct {
	Resources [xds.Kinds][]proto.Message
	Names     [xds.Kinds][]string
	Epoch     uint64   // counts the changes
	Changing  xds.Kind // what changes replace: Endpoints, or Clusters

	next int // the one that the next change replaces
}

// New builds a fleet of r clusters.
func New(r int) *Fleet {
	f := &Fleet{Changing: xds.Endpoints}
	for i := range r {
		f.add(xds.Clusters, ClusterName(i), cluster(i, ""))
		f.add(xds.Endpoints, ClusterName(i), assignment(i, ""))
	}
	f.add(xds.Listeners, listenerName, listener())
	f.add(xds.Routes, routeName, routes(r))
	return f
}

func (f *Fleet) add(k xds.Kind, name string, m proto.Message) {
	f.Resources[k] = append(f.Resources[k], m)
	f.Names[k] = append(f.Names[k], name)
}

// Change makes a change at now: it replaces the next load assignment, or cluster, by one with the new
// epoch's marker, and returns its index.
func (f *Fleet) Change(now time.Time) int {
	f.Epoch++
	i := f.next % len(f.Resources[f.Changing])
	f.next++
	if marker := xds.Marker(f.Epoch, now); f.Changing == xds.Clusters {
		f.Resources[f.Changing][i] = cluster(i, marker)
	} else {
		f.Resources[f.Changing][i] = assignment(i, marker)
	}
	return i
}

// ClusterName is the name of cluster i and of its load assignment.
func ClusterName(i int) string { return fmt.Sprintf("cluster-%05d", i) }

// NodeID is the id of node i.
func NodeID(i int) string { return fmt.Sprintf("node-%d", i) }
