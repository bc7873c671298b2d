package fleet

import (
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// ServerID names one running xDS server process. It is drawn at its start, so that
// the rows of an earlier life are never taken for its own.
type ServerID [16]byte

// NewServerID returns a fresh id.
func NewServerID() ServerID { return ServerID(newUUIDv7()) }

// Beside is the id of the same process in another database. It is another one, so that what a server says in one cell is never taken for what it said in another, where a
// tenant has brought that along.
func (s ServerID) Beside() ServerID {
	id := NewServerID()
	copy(id[:sameServer], s[:sameServer])
	return id
}

// SameServer reports whether two ids are of one process.
func (s ServerID) SameServer(o ServerID) bool {
	return [sameServer]byte(s[:sameServer]) == [sameServer]byte(o[:sameServer])
}

// sameServer is how many bytes the ids of a process in several databases have in common: the time, and 42 random bits.
const sameServer = 12

// ParseServerID reads the canonical 36-character form.
func ParseServerID(s string) (ServerID, error) { b, err := parseUUID(s); return ServerID(b), err }

func (s ServerID) String() string { return uuid.UUID(s).String() }

// LogValue is the canonical form.
func (s ServerID) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Node is what an xDS client says of itself. It is a claim: nothing is allowed by it.
type Node struct {
	ID            string
	Cluster       string
	UserAgent     string // "envoy", "gRPC Go", ...
	Version       string // of the client, "1.40.0"
	Region        string
	Zone          string
	SubZone       string
	MetadataJSON  []byte // a JSON object, of the metadata what a selector can ask; at most 64 KiB
	ClientFeature []string
	Contrib       Contrib // which of contrib's extensions its build has
	Polls         bool    // it is connected, and polls for clusters or listeners over REST: it has no ADS
}

// AgentNoEnvoy is the user agent of "fairlead sync --listen-admin" while no Envoy serves where it writes files.
const AgentNoEnvoy = "fairlead-sync-no-envoy"

// Confirms reports whether an ACK of the client says that a proxy has what it was sent.
func (n Node) Confirms() bool { return n.UserAgent != AgentNoEnvoy }

// Contrib is which packages of Envoy's contrib a client's build has, as it told: package envoyversion says which bit is whose. The zero value: it told
// nothing.
type Contrib uint64

// ContribTold is set in what was told, even if that is none.
const ContribTold Contrib = 1 << 63

// NodeLabels are labels of a node that no other field of its status has.
type NodeLabels struct {
	Region, Zone, SubZone string
	MetadataJSON          []byte // as in Node
	Cut                   bool   // the metadata was too large to be kept, and is left out
	Contrib               Contrib
}

// NodeStatus is one node's own row on one server (SEMANTICS 6.1). Most nodes follow
// their server: Settled is then nil.
type NodeStatus struct {
	Node         string
	Connected    bool
	Settled      *Revision // nil: the node follows its server's settled revision
	Since        time.Time // of the present connection, or of its end
	Protocol     string    // "delta ADS", "SotW ADS", ...
	Streams      int
	Duplicates   int // clients that seem to have the id on that server; 0: one
	UserAgent    string
	Version      string
	Cluster      string
	RemoteAddr   string
	CredentialID CredentialID
	// View is the identity of the node's view, at most 64 bytes.
	View string
	// Labels is what selectors ask of the node beside the fields above; nil: as last told.
	Labels *NodeLabels
	// Subscribes is what the node subscribes to, or did on its last stream; the zero value where that is not told yet.
	Subscribes Subscriptions
	// Clean, of a node that is not connected: its streams ended with nothing refused and
	// nothing unanswered.
	Clean bool
	// Waits is what the node waits for, of one that has its own Settled; of one that is not
	// connected, what was withheld from it when it left.
	Waits Waits
	// Had is what the node had before its present streams, or the last ones, where that is of a later revision than they
	// have settled. The zero value: it had no more than Settled and Waits say.
	Had Held
}

// Held is what the node had that has settled there, which is Settled, or the server's.
func (s NodeStatus) Held(settled Revision) Held {
	if s.Had.At > settled {
		return s.Had
	}
	return s.Waits.Held(settled)
}

// Offer counts how often a node was offered something anew: what it refuses is refused in an offer, and an end ends all of its offer and of those
// before. It only grows (refusal.FirstOffer). 0: of a server that counted none.
type Offer int64

// Refusal is one resource that one node would not take (SEMANTICS 5.2), as it is told and as it is remembered.
type Refusal struct {
	Node     string
	Type     Type
	Name     string   // the resource that is held responsible
	Version  string   // the refused version
	Revision Revision // the one that introduced the refused version
	Detail   string   // the client's words: redacted, at most 4 KiB; hostile text
	Action   Action
	Beside   bool // another stream with the node's id goes on as it is
	At       time.Time
	// Good is the version that stands in for it; "" if none does.
	Good string
	// Rival is what the node would not take it beside, by its words: the refusal ends when that has another version. The zero
	// value: none is known.
	Rival Rival
	// Lacked is a cluster that the version names and that did not exist: the refusal ends when it comes. "": none is known.
	Lacked string
	// Again is the revision that it was told of before, in the words of then: the version had been
	// out of force meanwhile, and Revision has brought it back to a node that never took another
	// one. 0: the node has just refused it.
	Again Revision
	// Offer is the node's in which it was refused. An end has the last one that it ends.
	Offer Offer
	// By is the newest revision when it ended, 0 if it stands. An end is told without a Revision: it is of all up to By.
	By  Revision
	End End // how it ended, where that is asked for
	// Ended is when, where that is asked for.
	Ended time.Time
	// Row is what stands, or stood, in for it, a Secret's sealed; nil if nothing does, or its bytes are lost or not asked for.
	Row *Row
}

// Stands reports whether the node refuses it still.
func (r Refusal) Stands() bool { return r.By == 0 }

// Stood reports whether the node refused it when it had settled a revision, so that it held what stood in.
func (r Refusal) Stood(at Revision) bool { return r.Revision <= at && (r.By == 0 || r.By > at) }

// Rival is a version of another resource of the same type.
type Rival struct{ Name, Version string }

// Delivered is a server's own count for one revision.
type Delivered struct {
	Revision Revision
	Affected int // of Acked, the nodes that the revision changed something for
	Acked    int
	FirstAck time.Time // zero: none yet
	LastAck  time.Time
}

// Term tells a server's leases apart: another one begins where a lease is taken after the last
// one had ended. 0: it has none.
type Term int64

// Status is what a server reports of one fleet in one transaction: few rows, whatever
// the number of nodes.
type Status struct {
	Key     Key
	Server  ServerID
	Term    Term     // of the lease that the server held when it said this
	At      Position // where the server knew the fleet; all revisions below are of its history
	Settled Revision // what every node without a row of its own has confirmed
	// Partial: rows of nodes that have not confirmed Settled follow in another report. Until
	// then the server's settled revision is at most what it was, and at most Settled.
	Partial   bool
	Delivered []Delivered
	Nodes     []NodeStatus
	Refusals  []Refusal
	Resolved  []Refusal // ends
	// Lasting are nodes that have been connected to the server for half a minute: each
	// once, to see whether another server has them as well.
	Lasting []string
}
