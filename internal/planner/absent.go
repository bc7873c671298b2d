package planner

import (
	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// HearsOfAbsence reports whether the client can be told that a name of the type does not exist, and does well with hearing it at once.
func (c *Client) HearsOfAbsence(t fleet.Type) bool { return c.pos.Kind.Delta && !c.pos.Kind.patient(t) }

// Holds reports whether the client has something under a name, or is about to.
func (c *Client) Holds(t fleet.Type, name string) bool {
	tr := &c.pos.Types[t]
	return tr.Held.Get(name) != nil || tr.InFlight && tr.Next.Get(name) != nil
}

// notTaken is said of a name that is not subscribed to, of a client that understands it.
const notTaken = "not taken up: it is too long, or too many names are asked for that the fleet does not have"

// Absent is a response that tells of names which were not taken up that they do not exist. It changes nothing for the client, and its answer
// settles nothing.
func (c *Client) Absent(t fleet.Type, names []string, target *snapshot.Target) *Response {
	r := &Response{Type: t, Revision: target.Revision, kind: c.pos.Kind}
	switch {
	case t == fleet.VirtualHost:
		r.Nonexistent = names
	case c.pos.Kind.Errors:
		room := mostErrorBytes
		if most := c.pos.Kind.MaxSet; most > 0 {
			room = min(room, most-envelope)
		}
		for _, n := range names {
			e := Error{Name: n, Code: ResourceExhausted, Why: notTaken}
			if room -= e.size(); room < 0 || len(r.Errors) == mostErrors {
				break // of the rest the client hears nothing
			}
			r.Errors = append(r.Errors, e)
		}
	default:
		r.Removed = names
	}
	return r
}
