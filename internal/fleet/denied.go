package fleet

import "time"

// DeniedReason is why a client was not let in to a fleet.
type DeniedReason string

// The values are those of the database and of the API.
const (
	DeniedToken       DeniedReason = "token_wrong"       // the id is that of a credential of the fleet, the secret is not
	DeniedRevoked     DeniedReason = "token_revoked"     // the credential was revoked
	DeniedExpired     DeniedReason = "token_expired"     // the credential's time is over
	DeniedNodeID      DeniedReason = "node_id_forbidden" // the credential is not for nodes of this id
	DeniedNodeIDTaken DeniedReason = "node_id_taken"     // another client has the id, which is exclusive in the fleet
	DeniedRouted      DeniedReason = "routed"            // a proxy on the way has lent the call its credential
)

// DeniedReasons are all of them.
func DeniedReasons() []DeniedReason {
	return []DeniedReason{DeniedToken, DeniedRevoked, DeniedExpired, DeniedNodeID, DeniedNodeIDTaken, DeniedRouted}
}

// Denied is that clients of one id, from one address, were not let in for one reason.
type Denied struct {
	Key
	Reason      DeniedReason
	Credential  CredentialID // that they came with, or said that they did
	Node        string       // as they say; "" where they were not asked, or where there are too many to tell apart
	Address     string       // without a port; "" where there are too many
	Attempts    int64
	First, Last time.Time
}

// CredentialUse is when a node credential was used last, and from where.
type CredentialUse struct {
	Key
	Credential CredentialID
	At         time.Time
	Address    string // without a port
}
