package resource_test

import (
	"testing"

	"fairlead/internal/resource"
)

func TestLines(t *testing.T) {
	t.Parallel()
	yaml := "# about\ntype: clusters\nbody:\n  name: a\n  list:\n  - x: 1\n  -\n    a/b: 2\n"
	json := "{\n  \"type\": \"clusters\",\n  \"body\": {\"name\": \"a\",\n    \"list\": [\n      {\"x\": 1},\n\n      {\"a/b\":\n 2}]}}"
	for _, c := range []struct {
		pointer    string
		yaml, json int
	}{
		{"", 2, 1}, {"/type", 2, 2}, {"/body", 3, 3}, {"/body/name", 4, 3}, {"/body/list/0/x", 6, 5}, {"/body/list/1", 8, 7}, {"/body/list/1/a~1b", 8, 7},
		{"/body/missing/deeper", 3, 3}, {"/body/list/7", 5, 4}, {"/body/list/-1", 5, 4}, {"/none", 2, 1},
	} {
		if got := resource.NewLines(resource.YAML, []byte(yaml)).Of(c.pointer); got != c.yaml {
			t.Errorf("YAML %q: line %d, want %d", c.pointer, got, c.yaml)
		}
		if got := resource.NewLines(resource.JSON, []byte(json)).Of(c.pointer); got != c.json {
			t.Errorf("JSON %q: line %d, want %d", c.pointer, got, c.json)
		}
	}
	aliased := "\ufeff!ignore x: &x\n  b: 1\n  c: {d: 2}\na: *x\ne:\n  <<: [*x, {f: 1}]\n  g: 1\n"
	for pointer, want := range map[string]int{"/a": 4, "/a/b": 2, "/a/c/d": 3, "/e/b": 2, "/e/f": 6, "/e/g": 7, "/x/b": 1, "/a/c/0/d/0": 3} {
		if got := resource.NewLines(resource.YAML, []byte(aliased)).Of(pointer); got != want {
			t.Errorf("aliases %q: line %d, want %d", pointer, got, want)
		}
	}
	if got := resource.NewLines(resource.YAML, []byte("---\n---\na: 1\n---\n")).Of("/a"); got != 3 {
		t.Errorf("among documents that hold nothing: line %d", got)
	}
	if got := resource.NewLines(resource.JSON, []byte("\ufeff{\n\"a\": 1}")).Of("/a"); got != 2 {
		t.Errorf("behind a byte order mark: line %d", got)
	}
	if got := resource.NewLines(resource.JSON, []byte("{")).Of("/a"); got != 0 {
		t.Errorf("of what is not JSON: line %d, want 0", got)
	}
	if got := resource.NewLines(resource.YAML, []byte("a: [\n")).Of("/a"); got != 0 {
		t.Errorf("of what is not YAML: line %d, want 0", got)
	}
}
