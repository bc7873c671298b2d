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
	bytes   int  // of all of them
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
	l.longest, l.bytes = max(l.longest, len(v)), l.bytes+len(v)
	l.broken = l.broken || !utf8.Valid(v)
}

// with counts two lists as one.
func (l counted) with(o counted) counted {
	l.Count = l.And(o.Count)
	l.star, l.broken = l.star || o.star, l.broken || o.broken
	l.longest, l.bytes = max(l.longest, o.longest), l.bytes+o.bytes
	return l
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

// grown is how a list of names goes on from one that the stream brought before: others stand before it and behind it.
type grown struct {
	whole, from listID // zero: not known
	more        counted
	parts       [2]part // where the others stand
}

// part is one of a request's bytes.
type part struct{ from, to int }

// known takes the list of names out of a request, as far as it is in one piece: as it is known, as one that
// goes on from what the stream said before, or name by name. It returns what stands before it and behind it.
func (r *request) known(b []byte) (before, after []byte, err error) {
	at := 0
	for at < len(b) && b[at] != nameTag {
		_, _, n := protowire.ConsumeField(b[at:])
		if n < 0 {
			return nil, nil, protowire.ParseError(n)
		}
		at += n
	}
	tries := maxTries
	from := r.bounds.own.find(b[at:], &tries)
	if from == nil {
		if k := r.bounds.lists.find(b[at:], &tries); k != nil {
			r.names, r.grown.whole = k.names, k.listID
			r.bounds.own.add(k, listID{})
			return b[:at], b[at+k.size:], nil
		}
	}
	g, end := grown{}, at
	for end < len(b) && b[end] == nameTag {
		if from == nil && end > at {
			from = r.bounds.own.find(b[end:], &tries)
		}
		if from != nil && g.from == (listID{}) {
			g.from, g.parts[0] = from.listID, part{at, end}
			end += from.size
			g.parts[1].from = end
			continue
		}
		v, n := protowire.ConsumeBytes(b[end+1:])
		if n < 0 {
			return nil, nil, protowire.ParseError(n)
		}
		g.more.add(v)
		end += 1 + n
	}
	g.parts[1].to = end
	r.fresh = g.more.len()
	r.names = g.more
	if from != nil {
		r.names, r.grown = from.names.with(g.more), g
	}
	r.remember(b[at:end], from)
	return b[:at], b[end:], nil
}

// remember notes the list of the request, which goes on from another or from nil, for those that come after it.
func (r *request) remember(list []byte, from *knownList) {
	switch {
	case len(list) < leastList:
	case from == nil:
		k := listOf(list, r.names)
		r.grown.whole = k.listID
		r.bounds.own.add(k, listID{})
		r.bounds.lists.add(k)
	case from.size == len(list):
		r.grown.whole = from.listID
		r.bounds.own.add(from, from.listID)
	default: // what a stream adds, one by one, is its own
		k := listOf(list, r.names)
		r.grown.whole = k.listID
		r.bounds.own.add(k, from.listID)
	}
}

// says reports whether the request says anything of names: nearly all are an ACK alone in the incremental protocol.
func (r *request) says() bool {
	return r.names.N+r.dropped.N > 0 || r.names.star || r.dropped.star
}

// subscription is what the request says of names.
func (r *request) subscription(t fleet.Type) planner.Request {
	q := planner.Request{Type: t, Named: r.names.N > 0, Star: r.names.star, Unstar: r.dropped.star, Version: r.version}
	all := part{0, len(r.raw)}
	if r.names.N > 0 {
		q.Names = planner.Names{Count: r.names.Count, Each: r.elements(sotwNames, all)} // which is deltaSubscribe
	}
	if r.dropped.N > 0 {
		q.Dropped = planner.Names{Count: r.dropped.Count, Each: r.elements(deltaUnsubscribe, all)}
	}
	if r.versions.N == 0 {
		return q
	}
	q.Versions = planner.Versions{Count: r.versions.Count, Each: func(yield func(_, _ []byte) bool) {
		for entry := range r.elements(deltaVersions, all) {
			if name, version, err := pair(entry); err != nil || !yield(name, version) {
				return
			}
		}
	}}
	return q
}

// goesOn is what the request says of names where the list that it goes on from is known: no more than what it adds.
func (r *request) goesOn(t fleet.Type) planner.Request {
	q := planner.Request{Type: t, Named: r.names.N > 0, Star: r.names.star, Adds: true, Version: r.version}
	if r.grown.more.N > 0 {
		q.Names = planner.Names{Count: r.grown.more.Count, Each: r.elements(sotwNames, r.grown.parts[:]...)}
	}
	return q
}

// elements yields the elements of a list but "*" that stand in some parts of the request.
func (r *request) elements(field protowire.Number, in ...part) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if r.raw == nil {
			return
		}
		for _, p := range in {
			err := eachBytes(r.raw[p.from:p.to], func(num protowire.Number, v []byte) error { // decode has read them all
				if num == field && (len(v) != 1 || v[0] != '*') && !yield(v) {
					return errEnough
				}
				return nil
			})
			if err != nil {
				return
			}
		}
	}
}

var errEnough = errors.New("no more is read")
