package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// TestSoakHistoryPlans prints the plans of a rollback and of compaction, which docs/database.md
// has excerpts of.
func TestSoakHistoryPlans(t *testing.T) {
	w := setup(t)
	const endpoints = 100
	rounds := soakSize(100, 10_000)
	w.endpoints(endpoints)
	w.lived(1, rounds, endpoints)
	w.exec(`UPDATE fleet_history SET at = at - interval '91 days' WHERE revision <= $1`, endpoints*rounds/2)
	one := w.apply(put(fleet.Cluster, "c", "good")).Revision
	w.apply(put(fleet.Cluster, "c", "bad"))
	conf, err := pgx.ParseConfig(w.db.Owner)
	w.ok(err)
	var plans []string
	conf.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { plans = append(plans, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), conf)
	w.ok(err)
	defer conn.Close(t.Context()) //nolint:errcheck // only read from
	for _, sql := range []string{`LOAD 'auto_explain'`, `SET auto_explain.log_min_duration = 0`, `SET auto_explain.log_nested_statements = on`,
		`SET auto_explain.log_analyze = on`, `SET auto_explain.log_buffers = on`, `SET auto_explain.log_timing = off`, `SET client_min_messages = log`,
		`SELECT set_config('app.tenant_id', '` + w.tenant.String() + `', false), set_config('enable_seqscan', 'off', false)`, // as a tenant's transaction has it
		fmt.Sprintf(`SELECT count(*) FROM fleet_rollback_changes('%s', %d)`, w.fleet, one),
		fmt.Sprintf(`SELECT * FROM fleet_floors('%s', 90 * 86400, 1000)`, w.fleet),
		fmt.Sprintf(`SELECT fleet_compact('%s', 0, %d, NULL, 1000)`, w.fleet, endpoints*rounds/2)} {
		_, err := conn.Exec(t.Context(), sql)
		w.ok(err)
	}
	all := strings.Join(plans, "\n")
	t.Log(all)
	for _, index := range []string{"resources_by_revision", "resource_history_by_revision", "resource_history_tombstones", "fleet_history_pkey"} {
		if !strings.Contains(all, index) {
			t.Errorf("no plan uses %s", index)
		}
	}
	if strings.Contains(all, "Seq Scan") {
		t.Error("a table is read whole")
	}
}
