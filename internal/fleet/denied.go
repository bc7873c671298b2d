package fleet

import "time"

// DeniedReason is why a client was not let in to a fleet, or was not given what it asked for.
type DeniedReason string

// The values are those of the database and of the API.
const (
	DeniedToken       DeniedReason = "token_wrong"       // the id is that of a credential of the fleet, the secret is not
	DeniedRevoked     DeniedReason = "token_revoked"     // the credential was revoked
	DeniedExpired     DeniedReason = "token_expired"     // the credential's time is over
	DeniedNodeID      DeniedReason = "node_id_forbidden" // the credential is not for nodes of this id
	DeniedNodeIDTaken DeniedReason = "node_id_taken"     // another client has the id, which is exclusive in the fleet
	DeniedRouted      DeniedReason = "routed"            // a proxy on the way has lent the call its credential
	DeniedType        DeniedReason = "type_not_served"   // it asks for a type that is not served; its stream goes on
	DeniedNames       DeniedReason = "names_over_limit"  // it asks for names that no resource can have, or for too many; its stream goes on
	DeniedRequest     DeniedReason = "request_refused"   // its stream was ended for what it asks

	// A resource is kept from it; see Cause.
	DeniedMissing  DeniedReason = "withheld_missing"
	DeniedRefused  DeniedReason = "withheld_refused"
	DeniedSealed   DeniedReason = "withheld_sealed"
	DeniedTooLarge DeniedReason = "withheld_too_large"
)

// DoctorAgent is the user agent by which "fairlead doctor" asks for nothing, to see whether its node id is admitted.
const DoctorAgent = "fairlead-doctor"

// DeniedReasons are all of them.
func DeniedReasons() []DeniedReason {
	return []DeniedReason{DeniedToken, DeniedRevoked, DeniedExpired, DeniedNodeID, DeniedNodeIDTaken, DeniedRouted, DeniedType, DeniedNames, DeniedRequest,
		DeniedMissing, DeniedRefused, DeniedSealed, DeniedTooLarge}
}

// Denied is that clients of one id, from one address, were not let in for one reason, or not given what they asked for.
type Denied struct {
	Key
	Reason      DeniedReason
	Credential  CredentialID // that they came with, or said that they did
	Node        string       // as they say; "" where they were not asked, or where there are too many to tell apart
	Address     string       // without a port; "" where there are too many
	Note        string       // what it was that they asked for; "" where there are too many, or where the reason says it
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
