package replica

import (
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

// testify takes in a refusal that has one culprit. What was presumed may be wrong, and tells
// others nothing. o.mu is held.
func (o *owner) testify(build string, r xds.Refusal) {
	if len(r.Culprits) != 1 || r.Presumed {
		return
	}
	if len(o.testimonies) >= maxTestimonies {
		return
	}
	if o.testimonies == nil {
		o.testimonies = make(map[testimony]struct{})
	}
	c := r.Culprits[0].Refused
	o.testimonies[testimony{r.Type, c.Name, c.Version, build}] = struct{}{}
}

// Witness reports whether some node of the same client build refused the version alone.
func (a *attachment) Witness(t fleet.Type, name, version string) bool {
	o := a.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.testimonies[testimony{t, name, version, a.build}]
	return ok
}

// forgetTestimonies drops those about versions that no stream is to hold any more. o.mu is
// held.
func (o *owner) forgetTestimonies() {
	for x := range o.testimonies {
		holds := false
		for _, v := range o.views {
			if r := v.snap.Types[x.typ].Get(x.name); r != nil && r.Version == x.version {
				holds = true
				break
			}
		}
		if !holds {
			delete(o.testimonies, x)
		}
	}
}
