package fleet

import "time"

// LoadKind is what a Load counts.
type LoadKind string

// The values are those of the database.
const (
	LoadRequests LoadKind = "requests" // of a locality
	LoadDrops    LoadKind = "drops"    // of a category
	LoadMetric   LoadKind = "metric"   // of a name
	LoadEndpoint LoadKind = "endpoint" // requests of an endpoint; those of its locality count them too
	LoadLeftOut  LoadKind = "left_out" // Count is how much of reports there was no room for, of no cluster
)

// Load is a part of what proxies did with one cluster in one minute.
type Load struct {
	Key
	Middle  time.Time // of the minute, on the clock of whoever counted
	Cluster string
	Kind    LoadKind
	Of      string // the category, the metric, or the endpoint's address
	Region  string
	Zone    string
	SubZone string

	Issued, Succeeded, Failed int64
	InProgress                float64 // requests in progress, times the seconds that they were
	Count                     int64   // of drops; of the requests that a metric was told of
	Total                     float64 // of a metric
}

// MostLoad is the largest number that is kept of anything: what a proxy says may be anything, and sums must not overflow.
const MostLoad = 1 << 53

// LoadSeen is what of load reports is kept for longer than the hour of Load: which clusters proxies report, and which nodes report all that they have.
type LoadSeen struct {
	Clusters []ClusterSeen
	Nodes    []NodeSeen
}

// ClusterSeen says that some node reports a cluster.
type ClusterSeen struct {
	Key
	Cluster string // "": of some cluster of the fleet a report was left out
	Called  bool   // since it was said last; else nobody has sent anything there
}

// NodeSeen says that a node reports all clusters that it has.
type NodeSeen struct {
	Key
	Node string
}

// LoadSettings is what a fleet says of its nodes' load reports.
type LoadSettings struct {
	Interval time.Duration // 0: as the server says
	Clusters []string      // that are to be reported; none: all that a node has
	// Endpoints: requests are counted for each endpoint, too.
	Endpoints bool
}

// KnownLoadSettings are the settings of one fleet, as they are at an epoch of it.
type KnownLoadSettings struct {
	Key
	Epoch int64 // 0: of nobody
	LoadSettings
}
