package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// aged runs a statement that moves what has happened into the past, which triggers forbid.
func (w *world) aged(sql string, args ...any) {
	w.Helper()
	w.exec(`SET session_replication_role = replica`)
	defer w.exec(`SET session_replication_role = origin`)
	w.exec(sql, args...)
}

// left counts, by table, what there is of a tenant or of a fleet, in every table that has
// such a column: one that is made later too.
func (w *world) left(column string, id any) map[string]int {
	w.Helper()
	out := map[string]int{}
	for _, table := range strings1(w.T, w.super, `
		SELECT c.table_name::text FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		 WHERE c.table_schema = 'public' AND c.column_name = $1 AND t.table_type = 'BASE TABLE'`, column) {
		if n := w.count(fmt.Sprintf(`SELECT count(*) FROM %q WHERE %s = $1`, table, column), fmt.Sprint(id)); n > 0 {
			out[table] = n
		}
	}
	return out
}

// crowded gives a fleet rows of everything, and a second revision with which the first
// one's body is named by the history alone.
func crowded(w *world, tenant fleet.TenantID, f fleet.ID) {
	w.Helper()
	populate(w, tenant, f)
	_, err := w.app.Apply(w.Context(), tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{
		put(fleet.Cluster, "mine", "another body of "+f.String()), put(fleet.Secret, "s", "sealed of "+f.String()), put(fleet.Route, "r", f.String())}})
	w.ok(err)
	_, err = w.app.Apply(w.Context(), tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{del(fleet.Route, "r")}})
	w.ok(err)
	_, err = w.app.CreateToken(w.Context(), tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleCI, Fleet: &f})
	w.ok(err)
	s := w.server("t")
	var rs []fleet.Refusal
	var ns []fleet.NodeStatus
	for i := range 40 {
		n := fmt.Sprint("n", i)
		ns = append(ns, fleet.NodeStatus{Node: n, Connected: true})
		rs = append(rs, fleet.Refusal{Node: n, Type: fleet.Cluster, Name: "mine", Version: "v", Revision: 2, Detail: "no, says " + n})
	}
	w.ok(w.node.Report(w.Context(), fleet.Status{Key: fleet.Key{Tenant: tenant, Fleet: f}, Server: s.id, Term: s.term, Settled: 1, Nodes: ns, Refusals: rs}))
	_, err = w.app.RetryNode(w.Context(), tenant, f, actor, "n1")
	w.ok(err)
}

func TestADeletedFleetIsPurgedAfter30Days(t *testing.T) {
	w := setup(t)
	keep := w.db.Fleet(t, w.tenant)
	for _, f := range []fleet.ID{w.fleet, keep} {
		crowded(w, w.tenant, f)
	}
	all := w.left("fleet_id", w.fleet)
	if len(all) < 15 {
		t.Fatalf("the fleet is in %d tables: the test is blind: %v", len(all), all)
	}
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	w.aged(`UPDATE fleets SET deleted_at = deleted_at - interval '29 days'`)
	if got := w.compactDue(); got.Purged != 0 || len(w.left("fleet_id", w.fleet)) != len(all) {
		t.Errorf("before its time: %+v, %v", got, w.left("fleet_id", w.fleet))
	}
	other := w.left("fleet_id", keep)
	w.aged(`UPDATE fleets SET deleted_at = deleted_at - interval '2 days'`)
	if got := w.compactDue(); got.Purged != 1 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	rest := w.left("fleet_id", w.fleet)
	audit := rest["audit_events"]
	delete(rest, "audit_events")
	if len(rest) > 0 || audit == 0 {
		t.Errorf("left: %v, %d audit events", rest, audit)
	}
	if n := w.count(`SELECT count(*) FROM fleets WHERE id = $1`, w.fleet.String()); n != 0 {
		t.Error("the fleet is there")
	}
	if n := w.count(`SELECT count(*) FROM bodies b WHERE NOT EXISTS (SELECT FROM resource_history h WHERE h.body_hash = b.hash)`); n != 0 {
		t.Errorf("%d bodies that nothing names", n)
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'fleet.purge' AND fleet_id = $1`, w.fleet.String()); n != 1 {
		t.Errorf("%d events tell of it", n)
	}
	if now := w.left("fleet_id", keep); fmt.Sprint(now) != fmt.Sprint(other) {
		t.Errorf("the other fleet had %v, has %v", other, now)
	}
	if got := w.compactDue(); got.Purged != 0 {
		t.Errorf("once more: %+v", got)
	}
}

// A step removes so many rows at most, and what is not due removes none.
func TestPurgesAreBounded(t *testing.T) {
	w := setup(t)
	crowded(w, w.tenant, w.fleet)
	app := w.db.Connect(t, w.db.App)
	defer app.Close(t.Context()) //nolint:errcheck // nothing is pending
	step := func(tenant fleet.TenantID, sql string, id any) (gone *bool) {
		t.Helper()
		tx, err := app.Begin(t.Context())
		w.ok(err)
		_, err = tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, tenant.String())
		w.ok(err)
		w.ok(tx.QueryRow(t.Context(), sql, fmt.Sprint(id)).Scan(&gone))
		w.ok(tx.Commit(t.Context()))
		return gone
	}
	rows := func() (n int) {
		for table, rows := range w.left("tenant_id", w.tenant) {
			if !strings.HasPrefix(table, "audit_") {
				n += rows
			}
		}
		return n
	}
	stranger := w.db.Tenant(t)
	fleetStep, tenantStep := `SELECT purge_fleet($1, 10)`, `SELECT purge_tenant($1, 10)`
	before := rows()
	if step(w.tenant, fleetStep, w.fleet) != nil || step(w.tenant, tenantStep, w.tenant) != nil || rows() != before {
		t.Error("what lives is purged")
	}
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	w.aged(`UPDATE fleets SET deleted_at = deleted_at - interval '31 days'`)
	if step(stranger, fleetStep, w.fleet) != nil || rows() != before {
		t.Error("another tenant purges it")
	}
	for gone := false; !gone; {
		was := rows()
		gone = *step(w.tenant, fleetStep, w.fleet)
		if n := was - rows(); n > 11 || n != 10 && !gone {
			t.Fatalf("a step removed %d rows", n)
		}
	}
	w.ok(w.app.DeleteTenant(t.Context(), w.tenant, actor))
	w.aged(`UPDATE tenants SET deleted_at = deleted_at - interval '31 days' WHERE id = $1`, w.tenant.String())
	for gone := false; !gone; {
		was := w.count(`SELECT count(*) FROM audit_events`) + rows()
		gone = *step(stranger, tenantStep, w.tenant)
		if n := was - w.count(`SELECT count(*) FROM audit_events`) - rows(); n > 10 {
			t.Fatalf("a step removed %d rows", n)
		}
	}
	if left := w.left("tenant_id", w.tenant); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestADeletedTenantEndsAtOnceAndIsPurgedAfter30Days(t *testing.T) {
	w := setup(t)
	second, stranger := w.db.Fleet(t, w.tenant), w.db.Tenant(t)
	strange := w.db.Fleet(t, stranger)
	for _, f := range []fleet.ID{w.fleet, second} {
		crowded(w, w.tenant, f)
	}
	crowded(w, stranger, strange)
	token, credential := fleet.NewCredentialID(), fleet.NewCredentialID()
	_, err := w.app.CreateToken(t.Context(), w.tenant, actor, store.APIToken{ID: token, Role: auth.RoleOwner})
	w.ok(err)
	_, err = w.app.CreateNodeCredential(t.Context(), w.tenant, second, actor, store.NodeCredential{ID: credential, Nodes: "*"})
	w.ok(err)
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet)) // before
	tenant, err := w.app.Tenant(t.Context(), w.tenant)
	w.ok(err)
	known := fleet.Known{Key: fleet.Key{Tenant: w.tenant, Fleet: second}, At: fleet.Position{Revision: 3}}
	others, others2 := w.left("tenant_id", stranger), w.left("fleet_id", strange)

	w.ok(w.app.DeleteTenant(t.Context(), w.tenant, actor))
	_, err = w.app.FindToken(t.Context(), token)
	w.is(err, fleet.ErrNotFound)
	_, _, err = w.node.FindNodeCredential(t.Context(), credential)
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.Tenant(t.Context(), w.tenant)
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.TenantBySlug(t.Context(), tenant.Slug)
	w.is(err, fleet.ErrNotFound)
	if ts, _, err := w.app.Tenants(t.Context(), "", 0); err != nil || len(ts) != 1 || ts[0].ID != stranger {
		t.Errorf("tenants: %+v, %v", ts, err)
	}
	if cs := w.catchUp(known); len(cs) != 1 || !cs[0].Gone {
		t.Errorf("its streams hear %+v", cs)
	}
	_, err = w.app.CreateTenant(t.Context(), actor, tenant.Slug, "")
	w.is(err, fleet.ErrConflict)
	w.is(w.app.DeleteTenant(t.Context(), w.tenant, actor), fleet.ErrNotFound)
	if n := w.count(`SELECT count(*) FROM fleets f JOIN tenants t ON t.id = f.tenant_id AND t.deleted_at = f.deleted_at JOIN fleet_heads h
	                     ON h.fleet_id = f.id AND h.deleted_at = f.deleted_at WHERE f.id = $1`, second.String()); n != 1 {
		t.Error("the fleet that went with the tenant cannot be told from the one that was deleted before")
	}
	if n := w.count(`SELECT count(*) FROM fleets f JOIN tenants t ON t.id = f.tenant_id AND t.deleted_at = f.deleted_at`); n != 1 {
		t.Errorf("%d fleets went with it", n)
	}

	w.aged(`UPDATE tenants SET deleted_at = deleted_at - interval '29 days' WHERE deleted_at IS NOT NULL`)
	if got := w.compactDue(); got.Purged != 0 {
		t.Errorf("before its time: %+v", got)
	}
	w.aged(`UPDATE tenants SET deleted_at = deleted_at - interval '2 days' WHERE deleted_at IS NOT NULL`)
	if got := w.compactDue(); got.Purged != 1 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	if left := w.left("tenant_id", w.tenant); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if now, now2 := w.left("tenant_id", stranger), w.left("fleet_id", strange); fmt.Sprint(now, now2) != fmt.Sprint(others, others2) {
		t.Errorf("the other tenant had %v, has %v", others, now)
	}
	_, err = w.app.CreateTenant(t.Context(), actor, tenant.Slug, "")
	w.ok(err)
}

func TestEndedCredentialsLeaveTheFeedAfterADayAndTheTablesAfter30(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	ids := map[string]fleet.CredentialID{}
	for _, name := range []string{"live", "revoked", "expired", "long revoked", "long expired", "gone"} {
		ids[name] = fleet.NewCredentialID()
		_, err := w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{ID: ids[name], Nodes: "*"})
		w.ok(err)
		_, err = w.app.CreateToken(ctx, w.tenant, actor, store.APIToken{ID: ids[name], Role: auth.RoleViewer})
		w.ok(err)
	}
	for name, set := range map[string]string{
		"revoked": `revoked_at = now() - interval '23 hours'`, "expired": `expires_at = now() - interval '23 hours'`,
		"long revoked": `revoked_at = now() - interval '25 hours', expires_at = now() + interval '1 hour'`,
		"long expired": `expires_at = now() - interval '29 days'`, "gone": `revoked_at = now() - interval '31 days'`,
	} {
		for _, table := range []string{"node_credentials", "api_tokens"} {
			w.aged(`UPDATE `+table+` SET `+set+` WHERE id = $1`, ids[name].String())
		}
	}
	fed := map[fleet.CredentialID]bool{}
	for _, c := range w.load().Credentials {
		fed[c.ID] = true
	}
	for name, want := range map[string]bool{"live": true, "revoked": true, "expired": true, "long revoked": false, "long expired": false, "gone": false} {
		if fed[ids[name]] != want {
			t.Errorf("%s: the servers are told of it: %v", name, fed[ids[name]])
		}
	}
	// Whoever asks for one by name still hears the right words.
	if _, c, err := w.node.FindNodeCredential(ctx, ids["long revoked"]); err != nil || c.RevokedAt.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
	audit := w.count(`SELECT count(*) FROM audit_events`)
	w.compactDue()
	for _, table := range []string{"node_credentials", "api_tokens"} {
		if n := w.count(`SELECT count(*) FROM ` + table); n != 5 {
			t.Errorf("%d rows of %s are left", n, table)
		}
		if n := w.count(`SELECT count(*) FROM `+table+` WHERE id = $1`, ids["gone"].String()); n != 0 {
			t.Errorf("the old one of %s is left", table)
		}
	}
	if n := w.count(`SELECT count(*) FROM audit_events`); n != audit {
		t.Errorf("%d audit events, were %d", n, audit)
	}
}

// TestADeletionOfATenantAndAWriteDoNotWaitForEachOther: a write has the fleet's head, for
// which the deletion waits, and then adds rows that name the tenant.
func TestADeletionOfATenantAndAWriteDoNotWaitForEachOther(t *testing.T) {
	w := setup(t)
	app := w.db.Connect(t, w.db.App)
	defer app.Close(t.Context()) //nolint:errcheck // nothing is pending
	write, err := app.Begin(t.Context())
	w.ok(err)
	_, err = write.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, w.tenant.String())
	w.ok(err)
	_, err = write.Exec(t.Context(), `SELECT fleet_lock($1, NULL)`, w.fleet.String())
	w.ok(err)
	deleted := make(chan error, 1)
	go func() { deleted <- w.app.DeleteTenant(t.Context(), w.tenant, actor) }()
	for w.waitingForLocks() == 0 {
		select {
		case err := <-deleted:
			t.Fatalf("the deletion does not wait for the write: %v", err)
		default:
		}
	}
	_, err = write.Exec(t.Context(), `INSERT INTO bodies (tenant_id, hash, body) VALUES (app_tenant(), sha256('x'), 'x')`)
	w.ok(err)
	w.ok(write.Commit(t.Context()))
	w.ok(<-deleted)
}

// TestT09_EndedCredentialsAreBounded: who makes and ends them without end fills neither the
// tables nor what the servers are told; the newest are kept, and all that live.
func TestT09_EndedCredentialsAreBounded(t *testing.T) {
	w := setup(t)
	ctx, other := t.Context(), w.db.Fleet(t, w.tenant)
	w.exec(`INSERT INTO tenant_limits SELECT $1, unnest(ARRAY['tokens', 'credentials']), 3`, w.tenant.String())
	token := func() fleet.CredentialID { return w.mint(fleet.CredentialID{}, auth.RoleViewer) }
	credential := func(f fleet.ID) fleet.CredentialID {
		id := fleet.NewCredentialID()
		_, err := w.app.CreateNodeCredential(ctx, w.tenant, f, actor, store.NodeCredential{ID: id, Nodes: "*"})
		w.ok(err)
		return id
	}
	want := []string{token().String(), credential(w.fleet).String(), credential(other).String()} // they live
	for i := range 8 {
		k, c := token(), credential(w.fleet)
		w.ok(w.app.RevokeToken(ctx, w.tenant, actor, k, store.Revocation{Within: auth.Roles()}))
		w.ok(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, c))
		if i >= 4 {
			want = append(want, k.String(), c.String()) // and the last is not followed by another
		}
	}
	got := strings1(t, w.super, `SELECT id::text FROM api_tokens WHERE tenant_id = $1 UNION ALL SELECT id::text FROM node_credentials WHERE tenant_id = $1`, w.tenant.String())
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(w.load().Credentials); n != 5 {
		t.Errorf("the servers are told of %d credentials", n)
	}
}

// An xDS server may tell of a fleet that is deleted, as long as it has not heard of it: while
// the fleet is being purged that goes with the rest, and afterwards nothing is written.
func TestLateReportsOfADeletedFleetStayNowhere(t *testing.T) {
	w := setup(t)
	crowded(w, w.tenant, w.fleet)
	s := w.server("late")
	late := func(node string) error {
		return w.node.Report(t.Context(), fleet.Status{Key: w.key(), Server: s.id, Term: s.term, Settled: 2, Nodes: []fleet.NodeStatus{on(node)}, Lasting: []string{node},
			Refusals:  []fleet.Refusal{{Node: node, Type: fleet.Cluster, Name: "mine", Version: "v", Revision: 2, Detail: "no, says " + node}},
			Resolved:  []fleet.Refusal{{Node: node, Type: fleet.Cluster, Name: "mine", Version: "old", By: 2}},
			Delivered: []fleet.Delivered{{Revision: 2, Affected: 1, Acked: 1}}})
	}
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	w.ok(late("deleted"))
	w.aged(`UPDATE fleets SET deleted_at = deleted_at - interval '31 days'`)
	app := w.db.Connect(t, w.db.App)
	defer app.Close(t.Context()) //nolint:errcheck // nothing is pending
	steps := 0
	for gone := false; !gone; steps++ {
		tx, err := app.Begin(t.Context())
		w.ok(err)
		_, err = tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, w.tenant.String())
		w.ok(err)
		w.ok(tx.QueryRow(t.Context(), `SELECT purge_fleet($1, 60)`, w.fleet.String()).Scan(&gone))
		w.ok(tx.Commit(t.Context()))
		if steps < 3 && !gone {
			w.ok(late(fmt.Sprint("step", steps)))
		}
	}
	w.is(late("purged"), fleet.ErrNotFound)
	left := w.left("fleet_id", w.fleet)
	delete(left, "audit_events")
	if len(left) > 0 || steps < 4 {
		t.Errorf("left after %d steps: %v", steps, left)
	}
	w.compactDue()
	if n := w.count(`SELECT count(*) FROM bodies`); n != 0 {
		t.Errorf("%d bodies that nothing names", n)
	}
}

// What cannot be purged holds up neither other fleets nor other tenants.
func TestPurgesGoOnAfterOneThatFails(t *testing.T) {
	w := setup(t)
	second := w.db.Fleet(t, w.tenant)
	tenants := []fleet.TenantID{w.db.Tenant(t), w.db.Tenant(t)}
	for _, f := range []fleet.ID{w.fleet, second} {
		w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, f))
	}
	for _, tenant := range tenants {
		w.ok(w.app.DeleteTenant(t.Context(), tenant, actor))
	}
	w.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF OLD.id IN ('` + w.fleet.String() + `', '` + tenants[0].String() + `') THEN RAISE EXCEPTION 'broken'; END IF; RETURN OLD; END $$`)
	for table, first := range map[string]string{"fleets": w.fleet.String(), "tenants": tenants[0].String()} {
		w.exec(`CREATE TRIGGER refuse BEFORE DELETE ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION refuse()`)
		w.aged(`UPDATE ` + table + ` SET deleted_at = deleted_at - interval '31 days' WHERE deleted_at IS NOT NULL`)
		w.aged(`UPDATE `+table+` SET deleted_at = deleted_at - interval '1 hour' WHERE id = $1`, first)
	}
	got, err := w.app.CompactDue(t.Context())
	if got.Purged != 2 || got.Failed != 2 || err == nil {
		t.Errorf("%+v, %v", got, err)
	}
}
