package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"fairlead/test/world"
)

// TestT46_ARoutedStreamGetsNoSecret: an Envoy's listener leads to the control plane by the cluster of its bootstrap. Who
// reaches it, without a token and as the proxy's own node, is given no key; the proxy itself is.
func TestT46_ARoutedStreamGetsNoSecret(t *testing.T) {
	t.Parallel()
	r := setupRouted(t, setup(t), true)
	open, secured := world.FreePort(t), world.FreePort(t)
	cert, key := world.Certificate(t)
	r.Apply(world.Together(
		world.HTTPListener{Name: "open", Address: open, Routes: `route_config: {name: open, virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: fairlead_xds, timeout: 0s}}]}]}`}.Resource(),
		secret("server", cert, key),
		world.HTTPListener{Name: "tls", Address: secured, Routes: world.RDS("r", world.ADS), TLS: presents("server", world.ADS)}.Resource(),
	))
	promptly(t, "served over TLS: the proxy has its key", func() bool { _, err := request(secured); return err == nil })

	conn := r.Dial(open)
	ctx, cancel := context.WithTimeout(t.Context(), world.Soon)
	defer cancel()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(ctx)
	world.Must(t, err)
	world.Must(t, stream.Send(&discoveryv3.DiscoveryRequest{
		Node: &corev3.Node{Id: "n1"}, TypeUrl: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", ResourceNames: []string{"server"},
	}))
	since := time.Now()
	got, err := stream.Recv()
	if err == nil {
		t.Fatalf("who is routed was given %d Secrets", len(got.GetResources()))
	}
	if ctx.Err() != nil || !strings.Contains(err.Error(), "Unauthenticated") && !strings.Contains(err.Error(), "PermissionDenied") {
		t.Errorf("after %s: %v, want a refusal", time.Since(since), err)
	}
}
