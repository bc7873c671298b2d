package findings

import (
	"fmt"
	"maps"
	"slices"

	"fairlead/internal/fleet"
)

// held finds clusters that are served endpoints whose leases have run out.
func (c *checker) held() {
	for _, name := range slices.Sorted(maps.Keys(c.Endpoints)) {
		n := c.Endpoints[name]
		if n == 0 {
			continue
		}
		c.found = append(c.found, Finding{Code: EndpointsHeld, Severity: Warning, Ref: fleet.Ref{Type: fleet.Endpoint, Name: name}, Detail: fmt.Sprintf(
			"the leases of %d endpoints of %s have expired, and they stay as the cluster would have none, or too few, without them: see whether they are alive, and remove them (fairlead endpoints rm) or have them renewed", n, name)})
	}
}
