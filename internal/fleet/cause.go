package fleet

// Cause is why a resource is kept from a node. Each is told in the receipt, on the node's page and in an event, and where the fleet's content is to
// blame in a finding (docs/receipts.md).
type Cause uint8

// The causes, in an order that means nothing.
const (
	CauseMissing  Cause = iota // what it names does not exist
	CauseRefused               // the node refuses what it names
	CauseSealed                // it is a secret, or names one, that the node's server has no key for
	CauseTooLarge              // with it the node's set would be larger than the node takes at once

	NumCauses = 4
)

var causeNames = [NumCauses]string{"missing", "refused", "sealed", "too_large"}

// Causes returns every cause.
func Causes() []Cause {
	cs := make([]Cause, NumCauses)
	for i := range cs {
		cs[i] = Cause(i)
	}
	return cs
}

func (c Cause) String() string { return causeNames[c] }

// Denied is the reason of the event that tells of it.
func (c Cause) Denied() DeniedReason { return deniedBy[c] }

var deniedBy = [NumCauses]DeniedReason{DeniedMissing, DeniedRefused, DeniedSealed, DeniedTooLarge}

// Cause is why the resource is kept back. refuses says of what it names whether the node refuses that.
func (h Withheld) Cause(refuses func(Ref) bool) Cause {
	switch {
	case h.Sealed:
		return CauseSealed
	case h.TooLarge():
		return CauseTooLarge
	case refuses(h.By):
		return CauseRefused
	}
	return CauseMissing
}
