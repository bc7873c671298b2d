package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

// chainOf is an apply of n resources that refer to each other: listener, route, cluster and endpoints.
func chainOf(n, round int) string {
	var docs []string
	for i := 0; len(docs) < n; i++ {
		c, r := fmt.Sprintf("c%05d", i), fmt.Sprintf("r%05d", i)
		docs = append(docs, named("listeners", fmt.Sprintf("l%05d", i), listener(fmt.Sprintf("l%05d", i), r)),
			named("routes", r, strings.Replace(fmt.Sprintf(toCluster, c), `"name": "r"`, fmt.Sprintf(`"name": %q`, r), 1)),
			named("clusters", c, clusterWith(c, fmt.Sprintf("%ds", round+1))),
			named("endpoints", c, fmt.Sprintf(`{"cluster_name": %q}`, c)))
	}
	return applyOf(docs[:n]...)
}

// BenchmarkWrites is what plans and applies cost over HTTP and Postgres, findings included: of resources that refer to each other,
// of which each write changes the clusters, and of one cluster in a fleet of 10,000.
func BenchmarkWrites(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		for _, c := range []struct {
			name, path string
			moves      bool
		}{{"Plan", "plan", true}, {"Apply", "apply", true}, {"Unchanged", "apply", false}} {
			b.Run(fmt.Sprint(c.name, n), func(b *testing.B) {
				w := setup(b)
				w.apply(chainOf(n, 0))
				for round := 1; b.Loop(); round++ {
					b.StopTimer()
					body := chainOf(n, 0)
					if c.moves {
						body = chainOf(n, round)
					}
					b.StartTimer()
					w.do(http.MethodPost, w.at(c.path), body).is(200, nil)
				}
			})
		}
		b.Run(fmt.Sprint("First", n), func(b *testing.B) {
			body := chainOf(n, 0)
			for b.Loop() {
				b.StopTimer()
				w := setup(b)
				b.StartTimer()
				w.apply(body)
			}
		})
	}
	for _, path := range []string{"plan", "apply"} {
		b.Run("OneOf10000/"+path, func(b *testing.B) {
			w := setup(b)
			w.apply(chainOf(10_000, 0))
			for round := 1; b.Loop(); round++ {
				w.do(http.MethodPost, w.at(path), applyOf(named("clusters", "c00007", clusterWith("c00007", fmt.Sprintf("%ds", round+1))))).is(200, nil)
			}
		})
	}
}

// apply writes and checks that there is no error in it.
func (w *world) apply(body string) (out oapi.WriteResult) {
	w.t.Helper()
	a := w.do(http.MethodPost, w.at("apply"), body).is(200, nil)
	if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(&out); err != nil || out.Findings.Errors > 0 {
		w.t.Fatalf("%v, %+v", err, out.Findings)
	}
	return out
}
