package xds

import (
	"fmt"
	"sync"

	"fairlead/internal/fleet"
)

// registry knows the streams that a server serves now, by fleet, and who talks to it
// beside them.
type registry struct {
	mu      sync.Mutex // guards what follows
	byFleet map[fleet.Key]map[*stream]struct{}
	asking  map[asker]int // talks; none is 0
	opening map[asker]int // streams whose first request is yet to come; none is 0
	turns   chan struct{} // see turn
	// Streams of load reports, of all, of each tenant and of each credential; none is 0.
	reports          int
	reportsOfTenant  map[fleet.TenantID]int
	reportsWithToken map[asker]int
}

// turn is taken by sending: whoever holds it may look through the streams of a fleet.
func (r *registry) turn() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turns == nil {
		r.turns = make(chan struct{}, 1)
	}
	return r.turns
}

// asker is a credential in its fleet.
type asker struct {
	key        fleet.Key
	credential fleet.CredentialID
}

// maxTalks is how many talks a credential may have at once: each may take maxStatus bytes.
const maxTalks = 4

// ask counts a talk until its leave is called, once.
func (r *registry) ask(id Identity) (leave func(), err error) {
	if leave = r.enter(&r.asking, id, maxTalks); leave == nil {
		return nil, fmt.Errorf("the credential has %d calls of client status and reflection at once, the limit: end one first: %w", maxTalks, fleet.ErrLimit)
	}
	return leave, nil
}

// open counts a stream that has asked for nothing until its leave is called, once. Its source
// counts those that have.
func (r *registry) open(id Identity, most int) (leave func(), err error) {
	if leave = r.enter(&r.opening, id, most); leave == nil {
		return nil, fmt.Errorf("the credential has %d streams without a request, the limit: send the first request when the stream is opened: %w", most, fleet.ErrLimit)
	}
	return leave, nil
}

// report counts a stream of load reports until its leave is called, once.
func (r *registry) report(id Identity, most, perTenant, perCredential int) (leave func(), err error) {
	a := asker{id.Key, id.Credential}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reportsOfTenant == nil {
		r.reportsOfTenant, r.reportsWithToken = make(map[fleet.TenantID]int), make(map[asker]int)
	}
	for _, x := range []struct {
		of         string
		have, most int
	}{{"server", r.reports, most}, {"tenant", r.reportsOfTenant[id.Key.Tenant], perTenant}, {"credential", r.reportsWithToken[a], perCredential}} {
		if x.have >= x.most {
			return nil, fmt.Errorf("the %s has %d streams of load reports, the limit: a proxy needs one: %w", x.of, x.most, fleet.ErrLimit)
		}
	}
	r.reports++
	r.reportsOfTenant[id.Key.Tenant]++
	r.reportsWithToken[a]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reports--
		less(r.reportsOfTenant, id.Key.Tenant)
		less(r.reportsWithToken, a)
	}, nil
}

// less counts one less, and forgets what is 0.
func less[K comparable](counts map[K]int, k K) {
	if counts[k]--; counts[k] == 0 {
		delete(counts, k)
	}
}

// enter returns nil if there are so many.
func (r *registry) enter(counts *map[asker]int, id Identity, most int) (leave func()) {
	a := asker{id.Key, id.Credential}
	r.mu.Lock()
	defer r.mu.Unlock()
	if (*counts)[a] >= most {
		return nil
	}
	if *counts == nil {
		*counts = make(map[asker]int)
	}
	(*counts)[a]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		less(*counts, a)
	}
}

func (r *registry) add(st *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byFleet == nil {
		r.byFleet = make(map[fleet.Key]map[*stream]struct{})
	}
	if r.byFleet[st.id.Key] == nil {
		r.byFleet[st.id.Key] = make(map[*stream]struct{})
	}
	r.byFleet[st.id.Key][st] = struct{}{}
}

// remove reports whether it was the fleet's last one.
func (r *registry) remove(st *stream) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byFleet[st.id.Key], st)
	if last = len(r.byFleet[st.id.Key]) == 0; last {
		delete(r.byFleet, st.id.Key)
	}
	return last
}

// ring has every stream look at what there is to do.
func (r *registry) ring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, streams := range r.byFleet {
		for st := range streams {
			st.bell.Ring()
		}
	}
}

// of returns the streams of a fleet.
func (r *registry) of(key fleet.Key) []*stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	streams := make([]*stream, 0, len(r.byFleet[key]))
	for st := range r.byFleet[key] {
		streams = append(streams, st)
	}
	return streams
}
