package metrics

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/metrics.md")

const (
	page       = "../../docs/metrics.md"
	tableBegin = "<!-- The tables are written by: go test ./internal/metrics -run TestThePageHasEveryMetric -update -->\n"
	tableEnd   = "<!-- The end of the tables. -->\n"
)

// TestThePageHasEveryMetric: its tables are made of what is declared.
func TestThePageHasEveryMetric(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	next, err := withTables(string(b), Discard().Families())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, []byte(next), 0o644); err != nil { //nolint:gosec // everybody may read it
			t.Fatal(err)
		}
		return
	}
	if next != string(b) {
		t.Errorf("docs/metrics.md is not what is declared: run go test ./internal/metrics -run %s -update", t.Name())
	}
}

// withTables is the page with tables of these.
func withTables(text string, families []Family) (string, error) {
	before, rest, begins := strings.Cut(text, tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return "", fmt.Errorf("%s has no place for the tables: it needs the lines %q and %q", page, tableBegin, tableEnd)
	}
	return before + tableBegin + tables(families) + "\n" + tableEnd + after, nil
}

func tables(families []Family) string {
	var b strings.Builder
	for i, f := range families {
		if i == 0 || families[i-1].Section != f.Section {
			fmt.Fprintf(&b, "\n### %s\n\nOf %s.\n\n| metric | type | labels | what it is |\n|---|---|---|---|\n", f.Section, programs(f.Of))
		}
		var labels []string
		for _, l := range f.Labels {
			labels = append(labels, "`"+l.Name+"`: "+l.Values)
		}
		if f.Cell {
			labels = append(labels, "`cell`: with `--cells-file`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Kind, strings.Join(labels, "; "), f.Help)
	}
	return b.String()
}

func programs(of []Program) string {
	words := make([]string, len(of))
	for i, p := range of {
		words[i] = "`" + string(p) + "`"
	}
	return strings.Join(words, " and ")
}

// The check itself can fail.
func TestAPageThatMisses(t *testing.T) {
	t.Parallel()
	families := []Family{{"A", "a_total", Counter, "It counts.", []Label{{"why", "`x`"}}, []Program{XDS}, true}}
	whole, err := withTables("# M\n"+tableBegin+tableEnd+"end\n", families)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# M\n", "### A\n\nOf `xds`.\n", "| `a_total` | counter | `why`: `x`; `cell`: with `--cells-file` | It counts. |\n", tableEnd + "end\n"} {
		if !strings.Contains(whole, want) {
			t.Errorf("the page has no %q:\n%s", want, whole)
		}
	}
	if again, err := withTables(whole, families); err != nil || again != whole {
		t.Errorf("written again it is (%v)\n%s", err, again)
	}
	families[0].Help = "It counts more."
	if next, err := withTables(whole, families); err != nil || next == whole {
		t.Errorf("another meaning changes nothing (%v)", err)
	}
	for _, bad := range []string{"", tableBegin, tableEnd, tableEnd + tableBegin} {
		if _, err := withTables(bad, families); err == nil {
			t.Errorf("%q is taken for the page", bad)
		}
	}
}
