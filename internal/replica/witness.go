package replica

import (
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// testimony is that nodes of a client build refuse a version, each found guilty by itself:
// named in the words, or the only one that changed (SEMANTICS 3.5). It ends with the
// version.
type testimony struct {
	typ                  fleet.Type
	name, version, build string
}

// maxTestimonies is how many are remembered of a fleet.
const maxTestimonies = 1_000

// testimonies are those of a fleet. They are safe for concurrent use and call nobody.
type testimonies struct {
	mu  sync.Mutex // guards all
	all map[testimony]struct{}
}

// testify takes in a refusal that has one culprit. What was presumed may be wrong, and tells
// others nothing.
func (ts *testimonies) testify(build string, r xds.Refusal) {
	if len(r.Culprits) != 1 || r.Presumed {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.all) >= maxTestimonies {
		return
	}
	if ts.all == nil {
		ts.all = make(map[testimony]struct{})
	}
	c := r.Culprits[0].Refused
	ts.all[testimony{r.Type, c.Name, c.Version, build}] = struct{}{}
}

func (ts *testimonies) has(x testimony) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	_, ok := ts.all[x]
	return ok
}

// forget drops those about versions that no view has any more.
func (ts *testimonies) forget(vs *views) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for x := range ts.all {
		if !vs.have(x.typ, x.name, x.version) {
			delete(ts.all, x)
		}
	}
}

// Witness reports whether some node of the same client build refused the version alone.
func (a *attachment) Witness(t fleet.Type, name, version string) bool {
	return a.owner.testimonies.has(testimony{t, name, version, a.build})
}
