package planner

import (
	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
	"fairlead/internal/snapshot"
)

// What changes for a client when it asks for other names than before.

// change takes in that one subscription took the place of another one. It reports whether some name is new. Under a wildcard a delta client is told
// what a name that it gives up is now (PROTOCOL rule 6).
func (c *Client) change(t fleet.Type, old, next *Subscription) (asked bool) {
	if old.Len() == 0 && !old.wildcard && c.inFlight[t] == nil {
		return next.Len() > 0 // nothing was given up
	}
	tr := &c.pos.Types[t]
	gone := 0
	var dropped []string
	var told []*snapshot.Resource
	var wanted []doubtEdit
	for was, is := range snapshot.Diff(old.names, next.names) {
		if is != nil {
			asked = true
			wanted = c.wantAgain(t, is.Name, wanted)
			continue
		}
		if gone++; !next.wildcard {
			dropped = append(dropped, was.Name)
		} else if c.pos.Kind.Delta {
			told = append(told, was)
		}
	}
	if old.wildcard && !next.wildcard {
		c.forgetUnwanted(t)
	}
	c.forget(t, dropped)
	c.doubtNext(t, wanted)
	if len(told) > 0 {
		tr.Pending = c.in.adding(t, tr.Pending, told...)
	}
	tr.Unknown = tr.Unknown && (next.wildcard || gone < old.Len()) // what is not known was given up
	return asked
}

// forget: the client gave names up and holds them no more.
func (c *Client) forget(t fleet.Type, dropped []string) {
	if len(dropped) == 0 {
		return
	}
	tr := &c.pos.Types[t]
	tr.Held, tr.Pending = c.in.dropped(t, tr.Held, dropped), c.in.dropped(t, tr.Pending, dropped)
	if tr.InFlight {
		tr.Next = c.in.dropped(t, tr.Next, dropped)
	}
	tr.Doubts, tr.NextDoubts = c.in.without(t, tr.Doubts, dropped), c.in.without(t, tr.NextDoubts, dropped)
	if c.rec == nil {
		return
	}
	p := &c.rec.types[t]
	for content, x := range p.refused { // the bisection that they were in has ended
		x.again = repair.Place{}
		p.refused[content] = x
	}
}

// dropped takes names out of a set.
func (in interner) dropped(t fleet.Type, s *snapshot.Set, names []string) *snapshot.Set {
	var edits []snapshot.Edit
	for _, n := range names {
		if r := s.Get(n); r != nil {
			edits = append(edits, snapshot.Edit{Old: r})
		}
	}
	return in.apply(t, s, edits)
}

// wantAgain takes a name up again, and adds to what is in doubt. If it was given up since a response left that carries it,
// the client may or may not take the resource in when that arrives.
func (c *Client) wantAgain(t fleet.Type, name string, doubts []doubtEdit) []doubtEdit {
	f := c.inFlight[t]
	if f == nil || c.pos.Types[t].Next.Get(name) != nil {
		return doubts
	}
	r := f.after.Get(name)
	if r == nil {
		return doubts
	}
	d := change{name: name, new: r}.doubtful()
	return append(doubts, doubtEdit{name, &d})
}

// doubtNext puts names in doubt once what is in flight is ACKed.
func (c *Client) doubtNext(t fleet.Type, edits []doubtEdit) {
	if tr := &c.pos.Types[t]; len(edits) > 0 {
		tr.NextDoubts = c.in.doubts(t, tr.NextDoubts, edits)
	}
}

func (c *Client) forgetUnwanted(t fleet.Type) {
	tr := &c.pos.Types[t]
	var dropped []string
	sets := []*snapshot.Set{tr.Held}
	if tr.InFlight {
		sets = append(sets, tr.Next)
	}
	for _, s := range sets {
		for r := range s.All() {
			if !tr.Sub.Has(r.Name) {
				dropped = append(dropped, r.Name)
			}
		}
	}
	for _, doubts := range []*Doubts{tr.Doubts, tr.NextDoubts} {
		for _, name := range doubts.names() {
			if !tr.Sub.Has(name) {
				dropped = append(dropped, name)
			}
		}
	}
	c.forget(t, unique(dropped))
}

// unique are names, each once.
func unique(names []string) []string {
	seen := make(map[string]struct{}, len(names))
	once := names[:0]
	for _, n := range names {
		if _, again := seen[n]; !again {
			seen[n] = struct{}{}
			once = append(once, n)
		}
	}
	return once
}
