package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"fairlead/internal/resource"
)

// contentFields are what of a resource a tenant writes, in the order in which it is printed.
var contentFields = []string{"type", "name", "variant", "selector", "priority", "ttl", "delivery", "labels", "description", "body", "keep"}

// documentFields are those and what the API tells beside them. The ETag says what the
// revision says.
var documentFields = slices.Concat(contentFields, []string{"values", "secret", "version", "revision", "created_at", "updated_at", "updated_by"})

// documentYAML writes a resource that the API answered as a YAML document that apply takes,
// with the fields that are named; as JSON, which is YAML too, where it has more elements than apply reads as YAML. A Secret is sealed: it stands there as the stored one.
func documentYAML(raw []byte, names []string) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if fields["body"] == nil && fields["secret"] != nil {
		fields["keep"] = json.RawMessage("true")
	}
	doc, js := &yaml.Node{Kind: yaml.MappingNode}, bytes.NewBufferString("{")
	for _, key := range names {
		value, ok := fields[key]
		if !ok {
			continue
		}
		node, err := yamlOf(value)
		if err != nil {
			return nil, err
		}
		if len(doc.Content) > 0 {
			js.WriteByte(',')
		}
		fmt.Fprintf(js, "%q:%s", key, value)
		doc.Content = append(doc.Content, yamlText(key), node)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	err := e.Close()
	if text := plainYAML(out.Bytes()); err != nil || resource.TakesYAML(text) {
		return text, err
	}
	js.WriteByte('}')
	var line bytes.Buffer
	if err := json.Compact(&line, js.Bytes()); err != nil {
		return nil, err
	}
	line.WriteByte('\n')
	return plainJSON(line.Bytes()), nil
}

// yamlOf turns JSON into YAML of the same meaning, keys in their order.
func yamlOf(raw []byte) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return yamlNext(d)
}

func yamlNext(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		return yamlNested(d, v)
	case string:
		return yamlText(v), nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v)}, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}, nil
	}
	return nil, io.ErrUnexpectedEOF
}

func yamlNested(d *json.Decoder, open json.Delim) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	if open == '{' {
		n.Kind = yaml.MappingNode
	}
	for d.More() {
		child, err := yamlNext(d)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child)
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle // {} and []
	}
	_, err := d.Token()
	return n, err
}

// bare is a text that is a text to every reader of YAML without quotes.
var bare = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// words are those that some readers of YAML take for a boolean, a null or a number.
var words = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true, "nan": true, "inf": true}

func yamlText(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	switch {
	case bare.MatchString(s) && !words[strings.ToLower(s)]:
		n.Style = 0
	case blockText(s):
		n.Style = yaml.LiteralStyle
	}
	return n
}

// blockText reports whether a text of several lines, such as a script or a certificate,
// can stand as a block: no spaces that a block would take for its own, nothing that
// needs an escape.
func blockText(s string) bool {
	if !strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\n\n") || strings.TrimLeft(s, " \t\n") != s {
		return false
	}
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimRight(line, " \t") != line || strings.HasPrefix(line, "\t") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (invisible(r) || !unicode.IsPrint(r)) || r == unicode.ReplacementChar
	})
}
