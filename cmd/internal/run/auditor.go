package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/store"
)

const (
	auditEvery  = time.Minute // give or take a fifth
	signEvents  = 1000        // after so many events a head is signed before its hour is over
	auditAtOnce = 100         // tenants of one run; the next one goes on

	releaseWithin = 5 * time.Second // a claim, when the server stops
)

// auditor signs the heads of the tenants' audits, hourly and after a thousand events, and verifies each chain once a day. Every API server has one; a tenant's
// audit is one server's at a time.
type auditor struct {
	store interface {
		AuditDue(ctx context.Context, events int64, limit int) ([]store.AuditDue, error)
		ClaimAudit(ctx context.Context, t fleet.TenantID) (bool, error)
		KeepAudit(ctx context.Context, t fleet.TenantID) error
		ReleaseAudit(ctx context.Context, t fleet.TenantID, fault bool) error
		SignAudit(ctx context.Context, t fleet.TenantID, by audit.Signer, keep func() error) (*audit.Head, *audit.Fault, error)
		VerifyAudit(ctx context.Context, t fleet.TenantID, by audit.Signer, keep func() error) (int64, *audit.Fault, error)
		SaveAuditCheck(ctx context.Context, t fleet.TenantID, seq int64, f *audit.Fault) error
	}
	signer audit.Signer
	log    *slog.Logger
}

func (a auditor) run(ctx context.Context) error {
	return routine{log: a.log, name: "the auditor", first: about(auditEvery), every: auditEvery, once: a.once}.run(ctx)
}

func (a auditor) once(ctx context.Context) (failed bool) {
	due, err := a.store.AuditDue(ctx, signEvents, auditAtOnce)
	for _, d := range due {
		err = errors.Join(err, lifecycle.Contain(a.log, "the verification of an audit", func() error { return a.tenant(ctx, d) }, "tenant", d.Tenant))
		if ctx.Err() != nil {
			return true
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, fleet.ErrUnavailable):
		a.log.Warn("audits are not all signed and verified, the database does not answer: the next run goes on", "error", err)
	default:
		a.log.Error("audits are not all signed and verified", "error", err)
	}
	return err != nil
}

func (a auditor) tenant(ctx context.Context, d store.AuditDue) (err error) {
	mine, err := a.store.ClaimAudit(ctx, d.Tenant)
	if err != nil || !mine {
		return err
	}
	told := false // of a fault
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin) // the server may be stopping
		defer cancel()
		err = errors.Join(err, a.store.ReleaseAudit(end, d.Tenant, told))
	}()
	var fault *audit.Fault
	keep := func() error { return a.store.KeepAudit(ctx, d.Tenant) }
	if d.Sign {
		var h *audit.Head
		if h, fault, err = a.store.SignAudit(ctx, d.Tenant, a.signer, keep); err != nil {
			return err
		}
		if h != nil {
			a.export(d, *h)
		}
	}
	if !d.Verify && fault == nil {
		return nil
	}
	begun := time.Now()
	seq, first, err := a.store.VerifyAudit(ctx, d.Tenant, a.signer, keep)
	if err != nil {
		return err
	}
	if first != nil {
		fault = first
	}
	log := a.log.With("tenant", d.Slug, "tenant_id", d.Tenant, "verified_seq", seq, "took", time.Since(begun))
	if fault == nil {
		log.Info("an audit is verified")
	} else {
		log.Error("an audit is not as it was written", "what", fault.What, "seq", fault.Seq, "detail", fault.Detail)
	}
	err = a.store.SaveAuditCheck(ctx, d.Tenant, seq, fault)
	told = fault != nil && err == nil
	return err
}

// export writes the head where the database's owner does not reach. "fairlead audit --verify --heads" reads these lines.
func (a auditor) export(d store.AuditDue, h audit.Head) {
	a.log.Info("audit head", "tenant", d.Slug, "tenant_id", h.Tenant, "seq", h.Seq, "hash", h.Hash.String(), "at", h.At.Format(time.RFC3339Nano),
		"anchor_seq", h.Anchor, "unchained", h.Unchained, "signature", fmt.Sprint(h.Signature))
}
