package store_test

import (
	"errors"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// The audit is kept as long as the tenant's limit says, and not longer; of another tenant nothing goes.
func TestTheAuditIsKeptForItsTime(t *testing.T) {
	w := setup(t)
	other := w.db.Tenant(t)
	// What is not too old keeps what is behind it in the chain: the tenants are as old as their events.
	w.exec(`SET session_replication_role = replica; UPDATE audit_events SET at = at - interval '3000 days'; RESET session_replication_role`)
	for _, tenant := range []fleet.TenantID{w.tenant, other} {
		w.exec(`INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object)
			SELECT $1, now() - make_interval(days => g), 'a', '', '', 'test', g::text FROM generate_series(2400, 1, -1) g`, tenant.String())
	}
	oldest := func(tenant fleet.TenantID) int {
		return w.count(`SELECT coalesce(max(object::int), 0) FROM audit_events WHERE tenant_id = $1 AND action = 'test'`, tenant.String())
	}
	most := int64(2000)
	w.ok(w.app.SetLimits(t.Context(), other, actor, map[store.LimitName]*int64{store.LimitAuditDays: &most}))
	_, err := w.app.CompactDue(t.Context())
	w.ok(err)
	if n, m := oldest(w.tenant), oldest(other); n != 364 || m != 1999 {
		t.Errorf("the oldest are of %d and of %d days ago", n, m)
	}
	for _, wrong := range []int64{0, store.LeastAuditDays - 1, store.MostAuditDays + 1} {
		if err := w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{store.LimitAuditDays: &wrong}); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%d days: %v", wrong, err)
		}
	}
	least := int64(store.LeastAuditDays)
	w.ok(w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{store.LimitAuditDays: &least}))
	_, err = w.app.CompactDue(t.Context())
	w.ok(err)
	if n := oldest(w.tenant); n != 29 {
		t.Errorf("the oldest is of %d days ago", n)
	}
	// What is not too old nobody removes, in whatever way it is tried.
	if got := sqlState(t, w.super, w.tenant, `DELETE FROM audit_events WHERE action = 'test' AND object = '29'`); got != "42501" {
		t.Errorf("a superuser's DELETE: %q", got)
	}
}
