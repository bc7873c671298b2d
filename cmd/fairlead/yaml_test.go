package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"fairlead/internal/resource"
)

func TestDocumentYAML(t *testing.T) {
	t.Parallel()
	in := `{"body": {"z": 1, "a": [], "m": {}, "on": "off", "list": [{"k": "v"}, 1e5, null, true], "num": "10", "dur": "0.25s", "script": "if x then\n  y()\nend\n", "esc": "\u001b[2J\u202e"},
		"type": "clusters", "name": "a/b c", "etag": "\"7-1\"", "revision": 7, "labels": {"team": "shop"}}`
	want := `type: clusters
name: a/b c
labels:
  team: shop
body:
  z: 1
  a: []
  m: {}
  "on": "off"
  list:
    - k: v
    - 1e5
    - null
    - true
  num: "10"
  dur: "0.25s"
  script: |
    if x then
      y()
    end
  esc: "\e[2J\u202E"
revision: 7
`
	got, err := documentYAML([]byte(in), documentFields)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// FuzzDocumentYAML: what get prints means to the API what the API answered, and holds
// nothing that a terminal would obey.
func FuzzDocumentYAML(f *testing.F) {
	for _, s := range []string{"", "on", "~", "0644", "a\n", "a\n\n", " a\n", "a \nb\n", "\ta\n", "a: b", "- a", "#", "a #b", "1:30", "0x1f", "\x1b[2J", "\u009b", "\u2028", "\u0085\n", "\u202egnp", "a\u200db\n", "\U000e0041", "---", "a\n---\nb\n", "'", "\"", "%a", "@a", "a\rb\n", "\ufeff", "\ufeff\n", "NaN", ".inf", "=", "<<", "2001-01-01", "a\n\tb\n", "|\n", "x\n# y\n", "e1", "_", "_1", "a..."} {
		f.Add(s, "k")
		f.Add("v", s)
	}
	f.Fuzz(func(t *testing.T, value, key string) {
		in, err := json.Marshal(map[string]any{"body": map[string]any{key: value, "deep": []any{map[string]any{"x": value}, value}}, "name": value})
		if err != nil {
			t.Fatal(err)
		}
		text, err := documentYAML(in, documentFields)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if i := bytes.IndexFunc(text, func(r rune) bool { return r != '\n' && (invisible(r) || unicode.In(r, unicode.Zl, unicode.Zp)) }); i >= 0 {
			t.Errorf("what a terminal obeys, or shows in another place, in %q", text)
		}
		back, err := resource.ToJSON(resource.YAML, text)
		if err != nil {
			t.Fatalf("%s\nbecame\n%s\n%v", in, text, err)
		}
		var before, after any
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(back, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s\nbecame\n%s\nand that\n%s", in, text, strings.TrimSpace(string(back)))
		}
	})
}
