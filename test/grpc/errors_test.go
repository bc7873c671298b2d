package grpcclients

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/test/world"
)

// readsErrors makes a bootstrap say that its client reads resource_errors.
func readsErrors(t *testing.T, bootstrap []byte) []byte {
	t.Helper()
	var b map[string]any
	world.Must(t, json.Unmarshal(bootstrap, &b))
	b["node"].(map[string]any)["metadata"] = map[string]any{"fairlead": map[string]any{"resource_errors": true}}
	out, err := json.Marshal(b)
	world.Must(t, err)
	return out
}

// TestAClientIsToldWhatIsMissing: C-core reads resource_errors where it is told to, and its calls fail at once, in the server's words. The others
// pass over them, and all go on when the target is there.
func TestAClientIsToldWhatIsMissing(t *testing.T) {
	everyClient(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		tap := w.tapped()
		a := impl.start(t, readsErrors(t, plaintext(t, "n1", tap.Address)), "GRPC_EXPERIMENTAL_XDS_DATA_ERROR_HANDLING=true")
		a.open("shop", "xds:///shop")
		if impl.name == cCore.name {
			if got := a.awaitFailure("shop", "UNAVAILABLE"); !strings.Contains(got.Details, "the fleet has no listeners/shop for this node") {
				t.Errorf("a call without a target: %s", got)
			}
		} else if got := a.call("shop"); got.Code == "OK" {
			t.Errorf("a call without a target: %s", got)
		}
		listener := target("shop", byName("r"))
		w.Put(listener)
		if impl.name == cCore.name {
			world.Eventually(t, world.Soon, "no call tells that the listener is withheld", func() bool {
				return strings.Contains(a.call("shop").Details, "withheld, missing: it names routes/r")
			})
		}
		w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a")))
		a.awaitReply("shop", "one")
		w.AwaitLive("n1")
		w.AwaitDelivered(w.Put(endpoints("a", backend(t, "two"))), 1)
		a.awaitReply("shop", "two")
	})
}
