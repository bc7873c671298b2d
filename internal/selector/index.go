package selector

import (
	"bytes"
	"slices"
	"strings"
)

// Index finds which of many selectors match a node, without trying each. It is immutable
// and safe for concurrent use; it is built anew when a selector comes or goes.
//
// Every selector hangs on one of its requirements, and is looked at only for nodes that
// meet it: on a value (=, in) or a prefix, on the one that the fewest other selectors
// share; if it has neither, on a label that must be there; else (only !=, notin and !)
// it is tried for every node. For a node Match costs, per key that selectors hang on, one
// look-up of the label, one in a map, and a binary search among the prefixes of the key;
// then the other requirements of the selectors found, and all of those that are always
// tried. Building costs n log n.
type Index struct {
	selectors []Selector // sorted by text, no two alike
	left      [][]requirement
	keys      []keyIndex
	always    []int32 // hang on nothing
}

// keyIndex is what hangs on one key.
type keyIndex struct {
	key      key
	values   map[string][]int32
	prefixes prefixes
	present  []int32
}

// NewIndex builds the index of the selectors. Selectors of the same canonical form are
// one; their order does not matter, so equal sets give equal vectors everywhere. Zero
// selectors are left out.
func NewIndex(selectors []Selector) *Index {
	x := &Index{selectors: slices.DeleteFunc(slices.Clone(selectors), Selector.IsZero)}
	slices.SortFunc(x.selectors, func(a, b Selector) int { return strings.Compare(a.text, b.text) })
	x.selectors = slices.CompactFunc(x.selectors, func(a, b Selector) bool { return a.text == b.text })

	x.hang()
	return x
}

// Len returns how many different selectors there are.
func (x *Index) Len() int { return len(x.selectors) }

// At returns the selector at the position.
func (x *Index) At(i int) Selector { return x.selectors[i] }

// Position returns where in the vectors the selector's decision stands, -1 if the index
// does not know the selector.
func (x *Index) Position(s Selector) int {
	i, ok := slices.BinarySearchFunc(x.selectors, s.text, func(s Selector, text string) int { return strings.Compare(s.text, text) })
	if !ok {
		return -1
	}
	return i
}

// Match decides every selector for a node with these labels.
func (x *Index) Match(l Labels) Vector {
	decided := make([]byte, (len(x.selectors)+7)/8)
	try := func(ids []int32) {
		for _, id := range ids {
			if hold(x.left[id], &l) {
				decided[id/8] |= 1 << (id % 8)
			}
		}
	}
	for i := range x.keys {
		k := &x.keys[i]
		text, ok := l.lookup(&k.key)
		if !ok {
			continue
		}
		try(k.values[text])
		for p := k.prefixes.longest(text); p >= 0; p = k.prefixes[p].shorter {
			try(k.prefixes[p].ids)
		}
		try(k.present)
	}
	try(x.always)
	return Vector(bytes.TrimRight(decided, "\x00"))
}

// Vector holds the decisions of all selectors of one index about one node: nodes with
// equal vectors share a view. It is comparable with vectors of the same index alone.
// Position i is bit i%8 of byte i/8, zero bytes at the end are left out: "" is a node
// that no selector matches.
type Vector string

// Has reports whether the selector at the position matches. No selector stands at a
// position below zero or beyond the index.
func (v Vector) Has(i int) bool { return i >= 0 && i/8 < len(v) && v[i/8]&(1<<(i%8)) != 0 }
