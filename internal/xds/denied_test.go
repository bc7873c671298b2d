package xds_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// A node id that its credential does not admit is told, with what the client says; what else is refused at first is not.
func TestANodeIDThatIsNotAdmittedIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		told := make(chan string, 10)
		w := xdstest.New(t, func(c *xds.Config) {
			c.Denied = func(id xds.Identity, reason fleet.DeniedReason, node, address string) {
				told <- fmt.Sprint(id.Nodes, " ", reason, " ", node, " ", address)
			}
		})
		for id, want := range map[string]codes.Code{"core-1": codes.PermissionDenied, "": codes.InvalidArgument} {
			s := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, xdstest.Envoy(id), "edge-*")
			s.Subscribe(fleet.Cluster)
			if err := s.End(); status.Code(err) != want {
				t.Errorf("%q ended with %v, want %v", id, err, want)
			}
		}
		if got, want := <-told, "edge-* node_id_forbidden core-1 bufconn"; got != want || len(told) > 0 {
			t.Errorf("told %q and %d more, want %q", got, len(told), want)
		}
	})
}
