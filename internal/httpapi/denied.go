package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/store"
)

const denialsAtOnce = 100 // events that one transaction writes

// What is told of in this way: what was denied, what was read that is worth knowing, and what is done too often for an event each.
const (
	accessDenied = "access.denied"
	secretsRead  = "secrets.read"
	auditExport  = "audit.export"

	endpointsRemove = "endpoints.remove"
)

// RecordDenials writes the audit events of requests that were denied; at the end of the process, of all of them. What the
// database does not take now is in the log alone. Call it every few seconds, from one place.
func (a *API) RecordDenials(ctx context.Context, end bool) error {
	return errors.Join(a.record(ctx, a.denied, end, "denied requests", a.store.RecordDenials), a.record(ctx, a.comparisons, end, "comparisons of Secrets", a.store.RecordComparisons))
}

// record writes the audit events of what is due.
func (a *API) record(ctx context.Context, of *access.Denials, end bool, what string, write func(context.Context, fleet.TenantID, []store.Denial) error) error {
	all, lost := of.Due(end)
	if lost > 0 {
		a.log.Warn("some are not in the audit: too many kinds of them within the hour", "what", what, "requests", lost)
	}
	var errs []error
	for tenant, ds := range all {
		for part := range slices.Chunk(ds, denialsAtOnce) {
			errs = append(errs, write(ctx, tenant, part))
		}
	}
	return errors.Join(errs...)
}

// denial counts a request that was answered with 403, in the tenant that it is about, or else the token's own. An
// operator's that is about no tenant is in the log alone.
func (a *API) denial(r *http.Request, c *call) {
	if c.note.status != http.StatusForbidden {
		return
	}
	tenant := c.tenant.ID
	if tenant == (fleet.TenantID{}) {
		tenant = c.principal.Tenant
	}
	if tenant == (fleet.TenantID{}) {
		return
	}
	a.denied.Add(access.DenialKey{Tenant: tenant, Token: c.principal.Credential, Kind: accessDenied, Operation: a.operation(r).id, Code: c.note.code}, c.actor, c.fleet.ID)
}

// told counts a reading, or a removal, before it is answered: who hangs up has read too. Of what a token cannot see nothing is told.
func (a *API) told(c *call, kind, operation string) {
	a.denied.Add(access.DenialKey{Tenant: c.tenant.ID, Token: c.principal.Credential, Kind: kind, Operation: operation}, c.actor, c.fleet.ID)
}
