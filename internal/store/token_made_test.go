package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// by is a token that acts.
func by(id fleet.CredentialID) store.Actor { return store.Actor{Credential: id, Name: "ada"} }

// lets makes a node credential of the fleet with a token.
func (w *world) lets(with fleet.CredentialID, f fleet.ID) fleet.CredentialID {
	w.Helper()
	c, err := w.app.CreateNodeCredential(w.Context(), w.tenant, f, by(with), store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"})
	w.ok(err)
	return c.ID
}

// good are the node credentials that the xDS servers let in.
func (w *world) good(ids ...fleet.CredentialID) (out []bool) {
	w.Helper()
	for _, id := range ids {
		_, c, err := w.node.FindNodeCredential(w.Context(), id)
		w.ok(err)
		out = append(out, c.RevokedAt.IsZero())
	}
	return out
}

// alone makes a token that ends with no other.
func (w *world) alone(with fleet.CredentialID, role auth.Role) fleet.CredentialID {
	w.Helper()
	k, err := w.app.CreateToken(w.Context(), w.tenant, by(with), store.APIToken{ID: fleet.NewCredentialID(), Role: role})
	w.ok(err)
	return k.ID
}

func (w *world) revoke(id fleet.CredentialID, leaked bool) {
	w.Helper()
	w.ok(w.app.RevokeToken(w.Context(), w.tenant, actor, id, store.Revocation{Within: auth.Roles(), Leaked: leaked}))
}

func TestT43_WhatALeakedTokenMadeDiesWithIt(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	second := w.db.Fleet(t, w.tenant)
	owner, other := w.mint(fleet.CredentialID{}, auth.RoleOwner), w.mint(fleet.CredentialID{}, auth.RoleOwner)
	child := w.mint(owner, auth.RoleAdmin)
	stays := w.alone(owner, auth.RoleOwner)
	given := w.mint(child, auth.RoleAdmin)
	_, err := w.app.HandOverToken(ctx, w.tenant, by(owner), given)
	w.ok(err)
	below := w.mint(given, auth.RoleAdmin)
	mine := []fleet.CredentialID{w.lets(owner, w.fleet), w.lets(child, w.fleet), w.lets(stays, second), w.lets(given, second), w.lets(below, w.fleet)}
	others := w.lets(other, w.fleet)
	renewed, err := w.app.RenewNodeCredential(ctx, w.tenant, w.fleet, by(other), mine[0], time.Time{}, store.NodeCredential{ID: fleet.NewCredentialID()})
	w.ok(err)
	taken, err := w.app.RenewNodeCredential(ctx, w.tenant, w.fleet, by(owner), others, time.Time{}, store.NodeCredential{ID: fleet.NewCredentialID()})
	w.ok(err)
	mine = append(mine, taken.ID)
	before := w.count(`SELECT sum(epoch) FROM fleet_heads WHERE tenant_id = '` + w.tenant.String() + `'`)

	// Who only leaves takes no proxy along.
	w.revoke(owner, false)
	w.wantLive(other, stays, given, below)
	if got := w.good(append(mine, others, renewed.ID)...); slices.Contains(got, false) {
		t.Errorf("after a plain revocation: %v", got)
	}
	if after := w.count(`SELECT sum(epoch) FROM fleet_heads WHERE tenant_id = '` + w.tenant.String() + `'`); after != before {
		t.Error("the servers are told of a plain revocation")
	}
	// It turns out to have leaked.
	w.revoke(owner, true)
	w.wantLive(other)
	if got := w.good(mine...); slices.Contains(got, true) {
		t.Errorf("still good: %v", got)
	}
	if got := w.good(others, renewed.ID); slices.Contains(got, false) {
		t.Errorf("of others: %v", got)
	}
	if n := w.count(`SELECT count(*) FROM fleet_heads WHERE tenant_id = '` + w.tenant.String() + `' AND epoch > (SELECT min(extract(epoch FROM revoked_at) * 1000000)::bigint FROM node_credentials WHERE revoked_at IS NOT NULL)`); n != 2 {
		t.Errorf("%d fleets are told", n)
	}
	told := strings1(t, w.super, `SELECT action || ' ' || object || ' ' || (detail->>'ended_with') FROM audit_events WHERE action = 'credential.revoke' AND detail @> '{"leaked": true}' ORDER BY 1`)
	var want []string
	for _, id := range mine {
		want = append(want, "credential.revoke node credential "+id.String()+" "+owner.String())
	}
	slices.Sort(want)
	if d := cmp.Diff(want, told); d != "" {
		t.Error("told:", d)
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'token.revoke' AND detail @> '{"leaked": true}'`); n != 4 { // the first time it was plain for child
		t.Errorf("%d tokens are told of as leaked", n)
	}
	// Twice is no error, and tells of what ended once.
	w.revoke(owner, true)
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'credential.revoke'`); n != len(mine) {
		t.Errorf("%d revocations of credentials", n)
	}
}

// A token of the line that has ended and is removed hides nothing: the thief's next step is to make many.
func TestT43_ARemovedTokenHidesNothingThatItMade(t *testing.T) {
	w := setup(t)
	most := int64(1)
	leaked := w.mint(fleet.CredentialID{}, auth.RoleOwner)
	first := w.alone(leaked, auth.RoleOwner)
	second := w.alone(first, auth.RoleOwner)
	credential := w.lets(second, w.fleet)
	w.revoke(first, false)
	w.revoke(second, false)
	w.ok(w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{store.LimitTokens: &most}))
	w.exec(`DELETE FROM api_tokens WHERE revoked_at IS NOT NULL`)
	if n := w.count(`SELECT count(*) FROM api_tokens`); n != 1 {
		t.Fatalf("%d tokens are kept", n)
	}
	w.revoke(leaked, true)
	if w.good(credential)[0] {
		t.Error("the credential is good")
	}
}

// Credentials of a deleted fleet come back with it, but not these.
func TestT43_ADeletedFleetHidesNoCredentialOfALeakedToken(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	leaked := w.mint(fleet.CredentialID{}, auth.RoleAdmin)
	f, err := w.app.CreateFleet(ctx, w.tenant, actor, "gone", "")
	w.ok(err)
	credential := w.lets(leaked, f.ID)
	w.ok(w.app.DeleteFleet(ctx, w.tenant, actor, f.ID))
	w.revoke(leaked, true)
	_, err = w.app.RestoreFleet(ctx, w.tenant, actor, f.ID)
	w.ok(err)
	if w.good(credential)[0] {
		t.Error("the credential is good again")
	}
}

// What is being made while its maker is revoked ends too, or is refused.
func TestT43_NothingIsMadeByATokenThatIsEnding(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	leaked := w.mint(fleet.CredentialID{}, auth.RoleOwner)
	app := w.db.Connect(t, w.db.App)
	defer app.Close(context.Background()) //nolint:errcheck // the commit counts
	tx, err := app.Begin(ctx)
	w.ok(err)
	_, err = tx.Exec(ctx, `SELECT set_config('app.tenant_id', $1, true)`, w.tenant.String())
	w.ok(err)
	// As CreateNodeCredential does.
	credential := fleet.NewCredentialID()
	for _, sql := range []string{
		`SELECT maker_must_be_good('` + leaked.String() + `')`, `SELECT fleet_lock('` + w.fleet.String() + `', NULL)`,
		fmt.Sprintf(`INSERT INTO node_credentials (tenant_id, fleet_id, id, hash, nodes, made_by, makers)
			VALUES (app_tenant(), '%s', '%s', sha256('x'), '*', '%s', makers_of('%[3]s'))`, w.fleet, credential, leaked),
	} {
		_, err = tx.Exec(ctx, sql)
		w.ok(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- w.app.RevokeToken(ctx, w.tenant, actor, leaked, store.Revocation{Within: auth.Roles(), Leaked: true})
	}()
	for early := false; !early && w.count(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == 0; {
		select {
		case err = <-done:
			early = true
			done <- err
		default:
		}
	}
	w.ok(tx.Commit(ctx))
	w.ok(<-done)
	if w.good(credential)[0] {
		t.Error("the credential is good")
	}
	_, err = w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, by(leaked), store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"})
	w.is(err, fleet.ErrUnauthenticated)
	_, err = w.app.CreateToken(ctx, w.tenant, by(leaked), store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleOwner})
	w.is(err, fleet.ErrUnauthenticated)
}

func TestT43_WhatATokenMadeIsTold(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	owner := w.mint(fleet.CredentialID{}, auth.RoleOwner)
	child, stays := w.mint(owner, auth.RoleAdmin), w.alone(owner, auth.RoleAdmin)
	ended := w.mint(owner, auth.RoleViewer)
	w.revoke(ended, false)
	first, second := w.lets(child, w.fleet), w.lets(stays, w.fleet)
	gone := w.lets(owner, w.fleet)
	w.ok(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, gone))
	w.lets(w.mint(fleet.CredentialID{}, auth.RoleOwner), w.fleet)
	m, err := w.app.Made(ctx, w.tenant, owner)
	w.ok(err)
	if m.TokenCount != 2 || m.StayingCount != 1 || len(m.Tokens) != 2 || m.Tokens[0].ID != stays || m.Tokens[1].ID != child {
		t.Errorf("tokens %+v", m)
	}
	if m.CredentialCount != 2 || len(m.Credentials) != 2 || m.Credentials[0].ID != second || m.Credentials[1].ID != first || m.Credentials[0].Fleet == "" ||
		m.Credentials[1].CreatedBy.Credential != child {
		t.Errorf("credentials %+v", m)
	}
	_, err = w.app.Made(ctx, w.tenant, fleet.NewCredentialID())
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.Made(ctx, w.db.Tenant(t), owner)
	w.is(err, fleet.ErrNotFound)
}

func TestT32_ARenewedCredentialEndsAnew(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	day := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
	old, err := w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "edge-*", Description: "rack 1", ExpiresAt: day})
	w.ok(err)
	renew := func(end time.Time) store.NodeCredential {
		t.Helper()
		c, err := w.app.RenewNodeCredential(ctx, w.tenant, w.fleet, actor, old.ID, end, store.NodeCredential{ID: fleet.NewCredentialID(), Hash: [32]byte{8}, ExpiresAt: day.Add(time.Hour)})
		w.ok(err)
		return c
	}
	c := renew(time.Time{})
	if c.Nodes != "edge-*" || c.Description != "rack 1" || !c.ExpiresAt.Equal(day.Add(time.Hour)) || c.Hash != [32]byte{8} || c.ID == old.ID {
		t.Errorf("renewed %+v", c)
	}
	endOf := func() time.Time {
		t.Helper()
		_, f, err := w.node.FindNodeCredential(ctx, old.ID)
		w.ok(err)
		return f.ExpiresAt
	}
	for _, x := range []struct{ ask, want time.Time }{{time.Time{}, day}, {day.Add(time.Minute), day}, {day.Add(-time.Minute), day.Add(-time.Minute)}, {day, day.Add(-time.Minute)}} {
		if renew(x.ask); !endOf().Equal(x.want) {
			t.Errorf("asked for %v the old one ends at %v", x.ask, endOf())
		}
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'credential.renew' AND detail->>'renews' = '` + old.ID.String() + `'`); n != 5 {
		t.Errorf("%d audit events", n)
	}
	w.ok(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, old.ID))
	_, err = w.app.RenewNodeCredential(ctx, w.tenant, w.fleet, actor, old.ID, time.Time{}, store.NodeCredential{ID: fleet.NewCredentialID()})
	w.is(err, fleet.ErrConflict)
	_, err = w.app.RenewNodeCredential(ctx, w.tenant, w.db.Fleet(t, w.tenant), actor, c.ID, time.Time{}, store.NodeCredential{ID: fleet.NewCredentialID()})
	w.is(err, fleet.ErrNotFound)
}

func TestT32_UsesOfCredentialsAreNoted(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
	id, unused := w.lets(fleet.CredentialID{}, w.fleet), w.lets(fleet.CredentialID{}, w.fleet)
	use := fleet.CredentialUse{Key: w.key(), Credential: id, At: at, Address: "192.0.2.7"}
	elsewhere, gone := use, use
	elsewhere.Fleet, gone.Credential = w.db.Fleet(t, w.tenant), fleet.NewCredentialID()
	w.ok(w.node.NoteCredentialUses(ctx, []fleet.CredentialUse{elsewhere, gone, use}))
	sooner := use
	sooner.At, sooner.Address = at.Add(-time.Minute), "192.0.2.8" // of a server that is late
	w.ok(w.node.NoteCredentialUses(ctx, []fleet.CredentialUse{sooner}))
	elsewhere.At, elsewhere.Address = at.Add(time.Minute), "192.0.2.9" // it is no credential of that fleet
	w.ok(w.node.NoteCredentialUses(ctx, []fleet.CredentialUse{elsewhere}))
	cs, _, err := w.app.NodeCredentials(ctx, w.tenant, w.fleet, store.CredentialFilter{})
	w.ok(err)
	if len(cs) != 2 || cs[1].ID != id || !cs[1].LastUsedAt.Equal(at) || cs[1].LastUsedFrom != "192.0.2.7" {
		t.Errorf("%+v", cs)
	}
	if cs[0].ID != unused || !cs[0].LastUsedAt.IsZero() || cs[0].LastUsedFrom != "" {
		t.Errorf("%+v", cs[0])
	}
	if err := w.app.NoteCredentialUses(ctx, []fleet.CredentialUse{use}); err == nil {
		t.Error("the API's role notes uses")
	}
}
