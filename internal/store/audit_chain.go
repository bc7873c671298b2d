package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
)

// AuditPage is a part of a tenant's chain, with both of its ends as they were at the same moment.
type AuditPage struct {
	Links     []audit.Link
	More      bool
	Seq       int64 // of the head; 0: there is no chain yet
	Hash      audit.Hash
	BegunAt   time.Time
	Unchained int64 // events from before the chain, when it began
	Anchor    audit.Anchor
	Unlinked  int64 // at the end of the chain: events that have no link
}

// Head is the page's, unsigned.
func (p AuditPage) Head(t fleet.TenantID) audit.Head {
	return audit.Head{Tenant: t.String(), Seq: p.Seq, Hash: p.Hash, Anchor: p.Anchor.Seq, Unchained: p.Unchained}
}

// selectChain gives a row with the ends alone where there is no link behind $1. How many events have no link is counted where the chain ends, of both
// tables by their indexes.
const selectChain = `
SELECT h.seq, h.hash, h.begun_at, h.unchained, coalesce(a.seq, 0), a.hash, a.event_at, a.at,
       CASE WHEN $3 AND NOT EXISTS (SELECT FROM audit_chain n WHERE n.tenant_id = app_tenant() AND n.seq > $1 ORDER BY n.seq OFFSET $2 - 1)
            THEN (SELECT count(*) FROM audit_events n WHERE n.tenant_id = app_tenant()) - (SELECT count(*) FROM audit_chain n WHERE n.tenant_id = app_tenant()) ELSE 0 END,
       c.seq, c.hash, e.id::text, e.at, e.credential::text, e.actor, e.ip, e.request_id, e.action, e.object, e.fleet_id::text, e.old_revision, e.new_revision, e.detail::text
  FROM (SELECT app_tenant() AS tenant_id) t
  LEFT JOIN LATERAL (SELECT x.* FROM audit_heads x WHERE x.tenant_id = t.tenant_id OFFSET 0) h ON true
  LEFT JOIN LATERAL (SELECT x.* FROM audit_anchors x WHERE x.tenant_id = t.tenant_id OFFSET 0) a ON true
  LEFT JOIN LATERAL (SELECT x.* FROM audit_chain x WHERE x.tenant_id = t.tenant_id AND x.seq > $1 ORDER BY x.seq LIMIT $2) c ON true
  LEFT JOIN LATERAL (SELECT x.* FROM audit_events x WHERE x.tenant_id = t.tenant_id AND x.id = c.event_id OFFSET 0) e ON true
 ORDER BY c.seq`

// AuditChain returns links behind the number after, the oldest first, and at the end of the chain how many events have no link: that costs what the tenant's audit
// has. A limit of 0 is 100; the most is 1000.
func (s *Store) AuditChain(ctx context.Context, t fleet.TenantID, after int64, limit int) (AuditPage, error) {
	return s.auditChain(ctx, call{limit: longTimeout, plans: setOrder}, t, after, limit, true)
}

// AuditLinks is AuditChain without that number: it costs what it returns.
func (s *Store) AuditLinks(ctx context.Context, t fleet.TenantID, after int64, limit int) (AuditPage, error) {
	return s.auditChain(ctx, call{limit: readTimeout, plans: setOrder}, t, after, limit, false)
}

func (s *Store) auditChain(ctx context.Context, c call, t fleet.TenantID, after int64, limit int, count bool) (p AuditPage, err error) {
	limit = pageLimit(limit)
	links, err := manyIn(ctx, s, c, t, func(row pgx.CollectableRow) (*audit.Link, error) { return scanLink(row, &p) }, selectChain, after, limit+1, count)
	if err != nil {
		return p, fmt.Errorf("read the chain of the audit: %w", err)
	}
	for _, l := range links {
		if l != nil {
			p.Links = append(p.Links, *l)
		}
	}
	p.Links, p.More = page(p.Links, limit)
	return p, nil
}

// scanLink is nil where there is none.
func scanLink(row pgx.CollectableRow, p *AuditPage) (*audit.Link, error) {
	var head, unchained, seq *int64
	var headHash, anchorHash, hash []byte
	var begun, eventAt, removed, at *time.Time
	var id, actor, ip, request, kind, object *string
	var e audit.Event
	err := row.Scan(&head, &headHash, &begun, &unchained, &p.Anchor.Seq, &anchorHash, &eventAt, &removed, &p.Unlinked,
		&seq, &hash, &id, &at, &e.Credential, &actor, &ip, &request, &kind, &object, &e.Fleet, &e.Old, &e.New, &e.Detail)
	if err != nil {
		return nil, err
	}
	if head != nil {
		p.Seq, p.BegunAt, p.Unchained = *head, begun.UTC(), *unchained
		copy(p.Hash[:], headHash)
	}
	copy(p.Anchor.Hash[:], anchorHash)
	p.Anchor.EventAt, p.Anchor.At = timeOrZero(eventAt).UTC(), timeOrZero(removed).UTC()
	if seq == nil {
		return nil, nil //nolint:nilnil // no link, no error
	}
	l := audit.Link{Seq: *seq}
	copy(l.Hash[:], hash)
	if id != nil {
		e.ID, e.At, e.Actor, e.Address, e.RequestID, e.Kind, e.Object = *id, at.UTC(), *actor, *ip, *request, *kind, *object
		l.Event = &e
	}
	return &l, nil
}

const selectSignatures = `
SELECT seq, hash, at, anchor_seq, unchained, signature FROM audit_signatures WHERE tenant_id = app_tenant() AND seq > $1 ORDER BY seq LIMIT $2`

// SignedHeads returns the heads behind the number after that are stored with a signature, the oldest first, whether it is good or not. A limit of 0 is 100; the most is 1000.
func (s *Store) SignedHeads(ctx context.Context, t fleet.TenantID, after int64, limit int) ([]audit.Head, error) {
	hs, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, scanHead(t), selectSignatures, after, pageLimit(limit))
	if err != nil {
		return nil, fmt.Errorf("read the signed heads of the audit: %w", err)
	}
	return hs, nil
}

func scanHead(t fleet.TenantID) pgx.RowToFunc[audit.Head] {
	return func(row pgx.CollectableRow) (audit.Head, error) {
		h := audit.Head{Tenant: t.String()}
		var hash, signature []byte
		err := row.Scan(&h.Seq, &hash, &h.At, &h.Anchor, &h.Unchained, &signature)
		h.At = h.At.UTC()
		copy(h.Hash[:], hash)
		copy(h.Signature[:], signature)
		return h, err
	}
}

// SaveHead stores a signed head. Where the number has one that one stays.
func (s *Store) SaveHead(ctx context.Context, t fleet.TenantID, h audit.Head) error {
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		b.Queue(`INSERT INTO audit_signatures (tenant_id, seq, hash, at, anchor_seq, unchained, signature) VALUES (app_tenant(), $1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, h.Seq, h.Hash[:], h.At, h.Anchor, h.Unchained, h.Signature[:])
	})
	if err != nil {
		return fmt.Errorf("store the signed head of the audit of tenant %s: %w", t, err)
	}
	return nil
}
