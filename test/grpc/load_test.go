package grpcclients

import (
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// TestLoadOfGRPCGo: a client of grpc-go reports the cluster whose resource says so to the server that it came from, and the sums are its calls.
func TestLoadOfGRPCGo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tap := world.NewTap(t, w.XDS("--load-report-interval", "1s").Address)
	tap.AddToken(w.NodeToken)
	a := grpcGo.start(t, plaintext(t, "n1", tap.Address))
	w.Apply(world.Together(cluster("a", "ROUND_ROBIN").With("lrs_server: {self: {}}"), endpoints("a", backend(t, "one")), target("shop", byName("r")), route("r", "a")))
	a.open("shop", "xds:///shop")
	a.awaitReply("shop", "one")
	calls := int64(1)
	for range 99 {
		if got := a.call("shop"); got.Code == "OK" {
			calls++
		} else {
			t.Errorf("a call failed: %s", got)
		}
	}
	var told client.Load
	world.Eventually(t, world.Soon, "the sums are not the calls", func() bool {
		list, err := w.REST.ListLoadWithResponse(t.Context(), w.Tenant, w.Fleet, nil)
		w.Made(list, err)
		for _, l := range list.JSON200.Items {
			told = l
		}
		if told.Issued > calls || told.Errors > 0 {
			t.Fatalf("told %s of %d calls", world.AsJSON(told), calls)
		}
		return told.Cluster == "a" && told.Issued == calls && told.Successful == calls
	})
	name := "a"
	minutes, err := w.REST.ListLoadWithResponse(t.Context(), w.Tenant, w.Fleet, &client.ListLoadParams{Cluster: &name})
	w.Made(minutes, err)
	for _, m := range minutes.JSON200.Items {
		for _, l := range *m.Localities {
			if l.Locality == nil || *l.Locality.Region != "here" {
				t.Errorf("a locality is %s", world.AsJSON(l))
			}
		}
	}
}
