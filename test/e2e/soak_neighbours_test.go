package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// TestSoakNeighbours: what a tenant reads and writes takes at most twice the time while 16 clients of another tenant ask without a pause for the findings of
// 6,000 routes, for their export, or for one of them. The clients are of a process that yields to all others: what their machine has to do is not the server's.
func TestSoakNeighbours(t *testing.T) {
	d, routes := soakLasts(t, 150*time.Millisecond), 60
	if full() {
		routes = 6000
	}
	w := setup(t)
	busy := w.found("busy", "busy", nil)
	all := []world.Resource{static("c", "1s")}
	for i := range routes {
		all = append(all, world.Route(sprintf("r%04d", i), "c"))
	}
	for part := range slices.Chunk(all, 1000) {
		busy.write(part...)
	}
	beside := &neighbour{estate: w.found("beside", "beside", nil), judged: full()}
	beside.during(d / 20) // connections are made
	alone := beside.during(d / 2)
	t.Logf("alone: %v", alone)
	for name, path := range map[string]string{"findings": "/findings", "export": "/export", "one resource": "/resources/" + fleet.Route.Slug() + "/r0000"} {
		t.Run(name, func(t *testing.T) {
			end := w.beginFlood(t, floodOrder{Kind: http.MethodGet, Address: w.API + "/v1/tenants/busy/fleets/busy" + path, Token: busy.token, Connections: 16})
			beside.during(d / 20) // the connections are made, and the pools have their size
			got := beside.during(d)
			count := end()
			t.Logf("%d answers, %d of them whole; beside them: %v", count.Connections, count.Writes, got)
			if full() && count.Writes == 0 {
				t.Error("none of the clients was answered")
			}
			if full() {
				got.within(t, name, alone)
			}
		})
	}
}
