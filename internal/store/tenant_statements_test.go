package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// acrossTenants is the closed list of what asks tables of tenants for more than one tenant, or for none that its text says, and why that is so. A
// function of the database stands by its name, a text of this package by its file and what declares it. Of each table it says how: "of each" asks for
// each of some tenants by its key, "by ctid" has looked the row up before, and a name alone is a table that is read or written whosever the rows are.
var acrossTenants = []struct {
	why  string
	what map[string]string
}{
	{"a client or a browser brings the id of a token, a node credential or a session: which tenant it is of is what is asked for", map[string]string{
		"begin_session":        "audit_heads, sessions, tenants",
		"end_other_sessions":   "sessions",
		"find_node_credential": "node_credentials, tenants",
		"find_session":         "sessions",
		"find_token":           "api_tokens, tenants",
		"place_of_token":       "api_tokens, node_credentials, sessions, tenants",
		"session_close":        "sessions",
		"touch_session":        "sessions, tenants",
	}},
	{"an operator asks, whose are all tenants, or sessions of none; a slug is what an operator calls a tenant", map[string]string{
		"move.go find":            "tenants",
		"operator_end_session":    "sessions",
		"operator_list_sessions":  "sessions",
		"operator_tenant_by_slug": "tenants",
		"operator_tenants":        "tenants",
		"restore_tenant":          "tenants",
	}},
	{"a server asks for all tenants that it serves in one round trip, for each of them by its key", map[string]string{
		"catchup.go selectChanges": "fleet_heads of each, fleet_history of each",
		"catchup.go selectMoved":   "fleet_heads of each",
		"events_moved":             "fleets of each, node_events of each, tenants of each",
		"fleet_marks":              "fleet_heads of each, fleets of each, node_events of each, server_settled of each, tenants of each",
		"head.go selectHead":       "fleet_heads of each, fleet_history of each",
		"load_add":                 "fleets of each, tenants of each",
		"load_note":                "fleets of each, nodes of each, resources of each, tenants of each",
		"load_settings":            "fleet_heads of each, fleets of each",
		"note_credential_uses":     "node_credentials of each, tenants of each",
		"tell_denied":              "fleets of each, node_events by ctid, node_events of each, tenants of each",
		"tenant_marks":             "fleets of each",
	}},
	{"a sweep looks what is due, of whichever tenant", map[string]string{
		"audit_due":                "audit_checks, audit_heads, audit_signatures, tenants",
		"audit_undelivered":        "audit_deliveries, audit_heads, audit_signatures, tenants",
		"endpoint_leases_share":    "endpoint_leases, tenants of each",
		"endpoints_sweep":          "endpoint_clusters, endpoint_leases, endpoint_leases by ctid, endpoint_leases of each, endpoints, fleet_heads, tenants",
		"fleets_with_refusal_ends": "refusal_ends",
		"load_sweep":               "load_clusters, load_clusters by ctid, load_minutes, load_minutes by ctid",
		"migrate.go placeEvents":   "fleets, node_events",
		"sweep_server":             "node_status, node_status of each, nodes of each",
		"sweep_sessions":           "sessions, sessions by ctid, tenants",
		"tenants_to_purge":         "tenants",
	}},
	{"it is of one tenant, and has looked its rows up by the tenant's key, or made a whole row of the tenant, in the same transaction", map[string]string{
		"compact.go sweepNodes": "node_status by ctid, nodes by ctid",
		"event.go sweepEvents":  "node_events by ctid",
		"fleet_compact":         "resource_history by ctid, resources by ctid",
		"fleet_end_refusals":    "refusals by ctid",
		"fleet_trim_reports":    "node_events by ctid, refusals by ctid",
		"sweep_audit":           "audit_anchors, audit_chain by ctid, audit_events by ctid, audit_signatures by ctid",
		"sweep_keys":            "idempotency_keys by ctid",
	}},
	{"it does the same with one table after the other, with the tenant as a parameter or in the text: of a purge, or of a move to another cell", map[string]string{
		"move_tables.go compare": "a text that is put together",
		"move_tables.go digest":  "a text that is put together",
		"move_tables.go flush":   "a text that is put together",
		"move_tables.go source":  "a text that is put together",
		"purge_rows":             "a text that is put together",
	}},
	{"it is of the schema, and reads no row of a tenant but to count it", map[string]string{
		"analyze_grown_table":        "a text that is put together",
		"functions.go dropFunctions": "a text that is put together",
		"functions.go dropTriggers":  "a text that is put together",
	}},
}

// A statement asks each table of tenants for one tenant, by its text and not by row-level security alone: a database that is split by tenant sends
// it to one place. What does not is listed.
func TestStatementsAskForOneTenant(t *testing.T) {
	w := setup(t)
	tables := map[string]bool{"tenants": true}
	for _, table := range strings1(t, w.super, `
		SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
		 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`) {
		tables[table] = true
	}
	texts := textsOfThisPackage(t)
	for _, f := range strings1(t, w.super, `SELECT p.proname || ' ' || p.prosrc FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`) {
		name, body, _ := strings.Cut(f, " ")
		texts[name] = append(texts[name], body)
	}
	want := map[string]string{}
	for _, l := range acrossTenants {
		for name, how := range l.what {
			if want[name] != "" || l.why == "" {
				t.Errorf("%s is listed twice, or without a reason", name)
			}
			want[name] = how
		}
	}
	got, named := map[string]string{}, 0
	for name, all := range texts {
		var wide []string
		for _, text := range all {
			how, n := tenantsOf(text, tables)
			wide, named = append(wide, how...), named+n
		}
		if slices.Sort(wide); len(wide) > 0 {
			got[name] = strings.Join(slices.Compact(wide), ", ")
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("texts that do not ask for one tenant (-listed +found):", d)
	}
	if len(tables) < 35 || named < 650 {
		t.Errorf("the texts name tables of tenants %d times, of which there are %d", named, len(tables))
	}
}

// What the reader of statements finds, and what it takes for one tenant's.
func TestTenantsOfStatements(t *testing.T) {
	t.Parallel()
	tables := map[string]bool{"tenants": true, "nodes": true, "fleets": true}
	for sql, want := range map[string]string{
		`SELECT FROM nodes n WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1`:                                                        "",
		`SELECT FROM nodes WHERE tenant_id = $1`:                                                                                          "",
		`SELECT FROM nodes n WHERE n.tenant_id IS NOT DISTINCT FROM p_tenant`:                                                             "",
		`SELECT FROM fleets f JOIN nodes n ON n.tenant_id = f.tenant_id WHERE f.tenant_id = app_tenant()`:                                 "",
		`SELECT FROM fleets f CROSS JOIN LATERAL (SELECT FROM nodes n WHERE n.tenant_id = f.tenant_id OFFSET 0) x WHERE f.tenant_id = $1`: "",
		`SELECT FROM nodes n WHERE (n.tenant_id, n.fleet_id) = (m.tenant_id, m.fleet_id)`:                                                 "",
		`SELECT FROM tenants t WHERE t.id = p_id`:                                                                                         "",
		`INSERT INTO nodes AS n (tenant_id, node_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`:                                              "",
		`WITH k AS (SELECT f.tenant_id FROM fleets f WHERE f.tenant_id = $1) DELETE FROM nodes n USING k WHERE n.tenant_id = k.tenant_id`: "",

		`SELECT FROM nodes`: "nodes",
		`SELECT FROM nodes n WHERE n.fleet_id = $1 -- n.tenant_id = $2`:                                                                      "nodes",
		`SELECT 'n.tenant_id = $1' FROM nodes n`:                                                                                             "nodes",
		`SELECT FROM nodes n WHERE n.tenant_id = n.tenant_id`:                                                                                "nodes",
		`SELECT FROM nodes n WHERE n.tenant_id = $1 OR n.fleet_id = $2`:                                                                      "nodes",
		`SELECT FROM nodes n WHERE n.tenant_id = $1 AND n.x OR n.y`:                                                                          "nodes",
		`SELECT FROM nodes n WHERE (n.tenant_id = $1 OR n.x)`:                                                                                "nodes",
		`SELECT n.tenant_id = $1 FROM nodes n ORDER BY n.tenant_id = $1`:                                                                     "nodes",
		`SELECT FROM nodes n WHERE CASE WHEN n.tenant_id = $1 THEN n.x END`:                                                                  "nodes",
		`UPDATE nodes n SET tenant_id = $1`:                                                                                                  "nodes",
		`SELECT FROM nodes n WHERE n.tenant_id <> $1`:                                                                                        "nodes",
		`SELECT FROM nodes n WHERE n.tenant_id = ANY ($1)`:                                                                                   "nodes",
		`SELECT FROM nodes n WHERE uuid_hash(n.tenant_id) = uuid_hash($1)`:                                                                   "nodes",
		`SELECT FROM nodes n WHERE (n.tenant_id, n.fleet_id) > ($1, $2)`:                                                                     "nodes",
		`SELECT FROM nodes n WHERE n.tenant_id = (SELECT f.tenant_id FROM fleets f)`:                                                         "fleets, nodes",
		`SELECT FROM fleets f JOIN nodes n ON n.tenant_id = f.tenant_id`:                                                                     "fleets, nodes",
		`SELECT FROM fleets f, nodes n WHERE f.tenant_id = $1`:                                                                               "nodes",
		`SELECT FROM (fleets f JOIN nodes n ON n.fleet_id = f.id) WHERE f.tenant_id = $1`:                                                    "nodes",
		`SELECT FROM fleets f WHERE f.tenant_id = $1 UNION ALL SELECT FROM nodes n`:                                                          "nodes",
		`SELECT FROM fleets f WHERE f.tenant_id = $1 AND EXISTS (SELECT FROM nodes n WHERE n.fleet_id = f.id)`:                               "nodes",
		`SELECT FROM fleets n WHERE EXISTS (SELECT FROM nodes n WHERE n.tenant_id = $1)`:                                                     "fleets",
		`SELECT FROM tenants t WHERE t.slug = $1`:                                                                                            "tenants",
		`SELECT FROM tenants t JOIN fleets f ON f.tenant_id = t.slug`:                                                                        "fleets, tenants",
		`UPDATE nodes n SET x = 1`:                                                                                                           "nodes",
		`DELETE FROM nodes n WHERE n.ctid = ANY (ARRAY(SELECT x.ctid FROM nodes x WHERE x.tenant_id = $1))`:                                  "nodes by ctid",
		`DELETE FROM nodes n WHERE n.ctid = ANY (ARRAY(SELECT x.ctid FROM nodes x))`:                                                         "nodes, nodes by ctid",
		`INSERT INTO nodes SELECT * FROM unnest($1)`:                                                                                         "nodes",
		`INSERT INTO nodes (node_id) VALUES ($1)`:                                                                                            "nodes",
		`SELECT FROM unnest($1, $2) WITH ORDINALITY AS u (tenant, fleet, ord) JOIN nodes n ON n.tenant_id = u.tenant`:                        "nodes of each",
		`WITH k AS (SELECT * FROM unnest($1) AS u (tenant_id)) SELECT 1 UNION ALL SELECT 2 FROM k JOIN nodes n ON n.tenant_id = k.tenant_id`: "nodes of each",
		`SELECT FROM find($1) f JOIN nodes n ON n.tenant_id = f.tenant_id`:                                                                   "nodes",
		`IF true THEN DELETE FROM nodes n; END IF; UPDATE fleets f SET x = 1 WHERE f.tenant_id = n.tenant_id`:                                "nodes",
		`FOR n IN SELECT f.tenant_id FROM fleets f LOOP DELETE FROM nodes x WHERE x.tenant_id = n.tenant_id; END LOOP`:                       "fleets",
		`EXECUTE format('DELETE FROM %I', t)`:                                                                                                "a text that is put together",
		`SELECT FROM ` + unread + ` x`:                                                                                                       "a text that is put together",
		`INSERT INTO %s (a) VALUES (1)`:                                                                                                      "a text that is put together",
	} {
		got, _ := tenantsOf(sql, tables)
		if d := cmp.Diff(want, strings.Join(got, ", ")); d != "" {
			t.Errorf("%s: (-want +got)\n%s", sql, d)
		}
	}
}

// goTexts reads what the constants, variables and functions of a package are put together of, as far as that is known without running it.
type goTexts struct {
	values map[string]ast.Expr
	gives  map[string]*ast.FuncDecl // functions that do nothing but put one value together and return it
}

// textsOfThisPackage has the strings of package store by the file and the declaration that they stand in, whole where they are put together.
func textsOfThisPackage(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string]*ast.File{}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	x := goTexts{map[string]ast.Expr{}, map[string]*ast.FuncDecl{}}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = f
		for _, d := range f.Decls {
			x.declare(d)
		}
	}
	out := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, d := range files[name].Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				x.collect(d, x.within(d, nil, 0), func(text string) { out[name+" "+d.Name.Name] = append(out[name+" "+d.Name.Name], text) })
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						x.collect(v, nil, func(text string) { out[name+" "+v.Names[0].Name] = append(out[name+" "+v.Names[0].Name], text) })
					}
				}
			}
		}
	}
	return out
}

// declare notes what a declaration gives a name to.
func (x goTexts) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Body != nil && givesOne(d.Body.List) {
			x.gives[d.Name.Name] = d
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, n := range v.Names {
					x.values[n.Name] = v.Values[i]
				}
			}
		}
	}
}

// givesOne reports whether statements give names to values and return one.
func givesOne(body []ast.Stmt) bool {
	for i, s := range body {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			return i == len(body)-1 && len(s.Results) == 1
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
				return false
			}
		default:
			return false
		}
	}
	return false
}

// within are the values that names have in one of gives, in another function none.
func (x goTexts) within(f *ast.FuncDecl, args []string, deep int) map[string]string {
	if x.gives[f.Name.Name] != f {
		return nil
	}
	values := map[string]string{}
	for _, p := range f.Type.Params.List {
		for _, n := range p.Names {
			values[n.Name] = unread
			if i := len(values) - 1; i < len(args) {
				values[n.Name] = args[i]
			}
		}
	}
	for _, s := range f.Body.List {
		if s, ok := s.(*ast.AssignStmt); ok {
			values[s.Lhs[0].(*ast.Ident).Name] = x.text(s.Rhs[0], values, deep+1)
		}
	}
	return values
}

// collect calls found with each string below a node, with one that is a sum as a whole.
func (x goTexts) collect(n ast.Node, given map[string]string, found func(string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.BasicLit:
			if e.Kind == token.STRING {
				found(x.text(e, given, 0))
			}
		case *ast.BinaryExpr:
			if e.Op == token.ADD {
				found(x.text(e, given, 0))
				x.below(e, given, found)
				return false
			}
		}
		return true
	})
}

// below collects what the terms of a sum are given.
func (x goTexts) below(e ast.Expr, given map[string]string, found func(string)) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		x.below(e.X, given, found)
		x.below(e.Y, given, found)
	case *ast.BasicLit: // a part of the sum
	default:
		x.collect(e, given, found)
	}
}

// text is what an expression comes to, where the names in given have a value; unread stands for what is not known. It follows names and calls
// to a depth, so that none goes in a circle.
func (x goTexts) text(e ast.Expr, given map[string]string, deep int) string {
	if deep > 10 {
		return unread
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
			return s
		}
	case *ast.ParenExpr:
		return x.text(e.X, given, deep)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return x.text(e.X, given, deep) + x.text(e.Y, given, deep)
		}
	case *ast.Ident:
		if s, ok := given[e.Name]; ok {
			return s
		}
		if v, ok := x.values[e.Name]; ok {
			return x.text(v, nil, deep+1)
		}
	case *ast.CallExpr:
		return x.call(e, given, deep)
	}
	return unread
}

// call is what a function of this package returns, of fmt.Sprintf its format.
func (x goTexts) call(e *ast.CallExpr, given map[string]string, deep int) string {
	if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Sprintf" && len(e.Args) > 0 {
		return x.text(e.Args[0], given, deep+1)
	}
	name, ok := e.Fun.(*ast.Ident)
	if !ok || x.gives[name.Name] == nil {
		return unread
	}
	var args []string
	for _, a := range e.Args {
		args = append(args, x.text(a, given, deep+1))
	}
	f := x.gives[name.Name]
	return x.text(f.Body.List[len(f.Body.List)-1].(*ast.ReturnStmt).Results[0], x.within(f, args, deep), deep+1)
}
