package xds_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// outsider is an Envoy whose own clients think of names. Like an Envoy it writes each request at once, into a buffer without an end, and the server takes them out of
// it in their order: answers too. In state of the world each request has all names, the newest first.
type outsider struct {
	*xdstest.Client
	typ   fleet.Type
	names []string
	nonce string
	out   chan xdstest.Request
	done  chan struct{}
}

// outsiders opens one that asks for names of a type. Of listeners it has the one that changes.
func outsiders(t *testing.T, w *xdstest.World, v xdstest.Protocol, typ fleet.Type) *outsider {
	t.Helper()
	w.Publish(xdstest.Put(fleet.Listener, "changes", "0"), xdstest.Put(typ, "r/known", "1"))
	o := &outsider{Client: w.Open(v, "n1"), typ: typ, names: []string{"r/known"}, out: make(chan xdstest.Request, 1<<20), done: make(chan struct{})}
	o.Subscribe(fleet.Listener)
	o.Settle()
	o.Client.Subscribe(typ, o.names...)
	for _, r := range o.Settle() {
		if r.Type == typ {
			o.nonce = r.Nonce
		}
	}
	go func() {
		defer close(o.done)
		for r := range o.out {
			o.Send(r)
		}
	}()
	t.Cleanup(func() {
		o.Close()
		close(o.out)
		<-o.done
	})
	return o
}

// asks sends a request for one more name.
func (o *outsider) asks(name string) {
	if o.Protocol().Delta {
		o.out <- xdstest.Request{Type: o.typ, Names: []string{name}}
		return
	}
	o.names = slices.Insert(slices.Clone(o.names), 0, name)
	o.out <- xdstest.Request{Type: o.typ, Names: o.names, Nonce: o.nonce, Version: "1"}
}

// takes answers all that has come, and returns the versions of the listener among it.
func (o *outsider) takes() (versions []string) {
	for {
		r, more := o.NextOrQuiet()
		if !more {
			return versions
		}
		ack := xdstest.Request{Type: r.Type, Nonce: r.Nonce}
		if !o.Protocol().Delta {
			if ack.Version = r.Version; r.Type == o.typ {
				ack.Names, o.nonce = o.names, r.Nonce
			}
		}
		if x := r.Item("changes"); x != nil {
			versions = append(versions, x.Label)
		}
		o.out <- ack
	}
}

// TestNamesDelayNoChange: however fast the clients of an Envoy think of names, a change arrives, and its answer is taken in, as if there were none. An Envoy that has a core of its own
// writes some thousands of such requests in a second, and in state of the world some hundreds of many names.
func TestNamesDelayNoChange(t *testing.T) {
	for v, c := range map[xdstest.Protocol]struct {
		types  []fleet.Type
		each   int // names in 10 ms
		limits xds.Limits
	}{
		xdstest.SotWADS:  {[]fleet.Type{fleet.Secret, fleet.Cluster, fleet.Route, fleet.Endpoint, fleet.Extension}, 5, xds.Limits{Requests: 5, Burst: 20}}, // no name may be taken for an answer
		xdstest.DeltaADS: {append([]fleet.Type{fleet.Route, fleet.Endpoint, fleet.Extension}, onDemand...), 40, xds.Limits{}},
	} {
		for _, typ := range c.types {
			t.Run(fmt.Sprint(v, " ", typ), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := xdstest.New(t, func(conf *xds.Config) { conf.Limits = c.limits })
					o := outsiders(t, w, v, typ)
					var changed time.Time
					version, arrived := 0, 0
					for tick := range 300 {
						if tick < 150 {
							for i := range c.each {
								o.asks(fmt.Sprintf("r/%03d-%02d.outsiders.example", tick, i))
							}
						}
						if version == arrived {
							version++
							changed = time.Now()
							w.Publish(xdstest.Put(fleet.Listener, "changes", fmt.Sprint(version)))
						}
						for _, v := range o.takes() {
							if v != fmt.Sprint(version) {
								t.Fatalf("got version %s, want %d", v, version)
							}
							if d := time.Since(changed); d > 100*time.Millisecond {
								t.Errorf("change %d took %s", version, d)
							}
							arrived++
						}
						if d := time.Since(changed); version > arrived && d > time.Second {
							t.Fatalf("change %d has not arrived after %s", version, d)
						}
						time.Sleep(10 * time.Millisecond)
					}
					if arrived < 250 {
						t.Errorf("%d changes arrived", arrived)
					}
				})
			})
		}
	}
}

// TestNamesThatWereSaidAreNotReadAgain, as fast as what is new is read: in state of the world a request says all names. It is counted by what the
// pace counts.
func TestNamesThatWereSaidAreNotReadAgain(t *testing.T) {
	for order, c := range map[string]struct {
		insert     func(names []string, name string) []string
		atLeast    time.Duration
		noMoreThan time.Duration
	}{
		"the newest first": {func(names []string, name string) []string { return append([]string{name}, names...) }, 0, 2 * time.Second},
		"the newest last":  {func(names []string, name string) []string { return append(slices.Clone(names), name) }, 0, 2 * time.Second},
		"on both sides": {func(names []string, name string) []string {
			return append(append([]string{name + "-first"}, names...), name+"-last")
		}, 0, 2 * time.Second},
		"among the others": {func(names []string, name string) []string {
			return slices.Insert(slices.Clone(names), len(names)/2, name)
		}, 30 * time.Second, time.Minute},
	} {
		t.Run(order, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t, func(c *xds.Config) { c.Limits.Requests, c.Limits.Burst = 1, 1 }) // a hundred that ask for names
				s := w.Open(xdstest.SotWADS, "n1")
				names := manyNames(5000)
				s.Send(xdstest.Request{Type: fleet.Secret, Names: names})
				begun := time.Now()
				for i := range 80 {
					names = c.insert(names, fmt.Sprint("new-", i))
					s.Send(xdstest.Request{Type: fleet.Secret, Names: names})
				}
				w.Publish(xdstest.Put(fleet.Secret, "new-79", "1"), xdstest.Put(fleet.Secret, "new-79-last", "1"))
				r := s.Next()
				for r.Item("new-79") == nil && r.Item("new-79-last") == nil {
					t.Fatalf("got %s", r)
				}
				if d := time.Since(begun); d < c.atLeast || d > c.noMoreThan {
					t.Errorf("it took %s, want %s to %s", d, c.atLeast, c.noMoreThan)
				}
			})
		})
	}
}
