package e2e

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// TestNoZombies: what Envoy took out of a response that it refused is unknown to the next
// server by any word of Envoy's. When it is deleted it goes all the same.
func TestNoZombies(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		servers := []*world.XDS{r.xds, r.XDS()}
		for i, h := range halves(t) {
			r.Step(h.typ.Slug(), func() {
				r.AwaitACKed(r.Apply(h.before), 1)
				refused := r.refuseUnrepaired(h)
				for _, name := range h.fresh {
					if _, there := r.held(h.typ)[name]; !there {
						r.T.Errorf("Envoy has %v, want %s among it", r.held(h.typ), name)
					}
				}
				gone := "delete: "
				for _, name := range append(h.fresh, h.changed, h.poison) {
					gone += sprintf("\n- {type: %s, name: %s}", h.typ.Slug(), name)
				}
				last := r.Apply(gone)
				r.moveAfter(refused, servers[(i+1)%2])
				r.AwaitACKed(last, 1)
				for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener} {
					r.wantAsInFleet(typ)
				}
			})
		}
	})
}
