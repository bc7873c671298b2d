package selector

// Finding is what one requirement of a selector comes to for a node.
type Finding struct {
	Requirement string // in its canonical form
	Has         string // what the node has of the key
	Known       bool   // it has something
	Holds       bool
}

// Explain tells of each requirement whether it holds, in the selector's order: it matches where all do.
func (s Selector) Explain(l Labels) []Finding {
	out := make([]Finding, len(s.requirements))
	for i := range s.requirements {
		r := &s.requirements[i]
		has, ok := l.lookup(&r.key)
		out[i] = Finding{Requirement: r.String(), Has: has, Known: ok, Holds: r.holds(&l)}
	}
	return out
}
