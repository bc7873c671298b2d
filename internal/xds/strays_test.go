package xds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// onDemand are the types that a proxy asks for by names which its own clients choose: virtual hosts by Host headers, clusters by a header,
// Secrets by server names.
var onDemand = []fleet.Type{fleet.VirtualHost, fleet.Cluster, fleet.Secret}

// absentHas returns a response that says of n names that there is nothing, whether that takes one or several.
func absent(t *testing.T, s *xdstest.Client, typ fleet.Type) (names []string) {
	t.Helper()
	for {
		r, more := s.NextOrQuiet()
		if !more {
			return names
		}
		if r.Type != typ {
			t.Fatalf("got %s", r)
		}
		names = append(names, r.Removed...)
		for _, x := range r.Resources {
			if !x.Bare || !slices.Equal(x.Aliases, []string{x.Name}) {
				t.Fatalf("got %s", r)
			}
			names = append(names, x.Name)
		}
		s.Ack(r)
	}
}

// strayed is a client of the incremental protocol with one resource of a type, of which it was told.
func strayed(t *testing.T, typ fleet.Type, edit ...func(*xds.Config)) (*xdstest.World, *xdstest.Client) {
	t.Helper()
	w := xdstest.New(t, edit...)
	w.Publish(xdstest.Put(typ, "r/real", "1"))
	s := w.Open(xdstest.DeltaADS, "n1")
	s.Subscribe(typ, "r/real")
	s.Ack(s.Want(typ.Slug() + " r/real@1"))
	return w, s
}

// goesOn: what is there is still served, and what comes to be there is sent to who asks for it.
func goesOn(t *testing.T, w *xdstest.World, s *xdstest.Client, typ fleet.Type) {
	t.Helper()
	w.Publish(xdstest.Put(typ, "r/real", "2"), xdstest.Put(typ, "r/later", "1"))
	s.Ack(s.Want(typ.Slug() + " r/real@2"))
	s.Subscribe(typ, "r/later")
	s.Ack(s.Want(typ.Slug() + " r/later@1"))
	s.Quiet()
}

// TestANameThatNoResourceCanHaveCostsItself: it is told that there is none, and the stream goes on.
func TestANameThatNoResourceCanHaveCostsItself(t *testing.T) {
	for _, typ := range onDemand {
		for _, size := range []int{513, 520, 60_000} {
			t.Run(fmt.Sprint(typ, " ", size), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var told tellings
					w, s := strayed(t, typ, told.note)
					long := "r/" + strings.Repeat("x", size-2)
					s.Subscribe(typ, long)
					if got := absent(t, s, typ); !slices.Equal(got, []string{long}) {
						t.Errorf("%d names were answered, want the one", len(got))
					}
					if want := fmt.Sprintf("names_over_limit n1: %s with names above 512 bytes", typ); len(told.all()) != 1 || told.all()[0] != want {
						t.Errorf("told %q, want %q", told.all(), want)
					}
					goesOn(t, w, s, typ)
				})
			})
		}
	}
}

// TestTooManyNamesCostThemselves: those beyond the limit do not exist, and are forgotten; what the fleet has can be asked for all the same.
func TestTooManyNamesCostThemselves(t *testing.T) {
	for _, typ := range onDemand {
		t.Run(typ.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var told tellings
				w, s := strayed(t, typ, told.note, func(c *xds.Config) { c.Limits.Names = 10 })
				var names []string
				for i := range 30 {
					names = append(names, fmt.Sprintf("r/stray-%02d", i))
					s.Subscribe(typ, names[i])
				}
				got := absent(t, s, typ)
				if slices.Sort(got); !slices.Equal(got, names) {
					t.Errorf("answered %q, want each once", got)
				}
				if want := fmt.Sprintf("names_over_limit n1: more than 10 %s that the fleet does not have", typ); len(told.all()) == 0 || told.all()[0] != want {
					t.Errorf("told %q, want %q", told.all(), want)
				}
				goesOn(t, w, s, typ)
				w.Publish(xdstest.Put(typ, names[0], "1"), xdstest.Put(typ, names[29], "1"))
				s.Ack(s.Want(typ.Slug() + " " + names[0] + "@1")) // it was within the limit
				s.Quiet()
				s.Subscribe(typ, names[29])
				s.Ack(s.Want(typ.Slug() + " " + names[29] + "@1"))
			})
		})
	}
}

// TestT40_ManyNamesAtOnceCostThemselves: in one request, the first one of the type too, as a client says that comes back.
func TestT40_ManyNamesAtOnceCostThemselves(t *testing.T) {
	for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprint(v, " ", first), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := xdstest.New(t, func(c *xds.Config) { c.Limits.Names = 10 })
					s := w.Open(v, "n1")
					w.Publish(xdstest.Put(fleet.Secret, "real", "1"))
					names := []string{strings.Repeat("x", 513)}
					for i := range 30_000 {
						names = append(names, fmt.Sprintf("stray-%05d", i))
					}
					if !first {
						s.Subscribe(fleet.Secret, "other")
						s.Settle()
					}
					s.Subscribe(fleet.Secret, append(names, "real")...)
					sent := false
					for {
						r, more := s.NextOrQuiet()
						if !more {
							break
						}
						sent = sent || r.Item("real") != nil
						s.Ack(r)
					}
					if !sent {
						t.Error("what is there was not sent")
					}
					w.Publish(xdstest.Put(fleet.Secret, "real", "2"))
					s.Ack(s.Want("secrets real@2"))
				})
			})
		}
	}
}

// TestWhatAClientReportsIsBounded: versions of names that no resource can have are not believed, nor more of them than there can be, and what is
// given up may be any number of names.
func TestWhatAClientReportsIsBounded(t *testing.T) {
	for name, r := range map[string]xdstest.Request{
		"long":             {Versions: map[string]string{strings.Repeat("x", 513): "1", "a": "1"}},
		"a long version":   {Versions: map[string]string{"a": strings.Repeat("1", 513)}},
		"many":             {Versions: manyVersions(100)},
		"many are dropped": {Unsubscribe: append(manyNames(100), strings.Repeat("x", 513))},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t, func(c *xds.Config) { c.Limits.Names = 10 })
				s := w.Open(xdstest.DeltaADS, "n1")
				s.Subscribe(fleet.Listener)
				s.Settle()
				r.Type = fleet.Cluster
				s.Send(r)
				s.Settle()
				s.Subscribe(fleet.Secret, "a")
				s.Settle()
				w.Publish(xdstest.Put(fleet.Secret, "a", "2"))
				s.Ack(s.Want("secrets a@2"))
			})
		})
	}
}

// TestBytesThatAreNoTextCostThemselves: Envoy's encoder writes what is not UTF-8, and its decoder takes no such response: a name of such
// bytes gets no answer, and all else goes on.
func TestBytesThatAreNoTextCostThemselves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told tellings
		w := xdstest.New(t, told.note)
		ss, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Conn()).DeltaAggregatedResources(xdstest.As(t.Context(), "*"))
		if err != nil {
			t.Fatal(err)
		}
		ask := func(m *discoveryv3.DeltaDiscoveryRequest, raw string) {
			t.Helper()
			m.TypeUrl = fleet.Cluster.URL()
			if raw != "" {
				m.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 3, protowire.BytesType), raw)) // resource_names_subscribe
			}
			if err := ss.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		want := func(removed ...string) {
			t.Helper()
			r, err := ss.Recv()
			if err != nil || !slices.Equal(r.GetRemovedResources(), removed) {
				t.Fatalf("got %v, %v, want %q", r, err, removed)
			}
		}
		ask(&discoveryv3.DeltaDiscoveryRequest{Node: xdstest.Envoy("n1")}, "")
		want()
		ask(&discoveryv3.DeltaDiscoveryRequest{}, "\xff")
		ask(&discoveryv3.DeltaDiscoveryRequest{ResourceNamesSubscribe: []string{"a"}}, "b\xc3\x28")
		want("a")
		if want := "names_over_limit n1: clusters with names that are not UTF-8"; len(told.all()) != 2 || told.all()[0] != want || told.all()[1] != want {
			t.Errorf("told %q, want %q twice", told.all(), want)
		}
	})
}

// TestNamesThatAreNotTakenUpAreNoWildcard: who names a cluster that cannot be does not ask for all of them.
func TestNamesThatAreNotTakenUpAreNoWildcard(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Cluster, "a", "1"))
		s.Subscribe(fleet.Cluster, strings.Repeat("x", 513))
		for _, r := range s.Settle() {
			if len(r.Resources) > 0 {
				t.Errorf("got %s", r)
			}
		}
		s.Subscribe(fleet.Cluster, strings.Repeat("x", 513), "a")
		s.Ack(s.Want("clusters a@1"))
	})
}

// TestMoreClustersThanNames: what the fleet's clusters need does not count, whether or not it is there.
func TestMoreClustersThanNames(t *testing.T) {
	for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
		t.Run(v.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var told tellings
				w := xdstest.New(t, told.note, func(c *xds.Config) { c.Limits.Names = 10 })
				names := manyNames(31)
				var changes []xdstest.Change
				for i, name := range names {
					changes = append(changes, xdstest.Put(fleet.Cluster, name, "1", xdstest.EDS))
					if i < 15 {
						changes = append(changes, xdstest.Put(fleet.Endpoint, name, "1"))
					}
				}
				w.Publish(changes...)
				s := w.Open(v, "n1")
				s.Subscribe(fleet.Cluster)
				s.Subscribe(fleet.Endpoint, names...)
				s.Settle()
				w.Publish(xdstest.Put(fleet.Endpoint, names[30], "1"))
				s.Ack(s.Want("endpoints " + names[30] + "@1"))
				if len(told.all()) > 0 {
					t.Errorf("told %q", told.all())
				}
				// Nor does it count beside names that nothing needs, however many there are.
				var strays []string
				for i := range 100 {
					strays = append(strays, fmt.Sprint("stray-", i))
				}
				s = w.Open(v, "n2")
				s.Subscribe(fleet.Cluster)
				s.Subscribe(fleet.Endpoint, strays...)
				s.Settle()
				s.Subscribe(fleet.Endpoint, names...)
				s.Settle()
				w.Publish(xdstest.Put(fleet.Endpoint, names[29], "1"))
				s.Ack(s.Want("endpoints " + names[29] + "@1"))
			})
		})
	}
}

// TestAnswersWaitForNothing: there are as many as responses were sent.
func TestAnswersWaitForNothing(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		s.Subscribe(fleet.Secret, "a")
		s.Settle()
		begun := time.Now()
		for i := range 500 {
			w.Publish(xdstest.Put(fleet.Secret, "a", fmt.Sprint(i)))
			s.Ack(s.Want(fmt.Sprint("secrets a@", i)))
		}
		if d := time.Since(begun); d > 0 {
			t.Errorf("500 changes and their ACKs took %s", d)
		}
	})
}

// TestAnswersDoNotWaitForLookUps: a proxy's own clients make it ask for thousands of names that there are not. They are looked up in turn, and
// a change arrives, and its ACK is taken in, as if there were none.
func TestAnswersDoNotWaitForLookUps(t *testing.T) {
	for _, typ := range onDemand {
		t.Run(typ.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, s := strayed(t, typ)
				const names = 1500
				for i := range names {
					s.Send(xdstest.Request{Type: typ, Names: []string{fmt.Sprintf("r/stray-%04d", i)}})
				}
				for i := range 400 { // of server names those are given up that do not exist
					s.Send(xdstest.Request{Type: typ, Unsubscribe: []string{fmt.Sprintf("r/given-up-%04d", i)}})
				}
				begun, answered := time.Now(), 0
				next := func() *xdstest.Response { // which is not about strays
					for {
						r := s.Next()
						answered += len(r.Removed) + len(r.Resources)
						if r.Item("r/real") != nil {
							answered--
							return r
						}
						s.Ack(r)
					}
				}
				for i := 2; i < 12; i++ {
					w.Publish(xdstest.Put(typ, "r/real", fmt.Sprint(i)))
					s.Ack(next())
				}
				if d := time.Since(begun); d > 100*time.Millisecond {
					t.Errorf("ten changes and their ACKs took %s", d)
				}
				if answered >= names {
					t.Fatalf("%d names were answered by then: nothing had to wait", answered)
				}
				for answered < names {
					r := s.Next()
					answered += len(r.Removed) + len(r.Resources)
					s.Ack(r)
				}
				if d := time.Since(begun); d < 2*time.Second || d > 3*time.Second {
					t.Errorf("%d names were looked up within %s, want 500 more than at once at 200 a second", names, d)
				}
				s.Quiet()
			})
		})
	}
}

// TestWhatIsGivenUpIsNotLookedUpLater.
func TestWhatIsGivenUpIsNotLookedUpLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, s := strayed(t, fleet.Secret, func(c *xds.Config) { c.Limits.Lookups, c.Limits.LookupBurst = 1, 1 })
		for _, name := range []string{"a", "b", "c"} {
			s.Subscribe(fleet.Secret, name)
		}
		s.Unsubscribe(fleet.Secret, "c")
		time.Sleep(time.Minute)
		s.Settle()
		w.Publish(xdstest.Put(fleet.Secret, "b", "1"), xdstest.Put(fleet.Secret, "c", "1"))
		s.Ack(s.Want("secrets b@1"))
		s.Quiet()
	})
}
