package xds_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// tellings is what the fleet is told of clients.
type tellings struct {
	mu   sync.Mutex // guards list
	list []string
}

func (ts *tellings) note(c *xds.Config) {
	c.Denied = func(_ xds.Identity, reason fleet.DeniedReason, node, _, note string) {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		ts.list = append(ts.list, fmt.Sprintf("%s %s: %s", reason, node, note))
	}
}

// all is what it was told until everything in the bubble waits.
func (ts *tellings) all() []string {
	synctest.Wait()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.Clone(ts.list)
}

// TestATypeThatIsNotServedCostsItself: a proxy that asks for one keeps its stream, and what it asks for besides; the fleet is told of each once.
func TestATypeThatIsNotServedCostsItself(t *testing.T) {
	for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
		for _, early := range []bool{true, false} {
			t.Run(fmt.Sprint(v, " ", early), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var told tellings
					w := xdstest.New(t, told.note)
					s := w.Open(v, "n1")
					var want []string
					unserved := func(i int) {
						s.Send(xdstest.Request{TypeURL: fmt.Sprintf("type.googleapis.com/example.Unserved%02d", i), Names: []string{"a", "b"}})
					}
					subscribe := func() {
						s.Subscribe(fleet.Cluster)
						s.Ack(s.Want("clusters"))
					}
					if !early {
						subscribe()
					}
					for range 3 {
						for i := range 16 {
							unserved(i)
						}
					}
					for i := range 16 {
						want = append(want, fmt.Sprintf("type_not_served n1: type.googleapis.com/example.Unserved%02d", i))
					}
					if early {
						subscribe()
					}
					s.Quiet()
					w.Publish(xdstest.Put(fleet.Cluster, "a", "1"))
					s.Ack(s.Want("clusters a@1"))
					if !slices.Equal(told.all(), want) {
						t.Errorf("told %q, want %q", told.all(), want)
					}
					unserved(16)
					if err := s.End(); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "more than 16 types that are not served") {
						t.Errorf("the 17th type ended it with %v", err)
					}
					if last := told.all()[len(told.all())-1]; !strings.HasPrefix(last, "request_refused n1: ") || !strings.Contains(last, "Unserved16") {
						t.Errorf("told %q last", last)
					}
				})
			})
		}
	}
}

// TestVirtualHostsInStateOfTheWorldCostThemselves: there are none, and an Envoy asks for them because a route says so.
func TestVirtualHostsInStateOfTheWorldCostThemselves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told tellings
		w := xdstest.New(t, told.note)
		s := w.Open(xdstest.SotWADS, "n1")
		s.Subscribe(fleet.Cluster)
		s.Ack(s.Want("clusters"))
		s.Send(xdstest.Request{Type: fleet.VirtualHost, Names: []string{"r/a"}})
		s.Quiet()
		w.Publish(xdstest.Put(fleet.Cluster, "a", "1"), xdstest.Put(fleet.VirtualHost, "r/a", "1"))
		s.Ack(s.Want("clusters a@1"))
		s.Quiet()
		if want := "type_not_served n1: " + fleet.VirtualHost.URL(); len(told.all()) != 1 || told.all()[0] != want {
			t.Errorf("told %q, want %q", told.all(), want)
		}
	})
}

// TestARefusedStreamIsTold: whatever it was refused for that it asked.
func TestARefusedStreamIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		first xdstest.Request
		says  string
	}{
		"no type":          {xdstest.Request{TypeURL: "none"}, "type_url is empty"},
		"v2":               {xdstest.Request{TypeURL: "type.googleapis.com/envoy.api.v2.Cluster"}, "V3"},
		"no node id":       {xdstest.Request{Node: xdstest.Envoy("")}, "node.id is empty"},
		"too large a node": {xdstest.Request{Node: heavyNode()}, "node.metadata"},
		"too large":        {xdstest.Request{Names: []string{strings.Repeat("x", 5<<20)}}, "larger than max"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var told tellings
				s := xdstest.New(t, told.note, func(c *xds.Config) { c.Limits.Message = 4 << 20 }).Open(xdstest.DeltaADS, "n1")
				s.Send(c.first)
				_ = s.End()
				if len(told.all()) != 1 || !strings.HasPrefix(told.all()[0], "request_refused ") || !strings.Contains(told.all()[0], c.says) {
					t.Errorf("told %q, want request_refused with %q", told.all(), c.says)
				}
			})
		})
	}
}
