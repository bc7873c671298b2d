package selector

import "slices"

// Variant is one variant of a resource, as far as it decides which of them a node gets.
type Variant struct {
	Name     string // unique among the variants of the resource; "" is the default one
	Priority int32
	Selector int // Index.Position of its selector; the default variant has none
}

// Winner returns which of a resource's variants a node with the vector gets, as an index
// into variants, or -1 if it has no such resource. Of those that match the highest
// priority wins, and among equals the smallest name; the default variant wins only where
// none matches, whatever the priorities. tied holds the names that lost by their name
// alone, sorted: a finding, since nobody decided between them.
func Winner(variants []Variant, v Vector) (winner int, tied []string) {
	winner = -1
	for i := range variants {
		c := &variants[i]
		if c.Name != "" && !v.Has(c.Selector) {
			continue
		}
		if winner < 0 || c.outranks(&variants[winner]) {
			winner = i
		}
	}
	if winner < 0 || variants[winner].Name == "" {
		return winner, nil
	}
	for i := range variants {
		if c := &variants[i]; i != winner && c.Name != "" && c.Priority == variants[winner].Priority && v.Has(c.Selector) {
			tied = append(tied, c.Name)
		}
	}
	slices.Sort(tied)
	return winner, tied
}

// outranks compares two variants that both match.
func (c *Variant) outranks(o *Variant) bool {
	switch {
	case c.Name == "" || o.Name == "":
		return o.Name == ""
	case c.Priority != o.Priority:
		return c.Priority > o.Priority
	}
	return c.Name < o.Name
}
