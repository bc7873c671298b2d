package grpcclients

import (
	"fmt"
	"os"
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

// TestLoadOfGRPCGoUnderLoad: of thousands of calls, some at the same time and some of which fail, the sums are what was called, at most one in a hundred off.
func TestLoadOfGRPCGoUnderLoad(t *testing.T) {
	t.Parallel()
	rounds, each := 3, 1000
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		rounds, each = 60, 5000
	}
	w := setup(t)
	tap := world.NewTap(t, w.XDS("--load-report-interval", "1s").Address)
	tap.AddToken(w.NodeToken)
	a := grpcGo.start(t, plaintext(t, "n1", tap.Address))
	w.Apply(world.Together(cluster("a", "ROUND_ROBIN").With("lrs_server: {self: {}}"), endpoints("a", backend(t, "one")), target("shop", byName("r")), route("r", "a")))
	a.open("shop", "xds:///shop")
	a.awaitReply("shop", "one")
	good, bad := int64(1), int64(0)
	for range rounds {
		var ended, failed int64
		got := a.do("calls shop %d", each)
		if _, err := fmt.Sscan(got.Reply, &ended, &failed); err != nil || ended+failed != int64(each) || failed != int64(each/7) {
			t.Fatalf("the calls: %s", got)
		}
		good, bad = good+ended, bad+failed
	}
	var told client.Load
	defer func() { t.Logf("told %d good and %d bad of %d and %d", told.Successful, told.Errors, good, bad) }()
	world.Eventually(t, world.Soon, "the sums are not the calls", func() bool {
		list, err := w.REST.ListLoadWithResponse(t.Context(), w.Tenant, w.Fleet, nil)
		w.Made(list, err)
		for _, l := range list.JSON200.Items {
			told = l
		}
		if told.Issued > good+bad || told.Successful > good || told.Errors > bad {
			t.Fatalf("told %s of %d good and %d bad", world.AsJSON(told), good, bad)
		}
		return told.Issued*100 >= (good+bad)*99 && told.Successful*100 >= good*99 && told.Errors*100 >= bad*99
	})
}
