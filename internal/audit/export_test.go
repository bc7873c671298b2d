package audit

// Canonical is what is hashed of e, as number 1 of some tenant.
func Canonical(e *Event) []byte { return e.canonical("t", 1) }
