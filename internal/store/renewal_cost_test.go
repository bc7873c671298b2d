package store_test

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// TestCostOfARenewal: it follows what is renewed, and not what leases the fleet has, also where plans were made while it had none and no table was analyzed since.
func TestCostOfARenewal(t *testing.T) {
	w := setup(t)
	w.app.Close()
	w.node.Close()
	const have = 3000
	before := w.readOf("endpoint_leases")
	s, err := store.Open(t.Context(), store.Config{URL: w.db.App, MaxConns: 1, Patience: storetest.Patience})
	w.ok(err)
	l, err := s.TakeEndpointLease(t.Context(), w.tenant, w.fleet, actor, store.EndpointLease{ID: fleet.NewLeaseID(), TTL: time.Minute})
	w.ok(err)
	renew := func(n int) {
		t.Helper()
		for range n {
			_, err := s.RenewEndpointLease(t.Context(), w.tenant, w.fleet, l.ID)
			w.ok(err)
		}
	}
	renew(7) // until the plan is there that stays
	w.exec(`INSERT INTO endpoint_leases (tenant_id, fleet_id, id, ttl_ms, expires_at, due_at)
		SELECT $1, $2, gen_random_uuid(), 60000, now() + interval '1 minute', now() + interval '1 minute' FROM generate_series(1, $3)`, w.tenant.String(), w.fleet.String(), have)
	renew(10)
	s.Close()
	if n := w.readOf("endpoint_leases") - before; n > 100 {
		t.Errorf("17 renewals beside %d other leases read %d rows, at most 100 would be right", have, n)
	}
}
