package grpcclients

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// serverListener is what a gRPC server that listens on the address asks for.
func serverListener(address, routes string) res {
	host, port, _ := net.SplitHostPort(address)
	name := "grpc/server?xds.resource.listening_address=" + address
	return res{"listeners", name, fmt.Sprintf(`{name: %q, address: {socket_address: {address: %q, port_value: %s}},
    filter_chains: [{name: all, filters: [{name: hcm, typed_config: %s}]}]}`, name, host, port, manager(routes))}
}

// served answers calls; what is not served fails.
func served(name string) res {
	return res{"routes", name, routeBody(name, "non_forwarding_action: {}")}
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
			a := grpcGo.start(t, plaintext(t, "server-1", tap.address))
			address := freePort(t, host)
			if got := a.do("serve %s one", address); got.Code != "OK" {
				t.Fatalf("serve: %s", got)
			}
			a.open("plain", "passthrough:///"+address)

			listener := serverListener(address, byName("r"))
			w.put(served("r"))
			w.put(listener)
			a.awaitMode("SERVING")
			a.awaitReply("plain", "one")
			w.awaitLive("server-1")

			stop := a.traffic("plain")
			w.awaitDelivered(w.put(serverListener(address, inline(routeBody("r", "non_forwarding_action: {}")))), 1)
			bad := listener
			bad.body = strings.Replace(bad.body, "http_filters: [",
				`http_filters: [{name: grpc_web, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.grpc_web.v3.GrpcWeb}}, `, 1)
			if refusal := w.awaitRejected(w.put(bad)); refusal.Resource.Name != listener.name || !strings.Contains(*refusal.Detail, "grpc_web") {
				t.Errorf("the receipt of the bad revision: %s", asJSON(refusal))
			}
			stop()
			w.awaitDelivered(w.put(listener), 1)

			// A route that forwards is not for a server.
			w.awaitDelivered(w.put(route("r", "elsewhere")), 1)
			a.awaitFailure("plain", "UNAVAILABLE")
			w.awaitDelivered(w.put(served("r")), 1)
			a.awaitReply("plain", "one")

			w.awaitDelivered(w.apply(removal(listener)), 1)
			a.awaitMode("NOT_SERVING")
			a.awaitFailure("plain", "UNAVAILABLE")
			w.put(listener)
			a.awaitMode("SERVING")
			a.awaitReply("plain", "one")
		})
	}
}

// awaitMode waits until the server becomes what mode says.
func (a *app) awaitMode(mode string) {
	a.t.Helper()
	for {
		got := a.do("mode %d", soon.Milliseconds())
		if got.Code == mode {
			return
		}
		if got.Code != "SERVING" && got.Code != "NOT_SERVING" {
			a.t.Fatalf("the server is not %s: %s", mode, got)
		}
	}
}
