package docdiff

import (
	"encoding/json"
	"strconv"

	"fairlead/internal/jsonpointer"
)

// Op is what a change does.
type Op string

// What a change does.
const (
	Add     Op = "add"
	Remove  Op = "remove"
	Replace Op = "replace"
)

// Change is one difference. Before is not set of an Add, After not of a Remove.
type Change struct {
	Pointer string // RFC 6901; "" is the document
	Op      Op
	Before  json.RawMessage
	After   json.RawMessage
}

// Diff is the difference of two documents.
type Diff struct{ before, after *node }

// Compare compares two documents; nil is no document. What is no JSON, or has a key twice, is
// fleet.ErrInvalid.
func Compare(before, after []byte) (Diff, error) {
	s := ids{}
	b, err := s.parse(before)
	if err != nil {
		return Diff{}, err
	}
	a, err := s.parse(after)
	return Diff{b, a}, err
}

// Same reports whether there is no difference.
func (d Diff) Same() bool {
	if d.before == nil || d.after == nil {
		return d.before == d.after
	}
	return d.before.id == d.after.id
}

// Changes are the differences, such that made one after the other, as RFC 6902 says of a patch,
// they make the one document the other. Elements of a list that have a name are told apart by it. It ends
// where they take more than so many bytes, pointers and values together: whole is false then.
func (d Diff) Changes(most int) (out []Change, whole bool) {
	c := changes{room: most}
	c.value(d.before, d.after, "")
	return c.all, c.room >= 0
}

type changes struct {
	all  []Change
	room int // bytes
}

func (c *changes) add(one Change) {
	c.room -= len(one.Pointer) + len(one.Before) + len(one.After)
	c.all = append(c.all, one)
}

func (c *changes) value(before, after *node, at string) {
	switch {
	case c.room < 0:
	case before == nil && after == nil:
	case before == nil:
		c.add(Change{Pointer: at, Op: Add, After: after.json()})
	case after == nil:
		c.add(Change{Pointer: at, Op: Remove, Before: before.json()})
	case before.id == after.id:
	case before.kind == object && after.kind == object:
		for _, key := range keysOf(before, after) {
			if b, a := before.member(key), after.member(key); b == nil || a == nil || b.id != a.id {
				c.value(b, a, at+"/"+jsonpointer.Escape(key))
			}
		}
	case before.kind == list && after.kind == list:
		c.items(before.items, after.items, at)
	default:
		c.add(Change{Pointer: at, Op: Replace, Before: before.json(), After: after.json()})
	}
}

// items removes from the end, so that the places of what is left stay, then adds from the
// beginning, and changes last, at the new places.
func (c *changes) items(before, after []*node, at string) {
	all := steps(before, after)
	for n := len(all) - 1; n >= 0; n-- {
		if p := all[n]; p.after < 0 {
			c.value(before[p.before], nil, at+"/"+strconv.Itoa(p.before))
		}
	}
	for _, p := range all {
		if p.before < 0 {
			c.value(nil, after[p.after], at+"/"+strconv.Itoa(p.after))
		}
	}
	for _, p := range all {
		if p.before >= 0 && p.after >= 0 && before[p.before].id != after[p.after].id {
			c.value(before[p.before], after[p.after], at+"/"+strconv.Itoa(p.after))
		}
	}
}
