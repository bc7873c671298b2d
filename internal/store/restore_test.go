package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func TestADeletedFleetIsRestored(t *testing.T) {
	w := setup(t)
	crowded(w, w.tenant, w.fleet)
	cred, err := w.app.CreateNodeCredential(t.Context(), w.tenant, w.fleet, actor, store.NodeCredential{Nodes: "*", ID: fleet.NewCredentialID()})
	w.ok(err)
	all, before := w.left("fleet_id", w.fleet), w.load()
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	name := strings1(t, w.super, `SELECT name::text FROM fleets WHERE id = '`+w.fleet.String()+`'`)[0]
	gone, err := w.app.DeletedFleet(t.Context(), w.tenant, name, nil)
	w.ok(err)
	if gone.ID != w.fleet || time.Since(gone.DeletedAt) > time.Minute {
		t.Errorf("%+v", gone)
	}
	f, err := w.app.RestoreFleet(t.Context(), w.tenant, actor, w.fleet)
	w.ok(err)
	if gone.DeletedAt = (time.Time{}); cmp.Diff(gone, f) != "" {
		t.Error(cmp.Diff(gone, f))
	}
	now := w.load()
	if now.At.Epoch <= before.At.Epoch || now.At.Revision != before.At.Revision || now.At.Token != before.At.Token {
		t.Errorf("it was at %+v, is at %+v", before.At, now.At)
	}
	for _, c := range []fleet.Change{before, now} {
		slices.SortFunc(c.Rows, func(a, b fleet.Row) int {
			return strings.Compare(fmt.Sprint(a.Type, a.Name), fmt.Sprint(b.Type, b.Name))
		})
	}
	if d := cmp.Diff(before.Rows, now.Rows); d != "" {
		t.Error(d)
	}
	if _, _, err = w.node.FindNodeCredential(t.Context(), cred.ID); err != nil {
		t.Errorf("a node's credential: %v", err)
	}
	all["audit_events"] += 2 // the deletion and this
	if d := cmp.Diff(all, w.left("fleet_id", w.fleet)); d != "" {
		t.Error(d)
	}
	if w.count(`SELECT count(*) FROM audit_events WHERE action = 'fleet.restore' AND actor = 'ada' AND fleet_id = $1`, w.fleet.String()) != 1 {
		t.Error("no event tells of it")
	}
	w.apply(put(fleet.Cluster, "new", "N"))
	_, err = w.app.RestoreFleet(t.Context(), w.tenant, actor, w.fleet)
	w.is(err, fleet.ErrNotFound)
}

// What cannot come back stays as it was.
func TestWhatCannotBeRestored(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	made := func(name string) fleet.ID {
		t.Helper()
		f, err := w.app.CreateFleet(ctx, w.tenant, actor, name, "")
		w.ok(err)
		return f.ID
	}
	old, taken, stranger := made("old"), made("taken"), w.db.Tenant(t)
	for _, id := range []fleet.ID{old, taken} {
		w.ok(w.app.DeleteFleet(ctx, w.tenant, actor, id))
	}
	w.aged(`UPDATE fleets SET deleted_at = deleted_at - interval '31 days' WHERE id = $1`, old.String())
	w.aged(`UPDATE fleet_heads SET deleted_at = deleted_at - interval '31 days' WHERE fleet_id = $1`, old.String())
	made("taken")
	before := w.content()
	for name, c := range map[string]struct {
		tenant fleet.TenantID
		id     fleet.ID
		want   error
	}{
		"too old": {w.tenant, old, fleet.ErrNotFound}, "taken": {w.tenant, taken, fleet.ErrConflict}, "there": {w.tenant, w.fleet, fleet.ErrNotFound},
		"a stranger's": {stranger, taken, fleet.ErrNotFound}, "nobody's": {w.tenant, fleet.NewID(), fleet.ErrNotFound},
	} {
		if _, err := w.app.RestoreFleet(ctx, c.tenant, actor, c.id); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	_, err := w.app.DeletedFleet(ctx, w.tenant, "old", nil)
	w.is(err, fleet.ErrNotFound)
	if w.content() != before {
		t.Error("something was written")
	}
	free := made("free")
	w.ok(w.app.DeleteFleet(ctx, w.tenant, actor, free))
	w.limit(store.LimitFleets, 2)
	_, err = w.app.RestoreFleet(ctx, w.tenant, actor, free)
	w.atLimit(err, store.LimitError{What: store.LimitFleets, Limit: 2, Used: 2, Wanted: 3})
}

// Deleted ones are listed by name and then id, as long as they can come back.
func TestDeletedFleetsAreListed(t *testing.T) {
	w := setup(t)
	var want []fleet.ID
	for _, name := range []string{"a", "b", "b", "c"} {
		f, err := w.app.CreateFleet(t.Context(), w.tenant, actor, name, "")
		w.ok(err)
		w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, f.ID))
		want = append(want, f.ID)
	}
	var got []fleet.ID
	for after, id, more := "", (fleet.ID{}), true; more; {
		var fs []store.Fleet
		var err error
		fs, more, err = w.app.DeletedFleets(t.Context(), w.tenant, "", after, id, 1)
		w.ok(err)
		for _, f := range fs {
			got, after, id = append(got, f.ID), f.Name, f.ID
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	fs, _, err := w.app.DeletedFleets(t.Context(), w.tenant, "b", "", fleet.ID{}, 0)
	if w.ok(err); len(fs) != 2 {
		t.Errorf("%+v", fs)
	}
	last, err := w.app.DeletedFleet(t.Context(), w.tenant, "b", nil)
	if w.ok(err); last.ID != want[2] {
		t.Errorf("the last one of the name is %s, got %s", want[2], last.ID)
	}
	first, err := w.app.DeletedFleet(t.Context(), w.tenant, "b", &want[1])
	if w.ok(err); first.ID != want[1] {
		t.Errorf("by its id: %s", first.ID)
	}
	w.aged(`UPDATE fleets SET deleted_at = deleted_at - interval '31 days'`)
	if fs, _, err = w.app.DeletedFleets(t.Context(), w.tenant, "", "", fleet.ID{}, 0); err != nil || len(fs) != 0 {
		t.Errorf("after their time: %+v, %v", fs, err)
	}
}

func TestADeletedTenantIsRestored(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	crowded(w, w.tenant, w.fleet)
	other, before := w.db.Fleet(t, w.tenant), w.db.Fleet(t, w.tenant)
	w.ok(w.app.DeleteFleet(ctx, w.tenant, actor, before))
	token := w.mint(fleet.CredentialID{}, auth.RoleOwner)
	tenant, err := w.app.Tenant(ctx, w.tenant)
	w.ok(err)
	there := fmt.Sprint(w.left("tenant_id", w.tenant))
	w.ok(w.app.DeleteTenant(ctx, w.tenant, actor))
	_, err = w.app.FindToken(ctx, token)
	w.is(err, fleet.ErrNotFound)
	deleted, _, err := w.app.DeletedTenants(ctx, "", "", 0)
	if w.ok(err); len(deleted) != 1 || deleted[0].ID != w.tenant || deleted[0].DeletedAt.IsZero() {
		t.Errorf("%+v", deleted)
	}
	back, err := w.app.RestoreTenant(ctx, actor, tenant.Slug)
	w.ok(err)
	if d := cmp.Diff(tenant, back); d != "" {
		t.Error(d)
	}
	if _, err = w.app.FindToken(ctx, token); err != nil {
		t.Errorf("its token: %v", err)
	}
	w.load()
	fs, _, err := w.app.Fleets(ctx, w.tenant, "", 0)
	w.ok(err)
	var ids []fleet.ID
	for _, f := range fs {
		ids = append(ids, f.ID)
	}
	if len(ids) != 2 || ids[0] != w.fleet && ids[0] != other || ids[1] != w.fleet && ids[1] != other {
		t.Errorf("%v are there, of %s, %s and %s, which was deleted before", ids, w.fleet, other, before)
	}
	w.aged(`DELETE FROM audit_events WHERE action IN ('tenant.delete', 'tenant.restore')`)
	w.aged(`DELETE FROM audit_chain c WHERE NOT EXISTS (SELECT FROM audit_events e WHERE e.tenant_id = c.tenant_id AND e.id = c.event_id)`)
	if now := fmt.Sprint(w.left("tenant_id", w.tenant)); now != there {
		t.Errorf("was %s, is %s", there, now)
	}
	_, err = w.app.RestoreTenant(ctx, actor, tenant.Slug)
	w.is(err, fleet.ErrConflict)
	_, err = w.app.RestoreTenant(ctx, actor, "nobody")
	w.is(err, fleet.ErrNotFound)
	w.ok(w.app.DeleteTenant(ctx, w.tenant, actor))
	w.aged(`UPDATE tenants SET deleted_at = deleted_at - interval '31 days' WHERE id = $1`, w.tenant.String())
	_, err = w.app.RestoreTenant(ctx, actor, tenant.Slug)
	w.is(err, fleet.ErrNotFound)
	if deleted, _, err = w.app.DeletedTenants(ctx, "", "", 0); err != nil || len(deleted) != 0 {
		t.Errorf("after its time: %+v, %v", deleted, err)
	}
}
