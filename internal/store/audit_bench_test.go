package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// BenchmarkAppliesOfOneTenant writes into sixteen fleets of one tenant at once, with the chain of its audit and without: what it costs that all of them wait for
// the chain's head. The database is in memory: on a disk each also waits for the flushes of those before it.
func BenchmarkAppliesOfOneTenant(b *testing.B) {
	for _, kind := range []string{"chained", "unchained"} {
		b.Run(kind, func(b *testing.B) {
			const fleets = 16
			db := storetest.New(b)
			s := db.Open(b, store.Config{URL: db.App, MaxConns: 2 * fleets})
			tenant := db.Tenant(b)
			var fs [fleets]fleet.ID
			for i := range fs {
				fs[i] = db.Fleet(b, tenant)
			}
			if kind == "unchained" {
				db.Exec(b, `ALTER TABLE audit_events DISABLE TRIGGER audit_events_chain`)
			}
			var n atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for _, f := range fs {
				wg.Go(func() {
					for k := n.Add(1); k <= int64(b.N); k = n.Add(1) {
						c := put(fleet.Cluster, "c", fmt.Sprint(k, filler))
						if _, err := s.Apply(b.Context(), tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{c}}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}
