package store_test

import (
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// TestPlansOfWhoAsks: who asks is looked up by each request, in sessions that made their plans when the tables were nearly empty, as they were when
// they were analyzed last.
func TestPlansOfWhoAsks(t *testing.T) {
	t.Parallel()
	w := another(t)
	k := store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleViewer}
	_, err := w.app.CreateToken(t.Context(), w.tenant, actor, k)
	w.ok(err)
	p := w.planned(w.db.App, "plan_cache_mode", "force_generic_plan")
	look := func() {
		_, err := p.FindToken(t.Context(), k.ID)
		w.ok(err)
	}
	look()
	w.exec(`ALTER TABLE api_tokens SET (autovacuum_enabled = off)`)
	w.exec(`ANALYZE api_tokens`)
	look()
	w.exec(`INSERT INTO api_tokens (tenant_id, id, hash, role) SELECT $1, gen_random_uuid(), sha256('x'), 'viewer' FROM generate_series(1, 5000)`, w.tenant.String())
	if r := p.reads(look); r.rows > 20 {
		t.Errorf("%d rows are read for one token:%s", r.rows, r.most(6))
	}
}
