package planner

import "fairlead/internal/fleet"

// In state of the world an Envoy leaves an empty set unanswered if nothing of it uses the type any more. Of names that it gives up it says so, and
// clusters and listeners it always uses. Scoped routes go with the last listener that takes some, and no message says that. But an Envoy takes in what
// comes in order, and holds no answer for scoped routes back: what was sent later and was answered tells that there will be none.

// mayBeUnused reports whether a response may go unanswered so. One that changes nothing was asked for.
func (c *Client) mayBeUnused(f *sentResponse) bool {
	return f != nil && f.Type == fleet.ScopedRoute && len(f.Resources) == 0 && f.alters() && c.pos.Kind.Envoy && !c.pos.Kind.Delta && !c.pos.Kind.SingleType
}

// follow has listeners go out behind what may go unanswered, changed or not.
func (c *Client) follow(f *sentResponse) {
	listeners := &c.pos.Types[fleet.Listener]
	switch {
	case c.mayBeUnused(f) && listeners.Sub != nil:
		listeners.Answer = true
	case f.Type == fleet.Listener && c.mayBeUnused(c.inFlight[fleet.ScopedRoute]):
		f.before = c.inFlight[fleet.ScopedRoute]
	}
}

// passed takes in that what was sent before an answered response, and was not answered, is of no use to the client: it has what it asks for of it.
func (c *Client) passed(f *sentResponse) {
	if f.before != nil && c.inFlight[fleet.ScopedRoute] == f.before {
		c.take(fleet.ScopedRoute, f.before)
	}
}
