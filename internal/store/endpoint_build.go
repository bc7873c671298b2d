package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const (
	sweepLeases   = 20_000 // that one sweep ends
	buildClusters = 100    // that are built at once
)

// Building is signalled when a call of this Store has left endpoints to be built.
func (s *Store) Building() <-chan struct{} { return s.built }

// SweepEndpoints takes away the endpoints whose leases have run out, and returns the fleets whose endpoints are to be built. All API servers
// call it, some times a second; one of them does it each time. Its calls are the clock of expiry: while none could be made nothing runs out.
func (s *Store) SweepEndpoints(ctx context.Context) ([]fleet.Key, error) {
	ks, err := crossTenant(ctx, s, scanKey, `SELECT tenant_id, fleet_id FROM endpoints_sweep($1)`, sweepLeases)
	if err != nil {
		return nil, fmt.Errorf("sweep leases of endpoints: %w", err)
	}
	return ks, nil
}

// Unbuilt is a cluster whose endpoints have changed since they were built.
type Unbuilt struct {
	Cluster   string
	Endpoints []Endpoint // without leases
	Documents []EndpointDocument

	changed int64
}

// EndpointDocument is a variant of a cluster's ClusterLoadAssignment.
type EndpointDocument struct {
	Variant string
	TTL     time.Duration
	Body    []byte // nil: there is no document, or it is deleted

	revision int64
}

// ClaimEndpoints takes the fleet's turn to be built, and returns what is to be. There are ten turns a second for all servers together: without one
// turn is false.
func (s *Store) ClaimEndpoints(ctx context.Context, t fleet.TenantID, f fleet.ID) (us []Unbuilt, turn bool, err error) {
	us, err = manyIn(ctx, s, call{limit: longTimeout, plans: setOrder}, t, scanUnbuilt, `SELECT * FROM endpoints_claim($1, $2)`, f.String(), buildClusters)
	if err != nil || len(us) == 0 {
		return nil, false, wrapBuild(f, err)
	}
	return us[1:], true, nil
}

func wrapBuild(f fleet.ID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("build the endpoints of fleet %s: %w", f, err)
}

func scanUnbuilt(row pgx.CollectableRow) (u Unbuilt, err error) {
	var cluster *string
	var rows []byte
	var variants []string
	var revisions, ttls []int64
	var bodies [][]byte
	if err := row.Scan(&cluster, &u.changed, &rows, &variants, &revisions, &ttls, &bodies); err != nil || cluster == nil {
		return u, err
	}
	u.Cluster = *cluster
	for i, v := range variants {
		u.Documents = append(u.Documents, EndpointDocument{Variant: v, TTL: time.Duration(ttls[i]) * time.Millisecond, Body: bodies[i], revision: revisions[i]})
	}
	if len(rows) == 0 {
		return u, nil
	}
	return u, json.Unmarshal(rows, &u.Endpoints)
}

// UnmarshalJSON reads an endpoint as endpoints_claim writes it.
func (e *Endpoint) UnmarshalJSON(b []byte) error {
	var metadata json.RawMessage
	fields := []any{&e.Address, &e.Locality.Region, &e.Locality.Zone, &e.Locality.SubZone, &e.Weight, &e.Health, &metadata}
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	if string(metadata) != "null" {
		e.Metadata = metadata
	}
	return nil
}

// Built is what is to be served of a variant of a cluster.
type Built struct {
	Variant    string
	Version    string // "": its document, or nothing where there is none
	Body       []byte
	Documented int // endpoints that the document has
}

// CommitEndpoints makes it so, as one revision of the kind endpoints: 0 if nothing that is served has changed. What has changed since it was claimed is left out.
// of has for each cluster of us all variants that Documents has, and the default one.
func (s *Store) CommitEndpoints(ctx context.Context, t fleet.TenantID, f fleet.ID, us []Unbuilt, of [][]Built) (fleet.Revision, error) {
	type item struct {
		Cluster    string  `json:"cluster"`
		Changed    int64   `json:"changed"`
		Variant    string  `json:"variant"`
		Revision   int64   `json:"revision"`
		Version    *string `json:"version"`
		Documented int     `json:"documented"`
		Body       int     `json:"body"`
	}
	var items []item
	var bodies [][]byte
	for i, u := range us {
		for _, b := range of[i] {
			it := item{Cluster: u.Cluster, Changed: u.changed, Variant: b.Variant, Documented: b.Documented}
			for _, d := range u.Documents {
				if d.Variant == b.Variant {
					it.Revision = d.revision
				}
			}
			if b.Version != "" {
				bodies = append(bodies, b.Body)
				it.Version, it.Body = &b.Version, len(bodies)
			}
			items = append(items, it)
		}
	}
	var revision *int64
	var ended int
	begun := time.Now()
	err := s.onHead(ctx, longTimeout, t, f, func(b *pgx.Batch) {
		b.Queue(`SELECT o_revision, o_ended FROM endpoints_commit($1, $2, $3)`, f.String(), items, bodies).
			QueryRow(func(row pgx.Row) error { return row.Scan(&revision, &ended) })
	})
	if err != nil {
		return 0, wrapBuild(f, err)
	}
	if ended > 0 {
		s.ending.set()
	}
	if revision == nil {
		return 0, nil
	}
	s.ring(t, f)
	s.traced(ctx, fleet.Key{Tenant: t, Fleet: f}, fleet.Revision(*revision), begun, slog.String("fairlead.kind", "endpoints"), slog.Int("fairlead.clusters", len(us)))
	return fleet.Revision(*revision), nil
}
