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
	turns   chan struct{} // see turn
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
	a := asker{id.Key, id.Credential}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asking[a] == maxTalks {
		return nil, fmt.Errorf("the credential has %d calls of client status and reflection at once, the limit: end one first: %w", maxTalks, fleet.ErrLimit)
	}
	if r.asking == nil {
		r.asking = make(map[asker]int)
	}
	r.asking[a]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.asking[a]--; r.asking[a] == 0 {
			delete(r.asking, a)
		}
	}, nil
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

func (r *registry) remove(st *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byFleet[st.id.Key], st)
	if len(r.byFleet[st.id.Key]) == 0 {
		delete(r.byFleet, st.id.Key)
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
