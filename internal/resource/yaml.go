package resource

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
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

// ToJSON reads a document and returns it as JSON: as it is if it was JSON, translated
// if it was YAML. It refuses what is too large or nested too deeply, keys that stand
// twice, text that is not UTF-8, and of YAML all that reads differently in different
// programs or can blow up: aliases, merge keys, tags, several documents, and unquoted
// words such as "on" that are booleans to some. The error is Errors, and wraps
// fleet.ErrLimit where the input is above 4 MiB.
func ToJSON(format Format, in []byte) ([]byte, error) {
	if len(in) > maxInput {
		return nil, fmt.Errorf("the document is larger than %d MiB: %w", maxInput>>20, fleet.ErrLimit)
	}
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
	d := yaml.NewDecoder(bytes.NewReader(in))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, fail(nil, codeSyntax, "the document is empty")
	} else if err != nil {
		return nil, yamlSyntax(err)
	}
	if err := d.Decode(new(yaml.Node)); err == nil {
		return nil, fail(nil, codeYAML, "the text holds several YAML documents (---): send them one by one, or put the resources into one list")
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlSyntax(err)
	}
	if len(doc.Content) != 1 {
		return nil, fail(nil, codeSyntax, "the document is empty")
	}
	var t yamlToJSON
	if err := t.node(doc.Content[0], nil, 1); err != nil {
		return nil, err
	}
	return t.out.Bytes(), nil
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
		return fail(nil, codeYAML, "YAML aliases are not taken: write the value out (a text that begins with * or & needs quotes)")
	case strings.Contains(msg, "max depth"):
		return fail(nil, codeLimit, "more than %d objects and lists are nested in each other", maxDepth)
	}
	if place := yamlPlace.FindStringSubmatch(msg); place != nil {
		line, _ := strconv.Atoi(place[1]) // digits by the pattern
		return Errors{{Code: codeSyntax, Detail: strings.TrimSpace(place[0]), Line: line}}
	}
	return fail(nil, codeSyntax, "this is not YAML")
}

// yamlToJSON writes a YAML tree as JSON, keys in their order.
type yamlToJSON struct {
	out   bytes.Buffer
	nodes int
}

func (t *yamlToJSON) node(n *yaml.Node, at *path, depth int) error {
	if t.nodes++; t.nodes > maxYAMLNodes {
		return fail(at, codeLimit, "the document has more than %d YAML nodes: send it as JSON, or in parts", maxYAMLNodes)
	}
	if depth > maxDepth {
		return fail(at, codeLimit, "more than %d objects and lists are nested in each other", maxDepth)
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return yamlFail(n, at, codeYAML, "YAML anchors and aliases are not taken: write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return yamlFail(n, at, codeYAML, "YAML tags (!...) are not taken: use quotes to make something a text")
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

func (t *yamlToJSON) mapping(n *yaml.Node, at *path, depth int) error {
	seen := make(map[string]struct{}, len(n.Content)/2)
	t.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if t.nodes++; i > 0 {
			t.out.WriteByte(',')
		}
		key, err := yamlKey(n.Content[i], at)
		if err != nil {
			return err
		}
		here := at.member(key)
		if _, twice := seen[key]; twice {
			return yamlFail(n.Content[i], here, codeDuplicateKey, "the key stands twice in one object")
		}
		seen[key] = struct{}{}
		t.text(key)
		t.out.WriteByte(':')
		if err := t.node(n.Content[i+1], here, depth+1); err != nil {
			return err
		}
	}
	t.out.WriteByte('}')
	return nil
}

func yamlKey(k *yaml.Node, at *path) (string, error) {
	switch {
	case k.Kind == yaml.AliasNode || k.Anchor != "":
		return "", yamlFail(k, at, codeYAML, "YAML anchors and aliases are not taken: write the value out")
	case k.Kind != yaml.ScalarNode:
		return "", yamlFail(k, at, codeYAML, "a key must be a text")
	case k.Style&yaml.TaggedStyle != 0:
		return "", yamlFail(k, at, codeYAML, "YAML tags (!...) are not taken: use quotes to make something a text")
	case quoted(k):
		return k.Value, nil
	case k.Value == "<<":
		return "", yamlFail(k, at, codeYAML, "YAML merge keys (<<) are not taken: write the fields out")
	case looksBoolean(k.Value):
		return "", yamlFail(k, at, codeAmbiguous, "the unquoted key %s is a boolean to many YAML readers: write it in quotes, %q", k.Value, k.Value)
	}
	switch tag := k.ShortTag(); {
	case tag == "!!str", tag == "!!timestamp", tag == "!!int" && plainInt.MatchString(k.Value):
		return k.Value, nil
	}
	return "", yamlFail(k, at, codeAmbiguous, "a key that is not a text: write it in quotes")
}

// plainInt is an integer that means the same in YAML 1.1, YAML 1.2 and JSON.
var plainInt = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// plainFloat is a JSON number.
var plainFloat = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func (t *yamlToJSON) scalar(n *yaml.Node, at *path) error {
	if quoted(n) {
		t.text(n.Value)
		return nil
	}
	if b := strings.ToLower(n.Value); looksBoolean(n.Value) && b != "true" && b != "false" {
		return yamlFail(n, at, codeAmbiguous,
			"the unquoted %s is a boolean to many YAML readers and a text to others: write %q in quotes for the text, or true or false", n.Value, n.Value)
	}
	if plainFloat.MatchString(n.Value) { // also one out of range, which the library takes for a text
		t.out.WriteString(n.Value)
		return nil
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		t.text(n.Value)
	case "!!null":
		t.out.WriteString("null")
	case "!!bool":
		t.out.WriteString(strings.ToLower(n.Value))
	case "!!int", "!!float":
		return t.number(n, at)
	default:
		return yamlFail(n, at, codeYAML, "a value of a kind that JSON does not have: write it in quotes")
	}
	return nil
}

func (t *yamlToJSON) number(n *yaml.Node, at *path) error {
	switch strings.ToLower(n.Value) {
	case ".inf", "+.inf":
		t.out.WriteString(`"Infinity"`)
		return nil
	case "-.inf":
		t.out.WriteString(`"-Infinity"`)
		return nil
	case ".nan":
		t.out.WriteString(`"NaN"`)
		return nil
	}
	if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil && strings.HasPrefix(strings.ToLower(n.Value), "0x") {
		t.out.WriteString(strconv.FormatInt(v, 10))
		return nil
	}
	return yamlFail(n, at, codeAmbiguous, "a number in a form that YAML readers take differently (0644, 1_000, 1:30, .5): write it in decimal, or in quotes for a text")
}

func (t *yamlToJSON) text(s string) {
	b, _ := json.Marshal(s) // a string always marshals
	t.out.Write(b)
}

func quoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// looksBoolean is true for every word that YAML 1.1 takes for a boolean.
func looksBoolean(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false":
		return true
	}
	return false
}

func yamlFail(n *yaml.Node, at *path, code, format string, args ...any) error {
	return failAt(n.Line, n.Column, at, code, fmt.Sprintf(format, args...))
}
