package e2e

import (
	"strings"
	"testing"

	"fairlead/test/world"
)

// TestAPollingEnvoyThatIsKilledEarly: each process of it ends before it polls a second time, and so none says that it took anything. That is no refusal: the next one
// gets what there is.
func TestAPollingEnvoyThatIsKilledEarly(t *testing.T) {
	t.Parallel()
	w := setup(t)
	address := world.FreePort(t)
	r := &routed{installation: w, xds: w.XDS(), proxy: "http://" + address}
	w.Apply(world.Together(
		world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", fromREST)}.Resource(), world.Route("r", "a"),
		world.EDSCluster("a", "1s", fromREST), world.Endpoints("a", world.Backend(t, "a")),
	))
	program := w.UnshuffledEnvoy() // with another order of its node's maps it would look like another client
	once := func(text string) string {
		return strings.ReplaceAll(text, "refresh_delay: 0.5s", "refresh_delay: 600s")
	}
	for range 4 {
		r.envoy = w.pollingBy(program, "n1", r.xds.Address, once)
		r.awaitPolled()
		r.envoy.Kill()
		<-r.envoy.Done()
	}
	r.envoy = w.pollingBy(program, "n1", r.xds.Address, func(text string) string { return text })
	r.awaitBody("a")
	r.wantNothingRefused()
}

// awaitPolled waits until the Envoy was told of clusters and listeners, or its poll failed: it does not poll again.
func (r *routed) awaitPolled() {
	r.T.Helper()
	world.Eventually(r.T, 2*world.Soon, "no answer to its polls", func() bool {
		stats, err := r.envoy.Stats(r.T.Context(), `^(cluster_manager.cds|listener_manager.lds).update_(success|failure)$`)
		return err == nil && (stats["cluster_manager.cds.update_failure"] > 0 || stats["listener_manager.lds.update_success"]+stats["listener_manager.lds.update_failure"] > 0)
	})
}
