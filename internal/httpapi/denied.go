package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	denialsTold   = time.Hour // what is denied again within it is told as one number, at its end
	mostDenials   = 10_000    // kinds of denials that are counted at a time
	mostDenialsOf = 500       // the same, of one tenant
	denialsAtOnce = 100       // events that one transaction writes
)

// What is told of in this way: what was denied, what was read that is worth knowing, and what is done too often for an event each.
const (
	accessDenied = "access.denied"
	secretsRead  = "secrets.read"
	auditExport  = "audit.export"

	endpointsRemove = "endpoints.remove"
)

// denialKey is what counts as the same denial, or the same reading.
type denialKey struct {
	tenant                fleet.TenantID
	token                 fleet.CredentialID
	kind, operation, code string
}

// denial is what was denied and is not told yet.
type denial struct {
	store.Denial
	begun time.Time // of the hour
	told  bool      // that it began
}

// denials counts denied requests, and what was read of secrets and of the audit itself, so that the audit can tell of each kind of them at once, and of what follows within the
// hour as one number, however many there are. It writes nothing by itself.
type denials struct {
	now func() time.Time

	mu   sync.Mutex // guards what follows and what is in it
	all  map[denialKey]*denial
	of   map[fleet.TenantID]int // keys of each tenant
	lost int64                  // that there was no room for
}

func newDenials(now func() time.Time) *denials {
	return &denials{now: now, all: map[denialKey]*denial{}, of: map[fleet.TenantID]int{}}
}

// add counts one. A tenant that has too many kinds of them gets the others as one, of no token and no operation.
func (d *denials) add(k denialKey, actor store.Actor, f fleet.ID) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.all[k]
	if x == nil && d.of[k.tenant] >= mostDenialsOf-1 {
		k = denialKey{tenant: k.tenant, kind: k.kind, operation: "several", code: "several"}
		actor, f = store.Actor{Name: "several", RequestID: actor.RequestID, IP: actor.IP}, fleet.ID{}
		x = d.all[k]
	}
	if x == nil {
		if len(d.all) >= mostDenials {
			d.lost++
			return
		}
		x = &denial{begun: now}
		x.Kind, x.Operation, x.Code = k.kind, k.operation, k.code
		d.all[k] = x
		d.of[k.tenant]++
	}
	if x.Attempts == 0 {
		x.First = now
	}
	x.Actor, x.Fleet, x.Last = actor, f, now
	x.Attempts++
}

// due takes what is to be told now: of each kind the beginning, at the end of the hour what followed, and at the end of
// the process all.
func (d *denials) due(end bool) (out map[fleet.TenantID][]store.Denial, lost int64) {
	now := d.now()
	out = map[fleet.TenantID][]store.Denial{}
	d.mu.Lock()
	defer d.mu.Unlock()
	lost, d.lost = d.lost, 0
	for k, x := range d.all {
		over := now.Sub(x.begun) >= denialsTold
		if x.Attempts > 0 && (!x.told || over || end) {
			out[k.tenant] = append(out[k.tenant], x.Denial)
			x.told, x.Attempts = true, 0
		}
		if over {
			delete(d.all, k)
			if d.of[k.tenant]--; d.of[k.tenant] == 0 {
				delete(d.of, k.tenant)
			}
		}
	}
	return out, lost
}

// RecordDenials writes the audit events of requests that were denied; at the end of the process, of all of them. What the
// database does not take now is in the log alone. Call it every few seconds, from one place.
func (a *API) RecordDenials(ctx context.Context, end bool) error {
	return errors.Join(a.record(ctx, a.denied, end, "denied requests", a.store.RecordDenials), a.record(ctx, a.comparisons, end, "comparisons of Secrets", a.store.RecordComparisons))
}

// record writes the audit events of what is due.
func (a *API) record(ctx context.Context, of *denials, end bool, what string, write func(context.Context, fleet.TenantID, []store.Denial) error) error {
	all, lost := of.due(end)
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
func (a *API) denial(r *http.Request, c *call, n *requestNote) {
	if n.status != http.StatusForbidden {
		return
	}
	tenant := c.tenant.ID
	if tenant == (fleet.TenantID{}) {
		tenant = c.principal.Tenant
	}
	if tenant == (fleet.TenantID{}) {
		return
	}
	a.denied.add(denialKey{tenant: tenant, token: c.principal.Credential, kind: accessDenied, operation: a.operation(r).id, code: n.code}, c.actor, c.fleet.ID)
}

// told counts a reading, or a removal, before it is answered: who hangs up has read too. Of what a token cannot see nothing is told.
func (a *API) told(ctx context.Context, kind, operation string) {
	c := callOf(ctx)
	a.denied.add(denialKey{tenant: c.tenant.ID, token: c.principal.Credential, kind: kind, operation: operation}, c.actor, c.fleet.ID)
}
