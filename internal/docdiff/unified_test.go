package docdiff

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing": {`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, ""},
		"new": {"", `{"name": "a", "list": [1, {"x": [], "y": [[2]]}], "none": {}}`, `--- /dev/null
+++ to
@@ -0,0 +1,7 @@
+name: a
+list:
+  - 1
+  - x: []
+    "y":
+      - - 2
+none: {}
`},
		"gone": {`"x"`, "", "--- from\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"},
		"a value": {`{"type": "clusters", "body": {"name": "a", "connect_timeout": "1s", "type": "EDS"}}`, `{"type": "clusters", "body": {"name": "a", "connect_timeout": "2s", "type": "EDS"}}`, `--- from
+++ to
@@ -1,5 +1,5 @@
 type: clusters
 body:
   name: a
-  connect_timeout: "1s"
+  connect_timeout: "2s"
   type: EDS
`},
		"far apart": {`[1,2,3,4,5,6,7,8,9,10,11]`, `["1",2,3,4,5,6,7,8,9,10,"11"]`, `--- from
+++ to
@@ -1,4 +1,4 @@
-- 1
+- "1"
 - 2
 - 3
 - 4
@@ -8,4 +8,4 @@
 - 8
 - 9
 - 10
-- 11
+- "11"
`},
		"not so far apart": {`[1,2,3,4,5,6,7,8]`, `["1",2,3,4,5,6,7,"8"]`, `--- from
+++ to
@@ -1,8 +1,8 @@
-- 1
+- "1"
 - 2
 - 3
 - 4
 - 5
 - 6
 - 7
-- 8
+- "8"
`},
		"an item's first line moves to its dash": {`[{"a": 1, "b": {"c": 2}}]`, `[{"b": {"c": 2}}]`, `--- from
+++ to
@@ -1,3 +1,2 @@
-- a: 1
-  b:
+- b:
     c: 2
`},
		"a script": {`{"code": "one\ntwo\n\nthree\n"}`, `{"code": "one\n2\n\nthree\n"}`, `--- from
+++ to
@@ -1,5 +1,5 @@
 code: |
   one
-  two
+  2

   three
`},
		"nothing is invisible": {`{"a": "x"}`, `{"a": "\u001b[2J\u202e\u0085\ud83d\ude00\udb40\udc01\u007f\ufeff no: yes"}`, `--- from
+++ to
@@ -1 +1 @@
-a: x
+a: "\u001b[2J\u202e\u0085😀\U000e0001\u007f\ufeff no: yes"
`},
		"words that are texts": {`{"on": 1}`, `{"on": "no", "1": "null"}`, `--- from
+++ to
@@ -1 +1,2 @@
-"on": 1
+"on": "no"
+"1": "null"
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compare(t, c.before, c.after)
			if diff := cmp.Diff(strings.ReplaceAll(c.want, "\n\n", "\n \n"), d.Unified("from", "to", Context)); diff != "" {
				t.Error(diff)
			}
			readsBack(t, c.before, c.after, d)
		})
	}
}

// readsBack checks that a diff with all lines holds both documents, as YAML.
func readsBack(t *testing.T, before, after string, d Diff) {
	t.Helper()
	whole := d.Unified("from", "to", math.MaxInt32)
	if whole == "" {
		return
	}
	var one, other strings.Builder
	for _, l := range strings.SplitAfter(whole, "\n")[3:] {
		if l == "" {
			continue
		}
		if l[0] != '+' {
			one.WriteString(l[1:])
		}
		if l[0] != '-' {
			other.WriteString(l[1:])
		}
	}
	for _, side := range []struct{ doc, text string }{{before, one.String()}, {after, other.String()}} {
		if side.doc == "" {
			if side.text != "" {
				t.Fatalf("no document is\n%s", side.text)
			}
			continue
		}
		n, err := ids{}.parse([]byte(side.doc))
		if err != nil {
			t.Fatal(err)
		}
		var y yaml.Node
		if err := yaml.Unmarshal([]byte(side.text), &y); err != nil {
			t.Fatalf("%s\nis no YAML: %v", side.text, err)
		}
		if len(y.Content) != 1 || !equal(n, y.Content[0]) {
			t.Fatalf("%s\nis not\n%s", side.text, side.doc)
		}
	}
}

func equal(n *node, y *yaml.Node) bool {
	switch n.kind {
	case text:
		return y.Kind == yaml.ScalarNode && y.Tag == "!!str" && y.Value == n.text
	case scalar:
		return y.Kind == yaml.ScalarNode && y.Style == 0 && y.Value == n.raw
	case list:
		if y.Kind != yaml.SequenceNode || len(y.Content) != len(n.items) {
			return false
		}
		for i, item := range n.items {
			if !equal(item, y.Content[i]) {
				return false
			}
		}
		return true
	}
	if y.Kind != yaml.MappingNode || len(y.Content) != 2*len(n.members) {
		return false
	}
	for i := 0; i < len(y.Content); i += 2 {
		value := n.member(y.Content[i].Value)
		if value == nil || y.Content[i].Tag != "!!str" || !equal(value, y.Content[i+1]) {
			return false
		}
	}
	return true
}

func FuzzCompare(f *testing.F) {
	for _, doc := range []string{
		`{"a": 1, "b": [1, 2, {"name": "x"}]}`, `{"b": [{"name": "x", "y": "one\ntwo\n"}, 2], "c": null}`, `[[[]], {}, "", "- x", "a: b", "#", "\t"]`,
		`[{"name": "a"}, {"name": "b", "v": [1, 1, 2]}, {"x": 1}, {"x": 1}]`, `{"": {"": "\n"}, "~/": "no", "?": "|\n"}`, `"one\n\n two\n"`, `1e400`, `-0`,
	} {
		f.Add(doc, `{"b": [1, {"name": "x", "y": "one\n2\n"}], "a": true}`)
		f.Add(`[{"name": "b", "v": [1, 2]}, {"name": "c"}, {"x": 2}]`, doc)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		d, err := Compare(docOf(before), docOf(after))
		if err != nil || len(before)+len(after) > 1<<12 || longKey(d.before) || longKey(d.after) {
			return
		}
		patched(t, before, after, d)
		readsBack(t, before, after, d)
	})
}

// longKey: YAML takes a key of more than 1024 characters in another form alone, and no
// document of Envoy's has one.
func longKey(n *node) bool {
	if n == nil {
		return false
	}
	for _, m := range n.members {
		if len(keyText(m.key)) > 1000 || longKey(m.value) {
			return true
		}
	}
	return slices.ContainsFunc(n.items, longKey)
}
