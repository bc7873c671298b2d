package store_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

var mintedEnd = time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)

// mint makes a token that ends with parent; the zero one: with none.
func (w *world) mint(parent fleet.CredentialID, role auth.Role) fleet.CredentialID {
	w.Helper()
	k := store.APIToken{ID: fleet.NewCredentialID(), Role: role, ExpiresAt: mintedEnd}
	if parent != (fleet.CredentialID{}) {
		k.Parent = &parent
	}
	made, err := w.app.CreateToken(w.Context(), w.tenant, store.Actor{Credential: parent, Name: "ada"}, k)
	w.ok(err)
	return made.ID
}

// live are the tokens that are not revoked.
func (w *world) live() map[fleet.CredentialID]bool {
	w.Helper()
	ks, _, err := w.app.Tokens(w.Context(), w.tenant, store.CredentialFilter{})
	w.ok(err)
	out := map[fleet.CredentialID]bool{}
	for _, k := range ks {
		if k.RevokedAt.IsZero() {
			out[k.ID] = true
		}
	}
	return out
}

func (w *world) wantLive(want ...fleet.CredentialID) {
	w.Helper()
	got := w.live()
	missing := slices.ContainsFunc(want, func(id fleet.CredentialID) bool { return !got[id] })
	if len(got) != len(want) || missing {
		w.Errorf("live are %v, want %v", slices.Collect(maps.Keys(got)), want)
	}
}

func TestT43_ATokenEndsWithTheOneThatMadeIt(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	owner, other := w.mint(fleet.CredentialID{}, auth.RoleOwner), w.mint(fleet.CredentialID{}, auth.RoleOwner)
	admin := w.mint(owner, auth.RoleAdmin)
	child, given := w.mint(admin, auth.RoleAdmin), w.mint(admin, auth.RoleEditor)
	grandchild := w.mint(child, auth.RoleViewer)
	below := w.mint(given, auth.RoleViewer)
	k, err := w.app.HandOverToken(ctx, w.tenant, actor, given)
	w.ok(err)
	if k.Parent != nil || k.CreatedBy.Credential != admin || k.CreatedBy.Operator {
		t.Errorf("handed over: %+v", k)
	}
	w.ok(w.app.RevokeToken(ctx, w.tenant, actor, admin, store.Revocation{Within: auth.Roles()}))
	w.wantLive(owner, other, given, below)
	told := strings1(t, w.super, `SELECT object || ' ' || coalesce(detail->>'ended_with', '') FROM audit_events WHERE action = 'token.revoke' ORDER BY 1`)
	want := []string{"token " + admin.String() + " ", "token " + child.String() + " " + admin.String(), "token " + grandchild.String() + " " + admin.String()}
	slices.Sort(want)
	if d := cmp.Diff(want, told); d != "" {
		t.Error("told:", d)
	}
	// What has ended makes nothing, and is not handed over.
	parent := child
	_, err = w.app.CreateToken(ctx, w.tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleViewer, Parent: &parent, ExpiresAt: time.Now().Add(time.Minute)})
	w.is(err, fleet.ErrUnauthenticated)
	_, err = w.app.HandOverToken(ctx, w.tenant, actor, child)
	w.is(err, fleet.ErrConflict)
	_, err = w.app.HandOverToken(ctx, w.tenant, actor, fleet.NewCredentialID())
	w.is(err, fleet.ErrNotFound)
	// Nor does one make what outlives it.
	_, err = w.app.CreateToken(ctx, w.tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleViewer, Parent: &given, ExpiresAt: mintedEnd.Add(time.Microsecond)})
	w.is(err, fleet.ErrUnauthenticated)
	w.ok(w.app.RevokeToken(ctx, w.tenant, actor, owner, store.Revocation{Within: auth.Roles()}))
	w.wantLive(other, given, below)
}

func TestT43_NobodyRevokesAboveTheirRole(t *testing.T) {
	w := setup(t)
	owner, admin := w.mint(fleet.CredentialID{}, auth.RoleOwner), w.mint(fleet.CredentialID{}, auth.RoleAdmin)
	within := []auth.Role{auth.RoleViewer, auth.RoleAdmin}
	w.is(w.app.RevokeToken(t.Context(), w.tenant, actor, owner, store.Revocation{Within: within}), fleet.ErrForbidden)
	w.is(w.app.RevokeToken(t.Context(), w.tenant, actor, owner, store.Revocation{Within: nil}), fleet.ErrForbidden)
	w.wantLive(owner, admin)
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'token.revoke'`); n != 0 {
		t.Errorf("%d revocations are recorded", n)
	}
	w.ok(w.app.RevokeToken(t.Context(), w.tenant, actor, admin, store.Revocation{Within: within}))
	w.wantLive(owner)
}

// A grandchild whose transaction is open while the root is revoked ends all the same.
func TestT43_WhatIsBeingMadeEndsToo(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	root := w.mint(fleet.CredentialID{}, auth.RoleAdmin)
	child := w.mint(root, auth.RoleAdmin)
	app := w.db.Connect(t, w.db.App)
	defer app.Close(context.Background()) //nolint:errcheck // the commit counts
	tx, err := app.Begin(ctx)
	w.ok(err)
	_, err = tx.Exec(ctx, `SELECT set_config('app.tenant_id', $1, true)`, w.tenant.String())
	w.ok(err)
	// As CreateToken does.
	_, err = tx.Exec(ctx, `SELECT token_makes($1, now())`, child.String())
	w.ok(err)
	_, err = tx.Exec(ctx, `INSERT INTO api_tokens (tenant_id, id, hash, role, parent_id) VALUES (app_tenant(), $1, sha256('x'), 'viewer', $2)`,
		fleet.NewCredentialID().String(), child.String())
	w.ok(err)
	done := make(chan error, 1)
	go func() { done <- w.app.RevokeToken(ctx, w.tenant, actor, root, store.Revocation{Within: auth.Roles()}) }()
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
	w.wantLive()
}

func TestOperatorTokens(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s, w := db.Store(t), &world{T: t, db: db}
	ctx := t.Context()
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	first, second := store.OperatorToken{ID: fleet.NewCredentialID(), Name: "first", ExpiresAt: soon}, store.OperatorToken{ID: fleet.NewCredentialID(), Name: "second", ExpiresAt: soon}
	w.ok(s.CreateFirstOperatorToken(ctx, first))
	by := store.Actor{Credential: first.ID, Name: "first"}
	w.is(s.RevokeOperatorToken(ctx, by, first.ID), fleet.ErrConflict)
	made, err := s.CreateOperatorToken(ctx, by, second)
	w.ok(err)
	if made.CreatedBy != "first" || !made.ExpiresAt.Equal(soon) || made.Name != "second" {
		t.Errorf("made %+v", made)
	}
	w.ok(s.RevokeOperatorToken(ctx, store.Actor{Name: "second"}, first.ID))
	w.ok(s.RevokeOperatorToken(ctx, store.Actor{Name: "other"}, first.ID)) // keeps the first time
	w.is(s.RevokeOperatorToken(ctx, by, second.ID), fleet.ErrConflict)
	w.is(s.RevokeOperatorToken(ctx, by, fleet.NewCredentialID()), fleet.ErrNotFound)
	_, err = s.CreateOperatorToken(ctx, by, store.OperatorToken{ID: fleet.NewCredentialID(), ExpiresAt: soon})
	w.is(err, fleet.ErrUnauthenticated) // made by one that was revoked
	list, _, err := s.OperatorTokens(ctx, store.CredentialFilter{})
	w.ok(err)
	if len(list) == 2 && list[1].ID == second.ID { // newest first by the millisecond, and these may be of one
		slices.Reverse(list)
	}
	if len(list) != 2 || list[0].ID != second.ID || !list[0].RevokedAt.IsZero() || list[1].RevokedAt.IsZero() || list[1].RevokedBy != "second" {
		t.Errorf("list %+v", list)
	}
	app := db.Connect(t, db.App)          // behind the store's back
	defer app.Close(context.Background()) //nolint:errcheck // only tried
	if _, err = app.Exec(ctx, `SELECT operator_create_token(gen_random_uuid(), sha256('x'), '', NULL, $1)`, second.ID.String()); err == nil {
		t.Error("an operator token without an end was taken")
	}
	// Where none is good any more the command line can make one again.
	db.Exec(t, `UPDATE operator_tokens SET expires_at = clock_timestamp()`)
	w.ok(s.CreateFirstOperatorToken(ctx, store.OperatorToken{ID: fleet.NewCredentialID(), ExpiresAt: soon}))
}

func TestTenantEvents(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	op := store.OperatorToken{ID: fleet.NewCredentialID(), Name: "ops", ExpiresAt: time.Now().Add(time.Hour)}
	w.ok(w.app.CreateFirstOperatorToken(ctx, op))
	w.apply(put(fleet.Cluster, "a", "1")) // of a fleet: none of these
	k, err := w.app.CreateToken(ctx, w.tenant, store.Actor{Credential: op.ID, Name: "ops"}, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleOwner, Name: "first"})
	w.ok(err)
	if !k.CreatedBy.Operator || k.CreatedBy.Name != "ops" || k.CreatedBy.Credential != op.ID {
		t.Errorf("made by %+v", k.CreatedBy)
	}
	w.ok(w.app.RevokeToken(ctx, w.tenant, actor, k.ID, store.Revocation{Within: auth.Roles()}))
	var told []string
	for after, more := (store.EventCursor{}), true; more; {
		var es []store.TenantEvent
		es, more, err = w.app.TenantEvents(ctx, w.tenant, after, 1)
		w.ok(err)
		for _, e := range es {
			told = append(told, strings.TrimSpace(e.Kind+" "+e.By.Name+map[bool]string{true: " (operator)"}[e.By.Operator]))
			after = store.EventCursor{At: e.At, ID: e.ID}
		}
	}
	if want := []string{"token.revoke ada", "token.create ops (operator)", "tenant.create"}; len(told) != 3 || !slices.Equal(told[:2], want[:2]) || !strings.HasPrefix(told[2], want[2]) {
		t.Errorf("told %q", told)
	}
	if es, _, err := w.app.TenantEvents(ctx, w.db.Tenant(t), store.EventCursor{}, 0); err != nil || len(es) != 1 {
		t.Errorf("another tenant is told %+v, %v", es, err)
	}
}

// Events of fleets are many: those of the tenant must not be looked for among them.
func TestTenantEventsAreFoundByTheirIndex(t *testing.T) {
	w := setup(t)
	app := w.db.Connect(t, w.db.App)
	defer app.Close(context.Background()) //nolint:errcheck // only read from
	tx, err := app.Begin(t.Context())
	w.ok(err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // only read from
	_, err = tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true), set_config('enable_seqscan', 'off', true)`, w.tenant.String())
	w.ok(err)
	rows, err := tx.Query(t.Context(), `EXPLAIN SELECT e.id FROM audit_events e WHERE e.tenant_id = app_tenant() AND e.fleet_id IS NULL AND (e.at, e.id) < (now(), gen_random_uuid())
		ORDER BY e.at DESC, e.id DESC LIMIT 10`)
	w.ok(err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.ok(err)
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "audit_events_of_tenant") || strings.Contains(text, "Sort") {
		t.Error(text)
	}
}
