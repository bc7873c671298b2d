package resource

import (
	"fmt"
)

// Limits of what is read. They hold before anything is decoded: protobuf's own decoder
// takes 18 s of CPU for half a megabyte of nested Any.
const (
	maxInput    = 4 << 20 // bytes
	maxDepth    = 64      // of nested objects and lists
	maxAnyDepth = 16      // of nested objects with "@type"
)

// scan reads one JSON value into a tree. It is stricter than encoding/json: UTF-8 must
// be valid, no key may stand twice in an object, and depth is bounded. Its cost is
// linear in the input. Errors name a place and never repeat a value.
func scan(in []byte) (*node, error) {
	if len(in) > maxInput {
		return nil, fail(nil, codeLimit, "the document is larger than %d MiB", maxInput>>20)
	}
	s := scanner{in: in}
	s.space()
	if s.pos == len(in) {
		return nil, fail(nil, codeSyntax, "the document is empty")
	}
	var root node
	anys, err := s.value(&root, nil, 1)
	if err != nil {
		return nil, err
	}
	if anys > maxAnyDepth {
		return nil, s.tooManyAnys(&root)
	}
	if s.space(); s.pos < len(in) {
		return nil, s.syntax(nil, "something follows the end of the document")
	}
	return &root, nil
}

type scanner struct {
	in  []byte
	pos int
}

func (s *scanner) syntax(at *path, what string) error {
	line, col := lineCol(s.in, s.pos)
	return failAt(line, col, at, codeSyntax, what)
}

func (s *scanner) space() {
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek skips space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.in) {
		return 0
	}
	return s.in[s.pos]
}

// value reads one value into n and returns how many objects with "@type" are nested in it.
func (s *scanner) value(n *node, at *path, depth int) (anys int, err error) {
	if depth > maxDepth {
		return 0, fail(at, codeLimit, "more than %d objects and lists are nested in each other", maxDepth)
	}
	c := s.peek()
	n.start = s.pos
	switch {
	case c == '{':
		n.kind = kindObject
		anys, err = s.object(n, at, depth)
	case c == '[':
		n.kind = kindArray
		anys, err = s.array(n, at, depth)
	case c == '"':
		n.kind = kindString
		n.text, err = s.str(at)
	case c == '-' || c >= '0' && c <= '9':
		n.kind = kindNumber
		n.text, err = s.number(at)
	default:
		err = s.literal(n, at)
	}
	n.end = s.pos
	return anys, err
}

func (s *scanner) literal(n *node, at *path) error {
	for _, l := range []struct {
		text string
		kind kind
	}{{"null", kindNull}, {"true", kindBool}, {"false", kindBool}} {
		if rest := s.in[s.pos:]; len(rest) >= len(l.text) && string(rest[:len(l.text)]) == l.text {
			n.kind, n.text = l.kind, l.text
			s.pos += len(l.text)
			return nil
		}
	}
	return s.syntax(at, "a value is missing here, or is not JSON")
}

func (s *scanner) object(n *node, at *path, depth int) (anys int, err error) {
	s.pos++ // {
	if s.peek() == '}' {
		s.pos++
		return 0, nil
	}
	seen := keySet{}
	hasType := false
	for {
		if s.peek() != '"' {
			return 0, s.syntax(at, "a key in quotes is missing")
		}
		m := member{keyAt: s.pos, value: new(node)}
		if m.key, err = s.str(at); err != nil {
			return 0, err
		}
		here := at.member(m.key)
		if !seen.add(n.members, m.key) {
			return 0, fail(here, codeDuplicateKey, "the key stands twice in one object")
		}
		if s.peek() != ':' {
			return 0, s.syntax(at, "a colon is missing after the key")
		}
		s.pos++
		inner, err := s.value(m.value, here, depth+1)
		if err != nil {
			return 0, err
		}
		anys, hasType = max(anys, inner), hasType || m.key == "@type"
		n.members = append(n.members, m)
		if more, err := s.next('}', at); err != nil || !more {
			if hasType {
				anys++
			}
			return anys, err
		}
	}
}

func (s *scanner) array(n *node, at *path, depth int) (anys int, err error) {
	s.pos++ // [
	if s.peek() == ']' {
		s.pos++
		return 0, nil
	}
	for {
		v := new(node)
		inner, err := s.value(v, at.item(len(n.items)), depth+1)
		if err != nil {
			return 0, err
		}
		anys = max(anys, inner)
		n.items = append(n.items, v)
		if more, err := s.next(']', at); err != nil || !more {
			return anys, err
		}
	}
}

// next reads a comma (more follows) or the closing byte.
func (s *scanner) next(closing byte, at *path) (more bool, err error) {
	switch c := s.peek(); c {
	case ',', closing:
		s.pos++
		return c == ',', nil
	}
	return false, s.syntax(at, fmt.Sprintf("a comma or %c is missing", closing))
}

// tooManyAnys says where the Any stands that is one too deep.
func (s *scanner) tooManyAnys(root *node) error {
	var find func(n *node, at *path, outer int) *path
	find = func(n *node, at *path, outer int) *path {
		if n.get("@type") != nil {
			if outer++; outer > maxAnyDepth {
				return at
			}
		}
		for i := range n.members {
			if p := find(n.members[i].value, at.member(n.members[i].key), outer); p != nil {
				return p
			}
		}
		for i := range n.items {
			if p := find(n.items[i], at.item(i), outer); p != nil {
				return p
			}
		}
		return nil
	}
	return fail(find(root, nil, 0), codeLimit, "more than %d messages with \"@type\" are nested in each other", maxAnyDepth)
}

// keySet finds a key that stands twice: by looking at all in a small object, by a map
// in a large one.
type keySet struct{ seen map[string]struct{} }

func (k *keySet) add(before []member, key string) bool {
	const small = 12
	if len(before) < small {
		for i := range before {
			if before[i].key == key {
				return false
			}
		}
		return true
	}
	if k.seen == nil {
		k.seen = make(map[string]struct{}, 2*len(before))
		for i := range before {
			k.seen[before[i].key] = struct{}{}
		}
	}
	if _, twice := k.seen[key]; twice {
		return false
	}
	k.seen[key] = struct{}{}
	return true
}
