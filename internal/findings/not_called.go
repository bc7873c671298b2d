package findings

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// NotCalledFor is for how long nobody has called a cluster that is told.
const NotCalledFor = 7 * 24 * time.Hour

// Idle is a cluster to which no proxy has sent anything for NotCalledFor.
type Idle struct {
	Cluster string
	Called  time.Time // when one did last; zero: not since Since
	Since   time.Time // since when proxies report it
}

// uncountedBy are the fields by which proxies send to a cluster and do not count it.
var uncountedBy = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.udp.udp_proxy.v3.Route.cluster":          true,
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.cluster": true,
}

// notCalled tells of the fleet's clusters of which proxies count what they send there.
func (c *checker) notCalled() {
	if len(c.Idle) == 0 {
		return
	}
	uncounted := map[string]bool{}
	for _, n := range c.order {
		for _, v := range n.variants {
			if n.Type == fleet.Cluster && v.facts.Uncounted {
				uncounted[n.Name] = true
			}
			for i := range v.facts.Mentions {
				if m := &v.facts.Mentions[i]; uncountedBy[m.Field] {
					uncounted[m.Name] = true
				}
			}
		}
	}
	for _, i := range c.Idle {
		n := c.names[fleet.Ref{Type: fleet.Cluster, Name: i.Cluster}]
		if n == nil || uncounted[i.Cluster] {
			continue
		}
		since := i.Called
		if since.IsZero() {
			since = i.Since
		}
		c.add(n.variants[0], Finding{Code: NotCalled, Severity: Info, Detail: fmt.Sprintf(
			"no proxy has sent a request to an endpoint of %s since %s, as all nodes of the fleet report: if nothing needs it any more, delete it and what names it; "+
				"requests that found no endpoint are not counted, so look whether it has any", i.Cluster, since.Format(time.DateOnly))})
	}
}
