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

// BenchmarkAppliesOfOneTenant writes into sixteen fleets of one tenant at once, on a database that keeps what it commits: what an event of the audit costs where
// all writes wait for the head of the tenant's chain.
func BenchmarkAppliesOfOneTenant(b *testing.B) {
	const fleets = 16
	db, _ := storetest.Alone(b)
	db.Exec(b, `ALTER SYSTEM SET fsync = on`)
	db.Exec(b, `ALTER SYSTEM SET synchronous_commit = on`)
	db.Exec(b, `SELECT pg_reload_conf()`)
	s := db.Open(b, store.Config{URL: db.App, MaxConns: fleets * 2})
	tenant := db.Tenant(b)
	var fs [fleets]fleet.ID
	for i := range fs {
		fs[i] = db.Fleet(b, tenant)
	}
	var n, failed atomic.Int64
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range fs {
		wg.Go(func() {
			for {
				k := n.Add(1)
				if k > int64(b.N) {
					return
				}
				if _, err := s.Apply(b.Context(), tenant, fs[i], store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "c", fmt.Sprint(k, filler))}}); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	if failed.Load() > 0 {
		b.Errorf("%d failed", failed.Load())
	}
}
