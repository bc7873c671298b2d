package planner

import (
	"slices"
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// MaxResponse is the size in bytes at which a delta response is split: every client
// but Envoy's own gRPC stops at 4 MiB and tries for ever (PROTOCOL rule 25).
const MaxResponse = 3 << 20

// Response is what to send next. It is immutable, and shared by the streams that it is for.
type Response struct {
	Type fleet.Type
	// Resources go out in full, by name. In state of the world, for the types whose set is
	// always full, they are the whole set.
	Resources []*snapshot.Resource
	// Removed are names that are no more (delta).
	Removed []string
	// Aliases are the other names by which the client asked for resources, by theirs.
	Aliases map[string][]string
	// Nonexistent are names of virtual hosts that were asked for on demand and resolve to
	// nothing.
	Nonexistent []string
	// Errors are why the client is not sent what it asks for, by name: of one that understands them.
	Errors []Error
	// Heartbeat: Resources go out without their bodies, to renew their TTL. It changes
	// nothing, and is not answered in turn with other responses.
	Heartbeat bool
	// Version is the version_info of a state-of-the-world response.
	Version snapshot.Sum
	// Revision is that of the target (system_version_info in delta).
	Revision fleet.Revision

	kind Kind
	effect
	body    body
	refused refused
}

// effect is what a response means for the client.
type effect struct {
	target   *snapshot.Target
	changes  []change
	after    *snapshot.Set // what the client holds of its subscription once it ACKs
	doubts   *Doubts       // of it, what is in doubt then
	complete bool          // then the type is in step with the target
	cut      bool          // something was left out because of its size
	blind    bool          // what the client held was not known
	content  snapshot.Sum  // of names and versions: no content goes twice to a stream that refused it
	// answered are the names whose asking it answers, besides those of the resources.
	answered []string
	// heartbeatAfter: the round of heartbeats goes on behind this name.
	heartbeatAfter string
}

// refused is what comes of a response that is refused. Streams that stand in one place refuse it alike, so it is worked out for the first of them.
type refused struct {
	candidatesOnce sync.Once
	candidates     []snapshot.Exception

	mu       sync.Mutex // guards what follows
	of, cast casting
}

// casting is what is held of a type, and what is in doubt.
type casting struct {
	held    *snapshot.Set
	doubts  *Doubts
	offered bool // what was sent may be sent again
}

// doubt puts all that the response changes in doubt. What a client may stick on is not offered again.
func (r *Response) doubt(in interner, tr *Track, stuck bool) {
	now := casting{tr.Held, tr.Doubts, r.blind && r.Type == fleet.Cluster && !stuck}
	r.refused.mu.Lock()
	defer r.refused.mu.Unlock()
	if r.refused.cast == (casting{}) || r.refused.of != now {
		in.cast(r.Type, tr, doubtful(r.changes, now.offered))
		r.refused.of, r.refused.cast = now, casting{tr.Held, tr.Doubts, now.offered}
	}
	tr.Held, tr.Doubts = r.refused.cast.held, r.refused.cast.doubts
}

type body struct {
	once     sync.Once
	bytes    []byte
	warmOnce sync.Once
	warm     []fleet.Ref
}

// warming is what the client takes in while the response is unanswered, not to be
// written to.
func (r *Response) warming() []fleet.Ref {
	r.body.warmOnce.Do(func() {
		var w fleet.Waits
		for _, ch := range r.changes {
			if ch.new != nil && !ch.old.is(ch.new) {
				w.Warming = append(w.Warming, fleet.Ref{Type: r.Type, Name: ch.name})
			}
		}
		r.body.warm = w.Warming
	})
	return r.body.warm
}

// Changes reports whether the response changes what the client holds: an answer that
// only has to be given does not.
func (r *Response) Changes() bool { return len(r.changes) > 0 }

// alters reports whether a client that took the response, or half of it, would hold
// anything else than before.
func (r *Response) alters() bool {
	return r.blind || slices.ContainsFunc(r.changes, func(ch change) bool { return !ch.old.is(ch.new) })
}

// alias notes that the client asked for a resource by another name.
func (r *Response) alias(of, name string) {
	if of == name {
		return
	}
	if r.Aliases == nil {
		r.Aliases = make(map[string][]string)
	}
	r.Aliases[of] = append(r.Aliases[of], name)
}
