package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// walker is a client that answers late and at random, and looks at every response for
// routes that would lead nowhere.
type walker struct {
	*Bed
	seed     uint64
	rand     *rand.Rand
	c        *xdstest.Client
	version  int
	clusters map[string]bool     // of the fleet
	routes   map[string][]string // of the fleet, with the clusters that they name
	open     []*xdstest.Response // not answered yet

	warm map[string]bool // clusters that the client has, and has accepted
	// named are the clusters that each route may name with the client: that of each
	// response which was not refused, until a later one was accepted.
	named map[string][][]string
}

const (
	walkSteps    = 60
	walkClusters = 6
	walkRoutes   = 3
)

func walk(b *Bed, seed uint64) {
	b.Helper()
	w := &walker{
		Bed: b, seed: seed, rand: rand.New(rand.NewPCG(seed, 0)), c: b.Envoy(),
		clusters: map[string]bool{}, routes: map[string][]string{}, warm: map[string]bool{}, named: map[string][][]string{},
	}
	defer w.c.Close()
	w.publish()
	w.c.Subscribe(fleet.Cluster)
	w.c.Subscribe(fleet.Route, label("r", 0), label("r", 1), label("r", 2))
	for range walkSteps {
		switch w.rand.IntN(4) {
		case 0:
			w.publish()
		case 1, 2:
			w.answer()
		default:
			w.receive()
		}
	}
	w.finish()
}

// publish makes a random fleet whose routes name clusters that it has.
func (w *walker) publish() {
	version := w.next()
	var changes []xdstest.Change
	clusters := map[string]bool{}
	for i := range walkClusters {
		if n := label("c", i); w.rand.IntN(3) > 0 || i == 0 {
			clusters[n] = true
			if !w.clusters[n] {
				changes = append(changes, put(fleet.Cluster, n, version))
			}
		} else if w.clusters[n] {
			changes = append(changes, xdstest.Delete(fleet.Cluster, n))
		}
	}
	names := slices.Sorted(maps.Keys(clusters))
	for i := range walkRoutes {
		n := label("r", i)
		targets := []string{names[w.rand.IntN(len(names))], names[w.rand.IntN(len(names))]}
		stands := w.routes[n] != nil && !slices.ContainsFunc(w.routes[n], func(c string) bool { return !clusters[c] })
		if stands && w.rand.IntN(2) == 0 {
			continue
		}
		w.routes[n] = targets
		changes = append(changes, route(n, version, targets...))
	}
	w.clusters = clusters
	w.Publish(changes...)
}

// next is a version that no other walk has.
func (w *walker) next() string {
	w.version++
	return fmt.Sprintf("%d.%d", w.seed, w.version)
}

// receive takes the next response in, and reports whether there was one.
func (w *walker) receive() bool {
	w.Helper()
	r, ok := w.c.NextOrQuiet()
	if !ok {
		return false
	}
	w.open = append(w.open, r)
	switch r.Type {
	case fleet.Cluster:
		for _, n := range w.leaving(r) {
			delete(w.warm, n)
			for name, all := range w.named {
				for _, targets := range all {
					if slices.Contains(targets, n) {
						w.Fatalf("%s takes %s away, which the route %s may still name", r, n, name)
					}
				}
			}
		}
	case fleet.Route:
		for _, x := range r.Resources {
			for _, n := range x.Targets {
				if !w.warm[n] {
					w.Fatalf("%s: %s names %s, which the client does not have", r, x, n)
				}
			}
			w.named[x.Name] = append(w.named[x.Name], x.Targets)
		}
	}
	return true
}

// leaving are the clusters that the client has and drops by a response.
func (w *walker) leaving(r *xdstest.Response) []string {
	if w.Variant.Delta {
		return r.Removed
	}
	var gone []string
	for n := range w.warm {
		if r.Item(n) == nil {
			gone = append(gone, n)
		}
	}
	return gone
}

// answer answers one of the open responses, now and then by a refusal of routes.
func (w *walker) answer() {
	if len(w.open) == 0 {
		return
	}
	i := w.rand.IntN(len(w.open))
	r := w.open[i]
	w.open = slices.Delete(w.open, i, i+1)
	if r.Type == fleet.Route && len(r.Resources) > 0 && w.rand.IntN(6) == 0 {
		// The client may hold the refused one all the same: it stays among the named.
		w.c.Nack(r, "Only a single wildcard domain is permitted in route "+r.Resources[0].Name)
		return
	}
	w.ack(r)
}

func (w *walker) ack(r *xdstest.Response) {
	for _, x := range r.Resources {
		if r.Type == fleet.Cluster {
			w.warm[x.Name] = true
		} else {
			w.named[x.Name] = [][]string{x.Targets}
		}
	}
	w.c.Ack(r)
}

// finish accepts all that comes, and looks whether the client ends with the newest.
func (w *walker) finish() {
	w.Helper()
	wait()
	// Every route changes once more, so that none is one that was refused.
	version := w.next()
	var changes []xdstest.Change
	for _, n := range slices.Sorted(maps.Keys(w.routes)) {
		changes = append(changes, route(n, version, w.routes[n]...))
	}
	w.Publish(changes...)
	for range 1000 {
		if !w.receive() && len(w.open) == 0 {
			break
		}
		for _, r := range w.open {
			w.ack(r)
		}
		w.open = nil
	}
	for n := range w.clusters {
		if !w.warm[n] {
			w.Errorf("seed %d: the client lacks %s in the end", w.seed, n)
		}
	}
	for n, targets := range w.routes {
		if got := w.named[n]; len(got) != 1 || !slices.Equal(got[0], targets) {
			w.Errorf("seed %d: %s leads to %v in the end, want %v", w.seed, n, got, targets)
		}
	}
}
