package resource

import (
	"bytes"
	"unicode/utf8"
)

// kind is what a JSON value is.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

var kindNames = [...]string{"null", "a boolean", "a number", "a text", "a list", "an object"}

func (k kind) String() string { return kindNames[k] }

// node is one JSON value with the place where it stood, so that errors can speak of
// fields in the sender's own spelling.
type node struct {
	kind       kind
	fresh      bool     // text is not what stands in the input
	lone       bool     // of an array: it stands for its one element, as which it was sent
	start, end int      // in the input
	text       string   // of a string the decoded text, of a number or boolean the literal
	members    []member // of an object, in order, no key twice
	index      keySet   // of a large object, where its keys stand among the members
	items      []*node  // of an array
}

type member struct {
	key   string
	keyAt int // offset of the key
	value *node
}

// get returns the member with this key, or nil. It is nil-safe, so that a walk may go
// on where there is no JSON to follow.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if i := n.index.find(n.members, key); i >= 0 {
		return n.members[i].value
	}
	return nil
}

func (n *node) item(i int) *node {
	if n == nil || i < 0 || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

// itemAt is an element with its place: what was sent without a list around it stands where the list would.
func (n *node) itemAt(i int, list *path) (*node, *path) {
	if n != nil && n.lone {
		return n.item(i), list
	}
	return n.item(i), list.item(i)
}

func (n *node) raw(in []byte) []byte { return in[n.start:n.end] }

// at returns the path to the innermost value or key that holds the offset.
func (n *node) at(offset int, base *path) *path {
	for i := range n.members {
		if m := &n.members[i]; offset >= m.keyAt && offset < m.value.end {
			return m.value.at(offset, base.member(m.key))
		}
	}
	for i := range n.items {
		if v := n.items[i]; offset >= v.start && offset < v.end {
			return v.at(offset, base.item(i))
		}
	}
	return base
}

// offsetOf is the inverse of lineCol.
func offsetOf(in []byte, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(in[at:], '\n')
		if i < 0 {
			return len(in)
		}
		at += i + 1
	}
	for ; col > 1 && at < len(in); col-- {
		_, size := utf8.DecodeRune(in[at:])
		at += size
	}
	return at
}

// lineCol returns the line and the column, in characters, of an offset; both from 1.
func lineCol(in []byte, offset int) (line, col int) {
	before := in[:min(offset, len(in))]
	line = bytes.Count(before, []byte("\n")) + 1
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	return line, utf8.RuneCount(before) + 1
}
