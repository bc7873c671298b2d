package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// roamer is a client that comes and goes, and changes its mind.
type roamer struct {
	*Bed
	seed    uint64
	rand    *rand.Rand
	c       *xdstest.Client
	version int
	content map[fleet.Type]map[string]string // of the fleet: versions
	open    []*xdstest.Response
	asked   map[fleet.Ref]bool // for a name, and it did not come since
}

var roamed = []fleet.Type{fleet.Listener, fleet.Secret, fleet.Runtime, fleet.ScopedRoute}

const (
	roamSteps = 80
	roamNames = 4
)

func roam(b *Bed, seed uint64) {
	b.Helper()
	r := &roamer{Bed: b, seed: seed, rand: rand.New(rand.NewPCG(seed, 1)), c: b.Envoy(), content: map[fleet.Type]map[string]string{}, asked: map[fleet.Ref]bool{}}
	for _, t := range roamed {
		r.content[t] = map[string]string{}
		for i := range roamNames {
			b.Publish(xdstest.Delete(t, label("x", i)))
		}
		r.ask(t)
	}
	for range roamSteps {
		r.step()
	}
	r.finish()
	r.c.Close()
}

// ask is the first request of a type.
func (r *roamer) ask(t fleet.Type) {
	if t.FullSet() {
		r.c.Subscribe(t)
	} else {
		r.c.Subscribe(t, label("x", 0))
	}
}

func (r *roamer) step() {
	r.Helper()
	t := roamed[r.rand.IntN(len(roamed))]
	name := label("x", r.rand.IntN(roamNames))
	switch r.rand.IntN(12) {
	case 0, 1, 2:
		r.version++
		r.content[t][name] = fmt.Sprintf("%d.%d", r.seed, r.version)
		r.Publish(put(t, name, r.content[t][name]))
	case 3:
		delete(r.content[t], name)
		r.Publish(xdstest.Delete(t, name))
	case 4:
		if !t.FullSet() {
			r.c.Subscribe(t, name)
			r.asked[fleet.Ref{Type: t, Name: name}] = true
		}
	case 5:
		r.giveUp(t, name)
	case 6:
		r.reconnect()
	case 7:
		wait()
	default:
		r.receive()
		if len(r.open) > 0 && r.rand.IntN(3) > 0 {
			r.ack(r.open[0])
			r.open = r.open[1:]
		}
	}
}

// giveUp gives a name up, if it is not the last: without any the type would not be asked
// for on return. It does so while nothing is under way: in state of the world the request
// would be stale, and to be asked for a name again would mean nothing to the server.
func (r *roamer) giveUp(t fleet.Type, name string) {
	for r.receive() {
	}
	if names := r.c.Names(t); !t.FullSet() && len(names) > 1 && slices.Contains(names, name) && len(r.open) == 0 {
		r.c.Unsubscribe(t, name)
	}
}

func (r *roamer) ack(x *xdstest.Response) {
	r.c.Ack(x)
	for _, i := range x.Resources {
		delete(r.asked, fleet.Ref{Type: x.Type, Name: i.Name})
	}
}

// reconnect loses the stream, and with it what was not accepted.
func (r *roamer) reconnect() {
	r.open = nil
	r.c = r.c.Again()
	for _, t := range roamed {
		// By version_info a client cannot say that it gave a name up and took it up again
		// without an answer: it had better say nothing.
		for _, n := range r.c.Names(t) {
			if !r.Variant.Delta && r.asked[fleet.Ref{Type: t, Name: n}] {
				r.c.Forget(t)
			}
		}
		r.c.Return(t)
	}
}

func (r *roamer) receive() bool {
	r.Helper()
	x, ok := r.c.NextOrQuiet()
	if ok {
		r.open = append(r.open, x)
	}
	return ok
}

func (r *roamer) finish() {
	r.Helper()
	for range 2 {
		for range 1000 {
			if !r.receive() && len(r.open) == 0 {
				break
			}
			for _, x := range r.open {
				r.ack(x)
			}
			r.open = nil
		}
		wait()
	}
	for _, t := range roamed {
		if got, want := r.held(t), r.wanted(t); got != want {
			r.Errorf("seed %d: the client holds %s %q in the end, want %q", r.seed, t, got, want)
		}
	}
}

// wanted is what the client asked for of what there is.
func (r *roamer) wanted(t fleet.Type) string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(r.content[t])) {
		if t.FullSet() || slices.Contains(r.c.Names(t), n) {
			all = append(all, n+"@"+r.content[t][n])
		}
	}
	return strings.Join(all, " ")
}

// held is what the client has of it. What was deleted stays in state of the world, which
// has no word for it but in full sets.
func (r *roamer) held(t fleet.Type) string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(r.c.Labels(t))) {
		if _, is := r.content[t][n]; is || t.FullSet() || r.Variant.Delta {
			all = append(all, n+"@"+r.c.Labels(t)[n])
		}
	}
	return strings.Join(all, " ")
}
