package fleet

import "time"

// What a node is to one revision (SEMANTICS 5.3), and to the present.
const (
	NodeAcked   = "acked"   // it has settled at the revision or at a later one
	NodeNacked  = "nacked"  // it refused something that the revision introduced
	NodePending = "pending" // it lives and has not answered yet
	NodeOffline = "offline" // it has no live stream
	NodeLate    = "late"    // it came after the revision, and has it
)

// What a receipt says as a whole (SEMANTICS 5.5).
const (
	ReceiptPending   = "pending"
	ReceiptDelivered = "delivered"
	ReceiptStored    = "stored" // nobody has it, and nobody is connected to be waited for
	ReceiptRejected  = "rejected"
)

// Counts is how many of the counted nodes are what to one revision.
type Counts struct {
	Acked, Nacked, Pending, Offline int
	// Left is how many of Offline were connected when the revision was made, or came after it, and have gone without it.
	Left int
	// Withheld is how many of Pending have all but what is withheld from them.
	Withheld int
	// Unaffected is how many of Acked the revision changed nothing for.
	Unaffected int
	// Late is how many nodes came after the revision and have it. Those that came after it and
	// refuse something of it are Nacked; others that came after it are not counted.
	Late int
}

// State is what the counts come to: rejected if any node refused, else pending while
// one has not answered or has left without an answer, which may be for what the revision brought, else delivered if any node has it. Nodes that were offline before hold nothing
// up; where they are all, or there is none, it is stored.
func State(c Counts) string {
	switch {
	case c.Nacked > 0:
		return ReceiptRejected
	case c.Pending+c.Left > 0:
		return ReceiptPending
	case c.Acked+c.Late > 0:
		return ReceiptDelivered
	}
	return ReceiptStored
}

// Blocked reports whether waiting longer is for nothing although nodes are pending: what
// they have not is withheld from all of them, until somebody writes what it needs.
func (r Receipt) Blocked() bool { return r.Counts.Pending > 0 && r.Counts.Withheld == r.Counts.Pending }

// Receipt is what became of one revision. All times are the database's clock.
type Receipt struct {
	Revision    Revision
	CommittedAt time.Time
	Counts      Counts
	State       string
	// Nodes are those not acked, the refusing first, then the pending and the offline,
	// then the acked ones that still refuse something of an earlier revision; at most 100.
	Nodes []ReceiptNode
	// FirstAck and LastAck are zero while there is none; never before CommittedAt.
	FirstAck, LastAck time.Time
}

// ReceiptRefusal is what a receipt tells of a refusal.
type ReceiptRefusal struct {
	Detail     string // the client's words: hostile text
	Resource   Ref
	Action     Action
	Beside     bool     // see Refusal
	ResolvedBy Revision // 0 while the refusal stands
	End        End
}

// ReceiptNode is one node's part in a receipt.
type ReceiptNode struct {
	ID    string
	State string    // NodeAcked, ...
	At    time.Time // of the refusal; for a node offline when it was last seen; else zero

	ReceiptRefusal // the worst of the revision
	// Also are the node's other refusals of it, the worst first, at most ten, and MoreRefused how many are left out.
	Also        []ReceiptRefusal
	MoreRefused int

	// StillRefusing is what the node refuses at present, of this revision or an earlier one;
	// Resource, if unresolved, is among it. At most 100.
	StillRefusing []Ref
	// Refusing is the same of any revision, also a later one.
	Refusing []Ref
	// Waits is what a pending node waits for, as far as it concerns the revision. One that
	// is not Behind has settled the revision, and has all of it but what is withheld.
	Waits  Waits
	Behind bool
	// Left: see Counts.Left.
	Left bool
	// NoEnvoy, of a pending node: it is files, and no Envoy serves that reads them (Node.Confirms).
	NoEnvoy bool
}
