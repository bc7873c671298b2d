package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
)

// AuditCheck is the result of a verification of a tenant's chain.
type AuditCheck struct {
	At    time.Time // zero: there was none
	Seq   int64     // up to where it came
	Fault *audit.Fault
}

// AuditDelivery is what a collector has of a tenant's audit.
type AuditDelivery struct {
	Collector string
	Seq       int64     // of the last event
	HeadSeq   int64     // of the last signed head
	At        time.Time // zero: nothing yet
}

// AuditDue is a tenant whose audit asks for work.
type AuditDue struct {
	Tenant       fleet.TenantID
	Slug         string
	Sign, Verify bool
}

// auditClaim is for how long one API server has a tenant's audit for itself, unless it claims it again; auditRest how long nobody signs after a fault.
const (
	auditClaim = 5 * time.Minute
	auditRest  = time.Hour
)

const claimCheck = `
INSERT INTO audit_checks AS c (tenant_id, claimed_until) VALUES (app_tenant(), clock_timestamp() + make_interval(secs => $1))
ON CONFLICT (tenant_id) DO UPDATE SET claimed_until = excluded.claimed_until WHERE coalesce(c.claimed_until < clock_timestamp(), true) RETURNING true`

// AuditDue returns tenants, of all, whose head is to be signed, as it is once an hour and after so many events, or whose chain is to be verified, as it is once a day.
func (s *Store) AuditDue(ctx context.Context, events int64, limit int) ([]AuditDue, error) {
	ds, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (d AuditDue, err error) {
		err = row.Scan((*[16]byte)(&d.Tenant), &d.Slug, &d.Sign, &d.Verify)
		return d, err
	}, `SELECT * FROM audit_due($1, $2)`, events, limit)
	if err != nil {
		return nil, fmt.Errorf("find audits to sign and verify: %w", err)
	}
	return ds, nil
}

// ClaimAudit reports whether the caller has the tenant's audit for itself now, to sign and to verify it: for five minutes, or until it saves a result.
func (s *Store) ClaimAudit(ctx context.Context, t fleet.TenantID) (bool, error) {
	got, err := many(ctx, s, t, pgx.RowTo[bool], claimCheck, auditClaim.Seconds())
	if err != nil {
		return false, fmt.Errorf("claim the audit of tenant %s: %w", t, err)
	}
	return len(got) > 0, nil
}

// KeepAudit makes the five minutes begin anew.
func (s *Store) KeepAudit(ctx context.Context, t fleet.TenantID) error {
	return s.setAuditCheck(ctx, t, `UPDATE audit_checks SET claimed_until = clock_timestamp() + make_interval(secs => $1) WHERE tenant_id = app_tenant()`, auditClaim.Seconds())
}

// ReleaseAudit ends the claim. After a fault that was told it goes on for an hour, so that what cannot be signed is told of once in it.
func (s *Store) ReleaseAudit(ctx context.Context, t fleet.TenantID, told bool) error {
	rest := time.Duration(0)
	if told {
		rest = auditRest
	}
	return s.setAuditCheck(ctx, t, `UPDATE audit_checks SET claimed_until = clock_timestamp() + make_interval(secs => $1) WHERE tenant_id = app_tenant()`, rest.Seconds())
}

func (s *Store) setAuditCheck(ctx context.Context, t fleet.TenantID, sql string, args ...any) error {
	if err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) { b.Queue(sql, args...) }); err != nil {
		return fmt.Errorf("save the state of the audit of tenant %s: %w", t, err)
	}
	return nil
}

const saveCheck = `
UPDATE audit_checks SET checked_at = clock_timestamp(), checked_seq = $1, fault = $2, fault_seq = $3, fault_detail = $4 WHERE tenant_id = app_tenant()`

// SaveAuditCheck writes the result of a verification. A fault that is not the last result's becomes an event of the audit too.
func (s *Store) SaveAuditCheck(ctx context.Context, t fleet.TenantID, seq int64, f *audit.Fault) error {
	before, err := s.AuditCheck(ctx, t)
	if err != nil {
		return err
	}
	err = s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		if f == nil {
			b.Queue(saveCheck, seq, nil, nil, nil)
			return
		}
		b.Queue(saveCheck, seq, f.What, f.Seq, f.Detail)
		if before.Fault == nil || before.Fault.What != f.What || before.Fault.Seq != f.Seq {
			queueAudit(b, Actor{Name: "fairlead"}, event{action: "audit.broken", object: "audit", detail: map[string]any{"what": f.What, "seq": f.Seq}})
		}
	})
	if err != nil {
		return fmt.Errorf("save what the verification of the audit of tenant %s came to: %w", t, err)
	}
	return nil
}

// AuditCheck returns the last result; the zero one where there is none.
func (s *Store) AuditCheck(ctx context.Context, t fleet.TenantID) (AuditCheck, error) {
	cs, err := many(ctx, s, t, func(row pgx.CollectableRow) (c AuditCheck, err error) {
		var at *time.Time
		var what, detail *string
		var seq *int64
		if err := row.Scan(&at, &c.Seq, &what, &seq, &detail); err != nil {
			return c, err
		}
		if c.At = timeOrZero(at).UTC(); what != nil {
			c.Fault = &audit.Fault{What: *what, Seq: *seq, Detail: *detail}
		}
		return c, nil
	}, `SELECT checked_at, checked_seq, fault, fault_seq, fault_detail FROM audit_checks WHERE tenant_id = app_tenant()`)
	if err != nil || len(cs) == 0 {
		return AuditCheck{}, wrapped("read what the verification of the audit came to", err)
	}
	return cs[0], nil
}

const selectLastHead = `SELECT seq, hash, at, anchor_seq, unchained, signature FROM audit_signatures WHERE tenant_id = app_tenant() ORDER BY seq DESC LIMIT 1`

// LastSignedHead returns the tenant's newest head with a signature; nil where there is none.
func (s *Store) LastSignedHead(ctx context.Context, t fleet.TenantID) (*audit.Head, error) {
	hs, err := many(ctx, s, t, scanHead(t), selectLastHead)
	if err != nil || len(hs) == 0 {
		return nil, wrapped("read the last signed head of the audit", err)
	}
	return &hs[0], nil
}

// AuditDeliveries returns what collectors have of the tenant's audit.
func (s *Store) AuditDeliveries(ctx context.Context, t fleet.TenantID) ([]AuditDelivery, error) {
	ds, err := many(ctx, s, t, func(row pgx.CollectableRow) (d AuditDelivery, err error) {
		var at *time.Time
		err = row.Scan(&d.Collector, &d.Seq, &d.HeadSeq, &at)
		d.At = timeOrZero(at).UTC()
		return d, err
	}, `SELECT collector, seq, head_seq, at FROM audit_deliveries WHERE tenant_id = app_tenant() ORDER BY collector`)
	return ds, wrapped("read what collectors have of the audit", err)
}

func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
