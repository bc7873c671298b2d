package store_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// withoutTenant is the closed list of tables that have no tenant_id which is never null, and why. Of tenants the id is the tenant.
var withoutTenant = map[string]string{
	"endpoint_clock":    "of the installation: when the sweep of all tenants' leases ran last",
	"operator_tokens":   "of the installation: an operator belongs to no tenant",
	"schema_contents":   "of the installation: what the database was made from",
	"schema_migrations": "of the installation: golang-migrate's own",
	"sessions":          "an operator's session has no tenant, and its tenant_id is null",
	"tenants":           "its own id is the tenant",
	"xds_servers":       "of the installation: an xDS server serves all tenants",
}

// notLed is the closed list of primary keys, unique keys and foreign keys that do not lead with the tenant, and why.
var notLed = map[string]string{
	"endpoint_clock_pkey p (one)":          "of the installation: the table has one row",
	"operator_tokens_pkey p (id)":          "of the installation: an operator belongs to no tenant",
	"schema_contents_pkey p (what)":        "of the installation: what the database was made from",
	"schema_migrations_pkey p (version)":   "of the installation: golang-migrate's own",
	"sessions_pkey p (id)":                 "the cookie of a browser has the session's id alone, and an operator's session has no tenant",
	"tenants_slug_key u (slug)":            "of the installation: no two tenants have one slug",
	"xds_servers_pkey p (server_id)":       "of the installation: an xDS server serves all tenants",
	"xds_servers_term u (term, server_id)": "of the installation: an xDS server serves all tenants",
}

// key is a primary key, a unique key or a foreign key of the catalogue.
type key struct {
	Table string
	Name  string
	Kind  string // p: primary, u: unique, f: foreign, x: exclusion
	Led   bool   // its first column is the tenant and, of a foreign key, so is the first one that it names
}

// selectKeys reads each constraint, and each unique index that no constraint has.
const selectKeys = `
WITH k AS (
  SELECT k.conrelid AS rel, k.conname::text AS name, k.contype::text AS kind, k.conkey::int[] AS cols, k.confrelid AS ref, k.confkey[1]::int AS ref_col
    FROM pg_constraint k WHERE k.contype IN ('p', 'u', 'f', 'x')
   UNION ALL
  SELECT x.indrelid, x.indexrelid::regclass::text, 'u', (x.indkey::int2[]::int[])[0:x.indnkeyatts - 1], 0, NULL
    FROM pg_index x WHERE x.indisunique AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u', 'x')))
SELECT c.relname::text,
       format('%s %s (%s)', k.name, k.kind, (SELECT string_agg(coalesce(a.attname, 'an expression'), ', ' ORDER BY u.ord)
                                               FROM unnest(k.cols) WITH ORDINALITY u (col, ord) LEFT JOIN pg_attribute a ON a.attrelid = k.rel AND a.attnum = u.col)),
       k.kind,
       EXISTS (SELECT FROM unnest(k.cols) WITH ORDINALITY u (col, ord) JOIN pg_attribute a ON a.attrelid = k.rel AND a.attnum = u.col
                WHERE u.ord = 1 AND a.attname = CASE WHEN c.relname = 'tenants' THEN 'id' ELSE 'tenant_id' END)
       AND (k.kind <> 'f' OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = k.ref AND a.attnum = k.ref_col
                                        AND a.attname = CASE WHEN k.ref = 'tenants'::regclass THEN 'id' ELSE 'tenant_id' END))
  FROM k JOIN pg_class c ON c.oid = k.rel
 WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1, 2`

func (w *world) keys() []key {
	w.Helper()
	rows, err := w.super.Query(w.Context(), selectKeys)
	w.ok(err)
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	w.ok(err)
	return keys
}

// T04: every primary key, unique key and foreign key leads with the tenant, there and where a foreign key leads to. What does not is listed.
// So rows of one tenant are found by one key, and a database that is split by tenant has them in one place.
func TestKeysLeadWithTheTenant(t *testing.T) {
	w := setup(t)
	tables := strings1(t, w.super, `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1`)
	tenantless := strings1(t, w.super, `
		SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
		   AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnotnull AND a.atttypid = 'uuid'::regtype) ORDER BY 1`)
	slices.Sort(tenantless)
	if d := cmp.Diff(slices.Sorted(maps.Keys(withoutTenant)), tenantless); d != "" {
		t.Error("tables without a tenant (-listed +found):", d)
	}
	keys := w.keys()
	if len(tables) < 35 || len(keys) < 75 {
		t.Fatalf("the catalogue shows %d tables and %d keys", len(tables), len(keys))
	}
	var keyed, other []string
	for _, k := range keys {
		if k.Kind == "p" {
			keyed = append(keyed, k.Table)
		}
		if !k.Led {
			other = append(other, k.Name)
		}
	}
	if d := cmp.Diff(tables, keyed); d != "" {
		t.Error("tables without a primary key:", d)
	}
	slices.Sort(other)
	if d := cmp.Diff(slices.Sorted(maps.Keys(notLed)), other); d != "" {
		t.Error("keys that do not lead with the tenant (-listed +found):", d)
	}
	if seqs := strings1(t, w.super, `SELECT relname::text FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`); len(seqs) > 0 {
		t.Errorf("sequences: %v", seqs)
	}
}

// A key that is made later without the tenant is found, whatever it is made by.
func TestKeysWithoutTheTenantAreFound(t *testing.T) {
	w := setup(t)
	w.exec(`CREATE TABLE wrong (tenant_id uuid NOT NULL, fleet_id uuid, id uuid, server_id uuid REFERENCES xds_servers, PRIMARY KEY (tenant_id, id), UNIQUE (id, tenant_id),
		FOREIGN KEY (fleet_id, tenant_id) REFERENCES fleets (id, tenant_id), FOREIGN KEY (tenant_id) REFERENCES operator_tokens, EXCLUDE (id WITH =))`)
	w.exec(`CREATE UNIQUE INDEX wrong_index ON wrong (uuid_hash(id), tenant_id) INCLUDE (server_id)`)
	var found []string
	for _, k := range w.keys() {
		if k.Table == "wrong" && !k.Led {
			found = append(found, k.Name)
		}
	}
	slices.Sort(found)
	want := []string{"wrong_fleet_id_tenant_id_fkey f (fleet_id, tenant_id)", "wrong_id_excl x (id)", "wrong_id_tenant_id_key u (id, tenant_id)",
		"wrong_index u (an expression, tenant_id)", "wrong_server_id_fkey f (server_id)", "wrong_tenant_id_fkey f (tenant_id)"}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
}
