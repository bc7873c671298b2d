package main

import (
	"fmt"
	"strings"

	client "fairlead/clients/go"
)

// shownIDs is how many nodes a line names.
const shownIDs = 5

// tellReach says which nodes a plan reaches, and what would be withheld from them.
func (s *session) tellReach(p client.Plan) {
	for _, r := range p.Resources {
		if waits := deref(r.WithheldBy); len(waits) > 0 {
			var names []string
			for _, ref := range waits {
				names = append(names, plain(string(ref.Type)+"/"+ref.Name))
			}
			verb := "is"
			if len(names) > 1 {
				verb = "are"
			}
			fmt.Fprintf(s.out, "%s would be withheld until %s %s there\n", plain(string(r.Type)+"/"+r.Name), strings.Join(names, " and "), verb)
		}
	}
	r := p.Reach
	switch {
	case r == nil:
	case r.Nodes == 0:
		fmt.Fprintln(s.out, "no node has connected to the fleet yet")
	case r.Reached == 0:
		fmt.Fprintf(s.out, "reaches none of %s\n", nodes(r.Nodes))
	default:
		ids := make([]string, 0, shownIDs)
		for _, id := range r.Ids[:min(len(r.Ids), shownIDs)] {
			ids = append(ids, plain(id))
		}
		line := strings.Join(ids, ", ")
		if more := r.Reached - len(ids); more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(s.out, "reaches %d of %s: %s\n", r.Reached, nodes(r.Nodes), line)
	}
	if r != nil && deref(r.Incomplete) {
		fmt.Fprintln(s.out, "the fleet has more nodes or labels than were looked at: it may reach others too")
	}
}

func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// tellRoom says which limits of the fleet would be nearly used up.
func (s *session) tellRoom(p client.Plan) {
	for _, l := range p.Limits {
		if l.Used*10 >= l.Limit*9 {
			fmt.Fprintf(s.out, "the fleet would have %d of at most %d %s\n", l.Used, l.Limit, plain(strings.ReplaceAll(string(l.What), "_", " ")))
		}
	}
}
