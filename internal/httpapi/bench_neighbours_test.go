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

// BenchmarkNeighbours is what a tenant's read of one resource takes while clients of another tenant do something without a pause: 16 ask for the
// findings of 6,000 routes, or for one route each, which is the floor; four list pages of 500 routes, plan documents of 4 MiB, or write endpoints
// in bodies of 4 MiB that are refused; and while nobody does: the 50th and the 99th of a hundred.
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
	endpoint := `{"address": "10.%d.%d.1:80", "metadata": {"envoy.lb": {"zone": "a", "build": "` + strings.Repeat("x", 100) + `"}}}`
	var set []string
	for i := range 20_000 {
		set = append(set, fmt.Sprintf(endpoint, i/200, i%200))
	}
	for _, c := range []struct {
		name              string
		neighbours        int
		method, ask, body string
		status            int
	}{
		{"alone", 0, "", "", "", 0}, {"findings", 16, http.MethodGet, w.at("findings"), "", 200}, {"gets", 16, http.MethodGet, w.at("resources", "routes", "r0000"), "", 200},
		{"pages", 4, http.MethodGet, w.at("resources") + "?limit=500", "", 200},
		{"plans", 4, http.MethodPost, w.at("plan"), applyOf(routes...), 200},
		{"endpoints", 4, http.MethodPost, w.at("endpoints", "c"), `{"set": [` + strings.Join(set, ",") + `, {"address": "no"}]}`, 400},
	} {
		b.Run(c.name, func(b *testing.B) {
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for range c.neighbours {
				wg.Go(func() {
					for !ended(stop) {
						w.do(c.method, c.ask, c.body).is(c.status, nil)
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
