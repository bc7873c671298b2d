package internal_test

import (
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architecturePage = "docs/architecture.md"

var (
	packageRow = regexp.MustCompile("(?m)^\\| `([\\w/]+)` \\| (.+) \\| (.+) \\|$")
	inCode     = regexp.MustCompile("`([\\w/]+)`")
)

// TestThePageNamesEveryPackage: docs/architecture.md has one row for each package of the module, and
// says of each who may import it as the table of layers does.
func TestThePageNamesEveryPackage(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "./...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, p := range strings.Fields(string(out)) {
		there[strings.TrimPrefix(p, module)] = true
	}
	for _, complaint := range missRows(pageText(t, architecturePage), there, layers) {
		t.Error(complaint)
	}
}

// missRows says in what the rows of a page differ from the packages that are there and from
// who may import whom.
func missRows(page string, there map[string]bool, layers map[string][]string) (complaints []string) {
	rows := map[string]bool{}
	for _, row := range packageRow.FindAllStringSubmatch(page, -1) {
		pkg, said := row[1], row[3]
		if rows[pkg] || !there[pkg] {
			complaints = append(complaints, pkg+" has a row too many")
		}
		rows[pkg] = true
		var named []string
		for _, m := range inCode.FindAllStringSubmatch(said, -1) {
			if m[1] != "cmd" {
				named = append(named, m[1])
			}
		}
		if want := importers(pkg, layers); !slices.Equal(named, want) {
			complaints = append(complaints, pkg+" may be imported by `"+strings.Join(want, "`, `")+"`, and the page says "+said)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(there)) {
		if !rows[pkg] {
			complaints = append(complaints, pkg+" has no row: say in a sentence what it is")
		}
	}
	return complaints
}

// importers are the packages that may import one, as the page names them, those of cmd apart.
func importers(pkg string, layers map[string][]string) (names []string) {
	for importer, allowed := range layers {
		if slices.Contains(allowed, pkg) {
			names = append(names, strings.TrimPrefix(importer, "internal/"))
		}
	}
	slices.Sort(names)
	return names
}

// The check itself can fail.
func TestRowsThatMiss(t *testing.T) {
	t.Parallel()
	table := map[string][]string{"internal/a": {}, "internal/b": {"internal/a"}, "internal/c/d": {"internal/a"}, "cmd/x": {everything}}
	there := map[string]bool{"internal/a": true, "internal/b": true, "internal/c/d": true, "cmd/x": true}
	const a, b, d, x = "| `internal/a` | it is | `b`, `c/d` |\n", "| `internal/b` | it is | `cmd` alone |\n", "| `internal/c/d` | it is | tests |\n", "| `cmd/x` | it is | nobody |\n"
	for name, c := range map[string]struct{ page, want string }{
		"good":                {a + b + d + x, ""},
		"one is missing":      {a + b + x, "internal/c/d has no row"},
		"one is gone":         {a + b + d + x + "| `internal/e` | it was | nobody |\n", "internal/e has a row too many"},
		"twice":               {a + b + d + x + b, "internal/b has a row too many"},
		"an importer is left": {strings.Replace(a, ", `c/d`", "", 1) + b + d + x, "internal/a may be imported by `b`, `c/d`"},
		"one that may not":    {a + strings.Replace(b, "`cmd` alone", "`c/d`", 1) + d + x, "internal/b may be imported by ``"},
	} {
		got := missRows(c.page, there, table)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q, want one that says %q", name, got, c.want)
		}
	}
}
