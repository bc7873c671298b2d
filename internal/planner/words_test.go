package planner_test

import (
	"fmt"
	"strings"

	"fairlead/internal/fleet"
)

// says are a client's words that hold these responsible: an Envoy's of clusters and listeners, else gRPC's.
func says(t fleet.Type, names ...string) string {
	begin, between, format := `error parsing "Resource" response: `, ";\n", "resource %q: no"
	switch t {
	case fleet.Cluster:
		begin, between, format = "Error adding/updating cluster(s) ", ", ", "%s: no"
	case fleet.Listener:
		begin, between, format = "Error adding/updating listener(s) ", "\n", "%s: no"
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = fmt.Sprintf(format, n)
	}
	return begin + strings.Join(all, between)
}
