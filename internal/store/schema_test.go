package store_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/migrations"
)

func strings1(t *testing.T, conn *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The database and the code name the same actions.
func TestActionsAreThoseOfTheCode(t *testing.T) {
	w := setup(t)
	var names []string
	for _, a := range fleet.Actions() {
		names = append(names, a.String())
	}
	if d := cmp.Diff(names, strings1(t, w.super, `SELECT unnest(enum_range(NULL::refusal_action))::text`)); d != "" {
		t.Errorf("(-code +database):\n%s", d)
	}
}

func TestRowSecurityIsForcedEverywhere(t *testing.T) {
	w := setup(t)
	open := strings1(t, w.super, `
		SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
		   AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1`)
	if d := cmp.Diff([]string{"schema_contents", "schema_migrations", "xds_servers"}, open); d != "" {
		t.Error("tables without forced row-level security:", d)
	}
	strange := strings1(t, w.super, `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relowner <> 'fairlead_owner'::regrole`)
	if len(strange) > 0 {
		t.Errorf("tables of another owner: %v", strange)
	}
	mighty := strings1(t, w.super, `SELECT rolname::text FROM pg_roles WHERE rolname LIKE 'fairlead%' AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb)`)
	if len(mighty) > 0 {
		t.Errorf("roles that may too much: %v", mighty)
	}
	// Policies that look at more than one tenant: the owner's, and the node's to read what it serves.
	wide := strings1(t, w.super, `
		SELECT tablename || ' ' || cmd || ' ' || roles::text FROM pg_policies WHERE qual NOT LIKE '%app_tenant()%' AND roles <> '{fairlead_owner}' ORDER BY 1`)
	want := []string{"bodies SELECT {fairlead_node}", "fleet_heads SELECT {fairlead_node}", "fleet_history SELECT {fairlead_node}",
		"node_credentials SELECT {fairlead_node}", "node_retries SELECT {fairlead_node}", "resource_history SELECT {fairlead_node}", "resources SELECT {fairlead_node}"}
	if d := cmp.Diff(want, wide); d != "" {
		t.Error("policies across tenants:", d)
	}
}

// SEMANTICS 8.4: the cross-tenant functions are listed and few.
func TestCrossTenantFunctions(t *testing.T) {
	w := setup(t)
	functions := strings1(t, w.super, `
		SELECT p.proname || ': ' || coalesce((SELECT string_agg(a.grantee::regrole::text, ' ' ORDER BY 1) FROM aclexplode(p.proacl) a
		                                       WHERE a.grantee <> p.proowner), '') || CASE WHEN p.proconfig IS NULL THEN ' without search_path' ELSE '' END
		  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef ORDER BY 1`)
	want := []string{
		"analyze_grown_table: fairlead_app",
		"audit_due: fairlead_app",
		"audit_events_chain: ", // a trigger's: nobody calls it
		"audit_undelivered: fairlead_app",
		"begin_session: fairlead_app",
		"credential_renews: fairlead_app",
		"delete_tenant: fairlead_app",
		"drop_ended_credentials: fairlead_app",
		"drop_ended_tokens: fairlead_app",
		"end_other_sessions: fairlead_app",
		"end_session: fairlead_app",
		"endpoints_sweep: fairlead_app",
		"events_moved: fairlead_app", "find_node_credential: fairlead_node",
		"find_session: fairlead_app",
		"find_token: fairlead_app",
		"fleet_compact: fairlead_app",
		"fleet_differences: fairlead_app",
		"fleet_end_refusals: fairlead_app",
		"fleet_floors: fairlead_app",
		"fleet_marks: fairlead_app",
		"fleet_rollback_changes: fairlead_app",
		"fleet_trim_reports: fairlead_app fairlead_node",
		"fleets_with_refusal_ends: fairlead_app",
		"is_operator: fairlead_app",
		"load_add: fairlead_node",
		"load_note: fairlead_node",
		"load_settings: fairlead_node",
		"load_sweep: fairlead_app",
		"note_credential_uses: fairlead_node",
		"operator_create_tenant: fairlead_app",
		"operator_create_token: fairlead_app",
		"operator_end_session: fairlead_app",
		"operator_first_token: fairlead_app",
		"operator_list_sessions: fairlead_app",
		"operator_list_tokens: fairlead_app",
		"operator_revoke_token: fairlead_app",
		"operator_set_limits: fairlead_app",
		"operator_tenant_by_slug: fairlead_app",
		"operator_tenants: fairlead_app",
		"place_of_token: fairlead_app fairlead_node",
		"purge_fleet: fairlead_app",
		"purge_tenant: fairlead_app",
		"restore_fleet: fairlead_app",
		"restore_tenant: fairlead_app",
		"sweep_audit: fairlead_app",
		"sweep_credentials: fairlead_app",
		"sweep_server: fairlead_app",
		"sweep_sessions: fairlead_app",
		"tell_denied: fairlead_node",
		"tenant_marks: fairlead_app",
		"tenants_to_purge: fairlead_app",
		"token_place: fairlead_app fairlead_node",
		"touch_session: fairlead_app",
	}
	if d := cmp.Diff(want, functions); d != "" {
		t.Error(d)
	}
	public := strings1(t, w.super, `
		SELECT p.proname::text FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
		   AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = 0)) AND p.prorettype <> 'trigger'::regtype`)
	if len(public) > 0 {
		t.Errorf("functions that anybody may call: %v", public)
	}
}

func TestMigrationFiles(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations.FS, "*")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]bool{} // they may have gaps
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "SET lock_timeout = ") {
			t.Errorf("%s does not begin with a lock_timeout", name)
		}
		numbers[name[:4]] = true
	}
	if len(names) != len(numbers) || !numbers[fmt.Sprintf("%04d", migrations.Latest())] {
		t.Errorf("%d files of %d numbers, the latest is %d", len(names), len(numbers), migrations.Latest())
	}
}

// The large lists must not fall back to reading a whole table because an operator is
// not leakproof, so that row-level security keeps it from the index.
func TestListsUseTheirIndex(t *testing.T) {
	w := setup(t)
	app := w.db.Connect(t, w.db.App)
	defer app.Close(t.Context()) //nolint:errcheck // only read from
	tx, err := app.Begin(t.Context())
	w.ok(err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // only read from
	_, err = tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`, w.tenant.String())
	w.ok(err)
	rows, err := tx.Query(t.Context(), `EXPLAIN SELECT * FROM resources r WHERE r.tenant_id = app_tenant() AND r.fleet_id = $1
		AND (r.type, r.name, r.variant) > ('a', 'b', 'c') ORDER BY r.type, r.name, r.variant LIMIT 10`, w.fleet.String())
	w.ok(err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.ok(err)
	text := strings.Join(plan, "\n")
	if !strings.Contains(text, "Index Cond") || !strings.Contains(text, "ROW(") || strings.Contains(text, "Filter: (ROW(") {
		t.Error(text)
	}
}
