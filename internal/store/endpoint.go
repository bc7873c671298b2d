package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Health is what is said of an endpoint.
type Health string

// What can be said.
const (
	Healthy   Health = "healthy"
	Draining  Health = "draining"
	Unhealthy Health = "unhealthy"
)

// Locality is where an endpoint is; all of it may be empty.
type Locality struct{ Region, Zone, SubZone string }

// Endpoint is a row of the endpoints of a cluster, in whose ClusterLoadAssignment it is served.
type Endpoint struct {
	Address  string // host:port or unix:/path; once in a cluster
	Locality Locality
	Weight   int
	Health   Health
	Metadata []byte        // JSON, the filter_metadata; nil: none
	Lease    fleet.LeaseID // zero: none

	// Of what is read alone.
	UpdatedAt, ExpiresAt time.Time // zero without a lease
	UpdatedBy            string
	Held                 bool // its lease has run out, and the cluster cannot do without it
}

// EndpointKey names an endpoint of a cluster.
type EndpointKey struct {
	Address  string
	Locality *Locality // nil: whatever it is
}

// EndpointWrite is one call that changes the endpoints of a cluster.
type EndpointWrite struct {
	Actor
	Cluster string
	Set     []Endpoint // no address twice, none that is removed too
	Remove  []EndpointKey
}

// EndpointResult is what it came to.
type EndpointResult struct {
	Set     int  `json:"set"`     // of how many it was another one, or new
	Removed int  `json:"removed"` // of how many it was there
	Changed bool `json:"changed"`
	// Unasked: endpoints were put under a name that no cluster of the fleet asks for. Of clusters that poll for their endpoints those alone are
	// known that ask for their own name.
	Unasked bool `json:"unasked"`
}

// NoLeaseError tells that endpoints were to be put under a lease that is not there (any more). It is a fleet.ErrConflict.
type NoLeaseError struct{ Lease string }

func (e *NoLeaseError) Error() string {
	return fmt.Sprintf("there is no lease %s: %v", e.Lease, fleet.ErrConflict)
}

// Unwrap returns fleet.ErrConflict.
func (e *NoLeaseError) Unwrap() error { return fleet.ErrConflict }

// NoRoomError tells which bound of endpoints or leases is reached. It is a fleet.ErrConflict.
type NoRoomError struct{ Detail string }

func (e *NoRoomError) Error() string { return fmt.Sprintf("%s: %v", e.Detail, fleet.ErrConflict) }

// Unwrap returns fleet.ErrConflict.
func (e *NoRoomError) Unwrap() error { return fleet.ErrConflict }

// endpointJSON is an endpoint as the schema's functions take it.
type endpointJSON struct {
	Address  string          `json:"address"`
	Region   string          `json:"region"`
	Zone     string          `json:"zone"`
	SubZone  string          `json:"sub_zone"`
	Weight   int             `json:"weight"`
	Health   Health          `json:"health"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Lease    *string         `json:"lease,omitempty"`
}

// WriteEndpoints puts and removes endpoints of one cluster, all or none, and has what is served built after that. It does not lock the fleet's
// head and makes no revision. A lease that is not there is a *NoLeaseError, a cluster that is full a *NoRoomError, a fleet that has no room a
// *LimitError. A repeat changes nothing.
func (s *Store) WriteEndpoints(ctx context.Context, t fleet.TenantID, f fleet.ID, w EndpointWrite) (r EndpointResult, err error) {
	set, remove := make([]endpointJSON, len(w.Set)), make([]map[string]string, len(w.Remove))
	for i, e := range w.Set {
		set[i] = endpointJSON{Address: e.Address, Region: e.Locality.Region, Zone: e.Locality.Zone, SubZone: e.Locality.SubZone, Weight: e.Weight, Health: e.Health, Metadata: e.Metadata}
		if e.Lease != (fleet.LeaseID{}) {
			id := e.Lease.String()
			set[i].Lease = &id
		}
	}
	for i, k := range w.Remove {
		remove[i] = map[string]string{"address": k.Address}
		if k.Locality != nil {
			remove[i]["region"], remove[i]["zone"], remove[i]["sub_zone"] = k.Locality.Region, k.Locality.Zone, k.Locality.SubZone
		}
	}
	r, err = one(ctx, s, t, scanJSON[EndpointResult], `SELECT endpoints_write($1, $2, $3, $4, $5)`, f.String(), w.Cluster, set, remove, w.Actor.json())
	if err != nil {
		return EndpointResult{}, fmt.Errorf("write endpoints of cluster %q: %w", w.Cluster, err)
	}
	if r.Changed {
		s.built.set()
	}
	return r, nil
}

func scanJSON[T any](row pgx.CollectableRow) (v T, err error) {
	var b []byte
	if err := row.Scan(&b); err != nil {
		return v, err
	}
	return v, json.Unmarshal(b, &v)
}

const selectEndpoints = `
SELECT e.address, e.region, e.zone, e.sub_zone, e.weight, e.health, e.metadata, e.lease_id, e.updated_at, e.updated_by, l.expires_at, l.held_since IS NOT NULL AND l.expires_at <= clock_timestamp()
  FROM endpoints e
  LEFT JOIN LATERAL (SELECT x.expires_at, x.held_since FROM endpoint_leases x WHERE x.tenant_id = e.tenant_id AND x.fleet_id = e.fleet_id AND x.id = e.lease_id OFFSET 0) l ON true
 WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.cluster = $2 AND e.address > $3 ORDER BY e.address LIMIT $4`

// Endpoints lists the endpoints of a cluster, by address, behind one.
func (s *Store) Endpoints(ctx context.Context, t fleet.TenantID, f fleet.ID, cluster, after string, limit int) (es []Endpoint, more bool, err error) {
	limit = pageLimit(limit)
	es, err = manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, scanEndpoint, selectEndpoints, f.String(), cluster, after, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list the endpoints of cluster %q: %w", cluster, err)
	}
	es, more = page(es, limit)
	return es, more, nil
}

func scanEndpoint(row pgx.CollectableRow) (e Endpoint, err error) {
	var lease *[16]byte
	var expires *time.Time
	var held *bool
	err = row.Scan(&e.Address, &e.Locality.Region, &e.Locality.Zone, &e.Locality.SubZone, &e.Weight, (*string)(&e.Health), &e.Metadata, &lease, &e.UpdatedAt, &e.UpdatedBy, &expires, &held)
	e.UpdatedAt, e.Lease, e.ExpiresAt, e.Held = e.UpdatedAt.UTC(), uuidOrZero[fleet.LeaseID](lease), timeOrZero(expires), held != nil && *held
	return e, err
}

// selectEndpointClusters: $2 the names, null for all. What is held is looked up by its lease, of which there are few.
const selectEndpointClusters = `
WITH held AS MATERIALIZED (
  SELECT e.cluster, count(*) AS n
    FROM (SELECT x.id FROM endpoint_leases x WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.held_since IS NOT NULL AND x.expires_at <= clock_timestamp() OFFSET 0) l
    JOIN LATERAL (SELECT y.cluster FROM endpoints y WHERE y.lease_id = l.id AND y.tenant_id = app_tenant() AND y.fleet_id = $1 OFFSET 0) e ON true
   GROUP BY 1)
SELECT c.cluster, coalesce((SELECT h.n FROM held h WHERE h.cluster = c.cluster), 0)
  FROM endpoint_clusters c WHERE c.tenant_id = app_tenant() AND c.fleet_id = $1 AND c.endpoints > 0 AND ($2::text[] IS NULL OR c.cluster = ANY ($2))`

// EndpointClusters returns the clusters that have endpoints as data, of nil all, or those of them that have these names, with how many of their endpoints are held.
func (s *Store) EndpointClusters(ctx context.Context, t fleet.TenantID, f fleet.ID, of []string) (map[string]int, error) {
	out := map[string]int{}
	_, err := many(ctx, s, t, func(row pgx.CollectableRow) (struct{}, error) {
		var name string
		var held int
		err := row.Scan(&name, &held)
		out[name] = held
		return struct{}{}, err
	}, selectEndpointClusters, f.String(), of)
	if err != nil {
		return nil, fmt.Errorf("list the clusters of fleet %s that have endpoints: %w", f, err)
	}
	return out, nil
}
