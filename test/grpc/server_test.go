package grpcclients

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"fairlead/test/world"
)

// serverListener is what a gRPC server that listens on the address asks for.
func serverListener(address, routes string) world.Resource {
	name := "grpc/server?xds.resource.listening_address=" + address
	return world.NewResource("listeners", name, fmt.Sprintf(`{name: %q, address: %s,
    filter_chains: [{name: all, filters: [{name: hcm, typed_config: %s}]}]}`, name, world.Socket(address), world.Manager("s", routes, "")))
}

// served answers calls; what is not served fails.
func served(name string) world.Resource {
	return world.NewResource("routes", name, routeBody(name, "non_forwarding_action: {}"))
}

// loopbacks are this machine's: few have no IPv6.
func loopbacks() []string {
	lis, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return []string{"127.0.0.1"}
	}
	_ = lis.Close()
	return []string{"127.0.0.1", "::1"}
}

// TestServer is the life of grpc-go's xDS server: its listener appears, changes, goes
// bad, vanishes and comes back.
func TestServer(t *testing.T) {
	t.Parallel()
	for _, host := range loopbacks() {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			tap := w.tapped()
			a := grpcGo.start(t, plaintext(t, "server-1", tap.Address))
			address := world.FreePortOf(t, host)
			if got := a.do("serve %s one", address); got.Code != "OK" {
				t.Fatalf("serve: %s", got)
			}
			a.open("plain", "passthrough:///"+address)

			listener := serverListener(address, byName("r"))
			w.Put(served("r"))
			w.Put(listener)
			a.awaitMode("SERVING")
			a.awaitReply("plain", "one")
			w.AwaitLive("server-1")

			stop := a.traffic("plain")
			w.AwaitDelivered(w.Put(serverListener(address, inline(routeBody("r", "non_forwarding_action: {}")))), 1)
			bad := listener
			bad.Body = strings.Replace(bad.Body, "http_filters: [",
				`http_filters: [{name: grpc_web, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.grpc_web.v3.GrpcWeb}}, `, 1)
			if refusal := w.AwaitRejected(w.Put(bad)); refusal.Resource.Name != listener.Name || !strings.Contains(*refusal.Detail, "grpc_web") {
				t.Errorf("the receipt of the bad revision: %s", world.AsJSON(refusal))
			}
			stop()
			w.AwaitDelivered(w.Put(listener), 1)

			// A route that forwards is not for a server.
			w.AwaitDelivered(w.Put(route("r", "elsewhere")), 1)
			a.awaitFailure("plain", "UNAVAILABLE")
			w.AwaitDelivered(w.Put(served("r")), 1)
			a.awaitReply("plain", "one")

			w.AwaitDelivered(w.Apply(world.Removal(listener)), 1)
			a.awaitMode("NOT_SERVING")
			a.awaitFailure("plain", "UNAVAILABLE")
			w.Put(listener)
			a.awaitMode("SERVING")
			a.awaitReply("plain", "one")
		})
	}
}

// awaitMode waits until the server becomes what mode says.
func (a *app) awaitMode(mode string) {
	a.t.Helper()
	for {
		got := a.do("mode %d", world.Soon.Milliseconds())
		if got.Code == mode {
			return
		}
		if got.Code != "SERVING" && got.Code != "NOT_SERVING" {
			a.t.Fatalf("the server is not %s: %s", mode, got)
		}
	}
}
