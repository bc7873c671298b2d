package conformance_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/xds/conformance"
)

// TestEveryRuleHasItsTest: the tests of package xds bear the names of the rules, and each
// runs the checks of its own.
func TestEveryRuleHasItsTest(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "../rules_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		call, ok := fn.Body.List[0].(*ast.ExprStmt).X.(*ast.CallExpr)
		if !ok || len(call.Args) != 3 {
			t.Fatalf("%s does something else", fn.Name)
		}
		got = append(got, fn.Name.Name+" "+call.Args[1].(*ast.BasicLit).Value)
	}
	for n, r := range conformance.Rules {
		want = append(want, fmt.Sprintf("TestRule%02d%s %d", n, r.Name, n))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the tests are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestChecksAreWellFormed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range conformance.Checks() {
		if names[c.String()] {
			t.Errorf("%s is there twice", c)
		}
		names[c.String()] = true
		if c.Run == nil || !strings.HasSuffix(c.Shows, ".") || strings.Contains(c.Shows, "|") {
			t.Errorf("%s shows %q", c, c.Shows)
		}
	}
	for n, r := range conformance.Rules {
		if len(conformance.Of(n)) == 0 {
			t.Errorf("rule %d, %s, has no check", n, r.Name)
		}
	}
}

// A recorder notes how a check ends, whatever the check does.
func TestRecorder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  func(testing.TB)
		want string
	}{
		"passes":      {func(t testing.TB) { t.Log("fine") }, ""},
		"fails":       {func(t testing.TB) { t.Error("no"); t.Errorf("%d", 2) }, "no; 2"},
		"fails early": {func(t testing.TB) { t.Fatalf("no %d", 1) }, "no 1"},
		"panics":      {func(testing.TB) { panic("no") }, "panic: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cleaned := false
			r := newRecorder(t)
			if got := r.run(func(t testing.TB) {
				t.Cleanup(func() { cleaned = true })
				c.run(t)
			}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if r.clean(); !cleaned || r.Context().Err() == nil {
				t.Error("nothing was cleaned up")
			}
		})
	}
}
