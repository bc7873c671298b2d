package forward

import "fairlead/internal/audit"

// Batch is a part of one tenant's audit, in the order of its chain, and heads that were signed since.
type Batch struct {
	Tenant   string       `json:"tenant"` // the slug
	TenantID string       `json:"tenant_id"`
	Events   []audit.Link `json:"events"` // of one that is gone the event is left out
	Heads    []audit.Head `json:"heads"`
}

// patience is for how long a collector has to take a batch.
const patience = 5e9 // 5 s
