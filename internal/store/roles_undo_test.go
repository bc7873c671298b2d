package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// T30: what ended stays ended, and what a credential may never changes, whoever
// writes with the servers' database roles. The superuser's tries show that it is a
// trigger that stops what the grants leave to the API's role.
func TestT30_NobodyUndoesARevocation(t *testing.T) {
	w := setup(t)
	b := w.db.Tenant(t)
	populate(w, w.tenant, w.fleet)
	ctx := t.Context()
	gone, err := w.app.CreateFleet(ctx, w.tenant, actor, "gone", "")
	w.ok(err)
	w.ok(w.app.DeleteFleet(ctx, w.tenant, actor, gone.ID))
	cred, err := w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{Nodes: "*", ID: fleet.NewCredentialID()})
	w.ok(err)
	w.ok(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, cred.ID))
	alive := w.mint(fleet.CredentialID{}, auth.RoleViewer)
	ended := w.mint(fleet.CredentialID{}, auth.RoleOwner)
	w.ok(w.app.RevokeToken(ctx, w.tenant, actor, ended, store.Revocation{Within: auth.Roles()}))
	w.ok(w.app.CreateFirstOperatorToken(ctx, store.OperatorToken{ID: fleet.NewCredentialID(), ExpiresAt: time.Now().Add(time.Hour)}))
	w.exec(`UPDATE operator_tokens SET revoked_at = now()`)

	app, node := w.db.Connect(t, w.db.App), w.db.Connect(t, w.db.Node)
	defer app.Close(context.Background())  //nolint:errcheck // only tried things
	defer node.Close(context.Background()) //nolint:errcheck // only tried things
	const denied = "42501"
	token, dead, credential, of := `'`+alive.String()+`'`, `'`+ended.String()+`'`, `'`+cred.ID.String()+`'`, `'`+gone.ID.String()+`'`
	ends := []string{ // the columns are the API's to write, from nothing alone
		`UPDATE api_tokens SET revoked_at = NULL WHERE id = ` + dead,
		`UPDATE api_tokens SET revoked_at = now() + interval '1 year' WHERE id = ` + dead,
		`UPDATE api_tokens SET parent_id = ` + dead + ` WHERE id = ` + token,
		`UPDATE node_credentials SET revoked_at = NULL WHERE id = ` + credential,
		`UPDATE fleets SET deleted_at = NULL WHERE id = ` + of,
		`UPDATE fleets SET deleted_at = now() WHERE id = ` + of,
		`UPDATE fleet_heads SET deleted_at = NULL WHERE fleet_id = ` + of,
	}
	columns := []string{ // they are nobody's
		`UPDATE api_tokens SET hash = sha256('mine') WHERE id = ` + token,
		`UPDATE api_tokens SET role = 'owner' WHERE id = ` + token,
		`UPDATE api_tokens SET expires_at = NULL WHERE id = ` + token,
		`UPDATE api_tokens SET tenant_id = '` + b.String() + `' WHERE id = ` + token,
		`UPDATE api_tokens SET id = gen_random_uuid() WHERE id = ` + token,
		`UPDATE api_tokens SET fleet_id = NULL, writes_secrets = true WHERE id = ` + token,
		`UPDATE api_tokens SET uses_secrets = '{*}' WHERE id = ` + token,
		`UPDATE api_tokens SET made_by = NULL, created_by = '' WHERE id = ` + token,
		`INSERT INTO api_tokens (tenant_id, id, hash, role) VALUES (app_tenant(), ` + token + `, sha256('mine'), 'owner')
		   ON CONFLICT (tenant_id, id) DO UPDATE SET hash = excluded.hash`,
		`DELETE FROM api_tokens WHERE id = ` + dead,
		`UPDATE node_credentials SET hash = sha256('mine')`,
		`UPDATE node_credentials SET nodes = '*'`,
		`UPDATE node_credentials SET expires_at = NULL`,
		`UPDATE node_credentials SET fleet_id = ` + of,
		`UPDATE node_credentials SET made_by = NULL`,
		`UPDATE node_credentials SET makers = '{}'`,
		`UPDATE node_credentials SET last_used_at = NULL`,
		`UPDATE node_credentials SET last_used_from = ''`,
		`UPDATE api_tokens SET makers = '{}' WHERE id = ` + token,
		`DELETE FROM node_credentials`,
		`UPDATE fleets SET id = gen_random_uuid()`,
		`UPDATE fleets SET created_by = 'nobody'`,
		`UPDATE fleet_heads SET fleet_id = ` + of,
		`DELETE FROM fleet_heads`,
		`UPDATE operator_tokens SET revoked_at = NULL`,
		`UPDATE operator_tokens SET expires_at = 'infinity'`,
		`INSERT INTO operator_tokens (id, hash, expires_at) VALUES (gen_random_uuid(), sha256('mine'), now())`,
		`UPDATE audit_events SET actor = 'nobody'`,
		`DELETE FROM audit_events`,
		`ALTER TABLE api_tokens DISABLE TRIGGER ALL`,
		`SET session_replication_role = replica`,
	}
	for _, role := range []*pgx.Conn{app, node} {
		for _, sql := range append(ends, columns...) {
			if got := sqlState(t, role, w.tenant, sql); got != denied {
				t.Errorf("%s: %s gives %q", role.Config().User, sql, got)
			}
		}
	}
	for _, sql := range append(ends, `UPDATE operator_tokens SET revoked_at = NULL`) {
		if got := sqlState(t, w.super, w.tenant, sql); got != denied {
			t.Errorf("the superuser: %s gives %q", sql, got)
		}
	}
}
