package findings

import (
	"fmt"
	"time"

	"fairlead/internal/fleet"
)

// What counts as failing: of so many requests or more that have ended lately, one in so many has failed.
const (
	FailingWithin = 5 * time.Minute
	FailingLeast  = 50
	FailingOneIn  = 5
)

// Failing is a cluster whose requests fail.
type Failing struct {
	Cluster       string
	Ended, Failed int64
}

// failing tells of those that are the fleet's: what proxies report may have any name.
func (c *checker) failing() {
	for _, f := range c.Failing {
		n := c.names[fleet.Ref{Type: fleet.Cluster, Name: f.Cluster}]
		if n == nil {
			continue
		}
		c.add(n.variants[0], Finding{Code: RequestsFail, Severity: Warning, Detail: fmt.Sprintf(
			"of %d requests to %s that ended in the last %d minutes %d have failed, as proxies report: see which localities they went to (fairlead load %s), and what its endpoints answer", f.Ended, f.Cluster, int(FailingWithin.Minutes()), f.Failed, f.Cluster)})
	}
}
