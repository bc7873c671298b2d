package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// XDSServer is an xDS server as it is listed.
type XDSServer struct {
	ID        fleet.ServerID
	Name      string
	Live      bool
	StartedAt time.Time
	SeenAt    time.Time   // when it said last that it lives
	Load      *ServerLoad // what it said then; nil where it does not
}

// ServerFilter says which servers a list is about, those that started last first. What is zero leaves
// nothing out.
type ServerFilter struct {
	Live  *bool
	After fleet.ServerID
	Limit int // 0 is 100; the most is 1000
}

// selectServers reads a row for each server of the last day.
const selectServers = `
SELECT x.server_id, x.name, x.lease_until > clock_timestamp(), x.started_at, x.seen_at, x.version, x.streams, x.fleets, x.behind FROM xds_servers x
 WHERE x.server_id < $1 AND ($2::boolean IS NULL OR (x.lease_until > clock_timestamp()) = $2) ORDER BY x.server_id DESC LIMIT $3`

// XDSServers lists those that live or have ended lately, and whether there are more. It has nothing of tenants.
func (s *Store) XDSServers(ctx context.Context, q ServerFilter) ([]XDSServer, bool, error) {
	after := "ffffffff-ffff-ffff-ffff-ffffffffffff"
	if q.After != (fleet.ServerID{}) {
		after = q.After.String()
	}
	xs, err := crossTenant(ctx, s, scanXDSServer, selectServers, after, q.Live, pageLimit(q.Limit)+1)
	if err != nil {
		return nil, false, fmt.Errorf("list the xDS servers: %w", err)
	}
	xs, more := page(xs, pageLimit(q.Limit))
	return xs, more, nil
}

func scanXDSServer(row pgx.CollectableRow) (x XDSServer, err error) {
	var version string
	var streams, fleets *int
	var behind *float64
	err = row.Scan((*[16]byte)(&x.ID), &x.Name, &x.Live, &x.StartedAt, &x.SeenAt, &version, &streams, &fleets, &behind)
	x.StartedAt, x.SeenAt = x.StartedAt.UTC(), x.SeenAt.UTC()
	if streams != nil && fleets != nil && behind != nil {
		x.Load = &ServerLoad{Version: version, Streams: *streams, Fleets: *fleets, Behind: time.Duration(*behind * float64(time.Second))}
	}
	return x, err
}
