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
func LineOf(format Format, in []byte, pointer string) int {
	var steps []string
	if strings.HasPrefix(pointer, "/") {
		steps = strings.Split(pointer[1:], "/")
	}
	for i := range steps {
		steps[i] = pointerUnescape.Replace(steps[i])
	}
	if format == YAML {
		var doc yaml.Node
		if yaml.NewDecoder(bytes.NewReader(in)).Decode(&doc) != nil || len(doc.Content) != 1 {
			return 0
		}
		return yamlLine(doc.Content[0], steps)
	}
	root, err := scan(in)
	if err != nil {
		return 0
	}
	line, _ := lineCol(in, jsonOffset(root, steps))
	return line
}

var pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")

func yamlLine(n *yaml.Node, steps []string) int {
	line := n.Line
	for _, step := range steps {
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					line, next = n.Content[i].Line, n.Content[i+1]
				}
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
		}
		if next == nil {
			break
		}
		n = next
	}
	return at
}
