package fleet

import (
	"slices"
	"time"
)

// LastStream is what the database knows of a node from before its present stream
// (SEMANTICS 3.4).
type LastStream struct {
	// Known: the fleet has seen the node.
	Known bool
	// Settled is what the node confirmed on the stream that ended last, or less: of several
	// that live, the least.
	Settled Revision
	// Held is what it had by then; of several that live it is not known.
	Held Held
	// Clean: that stream ended with nothing refused and nothing unanswered, and no server
	// has another one of the node.
	Clean bool
	// View is the identity of the view that it had on that stream; "" where no selector
	// matched it. Of several that live, one of theirs.
	View string
	// Live: some server says that it has a stream of the node; LiveAs are the protocols of the
	// newest of them on each such server.
	Live   bool
	LiveAs []string
	// At is when the last stream ended or, if some live, when the newest of them began, on
	// the database's clock.
	At time.Time
	// Offer is the last one that is known of the node.
	Offer Offer
	// Refusals are those that stand, at most 1,000.
	Refusals []Refusal
	// Ended are those that have ended with the revision that the node settled or later, and some before; with Refusals
	// at most 1,000.
	Ended []Refusal
}

// Held is what a node had when it settled last: all of a revision, but for what was withheld from it. It settles
// before that revision where something was withheld, and may never have had what was there then. The zero value is
// not known: then what the fleet had where it has settled is the best guess.
type Held struct {
	At      Revision
	Without []Ref
}

// Equal reports whether two are the same.
func (h Held) Equal(o Held) bool { return h.At == o.At && slices.Equal(h.Without, o.Without) }

// AskedNode is a node of which the last stream is asked for. What the server Without has told
// does not count, which knows better what it had itself; the zero id leaves none out.
type AskedNode struct {
	Node    string
	Without ServerID
}
