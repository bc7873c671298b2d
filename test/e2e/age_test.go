package e2e

import (
	"strings"
	"testing"

	"fairlead/test/world"
)

// TestConnectionsAge: a connection that has come to its age is closed, its Envoy comes
// back at once, by a new one, and nobody notices: no request fails, the log is empty, the
// next change arrives.
func TestConnectionsAge(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		r := &routed{installation: w, xds: w.XDS("--max-connection-age", "1s", "--max-connection-age-grace", "300ms")}
		address := world.FreePort(t)
		r.proxy = "http://" + address
		w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
		r.envoy = w.Envoy("n1", r.xds.Address, delta) // without a tap, which would have the connection of age
		r.awaitBody("a")
		load := startLoad(t, r.proxy)
		connections := func() int64 {
			stats, err := r.envoy.Stats(t.Context(), `^cluster\.fairlead_xds\.upstream_cx_total$`)
			world.Must(t, err)
			return stats["cluster.fairlead_xds.upstream_cx_total"]
		}
		for i, timeout := range []string{"2s", "3s"} {
			world.Eventually(t, world.Soon, "the connection was not closed", func() bool { return connections() > int64(i+1) })
			r.awaitChanged(timeout, r.Put(world.Cluster("a", timeout)))
		}
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
		if log := string(world.Read(t, r.envoy.LogFile())); strings.Contains(log, "config stream") {
			t.Error("Envoy says that its stream was closed")
		}
	})
}
