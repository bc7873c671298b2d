package e2e

import (
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// TestWhatAnEnvoySubscribesTo: of a fleet's runtimes an Envoy has none unless its bootstrap names them, and nobody calls them synced.
func TestWhatAnEnvoySubscribesTo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	server := w.XDS()
	address := world.FreePort(t)
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")),
		world.NewResource("runtimes", "rt", "{name: rt, layer: {a: 1}}")))
	w.Envoy("n1", server.Address, true)
	w.awaitServed(address)
	said := ""
	world.Eventually(t, 5*world.Soon, "what n1 subscribes to is not known", func() bool {
		n := w.Node("n1")
		if n == nil || n.Subscribes == nil {
			return false
		}
		said = world.AsJSON(n.Subscribes)
		return true
	})
	if want := world.AsJSON([]client.NodeSubscription{{Type: "clusters", Wildcard: true}, {Type: "listeners", Wildcard: true}}); said != want {
		t.Errorf("it subscribes to %s, want %s", said, want)
	}
	c, err := w.REST.GetNodeConfigWithResponse(t.Context(), "acme", "edge", "n1", nil)
	w.Made(c, err)
	for _, r := range c.JSON200.Items {
		state := client.NodeResourceStateSynced
		if r.Type == "runtimes" {
			state = client.NodeResourceStateNotSubscribed
		}
		if r.State != state {
			t.Errorf("%s/%s is %s, want %s", r.Type, r.Name, r.State, state)
		}
	}
}
