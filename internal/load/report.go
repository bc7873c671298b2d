package load

import "time"

// The most that is taken of one report, and the longest texts in it, in bytes. What is over is counted, and left out.
const (
	MaxClusters   = 1000 // that a report says something of
	MaxLocalities = 32   // of a cluster; of all nodes in a minute twice as many
	MaxCategories = 16   // of its drops, of all nodes in a minute too
	MaxMetrics    = 16   // of its named metrics, likewise
	MaxName       = 512  // of a cluster
	MaxText       = 128  // of a part of a locality, a category, a metric
)

// Report is what one node has done since its last one.
type Report struct {
	Clusters []Cluster
	LeftOut  int64 // parts that were over the bounds, or not such as can be kept
}

// Cluster is what a report says of one cluster.
type Cluster struct {
	Name       string
	Interval   time.Duration // that it is about; 0: it does not say
	Localities []Locality
	Drops      []Drop
	Metrics    []Metric
}

// Locality counts the requests of one locality.
type Locality struct {
	Region, Zone, SubZone     string
	Issued, Succeeded, Failed uint64
	InProgress                uint64 // at the report's end
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
