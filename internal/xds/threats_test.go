package xds_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestT13_InventedTypesEndTheStream: a client cannot make a server remember more than 16 types that it invents, nor long ones.
func TestT13_InventedTypesEndTheStream(t *testing.T) {
	both(t, func(t *testing.T, _ *xdstest.World, s *xdstest.Client) {
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters"))
		for i := range 16 {
			s.Send(xdstest.Request{TypeURL: fmt.Sprintf("type.googleapis.com/example.Type%d%s", i, strings.Repeat("x", 1<<20))})
			s.Quiet()
		}
		s.Send(xdstest.Request{TypeURL: "type.googleapis.com/example.Type16"})
		err := s.End()
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "more than 16 types") {
			t.Errorf("it ended with %v, want ResourceExhausted", err)
		}
	})
}

// TestT33_SecretsAreGivenByNameAlone: no spelling of "all" gives a node Secrets that it does not
// know by name.
func TestT33_SecretsAreGivenByNameAlone(t *testing.T) {
	for _, names := range [][]string{nil, {"*"}, {""}, {"*", "guessed"}} {
		t.Run(fmt.Sprint(names), func(t *testing.T) {
			both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
				w.Publish(xdstest.Put(fleet.Secret, "s", "1"), xdstest.Put(fleet.Secret, "t", "1"))
				s.Subscribe(fleet.Secret, names...)
				for {
					r, more := s.NextOrQuiet()
					if !more {
						break
					}
					if len(r.Resources) > 0 {
						t.Errorf("subscribed to %q it was sent %s", names, r)
					}
					s.Ack(r)
				}
			})
		})
	}
}
