package xds

import (
	"errors"
	"iter"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// counted is a list of a request, counted and not kept: what most streams say is known already.
type counted struct {
	snapshot.Count
	star    bool // "*" is an element; it is not counted
	longest int  // bytes of an element
	broken  bool // an element is not valid UTF-8
}

func (l *counted) add(v []byte) {
	if len(v) == 1 && v[0] == '*' {
		l.star = true
		return
	}
	l.see(v)
	l.Count = l.Plus(snapshot.IDOf(v))
}

// see notes whether a text is one that a resource may have.
func (l *counted) see(v []byte) {
	l.longest = max(l.longest, len(v))
	l.broken = l.broken || !utf8.Valid(v)
}

// plain reports whether all elements are such as a resource may have.
func (l *counted) plain(longest int) bool { return l.longest <= longest && !l.broken }

// len is how many elements were read.
func (l *counted) len() int {
	if l.star {
		return l.N + 1
	}
	return l.N
}

// known takes the list of names out of a request, as far as it is in one piece: as it is known, or
// name by name. It returns what stands before it and behind it.
func (r *request) known(b []byte) (before, after []byte, err error) {
	at := 0
	for at < len(b) && b[at] != nameTag {
		_, _, n := protowire.ConsumeField(b[at:])
		if n < 0 {
			return nil, nil, protowire.ParseError(n)
		}
		at += n
	}
	if k, ok := r.bounds.lists.find(b[at:]); ok {
		r.names = k.names
		return b[:at], b[at+k.size:], nil
	}
	end := at
	for end < len(b) && b[end] == nameTag {
		v, n := protowire.ConsumeBytes(b[end+1:])
		if n < 0 {
			return nil, nil, protowire.ParseError(n)
		}
		r.names.add(v)
		end += 1 + n
	}
	r.bounds.lists.add(b[at:end], r.names)
	return b[:at], b[end:], nil
}

// subscription is what the request says of names.
func (r *request) subscription(t fleet.Type) planner.Request {
	q := planner.Request{Type: t, Star: r.names.star, Unstar: r.dropped.star, Version: r.version}
	q.Names = planner.Names{Count: r.names.Count, Each: r.elements(sotwNames)} // which is deltaSubscribe
	q.Dropped = planner.Names{Count: r.dropped.Count, Each: r.elements(deltaUnsubscribe)}
	q.Versions = planner.Versions{Count: r.versions.Count, Each: func(yield func(_, _ []byte) bool) {
		for entry := range r.elements(deltaVersions) {
			if name, version, err := pair(entry); err != nil || !yield(name, version) {
				return
			}
		}
	}}
	return q
}

// elements yields the elements of a list but "*".
func (r *request) elements(field protowire.Number) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if r.raw == nil {
			return
		}
		_ = eachBytes(r.raw, func(num protowire.Number, v []byte) error { // decode has read them all
			if num == field && (len(v) != 1 || v[0] != '*') && !yield(v) {
				return errEnough
			}
			return nil
		})
	}
}

var errEnough = errors.New("no more is read")
