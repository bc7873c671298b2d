package xds

import (
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/snapshot"
)

// withheldTold is how long a resource is kept from a client before the fleet is told of that in an event. What is written in any order is kept back
// for less.
const withheldTold = time.Second

// withheld is a resource that is kept from the client, and why.
type withheld struct {
	ref, by fleet.Ref
	cause   fleet.Cause
}

// keeps are the resources that are kept from the client, since when, and whether the fleet was told. They are as many as a Waits names.
type keeps map[withheld]*keep

type keep struct {
	since time.Time
	told  bool
}

// noteWithheld takes in what is kept from the client.
func (st *stream) noteWithheld(target *snapshot.Target, w fleet.Waits) {
	if len(w.Withheld)+len(st.keeps) == 0 {
		return
	}
	now := make(keeps, len(w.Withheld))
	for _, h := range w.Withheld {
		x := withheld{h.Ref, h.By, h.Cause(target.Withholds)}
		if now[x] = st.keeps[x]; now[x] == nil {
			now[x] = &keep{since: st.now}
		}
	}
	st.keeps = now
}

// tellWithheld tells the fleet of what has been kept from the client for long enough, of each once.
func (st *stream) tellWithheld() {
	for x, k := range st.keeps {
		if k.told || st.now.Before(k.since.Add(withheldTold)) {
			continue
		}
		k.told = true
		st.deny(x.cause.Denied(), shortened(x.note(), maxNote))
	}
}

// note says what is kept back, and what it waits for.
func (x withheld) note() string {
	if x.ref == x.by {
		return called(x.ref)
	}
	return called(x.ref) + " waits for " + called(x.by)
}

func called(r fleet.Ref) string { return r.Type.Slug() + "/" + r.Name }

// next is when the fleet is to be told of the next one, zero if of none.
func (ks keeps) next() (at time.Time) {
	for _, k := range ks {
		if due := k.since.Add(withheldTold); !k.told && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	return at
}

// told are the reasons of those that the fleet was told of.
func (ks keeps) told() (reasons metrics.Kept) {
	for x, k := range ks {
		reasons[x.cause] = reasons[x.cause] || k.told
	}
	return reasons
}
