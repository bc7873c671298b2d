package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
)

// TestTenantAndFleet: both are what each look-up by itself gives.
func TestTenantAndFleet(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	tenant := w.db.Tenant(t)
	_, err := w.app.CreateFleet(ctx, tenant, actor, "edge", "the edge")
	w.ok(err)
	self, err := w.app.Tenant(ctx, tenant)
	w.ok(err)
	f, err := w.app.FleetByName(ctx, tenant, "edge")
	w.ok(err)
	if of, found, err := w.app.TenantAndFleet(ctx, tenant, "edge"); err != nil || !cmp.Equal(of, self) || !cmp.Equal(found, &f) {
		t.Errorf("%+v, %+v, %v", of, found, err)
	}
	if of, found, err := w.app.TenantAndFleet(ctx, tenant, "none"); err != nil || !cmp.Equal(of, self) || found != nil {
		t.Errorf("%+v, %+v, %v", of, found, err)
	}
	w.ok(w.app.DeleteFleet(ctx, tenant, actor, f.ID))
	if _, found, err := w.app.TenantAndFleet(ctx, tenant, "edge"); err != nil || found != nil {
		t.Errorf("a deleted one: %+v, %v", found, err)
	}
	_, _, err = w.app.TenantAndFleet(ctx, fleet.NewTenantID(), "edge")
	w.is(err, fleet.ErrNotFound)
}
