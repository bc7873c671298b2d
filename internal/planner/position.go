package planner

import (
	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Kind is what a client can do.
type Kind struct {
	// Delta tells incremental streams from state of the world.
	Delta bool
	// Envoy: the client's user agent is "envoy".
	Envoy bool
	// SingleType: the stream is one of a single type's own service. Other types are on other
	// streams, and nothing can be ordered against them.
	SingleType bool
	// Polls: a client that polls over REST. Each of its responses holds all that it asks for, and it is answered
	// when it reports a version that is not current, and not else (PROTOCOL rule 27).
	Polls bool
	// Follows: the client is gRPC's, and asks for what a listener names as soon as it has that.
	Follows bool
	// TTL: the client is sent TTLs (PROTOCOL rule 20).
	TTL bool
	// Errors: the client understands resource_errors, as it says.
	Errors  bool
	padding [1]byte //nolint:unused // see Position
	// MaxSet is the most bytes that the client takes in one response; 0: no limit.
	MaxSet int
}

// Position is all that matters of a stream for what comes next, except for its Record. It is comparable and made of interned things: streams in one state are equal,
// and a step is worked out once for all of them. It is hashed for each message of each stream: all its bytes at once, since between its fields
// nothing is left out (padding is zero).
type Position struct {
	Kind  Kind
	Types [fleet.NumTypes]Track
	// Opening: the stream has just been opened, and the client has not said yet all that it
	// holds. No cluster is taken away from it, since what names that cluster is not known,
	// and nothing counts as settled.
	Opening bool
	// Warming: the stream began with its endpoints, as one does that took the place of a
	// stream which was lost while clusters warmed: what it holds of clusters is known when it
	// asks for them, which it does when they are warm.
	Warming bool
	padding [6]byte //nolint:unused // see Position
	// Warm is the target whose clusters the client has all ACKed last. Under changes without
	// end what waits for newer clusters goes out as it was there (SEMANTICS 3.9).
	Warm *snapshot.Target
}

// Track is a type's part of a position. A response in flight is no thing of its own: it is
// what leads from Held to Next.
type Track struct {
	Sub *Subscription // nil: not asked for yet
	// Held is what the client confirmed, or reported and was believed. Doubts are names that it may have besides: none of them is in Held.
	Held   *snapshot.Set
	Doubts *Doubts
	// Next is what it holds once it ACKs; if InFlight. NextDoubts are in doubt then.
	Next       *snapshot.Set
	NextDoubts *Doubts
	// Pending are the names that must be answered though the client may hold them already.
	Pending *snapshot.Set
	// Lacks are names of which the client was told that there is nothing for it, and Withheld those that it was told are withheld, with why: of
	// one with Kind.Errors. Denial is of secrets.
	Lacks, Withheld *snapshot.Set
	Denial          denial
	InFlight        bool
	// Answer: one response is due even if there is nothing to say.
	Answer bool
	// Unknown: in state of the world the client holds a set that is not the target's, and
	// none that is known.
	Unknown bool
	padding [4]byte //nolint:unused // see Position
}

// subscribed reports whether the client is sent the type.
func (p *Position) subscribed(t fleet.Type) bool { return p.Types[t].Sub != nil }

// patient reports whether the client has to wait for the word that a name of the type
// does not exist.
func (k Kind) patient(t fleet.Type) bool {
	return k.Delta && k.Envoy && (t == fleet.Route || t == fleet.Extension)
}

// startsWarming reports whether a stream was lost while clusters warmed: then it begins
// again with its endpoints. Believed, they would not be sent, and Envoy would wait 15 s
// (PROTOCOL rule 13).
func (p *Position) startsWarming(t fleet.Type) bool {
	return t == fleet.Endpoint && p.Kind.Envoy && !p.Kind.SingleType && !p.subscribed(fleet.Cluster)
}
