package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// FleetUsage is what one fleet stores of what is limited.
type FleetUsage struct {
	Fleet                                       string // its name
	Resources, Bytes, HistoryBytes, Credentials int64
	EventBytes, RefusalBytes                    int64 // what FleetUsage alone counts
}

// Of returns what the fleet uses of a limit that is its own.
func (u FleetUsage) Of(name LimitName) (n int64, counted bool) {
	switch name {
	case LimitResources:
		return u.Resources, true
	case LimitFleetBytes:
		return u.Bytes, true
	case LimitHistoryBytes:
		return u.HistoryBytes, true
	case LimitCredentials:
		return u.Credentials, true
	case LimitEventBytes:
		return u.EventBytes, true
	case LimitRefusalBytes:
		return u.RefusalBytes, true
	}
	return 0, false
}

// TenantUsage is what a tenant stores of what is limited.
type TenantUsage struct {
	Fleets, DeletedFleets, Tokens int64
	AuditBytes, IdempotencyBytes  int64
	// Fullest has of every limit of a fleet what the fleet uses that uses the most of it.
	// Its events and refusals are not counted.
	Fullest FleetUsage
}

// Of returns what the tenant uses of a limit that is its own.
func (u TenantUsage) Of(name LimitName) (n int64, counted bool) {
	switch name {
	case LimitFleets:
		return u.Fleets, true
	case LimitDeletedFleets:
		return u.DeletedFleets, true
	case LimitTokens:
		return u.Tokens, true
	case LimitAuditBytes:
		return u.AuditBytes, true
	case LimitIdempotencyBytes:
		return u.IdempotencyBytes, true
	}
	return 0, false
}

const (
	live = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())`

	selectUsage = `
SELECT count(*) FILTER (WHERE f.deleted_at IS NULL), count(*) FILTER (WHERE f.deleted_at IS NOT NULL),
       (SELECT count(*) FROM api_tokens WHERE tenant_id = app_tenant() AND ` + live + `),
       coalesce(max(h.resources) FILTER (WHERE f.deleted_at IS NULL), 0), coalesce(max(h.bytes) FILTER (WHERE f.deleted_at IS NULL), 0),
       coalesce(max(h.history_bytes) FILTER (WHERE f.deleted_at IS NULL), 0),
       coalesce((SELECT max(n) FROM (SELECT count(*) AS n FROM node_credentials WHERE tenant_id = app_tenant() AND ` + live + ` GROUP BY fleet_id) c), 0),
       coalesce((SELECT bytes FROM audit_heads WHERE tenant_id = app_tenant()), 0), coalesce((SELECT bytes FROM idempotency_use WHERE tenant_id = app_tenant()), 0)
  FROM fleets f JOIN fleet_heads h ON h.tenant_id = f.tenant_id AND h.fleet_id = f.id
 WHERE f.tenant_id = app_tenant()`

	selectFleetUsage = `
SELECT f.name, h.resources, h.bytes, h.history_bytes,
       (SELECT count(*) FROM node_credentials c WHERE c.tenant_id = app_tenant() AND c.fleet_id = f.id AND ` + live + `)`
	// Texts are looked up once each, however many rows name them.
	countReports = `,
       (SELECT coalesce(sum(g.bytes + g.n * octet_length(coalesce(x.text, ''))), 0)::bigint
          FROM (SELECT e.text_hash, count(*) AS n, sum(event_bytes(e, '')) AS bytes FROM node_events e
                 WHERE e.tenant_id = app_tenant() AND e.fleet_id = f.id GROUP BY e.text_hash) g
          LEFT JOIN LATERAL (SELECT t.text FROM nack_texts t WHERE t.tenant_id = app_tenant() AND t.fleet_id = f.id AND t.hash = g.text_hash OFFSET 0) x ON true),
       (SELECT coalesce(sum(g.bytes + g.n * octet_length(coalesce(x.text, ''))), 0)::bigint
          FROM (SELECT e.text_hash, count(*) AS n, sum(refusal_bytes(e, '')) AS bytes FROM refusals e
                 WHERE e.tenant_id = app_tenant() AND e.fleet_id = f.id GROUP BY e.text_hash) g
          LEFT JOIN LATERAL (SELECT t.text FROM nack_texts t WHERE t.tenant_id = app_tenant() AND t.fleet_id = f.id AND t.hash = g.text_hash OFFSET 0) x ON true)`
	noReports      = `, 0::bigint, 0::bigint`
	fromLiveFleets = `
  FROM fleets f JOIN fleet_heads h ON h.tenant_id = f.tenant_id AND h.fleet_id = f.id
 WHERE f.tenant_id = app_tenant() AND f.deleted_at IS NULL`
)

func scanFleetUsage(row pgx.CollectableRow) (u FleetUsage, err error) {
	return u, row.Scan(&u.Fleet, &u.Resources, &u.Bytes, &u.HistoryBytes, &u.Credentials, &u.EventBytes, &u.RefusalBytes)
}

// Usage reads what the tenant uses. Its cost grows with the tenant's fleets, tokens and
// credentials, not with what the fleets hold.
func (s *Store) Usage(ctx context.Context, t fleet.TenantID) (TenantUsage, error) {
	u, err := one(ctx, s, t, func(row pgx.CollectableRow) (u TenantUsage, err error) {
		return u, row.Scan(&u.Fleets, &u.DeletedFleets, &u.Tokens, &u.Fullest.Resources, &u.Fullest.Bytes, &u.Fullest.HistoryBytes, &u.Fullest.Credentials,
			&u.AuditBytes, &u.IdempotencyBytes)
	}, selectUsage)
	if err != nil {
		return u, fmt.Errorf("read the usage of tenant %s: %w", t, err)
	}
	return u, nil
}

// FleetsUsage reads what the fleets after the given name use, in the order of names, and
// whether there are more; their events and refusals are not counted. Limits are those of Fleets.
func (s *Store) FleetsUsage(ctx context.Context, t fleet.TenantID, after string, limit int) ([]FleetUsage, bool, error) {
	limit = pageLimit(limit)
	us, err := many(ctx, s, t, scanFleetUsage, selectFleetUsage+noReports+fromLiveFleets+` AND f.name > $1 ORDER BY f.name LIMIT $2`, after, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read the usage of the fleets: %w", err)
	}
	us, more := page(us, limit)
	return us, more, nil
}

// FleetUsage reads what one fleet uses. Its cost grows with the fleet's events and refusals.
func (s *Store) FleetUsage(ctx context.Context, t fleet.TenantID, f fleet.ID) (FleetUsage, error) {
	u, err := one(ctx, s, t, scanFleetUsage, selectFleetUsage+countReports+fromLiveFleets+` AND f.id = $1`, f.String())
	if err != nil {
		return u, fmt.Errorf("read the usage of fleet %s: %w", f, err)
	}
	return u, nil
}
