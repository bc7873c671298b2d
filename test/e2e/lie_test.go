package e2e

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// halfApplied is a change that Envoy takes by half: of one type, with a poison in it.
type halfApplied struct {
	typ    fleet.Type
	before string // an apply document
	change string
	poison string // its name
	// fresh are names that the change brings, changed one that it changes.
	fresh   []string
	changed string
}

// TestHalfAppliedThenRolledBackElsewhere: Envoy applies the good part of what it
// refuses, and tells the next server the old versions of it (delta), which are those that
// a rollback brings back: whoever believes it sends nothing. In the first half the next
// server has the rollback when Envoy comes, in the second it does not.
func TestHalfAppliedThenRolledBackElsewhere(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		servers := []*world.XDS{r.XDS(), r.xds}
		for i, h := range append(halves(t), halves(t)...) {
			r.Step(sprintf("%d %s", i, h.typ.Slug()), func() {
				good := r.Apply(h.before)
				r.AwaitACKed(good, 1)
				refused := r.refuseUnrepaired(h)
				if r.held(h.typ)[h.changed] != "2" {
					r.T.Errorf("Envoy has %v, want what it refused applied by half", r.held(h.typ))
				}
				if i >= 2 {
					r.moveAfter(refused, servers[i%2])
				}
				back, err := r.REST.RollbackWithResponse(r.T.Context(), "acme", "edge", nil, client.RollbackRequest{Revision: good})
				r.Made(back, err)
				if i < 2 {
					r.moveAfter(refused, servers[i%2])
				}
				r.wantAsInFleet(h.typ)
				r.AwaitACKed(back.JSON200.Revision, 1)
			})
		}
	})
}

// halves are of clusters and of listeners.
func halves(t testing.TB) []halfApplied {
	m, free, bad := world.FreePort(t), world.FreePort(t), poisonListeners(world.FreePort(t))[0].res
	staged := func(name, at, stage string) world.Resource {
		return world.Listener(name, at, "r").With(sprintf("stat_prefix: %q", stage))
	}
	return []halfApplied{
		{
			typ: fleet.Cluster, before: world.Together(world.Cluster("m", "1s"), world.Endpoints("m", world.Backend(t, "m"))),
			change: world.Together(world.Cluster("m", "2s"), world.Cluster("fresh", "1s"), world.Endpoints("fresh", world.Backend(t, "fresh")), poisonClusters()[0].res),
			poison: poisonClusters()[0].res.Name, fresh: []string{"fresh"}, changed: "m",
		},
		{
			typ: fleet.Listener, before: world.Together(staged("m", m, "1")), change: world.Together(staged("m", m, "2"), staged("fresh", free, "1"), bad),
			poison: bad.Name, fresh: []string{"fresh"}, changed: "m",
		},
	}
}

// refuseUnrepaired makes the change and waits until Envoy refused it; what the server
// sends afterwards, its repair, does not arrive. It returns the streams so far.
func (r *routed) refuseUnrepaired(h halfApplied) (streams int) {
	r.T.Helper()
	first := true
	r.tap.HoldBack(func(s world.Sent) time.Duration {
		if s.Type != h.typ || s.Empty() {
			return 0
		}
		if first {
			first = false
			return 0
		}
		return time.Hour
	})
	asked := len(r.tap.Requests(0))
	r.Apply(h.change)
	world.Eventually(r.T, world.Soon, "nothing was refused", func() bool {
		for _, a := range r.tap.Requests(0)[asked:] {
			if a.Refusal != "" {
				return true
			}
		}
		return false
	})
	return r.tap.Opened()
}

// moveAfter brings Envoy to another server.
func (r *routed) moveAfter(streams int, to *world.XDS) {
	r.T.Helper()
	r.tap.Move(r.T, to.Address)
	r.tap.HoldBack(nil)
	r.tap.Cut()
	promptly(r.T, "at the other server", func() bool { return r.tap.Sees(streams, fleet.Endpoint) })
}

// wantAsInFleet fails unless Envoy soon holds what the fleet does of a type, no more and
// no less, and nothing warms.
func (r *routed) wantAsInFleet(typ fleet.Type) {
	r.T.Helper()
	want := r.inFleet(typ)
	defer func() {
		if r.T.Failed() {
			r.T.Errorf("Envoy holds the %s %v, want %v", typ.Slug(), r.held(typ), want)
		}
	}()
	promptly(r.T, "as in the fleet", func() bool { return maps.Equal(want, r.held(typ)) })
}

// inFleet is what the fleet has of clusters or listeners, by name, and of each what
// differs.
func (r *routed) inFleet(typ fleet.Type) map[string]string {
	r.T.Helper()
	page, err := r.REST.ListResourcesOfTypeWithResponse(r.T.Context(), "acme", "edge", client.TypeParam(typ.Slug()), nil)
	r.Made(page, err)
	all := map[string]string{}
	for _, item := range page.JSON200.Items {
		one, err := r.REST.GetResourceWithResponse(r.T.Context(), "acme", "edge", client.TypeParam(typ.Slug()), item.Name, nil)
		r.Made(one, err)
		var v struct{ Body distinct }
		world.Must(r.T, json.Unmarshal(one.Body, &v))
		all[item.Name] = v.Body.mark()
	}
	return all
}

// distinct is by what a cluster or a listener differs from its other versions.
type distinct struct {
	Name           string
	ConnectTimeout string `json:"connect_timeout"`
	StatPrefix     string `json:"stat_prefix"`
}

func (d distinct) mark() string {
	if n := len(d.ConnectTimeout); n > 0 {
		return d.ConnectTimeout[:n-1]
	}
	return d.StatPrefix
}

// held is what Envoy has of clusters or listeners, in the form of inFleet.
func (r *routed) held(typ fleet.Type) map[string]string {
	r.T.Helper()
	all := map[string]string{}
	if typ == fleet.Cluster {
		for name, timeout := range activeClusters(r.T, r.envoy) {
			all[name] = timeout[:len(timeout)-1]
		}
		for _, name := range warmingClusters(r.T, r.envoy) {
			all[name] += " warming"
		}
		return all
	}
	b, err := r.envoy.Admin(r.T.Context(), "/config_dump?resource=dynamic_listeners")
	world.Must(r.T, err)
	var dump struct {
		Configs []struct {
			Name         string
			ActiveState  *struct{ Listener distinct } `json:"active_state"`
			WarmingState any                          `json:"warming_state"`
		}
	}
	world.Must(r.T, json.Unmarshal(b, &dump))
	for _, l := range dump.Configs {
		if l.ActiveState != nil {
			all[l.Name] = l.ActiveState.Listener.StatPrefix
		}
		if l.WarmingState != nil {
			all[l.Name] += " warming"
		}
	}
	return all
}
