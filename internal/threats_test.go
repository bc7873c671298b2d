package internal_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// threats is how many docs/security.md lists: T01, T02 and so on.
const threats = 45

var (
	threatRow = regexp.MustCompile(`^\| (T\d\d) \|(.*)\|(.*)\|(.*)\|$`)
	testNamed = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestEveryThreatHasItsTest: docs/security.md has one row for each threat, in order, and every test
// that it names is there. A control without a test says that it is not there yet.
func TestEveryThreatHasItsTest(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOfTheTree(t)
	next := 1
	for line := range strings.Lines(string(page)) {
		row := threatRow.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		if want := fmt.Sprintf("T%02d", next); row[1] != want {
			t.Errorf("the row of %s stands where that of %s belongs", row[1], want)
		}
		next++
		named := testNamed.FindAllStringSubmatch(row[4], -1)
		if len(named) == 0 && !strings.Contains(row[4], "Not there yet") {
			t.Errorf("%s names no test and does not say \"Not there yet\"", row[1])
		}
		for _, n := range named {
			if !tests[n[1]] {
				t.Errorf("%s names the test %s, which there is not", row[1], n[1])
			}
		}
	}
	if next != threats+1 {
		t.Errorf("the page has %d rows, want %d", next-1, threats)
	}
}

// testsOfTheTree are the names of all tests of this module.
func testsOfTheTree(t *testing.T) map[string]bool {
	tests := map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(file)
		for _, f := range testFunc.FindAllSubmatch(src, -1) {
			tests[string(f[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
