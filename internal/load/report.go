package load

import (
	"time"
	"unique"
)

// The most that is taken of one report, and the longest texts in it, in bytes. What is over is counted, and left out.
const (
	MaxClusters   = 1000   // that a report says something of
	MaxLocalities = 32     // of a cluster; of all nodes in a minute twice as many
	MaxCategories = 16     // of its drops, of all nodes in a minute too
	MaxMetrics    = 16     // of its named metrics, likewise
	MaxEndpoints  = 128    // of a cluster, where they are asked for; of all nodes in a minute twice as many
	MaxIdle       = 10_000 // clusters of which it says that nothing was sent there
	MaxName       = 512    // of a cluster
	MaxText       = 128    // of a part of a locality, a category, a metric
)

// Report is what one node has done since its last one.
type Report struct {
	Clusters []Cluster // to which something was sent
	LeftOut  int64     // parts that were over the bounds, or not such as can be kept
	// Cut: all that was done with some cluster is left out.
	Cut bool
	// Idle are the clusters of which the node says that nothing was sent there: not in each report, and by some clients never.
	Idle []string
	// Node is the node's id where it reports all clusters that it has, with those that are idle; "": not in this report, or the client does not do so.
	Node string
}

// Cluster is what a report says of one cluster.
type Cluster struct {
	Name       string
	Interval   time.Duration // that it is about; 0: it does not say
	Localities []Locality
	Drops      []Drop
	Metrics    []Metric
}

// Place is where a locality is, and is compared by ==. The zero value is that of one that says nothing.
type Place struct{ names unique.Handle[placeNames] }

type placeNames struct{ region, zone, subZone string }

// At returns the place of those names, any of which may be empty.
func At(region, zone, subZone string) Place {
	if region+zone+subZone == "" {
		return Place{}
	}
	return Place{unique.Make(placeNames{region, zone, subZone})}
}

// Names are the place's.
func (p Place) Names() (region, zone, subZone string) {
	if p == (Place{}) {
		return "", "", ""
	}
	n := p.names.Value()
	return n.region, n.zone, n.subZone
}

// Locality counts the requests of one locality.
type Locality struct {
	Place                     Place
	Issued, Succeeded, Failed uint64
	InProgress                uint64 // at the report's end
	Endpoints                 []Endpoint
}

// Endpoint counts the requests of one endpoint; its locality counts them too.
type Endpoint struct {
	Address                   string
	Issued, Succeeded, Failed uint64
	InProgress                uint64
}

// Drop counts requests that were dropped for one reason.
type Drop struct {
	Category string
	Count    uint64
}

// Metric is a sum of what backends told.
type Metric struct {
	Name  string
	Count uint64 // requests that told it
	Total float64
}
