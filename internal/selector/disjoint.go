package selector

import "slices"

// Disjoint reports whether it is plain that no node can match both: some requirement of
// the one contradicts one of the other about the same key. false says nothing.
func Disjoint(a, b Selector) bool {
	for i := range a.requirements {
		for j := range b.requirements {
			if x, y := &a.requirements[i], &b.requirements[j]; x.key.text == y.key.text && (x.contradicts(y) || y.contradicts(x)) {
				return true
			}
		}
	}
	return false
}

// contradicts looks at what r asks for by values; o is about the same key.
func (r *requirement) contradicts(o *requirement) bool {
	if r.op == opAbsent {
		return o.op == opIn || o.op == opPrefix || o.op == opPresent
	}
	if r.op != opIn {
		return false
	}
	return !slices.ContainsFunc(r.values, o.takes)
}

// takes reports whether a node that has the label with this text meets the requirement.
func (r *requirement) takes(text string) bool {
	switch r.op {
	case opIn:
		return r.lists(text)
	case opNotIn:
		return !r.lists(text)
	case opPrefix:
		return len(text) >= len(r.values[0]) && text[:len(r.values[0])] == r.values[0]
	default:
		return r.op == opPresent
	}
}
