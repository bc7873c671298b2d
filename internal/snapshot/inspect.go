package snapshot

import (
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
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
func (c *Client) Holdings(t fleet.Type, target *Target) ([]Holding, time.Time) {
	tr := &c.types[t]
	if !tr.subscribed {
		return nil, time.Time{}
	}
	var hs []Holding
	add := func(r *Resource, s Standing) {
		hs = append(hs, Holding{Name: r.Name, Version: r.Version, Standing: s, Encoded: r.frames.any})
	}
	sent := map[string]struct{}{}
	if f := tr.inFlight; f != nil {
		for _, ch := range f.changes {
			if ch.new != nil {
				add(ch.new, Unanswered)
				sent[ch.new.Name] = struct{}{}
			}
		}
	}
	for r := range tr.held.All() {
		switch _, again := sent[r.Name]; {
		case again:
		case r.doubt && r.last == nil:
			hs = append(hs, Holding{Name: r.Name, Standing: Unanswered})
		case r.doubt:
			add(r.last, Unanswered)
		default:
			add(r, Confirmed)
		}
	}
	for ch := range c.differences(t, target) {
		if _, out := sent[ch.name()]; ch.old == nil && ch.new != nil && !out {
			add(ch.new, Unsent)
		}
	}
	slices.SortFunc(hs, func(a, b Holding) int { return strings.Compare(a.Name, b.Name) })
	return hs, tr.confirmedAt
}

// Withholds reports whether the target leaves the name out because the node refused it,
// not because the fleet has none.
func (t *Target) Withholds(typ fleet.Type, name string) bool {
	return t.withholds(fleet.Ref{Type: typ, Name: name})
}
