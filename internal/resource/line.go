package resource

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LineOf returns the line, from 1, on which what the pointer (RFC 6901) leads to stands in
// a text that ToJSON has taken: of a member the line of its key. Where the pointer leads
// further than the text goes, it is the line of the last thing on the way. 0: not known.
func LineOf(format Format, in []byte, pointer string) int { return NewLines(format, in).Of(pointer) }

// Lines tells the lines of one text.
type Lines struct {
	yaml *yaml.Node
	json *node
	in   []byte
}

// NewLines reads a text for Of.
func NewLines(format Format, in []byte) *Lines {
	l := &Lines{in: bytes.TrimPrefix(in, bom)}
	if format == JSON {
		l.json, _ = scanStored(l.in) // without one nothing is known
		return l
	}
	var doc yaml.Node
	if yaml.NewDecoder(bytes.NewReader(l.in)).Decode(&doc) == nil && len(doc.Content) == 1 {
		l.yaml = doc.Content[0]
	}
	return l
}

// Of is LineOf.
func (l *Lines) Of(pointer string) int {
	var steps []string
	if strings.HasPrefix(pointer, "/") {
		steps = strings.Split(pointer[1:], "/")
	}
	for i := range steps {
		steps[i] = pointerUnescape.Replace(steps[i])
	}
	switch {
	case l.yaml != nil:
		return yamlLine(l.yaml, steps)
	case l.json != nil:
		line, _ := lineCol(l.in, jsonOffset(l.json, steps))
		return line
	}
	return 0
}

var pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")

func yamlLine(n *yaml.Node, steps []string) int {
	line := n.Line
	for _, step := range steps {
		var next *yaml.Node
		switch n = target(n); n.Kind {
		case yaml.ScalarNode:
			next = lone(step, n)
		case yaml.MappingNode:
			var key *yaml.Node
			if key, next = yamlMember(n, step, map[*yaml.Node]bool{}); key != nil {
				line = key.Line
			} else {
				next = lone(step, n)
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
				next = n.Content[i]
				line = next.Line
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return line
}

// lone is what stands without a list where its first element is asked for: Envoy takes that.
func lone[N any](step string, n *N) *N {
	if step == "0" {
		return n
	}
	return nil
}

// yamlMember finds a member, also where a merge key brings it. It looks into each object of seen once.
func yamlMember(n *yaml.Node, name string, seen map[*yaml.Node]bool) (key, value *yaml.Node) {
	if n.Kind != yaml.MappingNode || seen[n] {
		return nil, nil
	}
	seen[n] = true
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; target(k).Value == name && !dropped(k) && !mergeKey(k) {
			return k, n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !mergeKey(n.Content[i]) {
			continue
		}
		among := []*yaml.Node{n.Content[i+1]}
		if from := target(among[0]); from.Kind == yaml.SequenceNode {
			among = from.Content
		}
		for _, one := range among {
			if key, value = yamlMember(target(one), name, seen); key != nil {
				return key, value
			}
		}
	}
	return nil, nil
}

func jsonOffset(n *node, steps []string) int {
	at := n.start
	for _, step := range steps {
		var next *node
		for i := range n.members {
			if m := &n.members[i]; m.key == step {
				at, next = m.keyAt, m.value
			}
		}
		if i, err := strconv.Atoi(step); err == nil && n.item(i) != nil {
			next = n.items[i]
			at = next.start
		} else if next == nil && n.kind != kindArray {
			next = lone(step, n)
		}
		if next == nil {
			break
		}
		n = next
	}
	return at
}
