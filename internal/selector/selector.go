package selector

import (
	"slices"
	"strings"

	"fairlead/internal/fleet"
)

// Selector is a parsed selector. It is immutable. Two are the same if their texts are.
// The zero Selector has no requirement and, unlike an empty list of them, matches no
// node: a selector that got lost must not hand its variant to everybody.
type Selector struct {
	text         string // canonical
	requirements []requirement
}

// operator is what a requirement asks. Their order is that of the canonical form.
type operator uint8

const (
	opIn operator = iota // one of the values; "=" is one value
	opNotIn
	opPrefix
	opPresent
	opAbsent
)

type requirement struct {
	key    key
	op     operator
	values []string // sorted, no two alike; one for a prefix
}

// newSelector brings the requirements into the canonical order.
func newSelector(rs []requirement) Selector {
	type written struct {
		requirement
		text string
	}
	all := make([]written, len(rs))
	for i, r := range rs {
		all[i] = written{r, r.String()}
	}
	slices.SortFunc(all, func(a, b written) int {
		if c := strings.Compare(a.key.text, b.key.text); c != 0 {
			return c
		}
		if a.op != b.op {
			return int(a.op) - int(b.op)
		}
		return strings.Compare(a.text, b.text)
	})
	all = slices.CompactFunc(all, func(a, b written) bool { return a.text == b.text })
	s := Selector{requirements: make([]requirement, len(all))}
	texts := make([]string, len(all))
	for i, r := range all {
		s.requirements[i], texts[i] = r.requirement, r.text
	}
	s.text = strings.Join(texts, ",")
	return s
}

// String returns the canonical form: requirements and values sorted, none twice, quotes
// only where they are needed. Parse reads it as the same selector.
func (s Selector) String() string { return s.text }

// IsZero reports whether this is no selector at all.
func (s Selector) IsZero() bool { return len(s.requirements) == 0 }

// Match reports whether the selector matches the node. Whoever asks many selectors
// about one node takes LabelsOf once, and MatchLabels or an Index.
func (s Selector) Match(n fleet.Node) bool { return s.MatchLabels(LabelsOf(n)) }

// MatchLabels reports whether the selector matches a node with these labels.
func (s Selector) MatchLabels(l Labels) bool { return !s.IsZero() && hold(s.requirements, &l) }

// hold reports whether all of them hold.
func hold(rs []requirement, l *Labels) bool {
	for i := range rs {
		if !rs[i].holds(l) {
			return false
		}
	}
	return true
}

func (r *requirement) holds(l *Labels) bool {
	text, ok := l.lookup(&r.key)
	switch r.op {
	case opIn:
		return ok && r.lists(text)
	case opNotIn:
		return !ok || !r.lists(text)
	case opPrefix:
		return ok && strings.HasPrefix(text, r.values[0])
	case opPresent:
		return ok
	default:
		return !ok
	}
}

func (r *requirement) lists(text string) bool {
	_, ok := slices.BinarySearch(r.values, text)
	return ok
}

// String is the canonical form.
func (r *requirement) String() string {
	values := make([]string, len(r.values))
	for i, v := range r.values {
		values[i] = written(v, plainValue)
	}
	one, many := "=", " in "
	switch r.op {
	case opPresent:
		return r.key.text
	case opAbsent:
		return "!" + r.key.text
	case opPrefix:
		return r.key.text + "^=" + values[0]
	case opNotIn:
		one, many = "!=", " notin "
	}
	if len(values) == 1 {
		return r.key.text + one + values[0]
	}
	return r.key.text + many + "(" + strings.Join(values, ",") + ")"
}
