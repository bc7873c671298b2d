package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// beside is another tenant's world in the same database.
func (w *world) beside() *world {
	w.Helper()
	o := *w
	o.tenant, o.fleet = w.db.TenantWithFleetBy(w.T, w.app)
	return &o
}

// TestT09_EndpointsThatAreNotBuiltCount: who writes faster than builds are made has the same limits.
func TestT09_EndpointsThatAreNotBuiltCount(t *testing.T) {
	for name, limit := range map[store.LimitName]int64{store.LimitFleetBytes: 250, store.LimitResources: 3} {
		w := another(t)
		w.ok(w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{name: &limit}))
		for i := range 3 { // 75 bytes each
			w.setEndpoints(fmt.Sprint("c", i), addresses("10.0.0", 1)...)
		}
		_, err := w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Actor: actor, Cluster: "c3", Set: addresses("10.0.0", 1)})
		w.is(err, fleet.ErrLimit)
		w.removeEndpoints("c0", "10.0.0.0:80")
		w.setEndpoints("c3", addresses("10.0.0", 1)...)
		w.build()
		w.setEndpoints("c3", addresses("10.0.0", 1)...) // which changes nothing
		_, err = w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Actor: actor, Cluster: "c4", Set: addresses("10.0.0", 1)})
		w.is(err, fleet.ErrLimit)
		w.sameTotals()
	}
}

// sweepOf sweeps so many leases, as if the last sweep was half a second ago, and no outage for long.
func (w *world) sweepOf(n int) {
	w.Helper()
	w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '500 ms', recovered_at = least(recovered_at, clock_timestamp() - interval '2 days')`)
	w.exec(`SELECT endpoints_sweep($1)`, n)
}

// TestT44_ATenantsLeasesHoldUpNobodyElses: here a sweep looks at four leases that end and at one that is held, elsewhere at 20,000 and 2,000.
func TestT44_ATenantsLeasesHoldUpNobodyElses(t *testing.T) {
	w := setup(t)
	other := w.beside()
	left := func(o *world) int {
		return w.count(`SELECT count(*) FROM endpoints WHERE tenant_id = $1`, o.tenant.String())
	}
	var flood []fleet.LeaseID
	for i := range 10 {
		l := w.takeLease(time.Hour, false)
		w.setEndpoints(fmt.Sprint("c", i), leased(l, addresses("10.0.0", 1)...)...)
		flood = append(flood, l)
	}
	one := other.takeLease(time.Hour, false)
	other.setEndpoints("c", leased(one, addresses("10.0.0", 1)...)...)
	w.lapse(flood...)
	w.lapse(one)
	w.sweepOf(4)
	if n := left(other); n != 0 {
		t.Error("another tenant's lease waits for those that ended before it")
	}
	if n := left(w); n != 8 {
		t.Errorf("%d endpoints of the tenant are left, want 8 of 10: half of a sweep is its own", n)
	}
	w.sweepOf(4)
	if n := left(w); n != 4 {
		t.Errorf("%d endpoints are left, want 4: a sweep is its own where nobody else's leases end", n)
	}

	// What is held likewise.
	held := func(o *world) fleet.LeaseID {
		l := o.takeLease(time.Hour, true)
		o.setEndpoints("held-"+l.String(), leased(l, addresses("10.0.0", 1)...)...)
		w.lapse(l)
		return l
	}
	for range 3 {
		held(w)
	}
	l := held(other)
	w.sweepOf(100)
	other.setEndpoints("held-"+l.String(), addresses("10.0.1", 1)...) // now the cluster can do without
	w.exec(`UPDATE endpoint_leases SET due_at = clock_timestamp() - CASE WHEN tenant_id = $1 THEN interval '1 s' ELSE interval '2 s' END WHERE held_since IS NOT NULL`, other.tenant.String())
	w.sweepOf(4)
	if n := left(other); n != 1 {
		t.Errorf("the other tenant has %d endpoints, want 1: what was held and is not needed waits behind what is", n)
	}
}

// TestT44_ManyLeasesThatEndAtOnceAreNoOutage: a sweep with much to do ends in time, and is followed by one that does not take it for an outage, after which all tenants' leases
// would have their whole time again, and what is below half of a cluster would stay for good.
func TestT44_ManyLeasesThatEndAtOnceAreNoOutage(t *testing.T) {
	w := setup(t)
	other := w.beside()
	const many = 20_000
	for range 2 { // one lease of many clusters is as much
		l := w.takeLease(time.Hour, false)
		w.exec(`INSERT INTO endpoint_clusters (tenant_id, fleet_id, cluster, changed, built, endpoints, bytes, counted) SELECT $1, $2, $3::text || n, 1, 1, 1, 77, 77 FROM generate_series(1, $4) n`,
			w.tenant.String(), w.fleet.String(), l.String(), many/2)
		w.exec(`INSERT INTO endpoints (tenant_id, fleet_id, cluster, address, lease_id, bytes, created_at, updated_at, updated_by)
			SELECT $1, $2, $3::text || n, '10.0.0.1:80', $3::text::uuid, 77, now(), now(), '' FROM generate_series(1, $4) n`, w.tenant.String(), w.fleet.String(), l.String(), many/2)
		w.lapse(l)
	}
	one := other.takeLease(5*time.Second, false)
	other.setEndpoints("c", leased(one, addresses("10.0.0", 1)...)...)
	w.lapse(one)
	before := w.count(`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint`)
	w.sweepLeases()
	took := w.count(`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint`) - before
	if n := w.count(`SELECT count(*) FROM endpoints WHERE tenant_id = $1`, other.tenant.String()); n != 0 {
		t.Error("another tenant's lease has not ended")
	}
	left := w.count(`SELECT count(*) FROM endpoints`)
	if left == 0 && took > 3000 || left == many {
		t.Errorf("a sweep took %d ms and left %d of %d endpoints", took, left, many)
	}
	if swept := w.count(`SELECT (extract(epoch FROM swept_at) * 1000)::bigint FROM endpoint_clock`) - before; swept < took/2 {
		t.Errorf("a sweep of %d ms says that it was made %d ms after its begin: the time that it took may be taken for an outage", took, swept)
	}
	until(t, "all has ended", func() bool {
		w.exec(`UPDATE endpoint_leases SET due_at = clock_timestamp() - interval '1 ms'`)
		w.sweepLeases()
		return w.count(`SELECT count(*) FROM endpoints`) == 0
	})
	if n := w.count(`SELECT count(*) FROM endpoint_leases`) + w.count(`SELECT count(*) FROM endpoint_clusters WHERE endpoints <> 0 OR bytes <> 0`); n != 0 {
		t.Errorf("%d leases and clusters are left", n)
	}
}

// TestTwoSweepsAreNoOutage: of two servers' sweeps the one that began first may go second, and finds the other's time ahead of its own.
func TestTwoSweepsAreNoOutage(t *testing.T) {
	w := setup(t)
	w.takeLease(time.Hour, false)
	w.sweepLeases()
	conn := w.db.Connect(t, w.db.Owner)
	defer func() { _ = conn.Close(context.Background()) }()
	tx, err := conn.Begin(t.Context())
	w.ok(err)
	do := func(sql string) {
		_, err := tx.Exec(t.Context(), sql)
		w.ok(err)
	}
	w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '500 ms'`)
	do(`SELECT FROM endpoint_clock FOR UPDATE`)
	swept := make(chan error, 1)
	go func() {
		_, err := w.app.SweepEndpoints(t.Context())
		swept <- err
	}()
	until(t, "the other sweep waits for this one", func() bool {
		return w.count(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%endpoints_sweep%'`) > 0
	})
	do(`UPDATE endpoint_clock SET swept_at = (SELECT query_start + interval '1 s' FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%endpoints_sweep%')`)
	w.ok(tx.Commit(t.Context()))
	w.ok(<-swept)
	if n := w.count(`SELECT count(*) FROM endpoint_clock WHERE recovered_at > clock_timestamp() - interval '1 hour' OR outage_at > clock_timestamp() - interval '1 hour'`); n != 0 {
		t.Error("a sweep takes another server's for an outage")
	}
}
