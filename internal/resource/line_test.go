package resource_test

import (
	"testing"

	"fairlead/internal/resource"
)

func TestLineOf(t *testing.T) {
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
		if got := resource.LineOf(resource.YAML, []byte(yaml), c.pointer); got != c.yaml {
			t.Errorf("YAML %q: line %d, want %d", c.pointer, got, c.yaml)
		}
		if got := resource.LineOf(resource.JSON, []byte(json), c.pointer); got != c.json {
			t.Errorf("JSON %q: line %d, want %d", c.pointer, got, c.json)
		}
	}
	if got := resource.LineOf(resource.JSON, []byte("{"), "/a"); got != 0 {
		t.Errorf("of what is not JSON: line %d, want 0", got)
	}
	if got := resource.LineOf(resource.YAML, []byte("a: [\n"), "/a"); got != 0 {
		t.Errorf("of what is not YAML: line %d, want 0", got)
	}
}
