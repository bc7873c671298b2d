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
SELECT x.server_id, x.name, x.lease_until > clock_timestamp(), x.started_at, x.seen_at, x.version, x.streams, x.fleets, x.behind, x.seal_key FROM xds_servers x
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
	var version, key string
	var streams, fleets *int
	var behind *float64
	err = row.Scan((*[16]byte)(&x.ID), &x.Name, &x.Live, &x.StartedAt, &x.SeenAt, &version, &streams, &fleets, &behind, &key)
	x.StartedAt, x.SeenAt = x.StartedAt.UTC(), x.SeenAt.UTC()
	if streams != nil && fleets != nil && behind != nil {
		x.Load = &ServerLoad{Version: version, SealKey: key, Streams: *streams, Fleets: *fleets, Behind: time.Duration(*behind * float64(time.Second))}
	}
	return x, err
}

// ServerKey is a key with which xDS servers that live open secrets.
type ServerKey struct {
	ID     string
	Server string // the name of one that has it
}

// ServerKeys tells with which keys the xDS servers that live open secrets, each once. Servers that do not tell are left out.
func (s *Store) ServerKeys(ctx context.Context) ([]ServerKey, error) {
	ks, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (k ServerKey, err error) {
		return k, row.Scan(&k.ID, &k.Server)
	}, `SELECT x.seal_key, min(x.name) FROM xds_servers x WHERE x.lease_until > clock_timestamp() AND x.seal_key <> '' GROUP BY x.seal_key ORDER BY x.seal_key`)
	if err != nil {
		return nil, fmt.Errorf("look with which keys xDS servers open secrets: %w", err)
	}
	return ks, nil
}
