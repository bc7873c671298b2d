package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestSplitYAML(t *testing.T) {
	t.Parallel()
	type doc struct {
		line int
		text string
	}
	for _, c := range []struct {
		name, in string
		want     []doc
	}{
		{"empty", "", nil},
		{"only comments", "# a\n\n---\n# b\n--- # c\n", nil},
		{"one", "a: 1", []doc{{1, "a: 1"}}},
		{"two", "a: 1\n---\nb: 2\n", []doc{{1, "a: 1\n"}, {2, "---\nb: 2\n"}}},
		{"leading marker", "---\na: 1\n---\nb: 2", []doc{{1, "---\na: 1\n"}, {3, "---\nb: 2"}}},
		{"trailing marker", "a: 1\n---\n", []doc{{1, "a: 1\n"}}},
		{"empty between", "a: 1\n---\n# none\n---\nb: 2\n", []doc{{1, "a: 1\n"}, {4, "---\nb: 2\n"}}},
		{"comment first", "# about\n---\na: 1\n", []doc{{1, "# about\n---\na: 1\n"}}},
		{"content beside the marker", "--- {a: 1}\n--- {b: 2}\n", []doc{{1, "--- {a: 1}\n"}, {2, "--- {b: 2}\n"}}},
		{"end marker", "a: 1\n...\nb: 2\n", []doc{{1, "a: 1\n...\n"}, {3, "b: 2\n"}}},
		{"directive", "%YAML 1.2\n---\na: 1\n", []doc{{1, "%YAML 1.2\n---\na: 1\n"}}},
		{"directive is not lost", "---\n%YAML 1.2\n", []doc{{1, "---\n%YAML 1.2\n"}}},
		{"CRLF", "a: 1\r\n---\r\nb: 2\r\n", []doc{{1, "a: 1\r\n"}, {2, "---\r\nb: 2\r\n"}}},
		{"indented in a block", "a: |\n  x\n  ---\n  y\n", []doc{{1, "a: |\n  x\n  ---\n  y\n"}}},
		{"four dashes", "a: 1\n----\n", []doc{{1, "a: 1\n----\n"}}},
		{"a key with dashes", "---a: 1\n---\tb: 2\n", []doc{{1, "---a: 1\n"}, {2, "---\tb: 2\n"}}},
		{"byte order mark", "\ufeffa: 1\n", []doc{{1, "a: 1\n"}}},
		{"byte order marks", "\ufeff---\na: 1\n\ufeff---\n\ufeffb: 2\n...\n\ufeffc: 3\n", []doc{{1, "---\na: 1\n"}, {3, "---\nb: 2\n...\n"}, {6, "c: 3\n"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []doc
			for _, p := range splitYAML([]byte(c.in)) {
				got = append(got, doc{p.line, string(p.text)})
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(doc{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzSplitYAML compares with a parser that reads the whole stream: where every piece is
// a document that is taken, they are the stream's documents, none lost, none more.
func FuzzSplitYAML(f *testing.F) {
	for _, seed := range []string{"a: 1\n---\nb: 2\n", "---\n...\n---\na: |\n  ---\n", "%YAML 1.1\n---\na\n...\n%YAML 1.1\n---\nb", "{a: 1,\n---\nb: 2}", "'a\n---\nb'", "--- |\n a\n---\n", "a: 1\r---\rb: 2", "#\n--- #x\n a: b\n", "#\r0", "#\u0085a: 1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want, err := parse(in)
		if err != nil {
			return
		}
		if _, wrong := (source{"a.yaml", in}).documents(); len(wrong) > 0 {
			return
		}
		var got []string
		for _, p := range splitYAML(in) {
			docs, err := parse(p.text)
			if err != nil {
				t.Fatalf("%q is taken and cannot be parsed: %v", p.text, err)
			}
			got = append(got, docs...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	})
}

// parse writes each document of a stream as a line; those that are null are refused, or
// nothing at all, and left out.
func parse(in []byte) (out []string, err error) {
	d := yaml.NewDecoder(bytes.NewReader(in))
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if text := outline(n.Content[0]); !strings.HasPrefix(text, "!!null") {
			out = append(out, text)
		}
	}
}

func outline(n *yaml.Node) string {
	text := fmt.Sprintf("%s %q", n.ShortTag(), n.Value)
	for _, child := range n.Content {
		text += " (" + outline(child) + ")"
	}
	return text
}
