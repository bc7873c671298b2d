package snapshot

import (
	"strings"

	"fairlead/internal/fleet"
)

// Blame is a resource of a refused response that is held responsible.
type Blame struct {
	Refused *Resource
	Good    *Resource // the last one that this stream confirmed, nil if none
}

// Refuse takes in the NACK of the response that is in flight and returns whom its text
// blames (SEMANTICS 3.5): the changed names that stand whole in it; else the only
// changed one; else all of them. It reports false for a nonce that is not that
// response's.
//
// From here on the client may hold any of the response's resources, old or new: Envoy
// applies half of what it refuses (PROTOCOL rule 16). They are in doubt until a later
// response about them is ACKed, and so they are sent again, the culprits at their last
// good version.
func (c *Client) Refuse(t fleet.Type, nonce, text string) ([]Blame, bool) {
	tr := &c.types[t]
	f := tr.inFlight
	if f == nil || f.Nonce != nonce {
		return nil, false
	}
	tr.inFlight, tr.inStep = nil, false
	if tr.refused == nil {
		tr.refused = make(map[Sum][]change)
	}
	tr.refused[f.content] = f.changes
	blamed := f.culprits(text)
	for _, ch := range f.changes {
		tr.held = tr.held.With(doubtful(ch))
	}
	return blamed, true
}

// offerAgain forgets the refused contents that the target has left: a later revision
// that brings a refused version back asks again, once (SEMANTICS 3.6).
func (tr *track) offerAgain(target *Set) {
	for content, changes := range tr.refused {
		for _, ch := range changes {
			now := target.Get(ch.name())
			if ch.new == nil && now != nil || ch.new != nil && !Same(ch.new, now) {
				delete(tr.refused, content)
				break
			}
		}
	}
}

func (r *Response) culprits(text string) []Blame {
	var changed, named []Blame
	for _, ch := range r.changes {
		if ch.new == nil {
			continue
		}
		b := Blame{Refused: ch.new, Good: ch.old.lastGood()}
		changed = append(changed, b)
		if standsWhole(text, ch.new.Name) {
			named = append(named, b)
		}
	}
	if len(named) > 0 {
		return named
	}
	return changed
}

// doubtful is the entry of a name of which nothing is known but that it was in a
// refused response.
func doubtful(ch change) *Resource {
	d := &Resource{doubt: true}
	switch {
	case ch.new != nil:
		d.Name = ch.new.Name
		d.Refs = append(d.Refs, ch.new.Refs...)
	default:
		d.Name = ch.old.Name
	}
	if ch.old != nil {
		d.Refs = append(d.Refs, ch.old.Refs...)
		d.had = ch.new != nil && (!ch.old.doubt || ch.old.had) // a removal may have been applied
		d.last = ch.old.lastGood()
	}
	d.key = keyOf(d.Name, "\x00in doubt")
	return d
}

// standsWhole reports whether name stands in text as a word of its own, so that the
// cluster "a" is not blamed for every text with an a in it.
func standsWhole(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !partOfName(text[start-1])) && (end == len(text) || !partOfName(text[end]) || endsSentence(text, end)) {
			return true
		}
		from = start + 1
	}
}

func partOfName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
		b == '_' || b == '-' || b == '.' || b == '/' || b >= 0x80
}

// endsSentence: a full stop that is followed by nothing of a name.
func endsSentence(text string, at int) bool {
	return text[at] == '.' && (at+1 == len(text) || !partOfName(text[at+1]))
}
