package store_test

import (
	"testing"

	"fairlead/internal/fleet"
)

// clusters makes clusters few to many, behind the store's back.
func (w *world) clusters(few, many int) {
	w.Helper()
	w.exec(`WITH b AS (
		INSERT INTO bodies SELECT $1, sha256(g::text::bytea), g::text::bytea FROM generate_series($3 + 1, $4::int) g ON CONFLICT (tenant_id, hash) DO UPDATE SET hash = excluded.hash RETURNING *)
	  INSERT INTO resources (tenant_id, fleet_id, type, name, revision, version, doc_hash, body_hash, created_at, created_by, updated_at, updated_by)
	  SELECT $1, $2, 'clusters', 'c' || convert_from(body, 'UTF8'), 1, 'v', hash, hash, now(), '', now(), '' FROM b`, w.tenant.String(), w.fleet.String(), few, many)
	w.exec(`UPDATE fleet_heads SET revision = 1 WHERE fleet_id = $1`, w.fleet.String())
}

// Every node of a plan counts what passes through it, so the least that a plan can read is some
// times its answer.
const perAnswer = 10

func TestPlansOfALoad(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, node: true, most: perAnswer * 1000,
		fill: func(w *world, few, many int) { w.clusters(few, many) },
		work: func(w *world, p *planned) {
			_, err := p.CatchUp(w.Context(), []fleet.Known{{Key: w.key()}})
			w.ok(err)
		},
	}.judge(t)
}
