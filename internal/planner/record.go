package planner

import (
	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
	"fairlead/internal/snapshot"
)

// Record is what a stream has of its own beside its position, which it corrects. nil: nothing. A stream that has one is
// planned for alone where it bends the plan, and pays for what the record holds.
type Record struct {
	types [fleet.NumTypes]typeRecord
}

// typeRecord is a type's part of a record.
type typeRecord struct {
	// search is for what the client refuses; nil: none goes on.
	search *repair.Search
	// refused are contents that this stream would not take, and what they held.
	refused   map[snapshot.Sum]refusedContent
	checkedAt *snapshot.Target // at which it was last seen which of them are over; nil: they have changed since
	// late are responses that a newer one has overtaken, oldest first.
	late []*sentResponse
	// unasked: the client has not asked for the type, and was sent it all the same.
	unasked bool
}

func (p *typeRecord) empty() bool {
	return len(p.refused)+len(p.late) == 0 && p.search == nil && !p.unasked
}

// of returns the type's part, which is not to be changed.
func (r *Record) of(t fleet.Type) *typeRecord {
	if r == nil {
		return &none
	}
	return &r.types[t]
}

var none typeRecord

func (r *Record) any(is func(*typeRecord) bool) bool {
	for i := 0; r != nil && i < len(r.types); i++ {
		if is(&r.types[i]) {
			return true
		}
	}
	return false
}

// bends reports whether the record changes what is planned. A content that was refused only
// keeps that back.
func (r *Record) bends() bool {
	return r.any(func(p *typeRecord) bool { return p.search != nil || p.unasked })
}

// bisecting reports whether some culprit is looked for.
func (r *Record) bisecting() bool { return r.any(func(p *typeRecord) bool { return p.search != nil }) }

// refuses reports whether the stream refused a content.
func (r *Record) refuses(t fleet.Type, content snapshot.Sum) bool {
	if r == nil {
		return false
	}
	_, refused := r.types[t].refused[content]
	return refused
}

// edit returns a type's part of the record, to be changed.
func (c *Client) edit(t fleet.Type) *typeRecord {
	if c.rec == nil {
		c.rec = new(Record)
	}
	return &c.rec.types[t]
}

// heal drops the record when nothing is left in it.
func (c *Client) heal() {
	if !c.rec.any(func(p *typeRecord) bool { return !p.empty() }) {
		c.rec = nil
	}
}
