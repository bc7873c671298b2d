package resource_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

var testKey = fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{2}}

func newCompiler() *resource.Compiler {
	return resource.NewCompiler(resource.Config{VersionKey: bytes.Repeat([]byte("versions"), 4)})
}

// compile takes a document in YAML the whole way.
func compile(text string) (resource.Compiled, error) {
	j, err := resource.ToJSON(resource.YAML, []byte(text))
	if err != nil {
		return resource.Compiled{}, err
	}
	d, err := resource.ParseDocument(j)
	if err != nil {
		return resource.Compiled{}, err
	}
	return newCompiler().Compile(testKey, d)
}

func mustCompile(t testing.TB, text string) resource.Compiled {
	t.Helper()
	c, err := compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// found is the errors without their sentences: "code pointer".
func found(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var errs resource.Errors
	if !errors.As(err, &errs) || !errors.Is(err, fleet.ErrInvalid) {
		t.Fatalf("the error is not resource.Errors: %v", err)
	}
	var out []string
	for _, e := range errs {
		out = append(out, e.Code+" "+e.Pointer)
	}
	return out
}

func errorsIs(err, kind error) bool { return errors.Is(err, kind) }

// asError makes an error of warnings, nil of none.
func asError(w []resource.FieldError) error {
	if len(w) == 0 {
		return nil
	}
	return resource.Errors(w)
}
