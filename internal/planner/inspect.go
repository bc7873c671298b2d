package planner

import (
	"iter"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Standing is how a resource stands with a client.
type Standing uint8

// A resource is not sent yet, because it has to wait or the type's last response is
// unanswered; sent and not answered, or refused beside another; or confirmed, by an ACK
// or because the client reported it.
const (
	Unsent Standing = iota
	Unanswered
	Confirmed
)

// Holding is one resource of a client's subscription.
type Holding struct {
	Name, Version string
	Standing      Standing
	// Encoded is the google.protobuf.Any; nil if the server does not have the bytes of what
	// the client reported. It is shared and must not be written to.
	Encoded []byte
}

// Holdings returns how everything that the client wants of a type stands with it, by
// name, and when the client last confirmed something of the type.
func (c *Client) Holdings(t fleet.Type, target *snapshot.Target) ([]Holding, time.Time) {
	tr := &c.pos.Types[t]
	if tr.Sub == nil {
		return nil, time.Time{}
	}
	var hs []Holding
	sent := map[string]struct{}{}
	add := func(r *snapshot.Resource, s Standing) {
		hs = append(hs, Holding{Name: r.Name, Version: r.Version, Standing: s, Encoded: r.Encoded()})
	}
	if f := c.inFlight[t]; f != nil {
		for _, ch := range f.changes {
			if ch.new != nil {
				add(ch.new, Unanswered)
				sent[ch.name] = struct{}{}
			}
		}
	}
	inOrder := func() { slices.SortFunc(hs, func(a, b Holding) int { return strings.Compare(a.Name, b.Name) }) }
	if !c.Subscribed(t) { // it was sent them unasked, and said nothing of what it has
		inOrder()
		return hs, time.Time{}
	}
	for r := range tr.Held.All() {
		if _, again := sent[r.Name]; !again {
			add(r, Confirmed)
		}
	}
	for _, name := range tr.Doubts.names() {
		d := tr.Doubts.of(name)
		switch _, again := sent[name]; {
		case again:
		case d.Last == nil:
			hs = append(hs, Holding{Name: name, Standing: Unanswered})
		default:
			add(d.Last, Unanswered)
		}
	}
	for ch := range c.inputs(target).differences(t) {
		if _, out := sent[ch.name]; ch.old.nothing() && ch.new != nil && !out {
			add(ch.new, Unsent)
		}
	}
	inOrder()
	return hs, c.times.confirmed[t]
}

// Quotable yields what a client's words about a type may quote: the resources of every
// response that it has not answered for, and the candidates of a bisection. Its cost grows
// with these.
func (c *Client) Quotable(t fleet.Type) iter.Seq[*snapshot.Resource] {
	p := c.rec.of(t)
	return func(yield func(*snapshot.Resource) bool) {
		seen := map[*snapshot.Resource]struct{}{}
		again := func(r *snapshot.Resource) bool {
			_, again := seen[r]
			seen[r] = struct{}{}
			return again || !r.Known()
		}
		for _, f := range append([]*sentResponse{c.inFlight[t]}, p.late...) {
			if f == nil {
				continue
			}
			for _, r := range f.Resources {
				if !again(r) && !yield(r) {
					return
				}
			}
		}
		for x := range p.search.All() {
			if !again(x.Refused) && !yield(x.Refused) {
				return
			}
		}
	}
}
