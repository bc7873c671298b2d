package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// IdleCluster is a cluster to which no proxy has sent anything for long.
type IdleCluster struct {
	Cluster string
	Called  time.Time // when one did last; zero: not since Since
	Since   time.Time // since when the cluster is reported without a gap
}

const (
	// selectIdle: $2 for how long. It reads the fleet's clusters by their key: what is compared with a clock is no condition of load_clusters_by_age, which is of all tenants. A cluster that nobody reports at present, or that was not reported for half an hour in between, is not there; nor is any while of some cluster of
	// the fleet reports were left out.
	selectIdle = `
SELECT c.cluster, c.called_at, c.reported_since
  FROM load_clusters c
 WHERE c.tenant_id = app_tenant() AND c.fleet_id = $1 AND c.cluster <> '' AND c.reported_at > clock_timestamp() - interval '1 hour'
   AND c.reported_since <= clock_timestamp() - $2::interval AND coalesce(c.called_at <= clock_timestamp() - $2::interval, true)
   AND NOT EXISTS (SELECT FROM load_clusters l WHERE l.tenant_id = app_tenant() AND l.fleet_id = $1 AND l.cluster = '' AND l.reported_at > clock_timestamp() - $2::interval OFFSET 0)
 ORDER BY c.cluster`

	// selectAllReport: whether all nodes that were there in the time before now ($2) have reported all their clusters for as much of it as they were there, to an hour. A node's row is
	// told in time, its reports are noted once in some minutes. It looks at each node once, by keys.
	selectAllReport = `
SELECT NOT EXISTS (
  SELECT FROM nodes n
   CROSS JOIN LATERAL (SELECT coalesce(bool_or(s.connected AND x.lease_until > clock_timestamp()), false) AS live
                         FROM node_status s LEFT JOIN xds_servers x ON x.server_id = s.server_id
                        WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id OFFSET 0) s
   CROSS JOIN LATERAL (SELECT max(l.reported_since) AS since, max(l.reported_at) AS at FROM load_nodes l
                        WHERE l.tenant_id = n.tenant_id AND l.fleet_id = n.fleet_id AND l.node_id = n.node_id OFFSET 0) r
   WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND (s.live OR n.last_seen > clock_timestamp() - $2::interval)
     AND (r.at IS NULL OR r.since > greatest(n.first_seen, clock_timestamp() - $2::interval) + interval '1 hour'
          OR r.at < CASE WHEN s.live THEN clock_timestamp() ELSE n.last_seen END - interval '1 hour'))`
)

// IdleClusters are the fleet's clusters to which, as far as is known for certain, no proxy has sent anything for so long: all nodes that were there in that time report, and
// some of them have the cluster. While some node does not report, or a report was left out, it is none.
func (s *Store) IdleClusters(ctx context.Context, t fleet.TenantID, f fleet.ID, since time.Duration) ([]IdleCluster, error) {
	idle, err := many(ctx, s, t, func(row pgx.CollectableRow) (c IdleCluster, err error) {
		var called *time.Time
		err = row.Scan(&c.Cluster, &called, &c.Since)
		c.Called, c.Since = timeOrZero(called).UTC(), c.Since.UTC()
		return c, err
	}, selectIdle, f.String(), since)
	if err != nil {
		return nil, fmt.Errorf("find the clusters of fleet %s that nobody calls: %w", f, err)
	}
	if len(idle) == 0 { // as a rule: the nodes need not be looked at
		return nil, nil
	}
	all, err := one(ctx, s, t, pgx.RowTo[bool], selectAllReport, f.String(), since)
	if err != nil {
		return nil, fmt.Errorf("find whether all nodes of fleet %s report their load: %w", f, err)
	}
	if !all {
		return nil, nil
	}
	return idle, nil
}
