package xds_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestT13_UnknownTypesEndTheStreamAtTheFirst: a client cannot make a server remember types that
// it invents.
func TestT13_UnknownTypesEndTheStreamAtTheFirst(t *testing.T) {
	both(t, func(t *testing.T, _ *xdstest.World, s *xdstest.Client) {
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters"))
		for i := range 3 {
			s.Send(xdstest.Request{TypeURL: fmt.Sprintf("type.googleapis.com/example.Type%d", i)})
		}
		if err := s.End(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("it ended with %v, want InvalidArgument", err)
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
