package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// deliveryClaim is for how long one API server has a tenant's deliveries to a collector for itself, from each of them on.
const deliveryClaim = time.Minute

// Undelivered is a tenant of which a collector has not all.
type Undelivered struct {
	Tenant fleet.TenantID
	Slug   string
}

// Undelivered returns tenants, of all, of which the collector has not all events and signed heads and that no API server is at.
func (s *Store) Undelivered(ctx context.Context, collector string, limit int) ([]Undelivered, error) {
	us, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (u Undelivered, err error) {
		err = row.Scan((*[16]byte)(&u.Tenant), &u.Slug)
		return u, err
	}, `SELECT * FROM audit_undelivered($1, $2)`, collector, limit)
	if err != nil {
		return nil, fmt.Errorf("find what the collector %s has not: %w", collector, err)
	}
	return us, nil
}

const claimDelivery = `
INSERT INTO audit_deliveries AS d (tenant_id, collector, claimed_by, claimed_until) VALUES (app_tenant(), $1, $2, clock_timestamp() + make_interval(secs => $3))
ON CONFLICT (tenant_id, collector) DO UPDATE SET claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
 WHERE coalesce(d.claimed_until < clock_timestamp(), true) RETURNING d.seq, d.head_seq, d.at`

// ClaimDelivery gives the tenant's deliveries to the collector to the holder for a minute, and says up to where the collector has them; nil: another one is at it.
func (s *Store) ClaimDelivery(ctx context.Context, t fleet.TenantID, collector string, holder fleet.ServerID) (*AuditDelivery, error) {
	ds, err := many(ctx, s, t, func(row pgx.CollectableRow) (d AuditDelivery, err error) {
		var at *time.Time
		err = row.Scan(&d.Seq, &d.HeadSeq, &at)
		d.Collector, d.At = collector, timeOrZero(at).UTC()
		return d, err
	}, claimDelivery, collector, holder.String(), deliveryClaim.Seconds())
	if err != nil || len(ds) == 0 {
		return nil, wrapped("claim the deliveries of the audit", err)
	}
	return &ds[0], nil
}

const saveDelivery = `
UPDATE audit_deliveries SET seq = greatest(seq, $3), head_seq = greatest(head_seq, $4), at = clock_timestamp(), claimed_until = clock_timestamp() + make_interval(secs => $5)
 WHERE tenant_id = app_tenant() AND collector = $1 AND claimed_by = $2 RETURNING true`

// Delivered says that the collector has the tenant's audit up to d, and holds the claim for another minute. It reports whether the claim is still the holder's: else
// another one goes on, from where the collector was known to be.
func (s *Store) Delivered(ctx context.Context, t fleet.TenantID, d AuditDelivery, holder fleet.ServerID) (bool, error) {
	got, err := many(ctx, s, t, pgx.RowTo[bool], saveDelivery, d.Collector, holder.String(), d.Seq, d.HeadSeq, deliveryClaim.Seconds())
	return len(got) > 0, wrapped("save what the collector has of the audit", err)
}

// ReleaseDelivery ends the holder's claim, after a pause in which nobody delivers.
func (s *Store) ReleaseDelivery(ctx context.Context, t fleet.TenantID, collector string, holder fleet.ServerID, pause time.Duration) error {
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		b.Queue(`UPDATE audit_deliveries SET claimed_until = clock_timestamp() + make_interval(secs => $3) WHERE tenant_id = app_tenant() AND collector = $1 AND claimed_by = $2`,
			collector, holder.String(), pause.Seconds())
	})
	return wrapped("end the claim of deliveries of the audit", err)
}
