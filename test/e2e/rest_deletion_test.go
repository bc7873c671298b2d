package e2e

import (
	"net/http"
	"testing"

	"fairlead/test/world"
)

// TestADeletedRouteOfWhoPolls: an Envoy that has the route goes on with it, and one that starts answers with 404, as the write's finding says.
func TestADeletedRouteOfWhoPolls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	xds, address := w.XDS(), world.FreePort(t)
	w.Apply(world.Together(
		world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", fromREST)}.Resource(), world.Route("r", "a"),
		world.EDSCluster("a", "1s", fromREST), world.Endpoints("a", world.Backend(t, "a")),
	))
	plain := func(bootstrap string) string { return bootstrap }
	answers := func(want int) func() bool {
		return func() bool { code, _ := world.Get("http://" + address); return code == want }
	}
	has := w.polling("n1", xds.Address, plain)
	w.AwaitLive("n1")
	promptly(t, "routed", answers(http.StatusOK))
	w.AwaitState(w.Apply("delete: [{type: routes, name: r}]\n"), "delivered")
	if !answers(http.StatusOK)() {
		t.Error("an Envoy that had the route does without")
	}
	world.Must(t, has.Stop())
	w.polling("n2", xds.Address, plain)
	w.AwaitLive("n2")
	world.Eventually(t, 2*world.Soon, "an Envoy that starts does not answer with 404", answers(http.StatusNotFound))
}
