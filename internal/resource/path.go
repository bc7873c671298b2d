package resource

import (
	"strconv"
	"strings"

	"fairlead/internal/jsonpointer"
)

// path is a place in a document, as a chain to the root: cheap to extend at every step
// of a walk, written out only for an error. nil is the root.
type path struct {
	up  *path
	key string // of a member; of an element its index is in idx
	idx int    // -1 for a member
}

func (p *path) member(key string) *path { return &path{p, key, -1} }

func (p *path) item(i int) *path { return &path{p, "", i} }

// pointers writes out the places of one resource while there is room for them: a key that leads to many may have 4 KiB. Of what has none left the
// whole body is told.
type pointers struct {
	room  int
	whole *path
}

func (p *pointers) of(at *path) string {
	if p.room <= 0 {
		return p.whole.String()
	}
	text := at.String()
	p.room -= len(text)
	return text
}

// String returns the place as a JSON pointer.
func (p *path) String() string {
	var steps []string
	for ; p != nil; p = p.up {
		if p.idx >= 0 {
			steps = append(steps, strconv.Itoa(p.idx))
		} else {
			steps = append(steps, jsonpointer.Escape(p.key))
		}
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(steps[i])
	}
	return b.String()
}
