package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// loadAtOnce is how many sums one statement adds.
const loadAtOnce = 2000

const addLoad = `SELECT load_add($1::uuid[], $2::uuid[], $3::double precision[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
 $10::bigint[], $11::bigint[], $12::bigint[], $13::double precision[], $14::bigint[], $15::double precision[])`

// AddLoad adds what proxies did to what the database has of it, of any fleets; those that are gone it leaves out. It returns what it
// has not added. What is given again, because an answer was lost, is added again.
func (s *Store) AddLoad(ctx context.Context, ls []fleet.Load) (left []fleet.Load, err error) {
	for len(ls) > 0 {
		n := min(len(ls), loadAtOnce)
		b := &pgx.Batch{}
		queueLoad(b, ls[:n], time.Now())
		if err := s.send(ctx, call{limit: writeTimeout}, b); err != nil {
			return ls, fmt.Errorf("add %d sums of load: %w", n, kind(err))
		}
		ls = ls[n:]
	}
	return nil, nil
}

func queueLoad(b *pgx.Batch, ls []fleet.Load, now time.Time) {
	n := len(ls)
	tenants, fleets, ages := make([][16]byte, n), make([][16]byte, n), make([]float64, n)
	clusters, kinds, names, regions, zones, subZones := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	issued, succeeded, failed, counts := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	progress, totals := make([]float64, n), make([]float64, n)
	for i, l := range ls {
		tenants[i], fleets[i], ages[i], clusters[i], kinds[i], names[i] = l.Tenant, l.Fleet, now.Sub(l.Middle).Seconds(), l.Cluster, string(l.Kind), l.Of
		regions[i], zones[i], subZones[i] = l.Region, l.Zone, l.SubZone
		issued[i], succeeded[i], failed[i], progress[i], counts[i], totals[i] = l.Issued, l.Succeeded, l.Failed, l.InProgress, l.Count, l.Total
	}
	b.Queue(addLoad, tenants, fleets, ages, clusters, kinds, names, regions, zones, subZones, issued, succeeded, failed, progress, counts, totals)
}

// NoteLoad notes which clusters and nodes are reported, of any fleets. Of clusters that are not the fleet's, and of nodes that it does not know, it notes
// nothing. It returns what it has not noted.
func (s *Store) NoteLoad(ctx context.Context, seen fleet.LoadSeen) (left fleet.LoadSeen, err error) {
	for len(seen.Clusters)+len(seen.Nodes) > 0 {
		n, m := min(len(seen.Clusters), loadAtOnce), min(len(seen.Nodes), loadAtOnce)
		b := &pgx.Batch{}
		queueSeen(b, seen.Clusters[:n], seen.Nodes[:m])
		if err := s.send(ctx, call{limit: writeTimeout}, b); err != nil {
			return seen, fmt.Errorf("note %d clusters and %d nodes of load reports: %w", n, m, kind(err))
		}
		seen.Clusters, seen.Nodes = seen.Clusters[n:], seen.Nodes[m:]
	}
	return fleet.LoadSeen{}, nil
}

func queueSeen(b *pgx.Batch, cs []fleet.ClusterSeen, ns []fleet.NodeSeen) {
	tenants, fleets, clusters, called := make([][16]byte, len(cs)), make([][16]byte, len(cs)), make([]string, len(cs)), make([]bool, len(cs))
	for i, c := range cs {
		tenants[i], fleets[i], clusters[i], called[i] = c.Tenant, c.Fleet, c.Cluster, c.Called
	}
	nodeTenants, nodeFleets, nodes := make([][16]byte, len(ns)), make([][16]byte, len(ns)), make([]string, len(ns))
	for i, n := range ns {
		nodeTenants[i], nodeFleets[i], nodes[i] = n.Tenant, n.Fleet, clean(n.Node, maxNodeID)
	}
	b.Queue(`SELECT load_note($1::uuid[], $2::uuid[], $3::text[], $4::boolean[], $5::uuid[], $6::uuid[], $7::text[])`, tenants, fleets, clusters, called, nodeTenants, nodeFleets, nodes)
}

// SweepLoad removes what is older than an hour, and clusters that nobody reports any more; it returns how many rows that were. Some processes may do it at the same
// time.
func (s *Store) SweepLoad(ctx context.Context) (n int, err error) {
	for {
		gone, err := crossTenant(ctx, s, pgx.RowTo[int], `SELECT load_sweep($1)`, sweptLoad)
		if err != nil {
			return n, fmt.Errorf("sweep the load of more than an hour ago: %w", err)
		}
		if n += gone[0]; gone[0] < sweptLoad {
			return n, nil
		}
	}
}

// sweptLoad is how many rows one transaction removes.
const sweptLoad = 5000

// ClusterLoad is what a cluster's proxies did in the last hour.
type ClusterLoad struct {
	Cluster                            string
	Issued, Succeeded, Failed, Dropped int64
	Last                               time.Time // the newest minute of which something was reported
}

// Sums of rows, each of which may be the largest that is kept, stay below that as well.
const (
	mostLoad    = `9007199254740992` // fleet.MostLoad
	requestSums = `least(sum(l.issued), ` + mostLoad + `)::bigint, least(sum(l.succeeded), ` + mostLoad + `)::bigint, least(sum(l.failed), ` + mostLoad + `)::bigint`
)

// selectFailing: $2 how far back, $3 how many requests have to have ended, $4 of how many one has to have failed.
const selectFailing = `
SELECT l.cluster, ` + requestSums + `, 0::bigint, max(l.minute)
  FROM load_minutes l
 WHERE l.tenant_id = app_tenant() AND l.fleet_id = $1 AND l.minute > clock_timestamp() - $2::interval AND l.kind = 'requests'
 GROUP BY l.cluster HAVING sum(l.succeeded) + sum(l.failed) >= $3 AND sum(l.failed) * $4 >= sum(l.succeeded) + sum(l.failed) ORDER BY l.cluster`

// FailingClusters are the clusters of which, in the time before now, so many requests or more have ended and at least one in so many has failed.
func (s *Store) FailingClusters(ctx context.Context, t fleet.TenantID, f fleet.ID, within time.Duration, least, oneIn int) ([]ClusterLoad, error) {
	ls, err := many(ctx, s, t, scanClusterLoad, selectFailing, f.String(), within, least, oneIn)
	if err != nil {
		return nil, fmt.Errorf("find the clusters of fleet %s whose requests fail: %w", f, err)
	}
	return ls, nil
}

func scanClusterLoad(row pgx.CollectableRow) (l ClusterLoad, err error) {
	err = row.Scan(&l.Cluster, &l.Issued, &l.Succeeded, &l.Failed, &l.Dropped, &l.Last)
	l.Last = l.Last.UTC()
	return l, err
}

const clusterLoad = `
SELECT l.cluster, ` + requestSums + `, least(coalesce(sum(l.count) FILTER (WHERE l.kind = 'drops'), 0), ` + mostLoad + `)::bigint, max(l.minute)
  FROM load_minutes l
 WHERE l.tenant_id = app_tenant() AND l.fleet_id = $1 AND l.cluster > $2 AND l.minute > clock_timestamp() - interval '1 hour' AND l.kind NOT IN ('left_out', 'endpoint')`

// selectClusterLoad is of all clusters, selectClusterLoadOf of those that $4 names: these are looked up by key.
const (
	selectClusterLoad   = clusterLoad + ` GROUP BY l.cluster ORDER BY l.cluster LIMIT $3`
	selectClusterLoadOf = clusterLoad + ` AND l.cluster = ANY ($4::text[]) GROUP BY l.cluster ORDER BY l.cluster LIMIT $3`
)

// ClusterLoads lists the clusters of which proxies have reported something in the last hour, by name, behind one: of nil all, or those of them
// that have these names. It costs the sums of the clusters that it lists.
func (s *Store) ClusterLoads(ctx context.Context, t fleet.TenantID, f fleet.ID, of []string, after string, limit int) (ls []ClusterLoad, more bool, err error) {
	limit = pageLimit(limit)
	sql, args := selectClusterLoad, []any{f.String(), after, limit + 1}
	if of != nil {
		sql, args = selectClusterLoadOf, append(args, of)
	}
	ls, err = manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, scanClusterLoad, sql, args...)
	if err != nil {
		return nil, false, fmt.Errorf("list the load of the clusters of fleet %s: %w", f, err)
	}
	ls, more = page(ls, limit)
	return ls, more, nil
}

// LoadPart is one sum of a minute.
type LoadPart struct {
	fleet.Load
	Minute time.Time
}

// maxLoadParts is how many sums one page of minutes has; a minute has far fewer.
const maxLoadParts = 10_000

const selectLoadParts = `
SELECT l.minute, l.kind, l.name, l.region, l.zone, l.sub_zone, l.issued, l.succeeded, l.failed, l.in_progress, l.count, l.total
  FROM load_minutes l
 WHERE l.tenant_id = app_tenant() AND l.fleet_id = $1 AND l.cluster = $2 AND l.minute > greatest($3, clock_timestamp() - interval '1 hour') AND l.kind <> 'left_out'
 ORDER BY l.minute, l.kind, l.name, l.region, l.zone, l.sub_zone LIMIT $4`

// LoadMinutes is what the proxies of a cluster did in the minutes of the last hour, the oldest first, behind one: whole minutes alone.
func (s *Store) LoadMinutes(ctx context.Context, t fleet.TenantID, f fleet.ID, cluster string, after time.Time, limit int) (minutes [][]LoadPart, more bool, err error) {
	limit = pageLimit(limit)
	parts, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, func(row pgx.CollectableRow) (l LoadPart, err error) {
		err = row.Scan(&l.Minute, (*string)(&l.Kind), &l.Of, &l.Region, &l.Zone, &l.SubZone, &l.Issued, &l.Succeeded, &l.Failed, &l.InProgress, &l.Count, &l.Total)
		l.Minute = l.Minute.UTC()
		return l, err
	}, selectLoadParts, f.String(), cluster, after, maxLoadParts)
	if err != nil {
		return nil, false, fmt.Errorf("list the load of cluster %q of fleet %s: %w", cluster, f, err)
	}
	for _, p := range parts {
		if n := len(minutes); n > 0 && minutes[n-1][0].Minute.Equal(p.Minute) {
			minutes[n-1] = append(minutes[n-1], p)
			continue
		}
		minutes = append(minutes, []LoadPart{p})
	}
	if len(parts) == maxLoadParts && len(minutes) > 1 { // the last one may not be whole
		minutes, more = minutes[:len(minutes)-1], true
	}
	minutes, cut := page(minutes, limit)
	return minutes, more || cut, nil
}

// LoadLeftOut is how many parts of reports of the last hour there was no room for.
func (s *Store) LoadLeftOut(ctx context.Context, t fleet.TenantID, f fleet.ID) (int64, error) {
	n, err := one(ctx, s, t, pgx.RowTo[int64], `
SELECT least(coalesce(sum(l.count), 0), `+mostLoad+`)::bigint FROM load_minutes l
 WHERE l.tenant_id = app_tenant() AND l.fleet_id = $1 AND l.cluster = '' AND l.minute > clock_timestamp() - interval '1 hour' AND l.kind = 'left_out'`, f.String())
	if err != nil {
		return 0, fmt.Errorf("find how much load of fleet %s was left out: %w", f, err)
	}
	return n, nil
}
