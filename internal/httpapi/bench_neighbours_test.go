package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkNeighbours is what a tenant's read of one resource takes while 16 clients of another tenant ask for the findings of 6,000 routes
// without a pause, while they ask for one route each, which is the floor, and while nobody does: the 50th and the 99th of a hundred.
func BenchmarkNeighbours(b *testing.B) {
	w := setup(b)
	other := w.fleetOf("other")
	other.put("c")
	var routes []string
	for i := range 6_000 {
		name := fmt.Sprintf("r%04d", i)
		routes = append(routes, named("routes", name, strings.Replace(fmt.Sprintf(toCluster, "c"), `"name": "r"`, fmt.Sprintf(`"name": %q`, name), 1)))
	}
	w.do(http.MethodPost, w.at("apply"), applyOf(routes...)).is(200, nil)
	for _, c := range []struct {
		name       string
		neighbours int
		ask        string
	}{
		{"alone", 0, ""}, {"findings", 16, w.at("findings")}, {"gets", 16, w.at("resources", "routes", "r0000")},
	} {
		b.Run(c.name, func(b *testing.B) {
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for range c.neighbours {
				wg.Go(func() {
					for !ended(stop) {
						w.do(http.MethodGet, c.ask, "").is(200, nil)
					}
				})
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				other.do(http.MethodGet, other.at("resources", "clusters", "c"), "").is(200, nil)
				took = append(took, time.Since(start))
			}
			close(stop)
			wg.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
		})
	}
}
