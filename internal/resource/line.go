package resource

import (
	"bytes"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"fairlead/internal/jsonpointer"
)

// Lines tells the lines of one text. What it costs does not depend on how long that is, but for what is looked up first.
type Lines struct {
	yaml *yaml.Node
	keys map[*yaml.Node]map[string]int // where the keys of a large object stand in it
	// merged is what merge keys bring into an object, once that was asked for.
	merged map[*yaml.Node]map[string]yamlMember
	json   *node
	begin  []int // of a text of JSON, where its lines begin
}

// yamlMember is a key with its value.
type yamlMember struct{ key, value *yaml.Node }

// NewLines reads a text for Of.
func NewLines(format Format, in []byte) *Lines {
	in = bytes.TrimPrefix(in, bom)
	l := &Lines{keys: map[*yaml.Node]map[string]int{}, merged: map[*yaml.Node]map[string]yamlMember{}}
	if format == JSON {
		l.json, _ = scanStored(in) // without one nothing is known
		for i, c := range in {
			if c == '\n' {
				l.begin = append(l.begin, i+1)
			}
		}
		return l
	}
	l.yaml, _ = onlyYAML(newYAMLDecoder(in)) // without one nothing is known
	return l
}

// Of returns the line, from 1, on which what the pointer (RFC 6901) leads to stands in
// a text that ToJSON has taken: of a member the line of its key. Where the pointer leads
// further than the text goes, it is the line of the last thing on the way. 0: not known.
func (l *Lines) Of(pointer string) int {
	var steps []string
	if strings.HasPrefix(pointer, "/") {
		steps = strings.Split(pointer[1:], "/")
	}
	for i := range steps {
		steps[i] = jsonpointer.Unescape(steps[i])
	}
	switch {
	case l.yaml != nil:
		return l.yamlLine(l.yaml, steps)
	case l.json != nil:
		at := jsonOffset(l.json, steps)
		return 1 + sort.Search(len(l.begin), func(i int) bool { return l.begin[i] > at })
	}
	return 0
}

func (l *Lines) yamlLine(n *yaml.Node, steps []string) int {
	line := n.Line
	for _, step := range steps {
		var next *yaml.Node
		switch n = target(n); n.Kind {
		case yaml.ScalarNode:
			next = lone(step, n)
		case yaml.MappingNode:
			var key *yaml.Node
			if key, next = l.member(n, step); key != nil {
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

// member finds a member, also where a merge key brings it.
func (l *Lines) member(n *yaml.Node, name string) (key, value *yaml.Node) {
	if i := l.own(n, name); i >= 0 {
		return n.Content[i], n.Content[i+1]
	}
	all, known := l.merged[n]
	if !known {
		all = map[string]yamlMember{}
		merge(n, all, map[*yaml.Node]bool{n: true})
		l.merged[n] = all
	}
	return all[name].key, all[name].value
}

// merge puts in what the merge keys of an object bring, of what comes twice the first. It goes through each object of seen once.
func merge(n *yaml.Node, into map[string]yamlMember, seen map[*yaml.Node]bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !mergeKey(n.Content[i]) {
			continue
		}
		among := []*yaml.Node{n.Content[i+1]}
		if from := target(among[0]); from.Kind == yaml.SequenceNode {
			among = from.Content
		}
		for _, one := range among {
			from := target(one)
			if from.Kind != yaml.MappingNode || seen[from] {
				continue
			}
			seen[from] = true
			for j := 0; j+1 < len(from.Content); j += 2 {
				key := from.Content[j]
				if _, there := into[target(key).Value]; !there && !dropped(key) && !mergeKey(key) {
					into[target(key).Value] = yamlMember{key, from.Content[j+1]}
				}
			}
			merge(from, into, seen)
		}
	}
}

// own is where a key of an object stands in it, -1 if it has none.
func (l *Lines) own(n *yaml.Node, name string) int {
	if at, known := l.keys[n]; known {
		if i, there := at[name]; there {
			return i
		}
		return -1
	}
	at := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; !dropped(k) && !mergeKey(k) {
			if at[target(k).Value] = i; target(k).Value == name && len(n.Content) <= 2*fewKeys {
				return i
			}
		}
	}
	if len(n.Content) > 2*fewKeys {
		l.keys[n] = at
		return l.own(n, name)
	}
	return -1
}

func jsonOffset(n *node, steps []string) int {
	at := n.start
	for _, step := range steps {
		var next *node
		if i := n.index.find(n.members, step); i >= 0 {
			at, next = n.members[i].keyAt, n.members[i].value
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
