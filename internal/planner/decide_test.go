package planner

import (
	"os"
	"strings"
	"testing"
)

// decided are a row of the table in docs/planner.md: "any", or the values that it is about, then the action.
type decided struct{ cells []string }

func (d decided) is(column int, value string) bool {
	cell := strings.ReplaceAll(d.cells[column], "`", "")
	for one := range strings.SplitSeq(cell, ", ") {
		if one == "any" || one == value {
			return true
		}
	}
	return false
}

var (
	blockers   = []string{"unblocked", "missingDependency", "pendingCluster", "referenced", "inUse", "retained", "notDue"}
	knowledges = []string{"certain", "lastKnown", "someKnown", "unknown"}
	actions    = []string{"send", "substitute", "wait", "keep"}
)

// TestEveryDecisionStandsInTheTable: each combination of what decides stands in one row of the table in docs/planner.md, and becomes what that says.
func TestEveryDecisionStandsInTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/planner.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| blocker | only a write ends it |")
	table, _, _ = strings.Cut(table, "\n\n")
	var rows []decided
	for i, line := range strings.Split(table, "\n") {
		if i < 2 { // the rest of the heading
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 6 {
			t.Fatalf("%q has %d columns, want 6", line, len(cells))
		}
		rows = append(rows, decided{cells})
	}
	used := make([]bool, len(rows))
	yes := map[bool]string{true: "yes", false: "no"}
	for b, blocker1 := range blockers {
		for k, known := range knowledges {
			for bits := range 8 {
				s := situation{blocker: blocker(b), knowledge: knowledge(k), write: bits&1 > 0, earlier: bits&2 > 0, listener: bits&4 > 0}
				var found []decided
				for i, r := range rows {
					if r.is(0, blocker1) && r.is(1, yes[s.write]) && r.is(2, known) && r.is(3, yes[s.earlier]) && r.is(4, yes[s.listener]) {
						found, used[i] = append(found, r), true
					}
				}
				if len(found) != 1 {
					t.Errorf("%+v stands in %d rows, want one", s, len(found))
					continue
				}
				d := decide(s)
				want := strings.Trim(found[0].cells[5], "`")
				left := behind
				switch {
				case blocker1 == "unblocked" || blocker1 == "retained" || blocker1 == "notDue":
					left = inStep
				case s.write:
					left = keptBack
				}
				if want == "wait` or `keep" {
					want = map[bool]string{true: "keep", false: "wait"}[s.write]
				}
				if got := actions[d.action]; got != want || d.rest != left {
					t.Errorf("%+v becomes %s and leaves %d, want %s and %d", s, got, d.rest, want, left)
				}
			}
		}
	}
	for i, is := range used {
		if !is {
			t.Errorf("no combination stands in the row %q", rows[i].cells)
		}
	}
}
