package store_test

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// words are a part of a statement: each is a string or, of what stands in parentheses, words again. Keywords are written in capitals, as everywhere in
// this repository.
type words []any

// unread stands for what is not known of a text that a program puts together.
const unread = "unread__"

var (
	wordOf     = regexp.MustCompile(`--[^\n]*|'(?:[^']|'')*'|::[\w.]+|[A-Za-z_%][\w$%]*(?:\.(?:[A-Za-z_%][\w$%]*|\*))*|\$\d+|[0-9.]+|<=|>=|<>|:=|\|\||\S`)
	aliasOf    = regexp.MustCompile(`^[a-z_]\w*$`)
	valueOf    = regexp.MustCompile(`^[\w$%']`)
	namesTable = regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE|INTO) (?:ONLY )?(?:public\.)?(\w+)`)
	noSource   = []string{"WHERE", "GROUP", "ORDER", "LIMIT", "SET", "OFFSET", "RETURNING", "SELECT", "HAVING", "WINDOW", "FOR"}
	clauses    = append([]string{"ON", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "WHEN", "THEN", "ELSE", "IF", "PERFORM", "INTO"}, noSource...)
	queries    = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}
	begins     = append([]string{"PERFORM", "RETURN", "IF", "FOR", "EXECUTE"}, queries...)
	separates  = []string{";", "UNION", "EXCEPT", "INTERSECT", "LOOP", "BEGIN"}
)

// readWords reads a text without its comments and casts. What is in quotes is one word.
func readWords(text string) words {
	open := []words{nil}
	for _, w := range wordOf.FindAllString(text, -1) {
		last := len(open) - 1
		switch {
		case strings.HasPrefix(w, "--"), strings.HasPrefix(w, "::"):
		case w == "(":
			open = append(open, nil)
		case w == ")" && last > 0:
			open[last-1] = append(open[last-1], open[last])
			open = open[:last]
		default:
			open[last] = append(open[last], w)
		}
	}
	for len(open) > 1 { // a part of a text may end within parentheses
		last := len(open) - 1
		open[last-1] = append(open[last-1], open[last])
		open = open[:last]
	}
	return open[0]
}

// at is the word at i, "" where there is none or a group.
func (s words) at(i int) string {
	if i < 0 || i >= len(s) {
		return ""
	}
	w, _ := s[i].(string)
	return w
}

// group is the group at i, and whether there is one.
func (s words) group(i int) (words, bool) {
	if i < 0 || i >= len(s) {
		return nil, false
	}
	g, ok := s[i].(words)
	return g, ok
}

// all are the words, those of groups too.
func (s words) all() (out []string) {
	for i := range s {
		if g, ok := s.group(i); ok {
			out = append(out, g.all()...)
		} else {
			out = append(out, s.at(i))
		}
	}
	return out
}

// isQuery reports whether a group is a statement.
func (s words) isQuery() bool {
	return slices.Contains(queries, s.at(0)) || slices.Contains(s, any("SELECT"))
}

// statements are those that follow each other, or are sides of a UNION.
func (s words) statements() []words {
	out := []words{nil}
	for i, w := range s {
		last := len(out) - 1
		switch word := s.at(i); {
		case slices.Contains(separates, word), (word == "THEN" || word == "ELSE") && slices.Contains(begins, s.at(i+1)):
			out = append(out, nil)
		default:
			out[last] = append(out[last], w)
		}
	}
	return slices.DeleteFunc(out, func(s words) bool { return len(s) == 0 })
}

// alias is the name that the words from i on give to what stands before them.
func (s words) alias(i int) string {
	if s.at(i) == "AS" {
		i++
	}
	if aliasOf.MatchString(s.at(i)) {
		return s.at(i)
	}
	return ""
}

// binds reports whether all rows have to meet the condition at i: it is one of WHERE or ON, or of a group that is, and no side of an OR.
func (s words) binds(i int, group bool) bool {
	clause := func(w string) bool { return slices.Contains(clauses, w) }
	before := i
	for before--; before >= 0 && !clause(s.at(before)); before-- {
		if s.at(before) == "OR" {
			return false
		}
	}
	for after := i + 1; after < len(s) && !clause(s.at(after)); after++ {
		if s.at(after) == "OR" {
			return false
		}
	}
	return s.at(before) == "WHERE" || s.at(before) == "ON" || before < 0 && group
}

// origin is where a tenant that a table is asked for comes from.
type origin int

const (
	nowhere origin = iota
	one            // a value: the transaction's tenant, a parameter, a variable
	inner          // rows of a subquery, which is judged by itself
	each           // the elements of an array
)

// tenantRef is a table of tenants that a statement names.
type tenantRef struct {
	table string
	from  []origin
	same  []*tenantRef // they have the same tenant
	place bool         // its rows are found by ctid
}

// column is what says which tenant a row of the table is of.
func (r *tenantRef) column() string {
	if r.table == "tenants" {
		return "id"
	}
	return "tenant_id"
}

// judge says how the table is asked for, "" if for one tenant.
func (r *tenantRef) judge() string {
	var from []origin
	place := false
	met := map[*tenantRef]bool{}
	for next := []*tenantRef{r}; len(next) > 0; {
		x := next[0]
		next = next[1:]
		if !met[x] {
			met[x] = true
			from, place, next = append(from, x.from...), place || x.place, append(next, x.same...)
		}
	}
	switch {
	case slices.Contains(from, one), slices.Contains(from, inner):
		return ""
	case slices.Contains(from, each):
		return r.table + " of each"
	case place:
		return r.table + " by ctid"
	}
	return r.table
}

// names are what a statement calls its tables and subqueries, each a *tenantRef or an origin.
type names struct {
	of    map[string]any
	own   []*tenantRef // of this statement, without those of subqueries, and without what is inserted into
	outer *names
}

func (n *names) find(name string) (any, bool) {
	for ; n != nil; n = n.outer {
		if v, ok := n.of[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// tenantReader looks which tables of tenants a text names, and whether it asks each for one tenant.
type tenantReader struct {
	tables map[string]bool
	refs   []*tenantRef
	made   bool // a table's name is put together
}

// query reads statements, which see what the outer one has.
func (r *tenantReader) query(s words, outer *names, with map[string]origin) {
	with = r.with(s, with)
	for _, part := range s.statements() {
		n := &names{of: map[string]any{}, outer: outer}
		r.sources(part, n, with)
		r.conditions(part, n, with, false)
	}
}

// with are the subqueries that have names.
func (r *tenantReader) with(s words, outer map[string]origin) map[string]origin {
	out := map[string]origin{}
	maps.Copy(out, outer)
	for i := range s {
		g, ok := s.group(i)
		if !ok {
			continue
		}
		j := i - 1
		for s.at(j) == "MATERIALIZED" || s.at(j) == "NOT" {
			j--
		}
		if s.at(j) != "AS" {
			continue
		}
		if _, columns := s.group(j - 1); columns {
			j--
		}
		if aliasOf.MatchString(s.at(j - 1)) {
			out[s.at(j-1)] = r.origin(g, out)
		}
	}
	return out
}

// origin is what a tenant that comes out of a subquery is.
func (r *tenantReader) origin(g words, with map[string]origin) origin {
	all := g.all()
	out := one
	for i, w := range all {
		switch {
		case with[w] == inner, i > 0 && r.tables[w] && slices.Contains([]string{"FROM", "JOIN", "UPDATE", "INTO"}, all[i-1]):
			return inner
		case w == "unnest" || with[w] == each:
			out = each
		case w == "FROM" && out == one:
			out = nowhere
		}
	}
	return out
}

// sources notes what a statement reads and writes.
func (r *tenantReader) sources(s words, n *names, with map[string]origin) {
	from := false
	for i := range s {
		word := s.at(i)
		switch {
		case word == "FROM" && s.at(i-1) != "DISTINCT", word == "JOIN", word == "USING" && s.at(i+1) != "":
			from = true
			r.source(s, i+1, n, with)
		case word == "," && from:
			r.source(s, i+1, n, with)
		case word == "UPDATE" && !slices.Contains([]string{"FOR", "KEY", "DO"}, s.at(i-1)):
			r.source(s, i+1, n, with)
		case word == "INTO" && s.at(i-1) == "INSERT":
			r.target(s, i+1, n)
		case slices.Contains(noSource, word):
			from = false
		}
	}
}

func (r *tenantReader) source(s words, i int, n *names, with map[string]origin) {
	for s.at(i) == "ONLY" || s.at(i) == "LATERAL" {
		i++
	}
	if g, ok := s.group(i); ok {
		if !g.isQuery() { // tables that are joined
			r.sources(append(words{"FROM"}, g...), n, with)
		} else if a := s.alias(i + 1); a != "" {
			n.of[a] = r.origin(g, with)
		}
		return
	}
	table := strings.TrimPrefix(s.at(i), "public.")
	if _, function := s.group(i + 1); function {
		i += 2
		if s.at(i) == "WITH" && s.at(i+1) == "ORDINALITY" {
			i += 2
		}
		o := nowhere
		if table == "unnest" {
			o = each
		}
		n.of[cmp.Or(s.alias(i), table)] = o
		return
	}
	a := cmp.Or(s.alias(i+1), table)
	o, named := with[table]
	switch {
	case r.tables[table] && !named:
		ref := &tenantRef{table: table}
		n.of[a], n.own, r.refs = ref, append(n.own, ref), append(r.refs, ref)
	case named:
		n.of[a] = o
	default:
		n.of[a] = inner // what a trigger is given; no other table has a tenant
		r.made = r.made || strings.Contains(table, unread) || strings.Contains(table, "%")
	}
}

// target notes a table that is inserted into: its columns have to be named, and one is the tenant.
func (r *tenantReader) target(s words, i int, n *names) {
	table := strings.TrimPrefix(s.at(i), "public.")
	if !r.tables[table] {
		r.made = r.made || strings.Contains(table, unread) || strings.Contains(table, "%")
		return
	}
	ref := &tenantRef{table: table}
	a := s.alias(i + 1)
	if a != "" {
		i += 2
	}
	if columns, ok := s.group(i + 1); ok && slices.Contains(columns, any(ref.column())) {
		ref.from = append(ref.from, one)
	}
	n.of[cmp.Or(a, table)], r.refs = ref, append(r.refs, ref)
}

// conditions looks for what the tenants of tables are compared with. Of a group it is told whether it binds.
func (r *tenantReader) conditions(s words, n *names, with map[string]origin, binds bool) {
	for i := range s {
		if g, ok := s.group(i); ok {
			if g.isQuery() {
				r.query(g, n, with)
			} else {
				r.conditions(g, n, with, s.binds(i, binds))
			}
			continue
		}
		right := i + 1
		switch {
		case s.at(i) == "=":
		case s.at(i) == "IS" && s.at(i+1) == "NOT" && s.at(i+2) == "DISTINCT":
			right = i + 4
		default:
			continue
		}
		if alias, ok := strings.CutSuffix(s.at(i-1), ".ctid"); ok {
			v, _ := n.find(alias)
			if ref, ok := v.(*tenantRef); ok {
				ref.place = true
			}
		}
		if s.binds(i, binds) {
			n.equal(n.left(s, i-1), n.right(s, right))
		}
	}
}

// left is what stands before an =, of rows their first column.
func (n *names) left(s words, i int) any {
	if g, ok := s.group(i); ok {
		if aliasOf.MatchString(s.at(i - 1)) {
			return nil // what a function is given
		}
		return n.tenant(g.at(0))
	}
	return n.tenant(s.at(i))
}

// right is what stands behind an =.
func (n *names) right(s words, i int) any {
	if g, ok := s.group(i); ok {
		return n.tenant(g.at(0))
	}
	if _, call := s.group(i + 1); call && s.at(i) != "app_tenant" && s.at(i) != "coalesce" {
		return nil
	}
	return n.tenant(s.at(i))
}

// tenant is the table whose tenant a word is, or where the word comes from; nil if it says nothing of a tenant.
func (n *names) tenant(word string) any {
	if alias, column, ok := strings.Cut(word, "."); ok && aliasOf.MatchString(column) {
		v, known := n.find(alias)
		if ref, ok := v.(*tenantRef); ok {
			if column != ref.column() {
				return nil
			}
			return ref
		}
		if !known {
			return one // a row that is a variable
		}
		return v
	}
	if len(n.own) == 1 && word == n.own[0].column() {
		return n.own[0]
	}
	if word == "tenant_id" || slices.Contains([]string{"ANY", "ALL", "ARRAY", "SELECT", "CASE", "NULL"}, word) || !valueOf.MatchString(word) {
		return nil
	}
	return one
}

func (n *names) equal(a, b any) {
	x, isX := a.(*tenantRef)
	y, isY := b.(*tenantRef)
	switch {
	case isX && isY && x != y:
		x.same, y.same = append(x.same, y), append(y.same, x)
	case isX && !isY:
		if o, ok := b.(origin); ok {
			x.from = append(x.from, o)
		}
	case isY && !isX:
		if o, ok := a.(origin); ok {
			y.from = append(y.from, o)
		}
	}
}

// tenantsOf reads a text and says of each table of tenants how it is asked for, where that is not for one tenant, each once; and how many it names.
func tenantsOf(text string, tables map[string]bool) (wide []string, named int) {
	plain := 0 // how many a plain look finds
	r := &tenantReader{tables: tables}
	s := readWords(text)
	r.query(s, nil, nil)
	for _, ref := range r.refs {
		if how := ref.judge(); how != "" {
			wide = append(wide, how)
		}
	}
	all := s.all()
	if r.made || slices.Contains(all, "EXECUTE") {
		wide = append(wide, "a text that is put together")
	}
	for _, m := range namesTable.FindAllStringSubmatch(strings.Join(all, " "), -1) {
		if tables[m[1]] {
			plain++
		}
	}
	if plain > len(r.refs) {
		wide = append(wide, "a statement that is not understood")
	}
	slices.Sort(wide)
	return slices.Compact(wide), len(r.refs)
}
