package xds_test

import (
	"context"
	"sync/atomic"
	"testing"

	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// brittle is an Authenticator that panics when it is told to.
type brittle struct {
	xds.Authenticator
	broken *atomic.Bool
}

func (b brittle) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	if b.broken.Load() {
		panic("on purpose")
	}
	return b.Authenticator.Authenticate(ctx, token)
}

// A panic before the handler, where no stream is there yet, ends that call alone.
func TestT36_APanicInAuthenticationEndsOneCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var broken atomic.Bool
		w := xdstest.New(t, func(c *xds.Config) { c.Authenticator = brittle{c.Authenticator, &broken} })
		c := w.Open(xdstest.DeltaADS, "n1")
		c.Subscribe(fleet.Cluster)
		c.Settle()
		broken.Store(true)
		d := w.Open(xdstest.DeltaADS, "n2")
		d.Subscribe(fleet.Cluster)
		if err := d.End(); status.Code(err) != codes.Internal || status.Convert(err).Message() != "internal error: see the server's log" {
			t.Errorf("a stream ends with %v", err)
		}
		client := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn())
		if _, err := client.FetchClientStatus(xdstest.As(t.Context(), "*"), &statusv3.ClientStatusRequest{}); status.Code(err) != codes.Internal {
			t.Errorf("a call ends with %v", err)
		}
		broken.Store(false)
		c.Settle()
		e := w.Open(xdstest.DeltaADS, "n3")
		e.Subscribe(fleet.Cluster)
		e.Settle()
	})
}
