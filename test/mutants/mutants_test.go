package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestEveryRuleHasAMutantThatApplies, so that a change of the engine cannot leave one
// behind unseen; that each is noticed is shown by "make mutants".
func TestEveryRuleHasAMutantThatApplies(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	ms, err := load(".")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	threat := regexp.MustCompile(`^t\d\d-`)
	for _, m := range ms {
		if m.pkg == "./internal/xds" && !threat.MatchString(m.name()) { // the others are of what the rules are kept by
			tests[m.test] = true
		}
		if !hasTest(t, filepath.Join(root, m.pkg), m.test) {
			t.Errorf("%s is of %s, which is not in %s", m.file, m.test, m.pkg)
		}
		if _, err := m.apply(t.Context(), root, t.TempDir()); err != nil {
			t.Errorf("%s %v", m.file, err)
		}
		if !hasTest(t, filepath.Join(root, m.pkg), m.test) {
			t.Errorf("%s: %s has no %s", m.file, m.pkg, m.test)
		}
	}
	source, err := os.ReadFile(filepath.Join(root, "internal/xds/rules_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	rules := regexp.MustCompile(`(?m)^func (TestRule\w+)\(`).FindAllStringSubmatch(string(source), -1)
	if len(rules) == 0 {
		t.Fatal("no rule has a test")
	}
	for _, r := range rules {
		if !tests[r[1]] {
			t.Errorf("%s has no mutant: nothing shows that it can fail", r[1])
		}
		delete(tests, r[1])
	}
	left := make([]string, 0, len(tests))
	for name := range tests {
		left = append(left, name)
	}
	if slices.Sort(left); len(left) > 0 {
		t.Errorf("mutants of tests that are no rule's: %v", left)
	}
}

// hasTest reports whether a package has the test.
func hasTest(t *testing.T, pkg, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(text, []byte("\nfunc "+test+"(t "))
	})
}
