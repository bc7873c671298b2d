package auth

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

// NodePattern says which node ids a credential admits: one id, all with a prefix, or
// all. The zero pattern admits none.
type NodePattern struct {
	text   string // id or prefix, without the star
	prefix bool
}

const maxPattern = 512 // bytes, as a name's

// ParseNodePattern reads "id", "prefix*" or "*". A star stands at the end alone: an id
// with a star elsewhere is ErrInvalid, as are an empty text, one above 512 bytes and
// one that is not UTF-8 or holds control characters.
func ParseNodePattern(s string) (NodePattern, error) {
	text, prefix := strings.CutSuffix(s, "*")
	switch {
	case s == "":
		return NodePattern{}, fmt.Errorf("node pattern is empty: write a node id, a prefix and *, or *: %w", fleet.ErrInvalid)
	case len(s) > maxPattern:
		return NodePattern{}, fmt.Errorf("node pattern is longer than %d bytes: %w", maxPattern, fleet.ErrInvalid)
	case strings.Contains(text, "*"):
		return NodePattern{}, fmt.Errorf("node pattern has a * that is not at its end: %w", fleet.ErrInvalid)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return NodePattern{}, fmt.Errorf("node pattern is not plain text: %w", fleet.ErrInvalid)
	}
	return NodePattern{text: text, prefix: prefix}, nil
}

// Match reports whether the credential admits a node with this id. An empty id matches
// nothing, "*" included.
func (p NodePattern) Match(nodeID string) bool {
	switch {
	case nodeID == "":
		return false
	case p.prefix:
		return strings.HasPrefix(nodeID, p.text)
	}
	return nodeID == p.text
}

// String returns the text that ParseNodePattern reads.
func (p NodePattern) String() string {
	if p.prefix {
		return p.text + "*"
	}
	return p.text
}
