package planner

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Certainty is what a client may have of a name in doubt.
type Certainty uint8

// It may have any of the versions that it was sent, or nothing; or it has one of them for
// sure.
const (
	Anything Certainty = iota
	Something
)

// Doubt is a name that stood in a response which the client refused, or of which it is not
// believed what it reports. It is immutable.
type Doubt struct {
	Certainty Certainty
	Last      *snapshot.Resource // the last version that the client confirmed
	Version   string             // as reported, if there is no such
	Refs      []fleet.Ref        // what any of the versions names
	Offered   *snapshot.Resource // where the client's set is not known: the version that was sent last, or may have been, unless that may be to blame
}

// Doubts are the names of a type that are in doubt. They are immutable and interned: streams that doubt the same stand in one
// place, and a step is worked out once for them. nil: nothing is in doubt.
type Doubts struct {
	byName  map[string]*Doubt
	sorted  []string
	content snapshot.Count
	size    int // about what they take
}

type doubtsKey struct {
	fleet   fleet.Key
	typ     fleet.Type
	content snapshot.Count
}

// doubtEdit is a name of which another thing is doubted now; nil: nothing any more. Of two of one name the later one counts.
type doubtEdit struct {
	name string
	is   *Doubt
}

// Len is the number of names.
func (d *Doubts) Len() int {
	if d == nil {
		return 0
	}
	return len(d.byName)
}

// of is what is doubted of a name, nil for nothing. It is asked for every name, and allocates nothing.
func (d *Doubts) of(name string) *Doubt {
	if d == nil {
		return nil
	}
	return d.byName[name]
}

// names are those in doubt, in order. They are not to be written to.
func (d *Doubts) names() []string {
	if d == nil {
		return nil
	}
	return d.sorted
}

// keeps is about what it takes to remember them.
func (d *Doubts) keeps() int {
	if d == nil {
		return 0
	}
	return d.size
}

// id identifies what is doubted of a name.
func (d *Doubt) id(name string) snapshot.ID {
	b := make([]byte, 0, 64+len(name))
	text := func(s string) { b = append(protowire.AppendVarint(b, uint64(len(s))), s...) }
	text(name)
	text(d.Version)
	b = append(b, byte(d.Certainty))
	for _, ref := range d.Refs {
		b = append(b, byte(ref.Type))
		text(ref.Name)
	}
	if d.Offered != nil {
		b = append(b, 1)
	}
	return snapshot.IDOf(b).With(d.Last).With(d.Offered)
}

func (d *Doubt) bytes(name string) int { return nameSize + len(name) + len(d.Version) + 32*len(d.Refs) }

// doubts derives doubts. If there are some of that content already it is those, and nothing is built.
func (in interner) doubts(t fleet.Type, d *Doubts, edits []doubtEdit) *Doubts {
	changed := make(map[string]*Doubt, len(edits))
	for _, e := range edits {
		changed[e.name] = e.is
	}
	next := &Doubts{}
	if d != nil {
		next.content, next.size = d.content, d.size
	}
	for name, is := range changed {
		if was := d.of(name); was != nil {
			next.content, next.size = next.content.Minus(was.id(name)), next.size-was.bytes(name)
		}
		if is != nil {
			next.content, next.size = next.content.Plus(is.id(name)), next.size+is.bytes(name)
		}
	}
	switch {
	case next.content.N == 0:
		return nil
	case d != nil && next.content == d.content:
		return d
	}
	k := doubtsKey{in.key, t, next.content}
	if known := in.doubted.get(k); known != nil {
		return known
	}
	next.byName = make(map[string]*Doubt, next.content.N)
	if d != nil {
		maps.Copy(next.byName, d.byName)
	}
	for name, is := range changed {
		if is == nil {
			delete(next.byName, name)
		} else {
			next.byName[name] = is
		}
	}
	next.sorted = slices.Sorted(maps.Keys(next.byName))
	return in.doubted.put(k, next)
}

// cast puts names in doubt: what is held of them counts no more.
func (in interner) cast(t fleet.Type, tr *Track, edits []doubtEdit) {
	if len(edits) == 0 {
		return
	}
	tr.Doubts = in.doubts(t, tr.Doubts, edits)
	names := make([]string, 0, len(edits))
	for _, e := range edits {
		if tr.Doubts.of(e.name) != nil {
			names = append(names, e.name)
		}
	}
	tr.Held = in.dropped(t, tr.Held, unique(names))
}

// without are the doubts but for names.
func (in interner) without(t fleet.Type, d *Doubts, names []string) *Doubts {
	var edits []doubtEdit
	for _, name := range names {
		if d.of(name) != nil {
			edits = append(edits, doubtEdit{name: name})
		}
	}
	if len(edits) == 0 {
		return d
	}
	return in.doubts(t, d, edits)
}

// doubtful is what is in doubt once the client may have taken changes or not.
func doubtful(changes []change, offered bool) []doubtEdit {
	edits := make([]doubtEdit, 0, len(changes))
	for _, ch := range changes {
		d := ch.doubtful()
		if offered {
			d.Offered = ch.new
		}
		edits = append(edits, doubtEdit{ch.name, &d})
	}
	return edits
}
