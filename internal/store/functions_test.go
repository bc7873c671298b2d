package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/migrations"
)

// routines are all functions, who may call them, and all triggers.
func routines(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return strings1(t, conn, `
		SELECT pg_get_functiondef(p.oid) || ' OF ' || p.proowner::regrole || ' FOR ' || coalesce((SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(p.proacl) a), 'anybody')
		  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
		 UNION ALL
		SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		 WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal ORDER BY 1`)
}

// What the files define is what there is, whatever was there before.
func TestFunctionsAreReplacedWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before   string // as the owner
		triggers bool   // it is about them
	}{
		"another body":            {before: `CREATE OR REPLACE FUNCTION history_row_bytes() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1'`},
		"other results":           {before: `DROP FUNCTION history_row_bytes(); CREATE FUNCTION history_row_bytes() RETURNS bigint LANGUAGE sql AS 'SELECT 1'`},
		"another parameter":       {before: `DROP FUNCTION tenant_limit; CREATE FUNCTION tenant_limit(p_what text) RETURNS bigint LANGUAGE sql AS 'SELECT 1'`},
		"one that is missing":     {before: `DROP FUNCTION history_row_bytes()`},
		"one of before":           {before: `CREATE FUNCTION old() RETURNS integer LANGUAGE sql AS 'SELECT 1'; CREATE PROCEDURE old(i integer) LANGUAGE sql AS 'SELECT 1'`},
		"other arguments":         {before: `CREATE FUNCTION fleet_lock(uuid) RETURNS integer LANGUAGE sql AS 'SELECT 1'`},
		"a right of before":       {before: `GRANT EXECUTE ON FUNCTION purge_rows TO fairlead_app, PUBLIC`},
		"a right that is missing": {before: `REVOKE EXECUTE ON FUNCTION fleet_apply FROM fairlead_app`},
		"a trigger of before": {triggers: true, before: `CREATE FUNCTION old() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
			CREATE TRIGGER old BEFORE INSERT ON fleets FOR EACH ROW EXECUTE FUNCTION old()`},
		"another trigger":           {triggers: true, before: `CREATE OR REPLACE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events FOR EACH ROW EXECUTE FUNCTION audit_events_stay()`},
		"a trigger that is missing": {triggers: true, before: `DROP TRIGGER node_status_tell ON node_status`},
		"what a policy calls":       {before: `CREATE OR REPLACE FUNCTION app_tenant() RETURNS uuid LANGUAGE sql STABLE AS 'SELECT NULL::uuid'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.New(t)
			conn := db.Connect(t, db.Owner)
			defer conn.Close(t.Context()) //nolint:errcheck // only read from
			want := routines(t, conn)
			for _, sql := range []string{`SET ROLE fairlead_owner`, c.before,
				`UPDATE schema_contents SET hash = 'old' WHERE what = 'functions'`, `RESET ROLE`} {
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			if c.triggers {
				db.Exec(t, `UPDATE schema_contents SET hash = 'old' WHERE what = 'triggers'`)
			}
			if cmp.Equal(want, routines(t, conn)) {
				t.Fatal("nothing is different")
			}
			refused(t, db.App, fleet.ErrUnavailable, "the functions of the database are not those of this program: run the migrations")
			if done := migrated(t, db.Owner); !done.Functions {
				t.Error("the functions were not laid")
			}
			if d := cmp.Diff(want, routines(t, conn)); d != "" {
				t.Error(d)
			}
			db.Store(t) // opens
		})
	}
}

// Laid without their bodies being looked at, as they name each other across files.
func TestFunctionsNameWhatIsThere(t *testing.T) {
	w := setup(t)
	w.exec(`SET ROLE fairlead_owner`)
	for _, f := range migrations.Functions() {
		if _, err := w.super.Exec(t.Context(), f.SQL); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// What the operator keeps beside ours, such as extensions, is not touched.
func TestFunctionsOfOthersStay(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, `CREATE FUNCTION of_the_operator() RETURNS integer LANGUAGE sql AS 'SELECT 1'`)
	db.Exec(t, `REVOKE EXECUTE ON FUNCTION of_the_operator FROM PUBLIC`)
	db.Exec(t, `DELETE FROM schema_contents`)
	migrated(t, db.Owner)
	db.Exec(t, `SELECT of_the_operator()`)
}

// Functions change beside writers that are in the middle of a transaction, and the sessions
// of servers go on with the new ones.
func TestFunctionsChangeUnderWriters(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	conn := w.db.Connect(t, w.db.Owner)
	defer conn.Close(t.Context()) //nolint:errcheck // rolled back
	tx, err := conn.Begin(t.Context())
	w.ok(err)
	for _, table := range strings1(t, w.super, `SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal`) {
		_, err = tx.Exec(t.Context(), `LOCK TABLE `+table+` IN ROW EXCLUSIVE MODE`) // as a write does
		w.ok(err)
	}
	w.exec(`ALTER FUNCTION history_row_bytes() RENAME TO old`)
	w.exec(`UPDATE schema_contents SET hash = 'old' WHERE what = 'functions'`)
	if d := cmp.Diff(store.Migrated{From: migrations.Latest(), To: migrations.Latest(), Functions: true}, migrated(t, w.db.Owner)); d != "" {
		t.Error(d)
	}
	w.apply(put(fleet.Cluster, "c", "2"))
	w.ok(tx.Rollback(t.Context()))
}
