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

// A node id that its credential does not admit is told, with what the client says; so is what else is refused at first.
func TestANodeIDThatIsNotAdmittedIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		told := make(chan string, 10)
		w := xdstest.New(t, func(c *xds.Config) {
			c.Denied = func(id xds.Identity, reason fleet.DeniedReason, node, address, _ string) {
				told <- fmt.Sprint(id.Nodes, " ", reason, " ", node, " ", address)
			}
		})
		for id, want := range map[string]struct {
			code codes.Code
			told string
		}{"core-1": {codes.PermissionDenied, "edge-* node_id_forbidden core-1 bufconn"}, "": {codes.InvalidArgument, "edge-* request_refused  bufconn"}} {
			s := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, xdstest.Envoy(id), "edge-*")
			s.Subscribe(fleet.Cluster)
			if err := s.End(); status.Code(err) != want.code {
				t.Errorf("%q ended with %v, want %v", id, err, want.code)
			}
			if got := <-told; got != want.told || len(told) > 0 {
				t.Errorf("told %q and %d more, want %q", got, len(told), want.told)
			}
		}
	})
}
