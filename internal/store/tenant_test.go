package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

func TestTenants(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s, w := db.Store(t), &world{T: t}
	ctx := t.Context()
	for _, slug := range []string{"b", "a", "c-1"} {
		v, err := s.CreateTenant(ctx, actor, slug, "Name of "+slug)
		w.ok(err)
		if got, err := s.TenantBySlug(ctx, slug); err != nil || !cmp.Equal(got, v) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := s.Tenant(ctx, v.ID); err != nil || !cmp.Equal(got, v) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	_, err := s.CreateTenant(ctx, actor, "a", "")
	w.is(err, fleet.ErrConflict)
	for _, bad := range []string{"", "A", "-a", "a-", "a b", "ä", "a\x00"} {
		_, err := s.CreateTenant(ctx, actor, bad, "")
		w.is(err, fleet.ErrInvalid)
	}
	_, err = s.TenantBySlug(ctx, "zz")
	w.is(err, fleet.ErrNotFound)
	_, err = s.Tenant(ctx, fleet.NewTenantID())
	w.is(err, fleet.ErrNotFound)
	page, more, err := s.Tenants(ctx, "", 2)
	w.ok(err)
	if len(page) != 2 || page[0].Slug != "a" || !more {
		t.Errorf("%+v, more %v", page, more)
	}
	page, more, err = s.Tenants(ctx, "b", 2)
	w.ok(err)
	if len(page) != 1 || page[0].Slug != "c-1" || more {
		t.Errorf("%+v, more %v", page, more)
	}
}

func TestFleets(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	tenant := w.db.Tenant(t)
	f, err := w.app.CreateFleet(ctx, tenant, actor, "edge", "the edge")
	w.ok(err)
	if got, err := w.app.FleetByName(ctx, tenant, "edge"); err != nil || !cmp.Equal(got, f) || f.CreatedBy != "ada" || f.Description != "the edge" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = w.app.CreateFleet(ctx, tenant, actor, "edge", "")
	w.is(err, fleet.ErrConflict)
	_, err = w.app.FleetByName(ctx, w.tenant, "edge") // another tenant's
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.CreateFleet(ctx, fleet.NewTenantID(), actor, "edge", "")
	w.is(err, fleet.ErrNotFound)
	for i := range 3 {
		_, err := w.app.CreateFleet(ctx, tenant, actor, fmt.Sprint("f", i), "")
		w.ok(err)
	}
	page, more, err := w.app.Fleets(ctx, tenant, "edge", 2)
	w.ok(err)
	if len(page) != 2 || page[0].Name != "f0" || !more {
		t.Errorf("%+v, more %v", page, more)
	}
	w.ok(w.app.DeleteFleet(ctx, tenant, actor, f.ID))
	w.is(w.app.DeleteFleet(ctx, tenant, actor, f.ID), fleet.ErrNotFound)
	_, err = w.app.FleetByName(ctx, tenant, "edge")
	w.is(err, fleet.ErrNotFound)
	if again, err := w.app.CreateFleet(ctx, tenant, actor, "edge", ""); err != nil || again.ID == f.ID {
		t.Errorf("the name of a deleted fleet is not free: %v", err)
	}
	if cs := w.catchUp(fleet.Known{Key: fleet.Key{Tenant: tenant, Fleet: f.ID}}); len(cs) != 1 || !cs[0].Gone {
		t.Errorf("servers hear %+v", cs)
	}
}

func TestResourcePages(t *testing.T) {
	w := setup(t)
	var cs []store.ResourceChange
	for _, typ := range []fleet.Type{fleet.Listener, fleet.Cluster, fleet.Endpoint} {
		for i := range 7 {
			cs = append(cs, put(typ, fmt.Sprintf("n/%d%%ä", i), "x"))
		}
	}
	w.apply(cs...)
	var names []string
	for filter, more := (store.Filter{Limit: 4}), true; more; {
		var rs []store.Resource
		var err error
		rs, more, err = w.app.Resources(t.Context(), w.tenant, w.fleet, filter)
		w.ok(err)
		for _, r := range rs {
			names = append(names, r.Type.Slug()+" "+r.Name)
			filter.After = r.Cursor()
		}
	}
	if len(names) != 21 || names[0] != "clusters n/0%ä" || names[7] != "endpoints n/0%ä" || names[20] != "listeners n/6%ä" {
		t.Errorf("%q", names)
	}
	typ := fleet.Endpoint
	rs, more, err := w.app.Resources(t.Context(), w.tenant, w.fleet, store.Filter{Type: &typ})
	w.ok(err)
	if len(rs) != 7 || more || rs[0].Type != fleet.Endpoint {
		t.Errorf("of one type: %d", len(rs))
	}
}

func TestRevisions(t *testing.T) {
	w := setup(t)
	for i := range 5 {
		w.apply(put(fleet.Cluster, "a", fmt.Sprint(i)))
	}
	rs, next, err := w.app.Revisions(t.Context(), w.tenant, w.fleet, store.RevisionFilter{Limit: 3})
	w.ok(err)
	if len(rs) != 3 || rs[0].Revision != 5 || rs[2].Revision != 3 || rs[0].Credential != actor.Credential {
		t.Errorf("%+v", rs)
	}
	rs, _, err = w.app.Revisions(t.Context(), w.tenant, w.fleet, store.RevisionFilter{Before: next})
	w.ok(err)
	if len(rs) != 2 || rs[0].Revision != 2 {
		t.Errorf("%+v", rs)
	}
}

func TestTokens(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	made, err := w.app.CreateToken(ctx, w.tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Hash: [32]byte{1}, Role: auth.RoleCI, Name: "ci",
		Fleet: &w.fleet, WritesSecrets: true, UsesSecrets: auth.SecretGrants{"a", "team=b"}, ExpiresAt: expires})
	w.ok(err)
	found, err := w.app.FindToken(ctx, made.ID)
	w.ok(err)
	want := store.Token{Principal: auth.Principal{Tenant: w.tenant, Role: auth.RoleCI, Credential: made.ID, Name: "ci", Fleet: &w.fleet, WritesSecrets: true, UsesSecrets: made.UsesSecrets},
		Hash: [32]byte{1}, CreatedAt: made.CreatedAt, ExpiresAt: expires}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
	if !slices.Equal(made.UsesSecrets, auth.SecretGrants{"a", "team=b"}) {
		t.Errorf("it uses %v", made.UsesSecrets)
	}
	for what, bad := range map[string]store.APIToken{"role": {Role: "king"}, "ci without a fleet": {Role: auth.RoleCI}, "a viewer that uses Secrets": {Role: auth.RoleViewer, UsesSecrets: auth.SecretGrants{"a"}}} {
		bad.ID = fleet.NewCredentialID()
		if _, err := w.app.CreateToken(ctx, w.tenant, actor, bad); err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	w.ok(w.app.RevokeToken(ctx, w.tenant, actor, made.ID, store.Revocation{Within: auth.Roles()}))
	revoked, err := w.app.FindToken(ctx, made.ID)
	w.ok(err)
	w.ok(w.app.RevokeToken(ctx, w.tenant, actor, made.ID, store.Revocation{Within: auth.Roles()}))
	if again, err := w.app.FindToken(ctx, made.ID); err != nil || revoked.RevokedAt.IsZero() || !again.RevokedAt.Equal(revoked.RevokedAt) {
		t.Errorf("%+v, %v", again, err)
	}
	if ks, _, err := w.app.Tokens(ctx, w.tenant, store.CredentialFilter{}); err != nil || len(ks) != 1 || ks[0].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", ks, err)
	}
	_, err = w.app.FindToken(ctx, fleet.NewCredentialID())
	w.is(err, fleet.ErrNotFound)
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action LIKE 'token.%'`); n != 3 {
		t.Errorf("%d audit events", n)
	}
}

func TestNodeCredentials(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	made, err := w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{ID: fleet.NewCredentialID(), Hash: [32]byte{7}, Nodes: "*", Description: "d"})
	w.ok(err)
	key, cred, err := w.node.FindNodeCredential(ctx, made.ID)
	w.ok(err)
	if key != w.key() || cred != (fleet.Credential{ID: made.ID, Hash: [32]byte{7}, Nodes: "*"}) {
		t.Errorf("%v %+v", key, cred)
	}
	if cs, _, err := w.app.NodeCredentials(ctx, w.tenant, w.fleet, store.CredentialFilter{}); err != nil || len(cs) != 1 || !cmp.Equal(cs[0], made) || made.CreatedBy.Name != "ada" {
		t.Errorf("%+v, %v", cs, err)
	}
	w.ok(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, made.ID))
	if _, cred, err = w.node.FindNodeCredential(ctx, made.ID); err != nil || cred.RevokedAt.IsZero() {
		t.Errorf("%+v, %v", cred, err)
	}
	_, _, err = w.node.FindNodeCredential(ctx, fleet.NewCredentialID())
	w.is(err, fleet.ErrNotFound)
}

func TestFirstOperatorToken(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s, w := db.Store(t), &world{T: t}
	var mu sync.Mutex
	var made []fleet.CredentialID
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			id := fleet.NewCredentialID()
			if err := s.CreateFirstOperatorToken(t.Context(), store.OperatorToken{ID: id, Hash: [32]byte{3}, Name: "root", ExpiresAt: time.Now().Add(time.Hour)}); err == nil {
				mu.Lock()
				made = append(made, id)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(made) != 1 {
		t.Fatalf("%d first tokens", len(made))
	}
	w.is(s.CreateFirstOperatorToken(t.Context(), store.OperatorToken{ID: fleet.NewCredentialID(), ExpiresAt: time.Now().Add(time.Hour)}), fleet.ErrConflict)
	k, err := s.FindToken(t.Context(), made[0])
	w.ok(err)
	if !k.Principal.Operator || k.Principal.Tenant != (fleet.TenantID{}) || k.Principal.Role != "" || k.Hash != [32]byte{3} {
		t.Errorf("%+v", k)
	}
}
