package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// throughContext are the places of the API where something travels in a request's context, and why it is no argument there. The key is the file, the function, and
// what puts it in or reads it.
var throughContext = map[string]string{
	"request.go logged context.WithValue":  "net/http's handlers get a request alone",
	"cells.go ServeHTTP context.WithValue": "net/http's handlers get a request alone",
	"request.go noteIn ctx.Value":          "the one place that reads the note, with which the call is",
	"cells_find.go foundBefore ctx.Value":  "the one place that reads what the front of several cells has found",
	"authenticate.go newCall foundBefore":  "from here on it is in the call",
	"request.go note noteIn":               "of a request, which nothing below a handler has",
	"traces.go Handle noteIn":              "slog's handlers get a context alone",
	"api.go routes callIn":                 "the generated code gives it to each handler",
	"authenticate.go callOf callIn":        "of a request, which the middleware has",
	"authenticate.go callIn noteIn":        "the one place that reads the call",
	"authenticate.go authorized callOf":    "middleware",
	"body.go body callOf":                  "middleware",
	"computing.go checked callOf":          "middleware",
	"in_turn.go inTurn callOf":             "middleware",
	"latest.go latest callOf":              "middleware",
	"paced.go paced callOf":                "middleware",
}

// contextUses returns what in a file puts something into a context or reads it, itself or by one of the functions that do.
func contextUses(name string, f *ast.File) (found []string) {
	for _, d := range f.Decls {
		where, own := "-", (*ast.Ident)(nil)
		if fn, ok := d.(*ast.FuncDecl); ok {
			where, own = fn.Name.Name, fn.Name
		}
		note := func(what string) { found = append(found, name+" "+where+" "+what) }
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr: // with an argument: the Value of others has none
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Value" && len(n.Args) > 0 {
					note(text(s))
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "WithValue" {
					note(text(n))
				}
			case *ast.Ident: // called here, or handed on
				if n != own && slices.Contains([]string{"noteIn", "callIn", "callOf", "foundBefore"}, n.Name) {
					note(n.Name)
				}
			}
			return true
		})
	}
	return found
}

// Who calls, with which body, and what is noted of the request are arguments of what is below a handler.
func TestCallsAreArguments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("httpapi/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range contextUses(filepath.Base(file), f) {
			if found[x] = true; throughContext[x] == "" {
				t.Errorf("%q uses the context: give what it is about as an argument", x)
			}
		}
	}
	for _, x := range slices.Sorted(maps.Keys(throughContext)) {
		if !found[x] {
			t.Errorf("%q is not there any more", x)
		}
	}
}

// The check itself can fail.
func TestUsesOfAContextAreFound(t *testing.T) {
	t.Parallel()
	src := `package p
func a(ctx context.Context) { _ = ctx.Value(k{}); noteIn(ctx); give(callOf); log.Value() }
func (x *T) b(r *http.Request) { r = r.WithContext(context.WithValue(r.Context(), k{}, 1)); callOf(r).note = x.note }
func callOf(r *http.Request) *call { return foundBefore(r.Context()).call }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p.go a ctx.Value", "p.go a noteIn", "p.go a callOf", "p.go b context.WithValue", "p.go b callOf", "p.go callOf foundBefore"}
	if got := contextUses("p.go", f); !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}
