package planner

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// has is what a client has of one name: a version; or one of several, or none, if that is in
// doubt; or nothing, the zero value.
type has struct {
	res   *snapshot.Resource // one that it reported may have no bytes
	doubt *Doubt
}

func (h has) nothing() bool  { return h.res == nil && h.doubt == nil }
func (h has) doubtful() bool { return h.doubt != nil }

// is reports whether the client has this version and nothing else.
func (h has) is(r *snapshot.Resource) bool { return h.doubt == nil && snapshot.Same(h.res, r) }

// reported: the client said that it holds this version, which the fleet does not have.
// Nothing else is known of it.
func (h has) reported() bool { return h.res != nil && !h.res.Known() }

// refs is all that what the client has may name, as far as it is known.
func (h has) refs() []fleet.Ref {
	switch {
	case h.doubt != nil:
		return h.doubt.Refs
	case h.res != nil:
		return h.res.Refs
	}
	return nil
}

func (h has) names(ref fleet.Ref) bool { return slices.Contains(h.refs(), ref) }

// namesAnything: what the client has may name anything, since its bytes are not known.
func (h has) namesAnything() bool {
	return h.reported() || h.knowledge() == someKnown
}

// lastGood is the version itself or, if the client may not hold it, the last one that it
// confirmed. One that was only reported by the client has no bytes and does not count.
func (h has) lastGood() *snapshot.Resource {
	switch {
	case h.doubt != nil:
		return h.doubt.Last
	case h.reported():
		return nil
	}
	return h.res
}

// last is what stands in a set of what the client has, nil for nothing.
func (h has) last() *snapshot.Resource {
	if h.doubt != nil {
		return h.doubt.Last
	}
	return h.res
}

// surely reports whether the client has some version.
func (h has) surely() bool {
	return h.res != nil || h.doubt != nil && h.doubt.Certainty == Something
}

func (h has) knowledge() knowledge {
	switch d := h.doubt; {
	case d == nil:
		return certain
	case d.Last != nil:
		return lastKnown
	case d.Certainty == Something:
		return someKnown
	}
	return unknown
}

// leftAlone reports whether the client has a version of the name whose bytes are not to be
// had: one that it only reported.
func (h has) leftAlone() bool { return h.surely() && h.lastGood() == nil }

// version is what the client has, or reported to have. It is "" if that is in doubt, though there is a version that it confirmed last.
func (h has) version() string {
	switch {
	case h.res != nil:
		return h.res.Version
	case h.doubt != nil:
		return h.doubt.Version
	}
	return ""
}

// change is one name whose resource differs between client and target, or that is owed
// an answer: old is what the client has, new what it is to have; nil is nothing. If both
// are it is missing.
type change struct {
	name string
	old  has
	new  *snapshot.Resource
}

func (ch change) missing() bool { return ch.old.nothing() && ch.new == nil }

// doubtful is what is known of the name once the client may have taken the change or not.
func (ch change) doubtful() Doubt {
	d := Doubt{}
	if ch.new != nil {
		d.Refs = slices.Clone(ch.new.Refs)
	}
	if ch.old.nothing() {
		return d
	}
	for _, ref := range ch.old.refs() {
		if !slices.Contains(d.Refs, ref) {
			d.Refs = append(d.Refs, ref)
		}
	}
	if ch.new != nil && ch.old.surely() { // a removal may have been applied
		d.Certainty = Something
	}
	if d.Last = ch.old.lastGood(); d.Last == nil {
		d.Version = ch.old.version() // as reported
	}
	return d
}
