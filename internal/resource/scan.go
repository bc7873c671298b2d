package resource

import (
	"fmt"
	"strings"
)

// Limits of what is read. They hold before anything is decoded: protobuf's own decoder
// takes 18 s of CPU for half a megabyte of nested Any.
const (
	maxInput    = 4 << 20 // bytes
	maxDepth    = 64      // of nested objects and lists
	maxAnyDepth = 16      // of nested objects with "@type"
	maxTyped    = 2       // of nested TypedStructs: each one is read anew, with all that is in it
	maxGrowth   = 1 << 20 // bytes by which a resource is longer when it is told than as it was sent
	maxPath     = 4 << 10 // bytes of the keys that lead to a value: its place is told, and kept, for each value
)

// scan reads one JSON value into a tree. It is stricter than encoding/json: UTF-8 must
// be valid, no key may stand twice in an object, and depth is bounded. Its cost is
// linear in the input. Errors name a place and never repeat a value.
func scan(in []byte) (*node, error) {
	if len(in) > maxInput {
		return nil, fail(nil, codeLimit, "the document is larger than %d MiB", maxInput>>20)
	}
	return (&scanner{in: in}).document()
}

// scanStored reads what was taken before, when there were fewer limits.
func scanStored(in []byte) (*node, error) { return (&scanner{in: in, stored: true}).document() }

func (s *scanner) document() (*node, error) {
	s.space()
	if s.pos == len(s.in) {
		return nil, fail(nil, codeSyntax, "the document is empty")
	}
	var root node
	deep, err := s.value(&root, nil, 1)
	if err != nil {
		return nil, err
	}
	if !s.stored {
		if err := tooDeep(&root, deep); err != nil {
			return nil, err
		}
	}
	if s.space(); s.pos < len(s.in) {
		return nil, s.syntax(nil, "something follows the end of the document")
	}
	return &root, nil
}

type scanner struct {
	in     []byte
	pos    int
	keys   int  // bytes of the keys that lead to where it is
	stored bool // only protobuf's own limits hold
}

// nest is how many objects with "@type" are nested in each other, and how many of them are
// TypedStructs.
type nest struct{ anys, typed int }

func (n nest) max(o nest) nest { return nest{max(n.anys, o.anys), max(n.typed, o.typed)} }

// and is n with the object around it. What a TypedStruct holds is one itself where its type_url says so, without an "@type".
func (n nest) and(typeURL, held *node) nest {
	if typeURL != nil {
		n.anys++
	}
	for _, url := range []*node{typeURL, held} {
		if url != nil && strings.HasSuffix(url.text, ".TypedStruct") {
			n.typed++
		}
	}
	return n
}

// around is n with this object around it.
func (n nest) around(o *node) nest {
	held := o.get("type_url")
	if held == nil {
		held = o.get("typeUrl")
	}
	return n.and(o.get("@type"), held)
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

// value reads one value into n and returns what is nested in it.
func (s *scanner) value(n *node, at *path, depth int) (deep nest, err error) {
	if depth > maxDepth && !s.stored || depth > recursionLimit {
		return deep, fail(at, codeLimit, "more than %d objects and lists are nested in each other", maxDepth)
	}
	c := s.peek()
	n.start = s.pos
	switch {
	case c == '{':
		n.kind = kindObject
		deep, err = s.object(n, at, depth)
	case c == '[':
		n.kind = kindArray
		deep, err = s.array(n, at, depth)
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
	return deep, err
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

func (s *scanner) object(n *node, at *path, depth int) (deep nest, err error) {
	s.pos++ // {
	if s.peek() == '}' {
		s.pos++
		return deep, nil
	}
	var typeURL, held *node
	for {
		if s.peek() != '"' {
			return deep, s.syntax(at, "a key in quotes is missing")
		}
		m := member{keyAt: s.pos, value: new(node)}
		if m.key, err = s.str(at); err != nil {
			return deep, err
		}
		if s.keys += len(m.key); s.keys > maxPath && !s.stored {
			return deep, fail(at, codeLimit, "the keys that lead to one value are longer than %d KiB", maxPath>>10)
		}
		here := at.member(m.key)
		if !n.index.add(n.members, m.key) {
			return deep, fail(here, codeDuplicateKey, "the key stands twice in one object")
		}
		if s.peek() != ':' {
			return deep, s.syntax(at, "a colon is missing after the key")
		}
		s.pos++
		inner, err := s.value(m.value, here, depth+1)
		if err != nil {
			return deep, err
		}
		s.keys -= len(m.key)
		deep = deep.max(inner)
		switch m.key {
		case "@type":
			typeURL = m.value
		case "type_url", "typeUrl":
			held = m.value
		}
		n.members = append(n.members, m)
		if more, err := s.next('}', at); err != nil || !more {
			return deep.and(typeURL, held), err
		}
	}
}

func (s *scanner) array(n *node, at *path, depth int) (deep nest, err error) {
	s.pos++ // [
	if s.peek() == ']' {
		s.pos++
		return deep, nil
	}
	for {
		v := new(node)
		inner, err := s.value(v, at.item(len(n.items)), depth+1)
		if err != nil {
			return deep, err
		}
		deep = deep.max(inner)
		n.items = append(n.items, v)
		if more, err := s.next(']', at); err != nil || !more {
			return deep, err
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

// tooDeep says where the message stands that is one too deep.
func tooDeep(root *node, deep nest) error {
	if deep.anys <= maxAnyDepth && deep.typed <= maxTyped {
		return nil
	}
	var find func(n *node, at *path, outer nest) (*path, nest)
	find = func(n *node, at *path, outer nest) (*path, nest) {
		if outer = outer.around(n); outer.anys > maxAnyDepth || outer.typed > maxTyped {
			return at, outer
		}
		for i := range n.members {
			if p, in := find(n.members[i].value, at.member(n.members[i].key), outer); in != (nest{}) {
				return p, in
			}
		}
		for i := range n.items {
			if p, in := find(n.items[i], at.item(i), outer); in != (nest{}) {
				return p, in
			}
		}
		return nil, nest{}
	}
	at, in := find(root, nil, nest{})
	if in.typed > maxTyped {
		return fail(at, codeLimit, "more than %d messages of the type TypedStruct are nested in each other: write the inner ones as the messages that they stand for", maxTyped)
	}
	return fail(at, codeLimit, "more than %d messages with \"@type\" are nested in each other", maxAnyDepth)
}

// keySet finds a key among members: by looking at all in a small object, by a map in a large
// one. So a search costs the same in an object of any size.
type keySet map[string]int

// fewKeys is how many members are looked at one by one.
const fewKeys = 12

// add takes the key of the member that comes after those before; false: one of them has it.
func (k *keySet) add(before []member, key string) bool {
	if k.find(before, key) >= 0 {
		return false
	}
	if *k == nil && len(before) >= fewKeys {
		*k = make(keySet, 2*len(before))
		for i := range before {
			(*k)[before[i].key] = i
		}
	}
	if *k != nil {
		(*k)[key] = len(before)
	}
	return true
}

// find returns where the key stands, or -1.
func (k keySet) find(among []member, key string) int {
	if k != nil {
		if i, ok := k[key]; ok {
			return i
		}
		return -1
	}
	for i := range among {
		if among[i].key == key {
			return i
		}
	}
	return -1
}
