package planner

import (
	"slices"

	"fairlead/internal/fleet"
)

// subscribes is what was last told of what a client subscribes to.
type subscribes struct {
	subs [len(told)]*Subscription
	told fleet.Subscriptions
}

var told = fleet.ToldTypes()

// Subscribes is what the client subscribes to, and whether that is another than the last call has told. It costs nothing as long as
// no request changes a subscription, and then little, however many names there are. Of one that may be stuck, and say nothing of clusters
// for that, nothing is known.
func (c *Client) Subscribes() (now fleet.Subscriptions, changed bool) {
	var subs [len(told)]*Subscription
	for i, t := range told {
		if c.Subscribed(t) && !c.unheard() {
			subs[i] = c.pos.Types[t].Sub
		}
	}
	if subs == c.told.subs {
		return c.told.told, false
	}
	for i, t := range told {
		if now.Types[t] = subs[i].asks(); t == fleet.Listener && now.Types[t] == fleet.AsksNames {
			now.Listeners, now.Many = subs[i].few()
		}
	}
	changed = !now.Equal(c.told.told)
	c.told = subscribes{subs, now}
	return now, changed
}

func (s *Subscription) asks() fleet.Asks {
	switch {
	case s == nil:
		return fleet.AsksNothing
	case s.wildcard:
		return fleet.AsksAll
	}
	return fleet.AsksNames
}

// few are the names, sorted, or how many they are if they are more than are told.
func (s *Subscription) few() (names []string, many int) {
	if s.Len() > fleet.MaxAsked {
		return nil, s.Len()
	}
	for n := range s.names.All() {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names, 0
}
