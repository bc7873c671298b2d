package fleet

import "time"

// Revision counts the effective changes of one fleet. It is assigned under the lock
// of the fleet's head row, so the order of commits is the order of revisions. 0 is
// the empty fleet before its first change.
type Revision int64

// Position is what a reader holds of a fleet. The three are compared with ==, never
// with <: after a failover to an older copy the same revision can mean other content.
type Position struct {
	Revision Revision
	Token    Token
	Epoch    int64 // moves with credentials and settings, not with resources
}

// Known is a fleet and the position at which a reader holds it; the zero position
// means that it holds nothing.
type Known struct {
	Key Key
	At  Position
}

// BootstrapPrefix begins the names of what Fairlead puts into a bootstrap: clusters that may carry the node's credential, and the Secret that
// holds it. What is called so is there, and in no fleet.
const BootstrapPrefix = "fairlead_"

// Ref names a resource that another one needs.
type Ref struct {
	Type Type
	Name string
}

// Derived is what is read out of a resource's document once, when it is written, so that
// no server has to decode a body to serve it.
type Derived struct {
	Refs    []Ref    // what it names, in config sources of kind ads or self; sorted, no duplicates
	Polled  []Ref    // what it names for others: proxies ask Fairlead for it on streams or by polls of its own; sorted, no duplicates. Nothing waits for it
	EDSName string   // of a cluster of type EDS over gRPC: its ClusterLoadAssignment's name
	Slow    bool     // of a cluster: it resolves names or checks its endpoints before it is warm
	VHDS    bool     // of a route: it fetches virtual hosts on demand
	Scopes  bool     // of a listener: it takes scoped routes
	Domains []string // of a virtual host: its domains, from which aliases come
	// ByName, of a cluster, stands in no body: who wrote it said so. Only a client that asks for it by its name is to have it.
	ByName bool
}

// Row is a resource as it is stored and as readers of changes see it.
type Row struct {
	Type     Type
	Name     string
	Variant  string   // "" for the default variant
	Revision Revision // of the row's last change
	Deleted  bool     // a tombstone: what follows is zero

	Version  string        // SEMANTICS 1.1; opaque
	TTL      time.Duration // 0: none
	Selector string        // "" for the default variant
	Priority int32
	// Reselected is the last revision that gave the row another selector or priority, or
	// brought it back; 0: none did.
	Reselected Revision
	Body       []byte // the bytes of the Any's value; of a Secret, sealed
	Derived    Derived
}

// Change is what a reader has to do to come from its position to At.
type Change struct {
	Key Key
	At  Position
	// Gone: the fleet is deleted or was never there. Nothing else is set but Key.
	Gone bool
	// Reload: Rows is everything that there is, and the tombstones that are still kept.
	// Otherwise Rows are those that changed after the known position, tombstones among them.
	Reload bool
	// Compacted: no tombstones of it and of earlier revisions are kept any more.
	Compacted Revision
	Rows      []Row
	// Broken are rows that cannot be read. They are not among Rows: whoever holds an
	// earlier one of the name keeps it, on a reload as well.
	Broken []Broken
	// EpochMoved: Credentials and NodeIDs hold the present ones.
	EpochMoved  bool
	Credentials []Credential
	NodeIDs     string // NodeIDsShared, ...
	// Retries are the nodes that are to be offered again what they refused, since the known
	// epoch.
	Retries []string
	// CommittedAt is the database's clock when At.Revision was made; Now is its clock at
	// the reading. Their difference to the local clock is the reader's offset.
	CommittedAt, Now time.Time
}

// Broken is a row as it is stored that cannot be read, and why.
type Broken struct {
	Ref
	Variant  string
	Revision Revision // of the row's last change
	Reason   string
}

// Credential is a node credential as a server checks it. The secret itself is nowhere.
type Credential struct {
	ID        CredentialID
	Hash      [32]byte // SHA-256 of the token
	Nodes     string   // allowed node ids: "exact", "prefix*" or "*"
	ExpiresAt time.Time
	// RevokedAt is zero while the credential is good.
	RevokedAt time.Time
}
