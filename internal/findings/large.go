package findings

import (
	"fmt"
	"strings"

	"fairlead/internal/fleet"
)

// TooLarge is a resource that is kept from nodes, as the set would be larger with it than they take at once.
type TooLarge struct {
	fleet.Ref
	Nodes int
	Named []string // some of them
}

// tooLarge finds what nodes say that they are not given: how much a node takes is its own affair, so no write can tell.
func (c *checker) tooLarge() {
	for _, x := range c.TooLarge {
		n := c.names[x.Ref]
		if n == nil {
			continue // it is deleted, and the nodes have not said so yet
		}
		c.add(n.variants[0], Finding{Code: SetTooLarge, Severity: Error, Nodes: x.Nodes, Detail: fmt.Sprintf(
			"%s is kept from %s: with it the set of %s is larger than they take at once, so they keep what they have of it, or go without; make one of the set smaller, or let them ask for less",
			called(x.Ref), whoOf(x.Named, x.Nodes), x.Type)})
	}
}

// whoOf names some of the nodes, and counts the others.
func whoOf(named []string, count int) string {
	who := strings.Join(named, ", ")
	if more := count - len(named); more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	return who
}
