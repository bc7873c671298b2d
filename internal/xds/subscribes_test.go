package xds_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestWhatAClientSubscribesTo: an Envoy asks for all clusters and listeners, and for the rest by names, which are not told: they follow from the content.
func TestWhatAClientSubscribesTo(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(cluster("a", "1")...)
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters a@1"))
		s.Subscribe(fleet.Endpoint, "a")
		s.Ack(s.Next())
		synctest.Wait()
		want := fleet.Subscriptions{}
		want.Types[fleet.Cluster] = fleet.AsksAll
		if got := w.Subscribes(); !got.Equal(want) {
			t.Errorf("%+v", got)
		}
	})
}

// TestWhichListenersAClientSubscribesTo: a gRPC client asks for listeners by name, and nothing but what it says tells which.
func TestWhichListenersAClientSubscribesTo(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Listener, "b", "1"))
		s.Subscribe(fleet.Listener, "b", "a")
		s.Ack(s.Next())
		synctest.Wait()
		if got := w.Subscribes(); !slices.Equal(got.Listeners, []string{"a", "b"}) || got.Types[fleet.Listener] != fleet.AsksNames {
			t.Errorf("%+v", got)
		}
		var names []string
		for i := range fleet.MaxAsked {
			names = append(names, fmt.Sprint("n", i))
		}
		s.Subscribe(fleet.Listener, names...)
		synctest.Wait()
		if got := w.Subscribes(); got.Listeners != nil || got.Many != fleet.MaxAsked+2 {
			t.Errorf("many: %+v", got)
		}
		s.Unsubscribe(fleet.Listener, names...)
		synctest.Wait()
		if got := w.Subscribes(); !slices.Equal(got.Listeners, []string{"a", "b"}) {
			t.Errorf("again: %+v", got)
		}
	})
}
