package migrations

import (
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// agreed is the last number of before the rule that schemas only expand (docs/database.md): servers of before a number go on beside those that came with
// it, and start again on its schema. Up to this one there was no release.
const agreed = 24

// contracts are statements that take something away all the same, and why no server of the release before misses it: the number of the file, then the
// statement as reduced writes it, or its beginning.
var contracts = map[string]string{}

// contracting are the forms of statements that servers of the release before may not survive, as reduced writes them.
var contracting = []struct {
	form *regexp.Regexp
	why  string
}{
	{form(`^drop (table|type|view|materialized view|schema|sequence|domain|role|policy|extension)\b`), "what is dropped may still be named"},
	{form(`^drop function\b`), "functions are dropped by what is laid anew (functions/), with their last callers"},
	{form(`^alter table (if exists )?(only )?([a-z_.]+|.*,) drop\b`), "a column or a constraint that is dropped may still be named, as by ON CONFLICT"},
	{form(`^alter (table|type|view|index|function|sequence|schema) .*\brename\b`), "the old name may still be used"},
	{form(`^alter table .*\balter (column )?"?[a-z_]+"? (set data )?type\b`), "a type that changes rewrites the table under a lock, and may not take what is written"},
	{form(`^alter table .*\balter (column )?"?[a-z_]+"? set not null\b`), "servers of before may leave it out"},
	{form(`^alter table .*\balter (column )?"?[a-z_]+"? drop default\b`), "servers of before leave it out"},
	{form(`^alter table .*\badd (constraint [a-z_"]+ )?(check|unique|primary key|foreign key|exclude)\b`), "servers of before may write what it refuses; it looks at every row under a lock"},
	{form(`^alter table .*\bset (schema|unlogged)\b`), "it is not where it was"},
	{form(`^alter type .*\b(drop|alter) attribute\b`), "the type is another one"},
	{form(`^create unique index\b`), "servers of before may write what it refuses"},
	{form(`^(truncate|delete)\b`), "rows that servers of before rely on may be among them"},
	{form(`^revoke\b`), "servers of before may need the right"},
	{form(`^(vacuum full|cluster|lock table)\b`), "nobody reads or writes meanwhile"},
}

func form(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// TestMigrationsOnlyExpand: in a rolling upgrade the schema is that of the new release, and servers of the last one work on it.
func TestMigrationsOnlyExpand(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(FS, "*.up.sql")
	if err != nil || len(files) < agreed-1 {
		t.Fatalf("%d migrations: %v", len(files), err)
	}
	unused := map[string]bool{}
	for k := range contracts {
		unused[k] = true
	}
	for _, file := range files {
		number, err := strconv.Atoi(file[:4])
		if err != nil {
			t.Fatal(err)
		}
		if number <= agreed {
			continue
		}
		text, err := fs.ReadFile(FS, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range contractions(string(text)) {
			listed := false
			for k := range contracts {
				if n, statement, _ := strings.Cut(k, " "); n == file[:4] && strings.HasPrefix(f.statement, statement) {
					listed = true
					delete(unused, k)
				}
			}
			if !listed {
				t.Errorf("%s: %q: %s. Expand now and contract a release later; what no server of the last release misses is listed in contracts, with the reason", file, f.statement, f.why)
			}
		}
	}
	for k := range unused {
		t.Errorf("contracts has %q, which no migration does", k)
	}
}

type contraction struct{ statement, why string }

// contractions are those of a file's statements that take something away.
func contractions(sql string) (found []contraction) {
	made := map[string]bool{} // by this file
	for _, s := range reduced(sql) {
		if m := created.FindStringSubmatch(s); m != nil {
			made[m[2]] = true
		}
		if m := subject.FindStringSubmatch(s); m != nil && made[m[1]] {
			continue // nobody of before knows it
		}
		for _, c := range contracting {
			if c.form.MatchString(s) {
				found = append(found, contraction{s, c.why})
			}
		}
		for _, column := range addedColumns(s) {
			if strings.Contains(column, "not null") && !strings.Contains(column, "default") && !strings.Contains(column, "generated") {
				found = append(found, contraction{s, "servers of before leave out a column that must be there: " + column})
			}
		}
	}
	return found
}

var (
	created = form(`^create (unlogged )?(?:table|type) (?:if not exists )?([a-z_.]+)`)
	subject = form(`^(?:alter table (?:if exists )?(?:only )?|create unique index (?:concurrently )?(?:if not exists )?[a-z_]+ on (?:only )?|delete from (?:only )?|revoke .* on (?:table )?)([a-z_.]+)`)
	adds    = form(`\badd (?:column )?(?:if not exists )?"?([a-z_]+)"? `)
)

// addedColumns are the parts of a statement that add one.
func addedColumns(statement string) (columns []string) {
	if !strings.HasPrefix(statement, "alter table ") {
		return nil
	}
	for _, at := range adds.FindAllStringSubmatchIndex(statement, -1) {
		if slices.Contains([]string{"constraint", "check", "unique", "primary", "foreign", "exclude"}, statement[at[2]:at[3]]) {
			continue
		}
		columns = append(columns, part(statement[at[0]:]))
	}
	return columns
}

// part is what comes before the first comma that no parenthesis holds.
func part(s string) string {
	depth := 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				return s[:i]
			}
		}
	}
	return s
}

var (
	comments = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)
	texts    = regexp.MustCompile(`(?s)'(?:[^']|'')*'`)
	quoted   = regexp.MustCompile(`(?s)\$([a-z_]*)\$`)
	spaces   = regexp.MustCompile(`\s+`)
)

// reduced are the statements of a file in small letters, with single spaces, without comments and texts. What a DO block or a function has between
// dollars is read as statements of its own: it may take something away as well.
func reduced(sql string) (statements []string) {
	sql = texts.ReplaceAllString(comments.ReplaceAllString(sql, " "), "''")
	sql = quoted.ReplaceAllString(sql, ";")
	for s := range strings.SplitSeq(strings.ToLower(sql), ";") {
		s = strings.TrimSpace(spaces.ReplaceAllString(s, " "))
		for cut := true; cut; { // of what stands before a statement within a block
			s, cut = strings.CutPrefix(s, "begin ")
		}
		if _, after, is := strings.Cut(s, " then "); is && strings.HasPrefix(s, "if ") {
			s = after
		}
		if s != "" {
			statements = append(statements, s)
		}
	}
	return statements
}

// TestWhatContracts: the forms that are refused, and those beside them that are not.
func TestWhatContracts(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"DROP TABLE nodes;",
		"drop type x CASCADE;",
		"DROP FUNCTION f(uuid);",
		"ALTER TABLE nodes DROP COLUMN a;",
		"ALTER TABLE ONLY nodes ADD COLUMN b integer NOT NULL DEFAULT 0, DROP a;",
		"ALTER TABLE nodes RENAME TO knots;",
		"ALTER TABLE nodes RENAME COLUMN a TO b;",
		"ALTER TYPE kind RENAME VALUE 'a' TO 'b';",
		"ALTER TABLE nodes ALTER COLUMN a TYPE bigint;",
		"ALTER TABLE nodes ALTER a SET DATA TYPE bigint USING a::bigint;",
		"ALTER TABLE nodes ALTER a SET NOT NULL;",
		"ALTER TABLE nodes ALTER a DROP DEFAULT;",
		"ALTER TABLE nodes ADD COLUMN a integer NOT NULL;",
		"ALTER TABLE nodes ADD a integer CHECK (a > 0) NOT NULL;",
		"ALTER TABLE nodes ADD COLUMN a integer DEFAULT 0, ADD COLUMN b integer NOT NULL;",
		"ALTER TABLE nodes ADD CONSTRAINT c CHECK (a > 0);",
		"ALTER TABLE nodes ADD UNIQUE (a);",
		"CREATE UNIQUE INDEX i ON nodes (a);",
		"ALTER TABLE nodes DROP CONSTRAINT nodes_pkey;",
		"DELETE FROM nodes;", "TRUNCATE nodes;",
		"REVOKE SELECT ON nodes FROM fairlead_app;",
		"-- first\nSET lock_timeout = '1s'; /* then */ DROP TABLE nodes;",
		"DO $$ BEGIN DROP TABLE nodes; END $$;",
		"DO $x$ BEGIN IF true THEN ALTER TABLE nodes DROP COLUMN a; END IF; END $x$;",
	} {
		if len(contractions(sql)) == 0 {
			t.Errorf("%q is let pass", sql)
		}
	}
	for _, sql := range []string{
		"CREATE TABLE things (a integer NOT NULL, b text); ALTER TABLE things ADD COLUMN c integer NOT NULL; CREATE UNIQUE INDEX i ON things (a);",
		"CREATE TYPE kind AS ENUM ('a', 'drop table nodes;');",
		"ALTER TYPE kind ADD VALUE 'b';",
		"ALTER TABLE nodes ADD COLUMN a integer;",
		"ALTER TABLE nodes ADD COLUMN a integer NOT NULL DEFAULT 0;",
		"ALTER TABLE nodes ADD COLUMN a numeric(4, 2) DEFAULT 0 NOT NULL, ADD b integer;",
		"ALTER TABLE nodes ALTER a DROP NOT NULL, ALTER b DROP NOT NULL;",
		"ALTER TABLE nodes ALTER a SET DEFAULT 1;",
		"CREATE INDEX i ON nodes (a);",
		"-- DROP TABLE nodes;\nSELECT 1;",
		"GRANT SELECT ON nodes TO fairlead_app; UPDATE nodes SET a = 1;",
	} {
		if found := contractions(sql); len(found) > 0 {
			t.Errorf("%q is refused: %q", sql, found)
		}
	}
}

// TestTheOldMigrationsContract: the lint reads the files as they are: of those of before the rule it finds what they are known for.
func TestTheOldMigrationsContract(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(FS, "0024_*.up.sql")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := fs.ReadFile(FS, files[0])
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(contractions(string(text)), func(c contraction) bool { return strings.Contains(c.statement, "rename") }) {
		t.Errorf("%s renames tables, and the lint does not see it", files[0])
	}
}
