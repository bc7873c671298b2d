package selector

import (
	"maps"
	"slices"
	"strings"
)

// prefixes finds all prefixes of a text. They are sorted, and each knows the longest
// other one that it begins with.
type prefixes []prefix

type prefix struct {
	text    string
	shorter int // -1: none
	ids     []int32
}

func newPrefixes(ids map[string][]int32) prefixes {
	var ps prefixes
	for _, text := range slices.Sorted(maps.Keys(ids)) {
		// What the new one begins with is the last one, or what that begins with.
		shorter := len(ps) - 1
		for shorter >= 0 && !strings.HasPrefix(text, ps[shorter].text) {
			shorter = ps[shorter].shorter
		}
		ps = append(ps, prefix{text, shorter, ids[text]})
	}
	return ps
}

// longest returns where the longest prefix of the text stands, -1 for none; its chain of
// shorter ones holds all others. Every prefix p of the text has p <= last <= text, where
// last is the greatest entry that is not above the text; so last begins with p too.
func (ps prefixes) longest(text string) int {
	i, ok := slices.BinarySearchFunc(ps, text, func(p prefix, text string) int { return strings.Compare(p.text, text) })
	if !ok {
		i--
	}
	for i >= 0 && !strings.HasPrefix(text, ps[i].text) {
		i = ps[i].shorter
	}
	return i
}
