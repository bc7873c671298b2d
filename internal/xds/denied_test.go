package xds_test

import (
	"fmt"
	"slices"
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

// What "fairlead doctor" asks for with no type is its way to be refused, and no client that is turned away: a healthy fleet is told nothing. All else that it would be refused for is
// told, and so is whoever else asks for no type.
func TestTheDoctorsQuestionIsNotTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told tellings
		w := xdstest.New(t, told.note)
		ask := func(agent, url string) {
			t.Helper()
			node := xdstest.Envoy("n1")
			node.UserAgentName = agent
			s := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, node, "*")
			s.Send(xdstest.Request{TypeURL: url})
			if err := s.End(); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s is answered %v", agent, err)
			}
		}
		ask(fleet.DoctorAgent, "none")
		if got := told.all(); len(got) > 0 {
			t.Errorf("told %q", got)
		}
		ask("envoy", "none")
		ask(fleet.DoctorAgent, "type.googleapis.com/envoy.api.v2.Cluster")
		want := []string{"request_refused n1: type_url is empty: an aggregated stream needs one in every request",
			`request_refused n1: type_url "type.googleapis.com/envoy.api.v2.Cluster" is of xDS v2, which is gone: set resource_api_version and transport_api_version to V3`}
		if got := told.all(); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}
