package e2e

import (
	"strings"
	"testing"
)

// TestConnectionsAge: a connection that has come to its age is closed, its Envoy comes
// back at once, by a new one, and nobody notices: no request fails, the log is empty, the
// next change arrives.
func TestConnectionsAge(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		r := &routed{world: w, xds: w.xds("--max-connection-age", "1s", "--max-connection-age-grace", "300ms")}
		address := freePort(t)
		r.proxy = "http://" + address
		w.apply(together(listener("l", address, "r"), route("r", "a"), cluster("a", "1s"), endpoints("a", backend(t, "a"))))
		r.envoy = w.envoy("n1", r.xds.address, delta) // without a tap, which would have the connection of age
		r.awaitBody("a")
		load := startLoad(t, r.proxy)
		connections := func() int64 {
			stats, err := r.envoy.Stats(t.Context(), `^cluster\.fairlead_xds\.upstream_cx_total$`)
			must(t, err)
			return stats["cluster.fairlead_xds.upstream_cx_total"]
		}
		for i, timeout := range []string{"2s", "3s"} {
			eventually(t, soon, "the connection was not closed", func() bool { return connections() > int64(i+1) })
			r.awaitChanged(timeout, r.put(cluster("a", timeout)))
		}
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
		if log := string(read(t, r.envoy.LogFile())); strings.Contains(log, "config stream") {
			t.Error("Envoy says that its stream was closed")
		}
	})
}
