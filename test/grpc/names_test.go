package grpcclients

import (
	"net/url"
	"testing"

	"fairlead/test/world"
)

// TestNames: names with characters that mean something elsewhere reach the client as
// they were written.
func TestNames(t *testing.T) {
	everyClient(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		tap := w.tapped()
		a := impl.start(t, plaintext(t, "n1", tap.Address))
		const name, routeName, clusterName = "shop/eu?a=b:[c]%2F", "r/1?a=b:[c]=", "c/1?x=[::1]:2"
		w.Apply(world.Together(endpoints(clusterName, backend(t, "one")), cluster(clusterName, "ROUND_ROBIN"), route(routeName, clusterName),
			target(name, byName(routeName))))
		path := name // as grpc-js takes it: it decodes nothing
		if impl.name != grpcJS.name {
			path = url.PathEscape(name)
		}
		a.open("shop", "xds:///"+path)
		a.awaitReply("shop", "one")
	})
}
