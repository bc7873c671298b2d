package xds_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestThousandStreams: clients of every variant follow a fleet that changes faster than
// they do, and all end in step. This is a twentieth of it, for every day.
func TestThousandStreams(t *testing.T) { followers(t, 100, 250) }

// TestSoakThousandStreams is the whole of it with FAIRLEAD_SOAK: 1,000 streams and 500
// revisions.
func TestSoakThousandStreams(t *testing.T) {
	if os.Getenv("FAIRLEAD_SOAK") == "" {
		followers(t, 20, 50)
		return
	}
	followers(t, 1000, 500)
}

func followers(t *testing.T, streams, revisions int) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		f := &changing{rand: rand.New(rand.NewPCG(1, 2)), content: map[fleet.Type]map[string]string{}}
		w.Publish(f.change()...)
		var wg sync.WaitGroup
		clients := make([]*xdstest.Client, streams)
		for i := range clients {
			clients[i] = f.follower(w, i)
			wg.Go(clients[i].Follow)
		}
		var last fleet.Revision
		for i := range revisions {
			last = w.Publish(f.change()...)
			if i%5 == 0 {
				time.Sleep(time.Millisecond) // everybody keeps up
			}
		}
		time.Sleep(time.Minute)
		if n := w.Streams(); n != streams {
			t.Errorf("%d streams are left of %d", n, streams)
		}
		w.AwaitSettled(t, last)
		for _, c := range clients {
			c.Close()
		}
		wg.Wait()
		for i, c := range clients {
			for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Route} {
				if c.Protocol().PerType && typ != fleet.Cluster {
					continue
				}
				if c.Holds(typ, f.held(typ)); t.Failed() {
					t.Fatalf("client %d, %s", i, c.Protocol())
				}
			}
		}
	})
}

// changing is a fleet that changes at random: its routes name clusters that it has.
type changing struct {
	rand    *rand.Rand
	version int
	content map[fleet.Type]map[string]string // versions
}

const changingNames = 12

// follower opens one of many clients, of one stream.
func (f *changing) follower(w *xdstest.World, i int) *xdstest.Client {
	c := w.Open(xdstest.Protocols[i%len(xdstest.Protocols)], "n"+strconv.Itoa(i))
	c.Subscribe(fleet.Cluster)
	if !c.Protocol().PerType {
		c.Subscribe(fleet.Endpoint, f.names(fleet.Cluster)...)
		c.Subscribe(fleet.Listener)
		c.Subscribe(fleet.Route, f.names(fleet.Route)...)
	}
	return c
}

func (f *changing) names(t fleet.Type) []string {
	names := make([]string, changingNames)
	for i := range names {
		names[i] = fmt.Sprintf("%.1s%02d", t, i)
	}
	return names
}

func (f *changing) put(t fleet.Type, name string, opts ...xdstest.Option) xdstest.Change {
	if f.content[t] == nil {
		f.content[t] = map[string]string{}
	}
	f.content[t][name] = strconv.Itoa(f.version)
	return xdstest.Put(t, name, strconv.Itoa(f.version), opts...)
}

// change is the next revision.
func (f *changing) change() []xdstest.Change {
	f.version++
	clusters := f.names(fleet.Cluster)
	pick := func(names []string) string { return names[f.rand.IntN(len(names))] }
	if f.version == 1 {
		var all []xdstest.Change
		for _, c := range clusters {
			all = append(all, f.put(fleet.Cluster, c, xdstest.EDS), f.put(fleet.Endpoint, c))
		}
		for _, r := range f.names(fleet.Route) {
			all = append(all, f.put(fleet.Route, r, xdstest.Naming(pick(clusters))))
		}
		return all
	}
	switch f.rand.IntN(5) {
	case 0:
		return []xdstest.Change{f.put(fleet.Cluster, pick(clusters), xdstest.EDS)}
	case 1:
		return []xdstest.Change{f.put(fleet.Endpoint, pick(clusters))}
	case 2:
		return []xdstest.Change{f.put(fleet.Route, pick(f.names(fleet.Route)), xdstest.Naming(pick(clusters)))}
	case 3:
		l := pick(f.names(fleet.Listener))
		if f.content[fleet.Listener][l] != "" {
			delete(f.content[fleet.Listener], l)
			return []xdstest.Change{xdstest.Delete(fleet.Listener, l)}
		}
		return []xdstest.Change{f.put(fleet.Listener, l)}
	}
	return f.swap(pick)
}

// swap moves a route to a cluster that is new.
func (f *changing) swap(pick func([]string) string) []xdstest.Change {
	r, c := pick(f.names(fleet.Route)), "new"+strconv.Itoa(f.rand.IntN(5))
	return []xdstest.Change{f.put(fleet.Cluster, c), f.put(fleet.Route, r, xdstest.Naming(c))}
}

// held is what a client holds of a type, as it prints it.
func (f *changing) held(t fleet.Type) string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(f.content[t])) {
		all = append(all, n+"@"+f.content[t][n])
	}
	return strings.Join(all, " ")
}
