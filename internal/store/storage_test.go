package store_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// How often autovacuum comes to a table, and how loosely its pages are filled, is part of the schema: docs/database.md
// says why. No test on a small database notices that one is lost.
func TestStorageOfTheTables(t *testing.T) {
	w := setup(t)
	const (
		grows  = "autovacuum_analyze_scale_factor=0.02 autovacuum_vacuum_scale_factor=0.05"
		gets   = "autovacuum_analyze_scale_factor=0.02 autovacuum_vacuum_insert_scale_factor=0.05 autovacuum_vacuum_scale_factor=0.05"
		hot    = "autovacuum_vacuum_cost_delay=0 autovacuum_vacuum_scale_factor=0 autovacuum_vacuum_threshold=500 fillfactor=10"
		update = grows + " fillfactor=70"
	)
	want := map[string]string{
		"fleet_heads": hot, "xds_servers": hot, "server_settled": hot, "audit_heads": hot, "idempotency_use": hot,
		"nodes": update, "node_status": update, "delivery": update, "resources": grows + " fillfactor=85", "node_retries": "fillfactor=70",
		"endpoint_builds": hot, "endpoint_clock": hot, "endpoint_clusters": grows + " fillfactor=50", "endpoint_leases": grows + " fillfactor=50", "endpoints": update, "load_minutes": grows + " fillfactor=50",
		"load_clusters": update, "load_nodes": update,
		"resource_refs": grows, "refusals": grows,
		"bodies": gets, "fleet_history": gets, "resource_history": gets, "node_events": gets,
	}
	got := map[string]string{}
	for _, line := range strings1(t, w.super, `SELECT c.relname || ' ' || (SELECT string_agg(o, ' ' ORDER BY o) FROM unnest(c.reloptions) o)
		FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.reloptions IS NOT NULL`) {
		table, options, _ := strings.Cut(line, " ")
		got[table] = options
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("docs/database.md names each table with its storage parameters, and why; (-want +got):", d)
	}
}
