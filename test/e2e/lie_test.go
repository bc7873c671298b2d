package e2e

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"fairlead/internal/client"
	"fairlead/internal/fleet"
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
		servers := []*xds{r.world.xds(), r.xds}
		for i, h := range append(halves(t), halves(t)...) {
			r.step(sprintf("%d %s", i, h.typ.Slug()), func() {
				good := r.apply(h.before)
				r.awaitAcked(good)
				refused := r.refuseUnrepaired(h)
				if r.held(h.typ)[h.changed] != "2" {
					r.t.Errorf("Envoy has %v, want what it refused applied by half", r.held(h.typ))
				}
				if i >= 2 {
					r.moveAfter(refused, servers[i%2])
				}
				back, err := r.rest.RollbackWithResponse(r.t.Context(), "acme", "edge", nil, client.RollbackRequest{Revision: good})
				r.made(back, err)
				if i < 2 {
					r.moveAfter(refused, servers[i%2])
				}
				r.wantAsInFleet(h.typ)
				r.awaitAcked(back.JSON200.Revision)
			})
		}
	})
}

// halves are of clusters and of listeners.
func halves(t testing.TB) []halfApplied {
	m, free, bad := freePort(t), freePort(t), poisonListeners(freePort(t))[0].res
	staged := func(name, at, stage string) res {
		return with(listener(name, at, "r"), sprintf("stat_prefix: %q", stage))
	}
	return []halfApplied{
		{
			typ: fleet.Cluster, before: together(cluster("m", "1s"), endpoints("m", backend(t, "m"))),
			change: together(cluster("m", "2s"), cluster("fresh", "1s"), endpoints("fresh", backend(t, "fresh")), poisonClusters()[0].res),
			poison: poisonClusters()[0].res.name, fresh: []string{"fresh"}, changed: "m",
		},
		{
			typ: fleet.Listener, before: together(staged("m", m, "1")), change: together(staged("m", m, "2"), staged("fresh", free, "1"), bad),
			poison: bad.name, fresh: []string{"fresh"}, changed: "m",
		},
	}
}

// refuseUnrepaired makes the change and waits until Envoy refused it; what the server
// sends afterwards, its repair, does not arrive. It returns the streams so far.
func (r *routed) refuseUnrepaired(h halfApplied) (streams int) {
	r.t.Helper()
	first := true
	r.tap.holdBack(func(s sent) time.Duration {
		if s.typ != h.typ || s.empty() {
			return 0
		}
		if first {
			first = false
			return 0
		}
		return time.Hour
	})
	asked := len(r.tap.requests(0))
	r.apply(h.change)
	eventually(r.t, soon, "nothing was refused", func() bool {
		for _, a := range r.tap.requests(0)[asked:] {
			if a.refusal != "" {
				return true
			}
		}
		return false
	})
	return r.tap.opened()
}

// moveAfter brings Envoy to another server.
func (r *routed) moveAfter(streams int, to *xds) {
	r.t.Helper()
	r.tap.move(r.t, to.address)
	r.tap.holdBack(nil)
	r.tap.cut()
	promptly(r.t, "at the other server", func() bool { return r.tap.sees(streams, fleet.Endpoint) })
}

// wantAsInFleet fails unless Envoy soon holds what the fleet does of a type, no more and
// no less, and nothing warms.
func (r *routed) wantAsInFleet(typ fleet.Type) {
	r.t.Helper()
	want := r.inFleet(typ)
	defer func() {
		if r.t.Failed() {
			r.t.Errorf("Envoy holds the %s %v, want %v", typ.Slug(), r.held(typ), want)
		}
	}()
	promptly(r.t, "as in the fleet", func() bool { return maps.Equal(want, r.held(typ)) })
}

// inFleet is what the fleet has of clusters or listeners, by name, and of each what
// differs.
func (r *routed) inFleet(typ fleet.Type) map[string]string {
	r.t.Helper()
	page, err := r.rest.ListResourcesOfTypeWithResponse(r.t.Context(), "acme", "edge", client.TypeParam(typ.Slug()), nil)
	r.made(page, err)
	all := map[string]string{}
	for _, item := range page.JSON200.Items {
		one, err := r.rest.GetResourceWithResponse(r.t.Context(), "acme", "edge", client.TypeParam(typ.Slug()), item.Name, nil)
		r.made(one, err)
		var v struct{ Body distinct }
		must(r.t, json.Unmarshal(one.Body, &v))
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
	r.t.Helper()
	all := map[string]string{}
	if typ == fleet.Cluster {
		for name, timeout := range activeClusters(r.t, r.envoy) {
			all[name] = timeout[:len(timeout)-1]
		}
		for _, name := range warmingClusters(r.t, r.envoy) {
			all[name] += " warming"
		}
		return all
	}
	b, err := r.envoy.Admin(r.t.Context(), "/config_dump?resource=dynamic_listeners")
	must(r.t, err)
	var dump struct {
		Configs []struct {
			Name         string
			ActiveState  *struct{ Listener distinct } `json:"active_state"`
			WarmingState any                          `json:"warming_state"`
		}
	}
	must(r.t, json.Unmarshal(b, &dump))
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
