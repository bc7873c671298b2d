package httpapi

import (
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// subscribesOf is nil where it is not told.
func subscribesOf(s fleet.Subscriptions) *[]oapi.NodeSubscription {
	if !s.Known() {
		return nil
	}
	out := []oapi.NodeSubscription{}
	for t, asks := range s.Types {
		if asks == fleet.AsksNothing {
			continue
		}
		one := oapi.NodeSubscription{Type: oapi.ResourceType(fleet.Type(t).Slug()), Wildcard: asks == fleet.AsksAll}
		if fleet.Type(t) == fleet.Listener && asks == fleet.AsksNames {
			if one.Named = optional(s.Many); s.Many == 0 {
				names := append([]string{}, s.Listeners...)
				one.Names = &names
			}
		}
		out = append(out, one)
	}
	return &out
}

// confirmedState is what a resource is to a node that has settled with it: it has confirmed what it asks for, and may not ask for it.
func confirmedState(r store.NodeResource, n store.NodeView) oapi.NodeResourceState {
	switch {
	case r.Unreferenced:
		return oapi.NodeResourceStateUnreferenced
	case r.Unasked || n.Subscribes.Excludes(fleet.Ref{Type: r.Type, Name: r.Name}):
		return oapi.NodeResourceStateNotSubscribed
	case r.OnDemand:
		return oapi.NodeResourceStateOnDemand
	}
	return oapi.NodeResourceStateSynced
}
