package resource

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"fairlead/internal/fleet"
)

// Format is how a document is written.
type Format int

// The formats.
const (
	JSON Format = iota
	YAML
)

const maxYAMLNodes = 100_000

// bom stands at the beginning of what some editors write. It is no part of a document.
var bom = []byte("\ufeff")

// ToJSON reads a document and returns it as JSON: as it is if it was JSON, translated
// if it was YAML. It refuses what is too large or nested too deeply, keys that stand
// twice, text that is not UTF-8, and several documents. YAML it reads as Envoy does, with the
// aliases that Envoy follows, within bounds, and merge keys. The error is Errors, and wraps
// fleet.ErrLimit where the input is above 4 MiB.
func ToJSON(format Format, in []byte) ([]byte, error) {
	if len(in) > maxInput {
		return nil, fmt.Errorf("the document is larger than %d MiB: %w", maxInput>>20, fleet.ErrLimit)
	}
	in = bytes.TrimPrefix(in, bom)
	if format == YAML {
		out, err := fromYAML(in)
		if err != nil {
			return nil, err
		}
		in = out
	}
	if _, err := scan(in); err != nil {
		return nil, err
	}
	return in, nil
}

// TakesYAML reports whether ToJSON takes a text of that size and of so many lists, objects and elements as YAML. It takes a
// longer one of as much meaning as JSON.
func TakesYAML(in []byte) bool {
	if len(in) > maxInput {
		return false
	}
	if !manyNodes(in) && directives(in) <= maxDirectives {
		return true
	}
	_, err := ToJSON(YAML, in)
	return err == nil
}

// manyNodes reports whether a text may have more nodes than are taken: behind each mark there are two at most, a key and its value.
func manyNodes(in []byte) bool { return 2*marks(in) >= maxYAMLNodes }

// jsonWithin is the JSON that a YAML document is. JSON is YAML; read as such it costs no tree of YAML's nodes, and may have more of them.
func jsonWithin(in []byte) ([]byte, bool) {
	in = bytes.TrimSpace(in)
	if after, begun := bytes.CutPrefix(in, []byte("---")); begun {
		in = bytes.TrimSpace(after)
	}
	return in, len(in) > 0 && (in[0] == '{' || in[0] == '[') && json.Valid(in)
}

func fromYAML(in []byte) ([]byte, error) {
	if !utf8.Valid(in) {
		return nil, fail(nil, codeSyntax, "the document is not valid UTF-8")
	}
	if manyNodes(in) {
		if out, ok := jsonWithin(in); ok {
			return out, nil
		}
	}
	if marks(in) > maxYAMLNodes { // the parser would build the whole tree first
		return nil, fail(nil, codeLimit, "the document has more than %d lists, objects and elements: send it as JSON, or in parts", maxYAMLNodes)
	}
	if directives(in) > maxDirectives { // the parser compares each one with all others
		return nil, fail(nil, codeLimit, "more than %d lines begin with %%, as YAML's directives do: leave them out", maxDirectives)
	}
	content, err := onlyYAML(newYAMLDecoder(in))
	if err != nil {
		return nil, err
	}
	var t yamlToJSON
	if err := t.node(content, nil, 1); err != nil {
		return nil, err
	}
	return t.out.Bytes(), nil
}

// onlyYAML reads the one document of a text that holds something. Of several Envoy reads the first and is silent about the others, so
// that is refused where the second begins.
func onlyYAML(d *yaml.Decoder) (content *yaml.Node, err error) {
	for {
		var doc yaml.Node
		switch err := d.Decode(&doc); {
		case errors.Is(err, io.EOF) && content == nil:
			return nil, fail(nil, codeSyntax, "the document is empty")
		case errors.Is(err, io.EOF):
			return content, nil
		case err != nil:
			return nil, yamlSyntax(err)
		}
		switch {
		case emptyYAML(&doc):
		case content != nil:
			return nil, yamlFail(&doc, nil, codeYAML, severalYAML)
		default:
			content = doc.Content[0]
		}
	}
}

const severalYAML = "a second YAML document begins here (---), and one is read: give each by itself, or put all resources into one list"

// emptyYAML reports whether a document is none: what stands between two --- or behind the last one may be nothing, or a comment.
func emptyYAML(doc *yaml.Node) bool {
	if len(doc.Content) != 1 {
		return true
	}
	n := doc.Content[0]
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Anchor == "" && !quoted(n) && !tagged(n)
}

// yamlVersion is up to the minor number of the version that a text says that it is written in.
var yamlVersion = regexp.MustCompile(`\A((?:[ \t\r]*(?:#[^\n]*)?\n|%[^\n]*\n)*%YAML[ \t]+1\.)[0-9]+`)

// longestHead bounds what stands before a text's version.
const longestHead = 64 << 10

// newYAMLDecoder takes each version 1, as Envoy's reader does; the parser takes 1.1 alone.
func newYAMLDecoder(in []byte) *yaml.Decoder {
	if head := yamlVersion.FindSubmatchIndex(in[:min(len(in), longestHead)]); head != nil {
		in = slices.Concat(in[:head[3]], []byte("1"), in[head[1]:])
	}
	return yaml.NewDecoder(bytes.NewReader(in))
}

// maxDirectives bounds the lines that begin as a directive, in texts as well.
const maxDirectives = 100

func directives(in []byte) int {
	return bytes.Count(in, []byte("\n%")) + bytes.Count(in, []byte("\r%")) + bytes.Count(in[:min(len(in), 1)], []byte("%"))
}

// marks counts what can begin a YAML node, inside of texts as well: a cheap bound on
// what the parser will build.
func marks(in []byte) (n int) {
	for i, c := range in {
		switch c {
		case ',', '[', '{':
			n++
		case ':', '-', '?':
			if i+1 == len(in) || in[i+1] == ' ' || in[i+1] == '\n' || in[i+1] == '\r' || in[i+1] == '\t' {
				n++
			}
		}
	}
	return n
}

// yamlPlace is the part of the parser's message that holds no text of the document.
var yamlPlace = regexp.MustCompile(`^yaml: line (\d+): [a-zA-Z ]+`)

// yamlSyntax keeps of the parser's message what cannot hold a value.
func yamlSyntax(err error) error {
	msg := err.Error()
	switch {
	case strings.Contains(msg, "anchor"):
		return fail(nil, codeYAML, "an alias (*name) has no anchor (&name) before it: a text that begins with * needs quotes")
	case strings.Contains(msg, "max depth"):
		return fail(nil, codeLimit, "more than %d objects and lists are nested in each other", maxDepth)
	}
	if place := yamlPlace.FindStringSubmatch(msg); place != nil {
		line, _ := strconv.Atoi(place[1]) // digits by the pattern
		return Errors{{Code: codeSyntax, Detail: strings.TrimSpace(place[0]), Line: line}}
	}
	return fail(nil, codeSyntax, "this is not YAML")
}

// Bounds of what aliases and merge keys repeat, beside those of a document.
const (
	maxRepeated      = 20_000  // lists, objects and elements
	maxRepeatedBytes = 1 << 20 // of their texts
)

// ignored is the tag of a key that Envoy drops with its value: a place for anchors.
const ignored = "!ignore"

// yamlToJSON writes a YAML tree as JSON, keys in their order. It reads it as Envoy's reader (yaml-cpp) does: which text is a number, a
// boolean or a null, that keys are texts, and that of all tags but !ignore nothing is known.
type yamlToJSON struct {
	out   bytes.Buffer
	nodes int
	// open are the anchors in whose repetition it is.
	open            []*yaml.Node
	repeated, bytes int
}

func (t *yamlToJSON) node(n *yaml.Node, at *path, depth int) error {
	if n.Kind == yaml.AliasNode {
		if err := t.enter(n, at); err != nil {
			return err
		}
		defer t.leave()
		n = n.Alias
	}
	if err := t.count(n, at); err != nil {
		return err
	}
	if depth > maxDepth {
		return fail(at, codeLimit, "more than %d objects and lists are nested in each other", maxDepth)
	}
	if tagged(n) && n.Tag == ignored {
		return yamlFail(n, at, codeYAML, "the tag !ignore drops a key with its value: write it before the key")
	}
	switch n.Kind {
	case yaml.MappingNode:
		return t.mapping(n, at, depth)
	case yaml.SequenceNode:
		t.out.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				t.out.WriteByte(',')
			}
			if err := t.node(item, at.item(i), depth+1); err != nil {
				return err
			}
		}
		t.out.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return t.scalar(n, at)
	}
	return yamlFail(n, at, codeSyntax, "this is not plain YAML")
}

// enter begins to repeat what an alias names.
func (t *yamlToJSON) enter(alias *yaml.Node, at *path) error {
	if slices.Contains(t.open, alias.Alias) {
		return yamlFail(alias, at, codeYAML, "the alias stands within what it names: write the value out")
	}
	t.open = append(t.open, alias.Alias)
	return nil
}

func (t *yamlToJSON) leave() { t.open = t.open[:len(t.open)-1] }

// count bounds what is written.
func (t *yamlToJSON) count(n *yaml.Node, at *path) error {
	if t.nodes++; t.nodes > maxYAMLNodes {
		return fail(at, codeLimit, "the document has more than %d YAML nodes: send it as JSON, or in parts", maxYAMLNodes)
	}
	if len(t.open) == 0 {
		return nil
	}
	t.repeated++
	t.bytes += len(n.Value)
	if t.repeated > maxRepeated || t.bytes > maxRepeatedBytes {
		return yamlFail(n, at, codeLimit, "aliases and merge keys repeat more than %d lists, objects and elements, or %d MiB of texts: send the document in parts", maxRepeated, maxRepeatedBytes>>20)
	}
	return nil
}

func (t *yamlToJSON) mapping(n *yaml.Node, at *path, depth int) error {
	w := yamlMembers{t: t, seen: make(map[string]struct{}, len(n.Content)/2), at: at, depth: depth}
	t.out.WriteByte('{')
	if err := w.own(n); err != nil {
		return err
	}
	for len(w.merges) > 0 {
		next := w.merges[0]
		w.merges = w.merges[1:]
		if err := w.merge(next); err != nil {
			return err
		}
	}
	t.out.WriteByte('}')
	return nil
}

var (
	// plainInt is an integer that means the same in YAML 1.1, YAML 1.2 and JSON.
	plainInt = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	// plainFloat is a JSON number.
	plainFloat = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// basedInt is an integer to Envoy: in the base that its first digits say, as in C.
	basedInt = regexp.MustCompile(`^[-+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$`)
)

func (t *yamlToJSON) scalar(n *yaml.Node, at *path) error {
	if quoted(n) && !tagged(n) {
		t.text(n.Value)
		return nil
	}
	before := t.out.Len()
	t.plain(n)
	if tagged(n) && n.Tag == "!!str" && t.out.Bytes()[before] != '"' {
		return yamlFail(n, at, codeYAML, "Envoy reads no tags (!!str): write the text in quotes")
	}
	return nil
}

// plain writes what stands without quotes. 08, 1_000, 0o17 and 1:30 are texts to Envoy, as is what fits into no number of 64 bits.
func (t *yamlToJSON) plain(n *yaml.Node) {
	switch v := n.Value; {
	case nullWord(v) && !tagged(n):
		t.out.WriteString("null")
	case trueWords[v]:
		t.out.WriteString("true")
	case falseWords[v]:
		t.out.WriteString("false")
	case plainFloat.MatchString(v):
		t.out.WriteString(v)
	case basedInt.MatchString(v):
		if i, err := strconv.ParseInt(v, 0, 64); err == nil {
			t.out.WriteString(strconv.FormatInt(i, 10))
			return
		}
		t.text(v)
	case infinite[strings.ToLower(v)] != "":
		t.text(infinite[strings.ToLower(v)])
	default:
		t.text(v)
	}
}

var infinite = map[string]string{".inf": "Infinity", "+.inf": "Infinity", "-.inf": "-Infinity", ".nan": "NaN"}

func nullWord(s string) bool {
	return s == "" || s == "~" || s == "null" || s == "Null" || s == "NULL"
}

// trueWords and falseWords are what YAML 1.1 takes for a boolean, in small letters, in capitals, or with the first one a capital.
var trueWords, falseWords = cases("y", "yes", "true", "on"), cases("n", "no", "false", "off")

func cases(words ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[w], out[strings.ToUpper(w)], out[strings.ToUpper(w[:1])+w[1:]] = true, true, true
	}
	return out
}

func (t *yamlToJSON) text(s string) {
	b, _ := json.Marshal(s) // a string always marshals
	t.out.Write(b)
}

func quoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

func yamlFail(n *yaml.Node, at *path, code, format string, args ...any) error {
	return failAt(n.Line, n.Column, at, code, fmt.Sprintf(format, args...))
}
