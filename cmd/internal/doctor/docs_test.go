package doctor

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/doctor.md anew")

// TestThePageHasAllChecks: the table of docs/doctor.md is that of the code. -update writes it.
func TestThePageHasAllChecks(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "..", "docs", "doctor.md")
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const head, end = "| check | looks whether | needs |\n|---|---|---|\n", "\n\n"
	before, rest, found := strings.Cut(string(raw), head)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table, or nothing behind it", page)
	}
	var rows []string
	for _, c := range Checks() {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", c.ID, c.Looks, strings.Join(c.after, ", ")))
	}
	want := strings.Join(rows, "\n")
	if table == want {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+head+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s has another table: go test ./cmd/internal/doctor -run ThePage -update writes it:\n%s", page, want)
}
