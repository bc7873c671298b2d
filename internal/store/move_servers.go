package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// toldServers is how many servers an error names.
const toldServers = 10

// OpenStreams are streams of a tenant that a server has not told the end of.
type OpenStreams struct {
	Server  fleet.ServerID
	Name    string
	Streams int
}

func (o OpenStreams) String() string {
	return fmt.Sprintf("%d on %s (%s)", o.Streams, forTerminal(o.Name), o.Server)
}

// liveServer is an xDS server with a lease.
type liveServer struct {
	id   fleet.ServerID
	name string
}

func (l liveServer) String() string { return fmt.Sprintf("%s (%s)", forTerminal(l.name), l.id) }

// servers are those that have a lease of the cell now.
func (c *cell) servers(ctx context.Context) ([]liveServer, error) {
	rows, err := c.conn.Query(ctx, `SELECT x.server_id, x.name FROM xds_servers x WHERE x.lease_until > clock_timestamp() ORDER BY x.server_id DESC`)
	if err != nil {
		return nil, fmt.Errorf("list the xDS servers of %s: %w", c.name, err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l liveServer, err error) {
		return l, row.Scan((*[16]byte)(&l.id), &l.name)
	})
}

// known is fleet.ErrConflict while a server of the source has no lease in the target: it would turn the tenant's proxies away. API servers have no lease, and are not
// asked for.
func (v *mover) known(ctx context.Context) error {
	from, err := v.from.servers(ctx)
	if err != nil {
		return err
	}
	to, err := v.to.servers(ctx)
	if err != nil {
		return err
	}
	without := slices.DeleteFunc(from, func(s liveServer) bool {
		return slices.ContainsFunc(to, func(o liveServer) bool { return o.id.SameServer(s.id) })
	})
	if len(without) == 0 {
		return nil
	}
	var who []string
	for _, s := range without[:min(len(without), toldServers)] {
		who = append(who, s.String())
	}
	if more := len(without) - len(who); more > 0 {
		who = append(who, fmt.Sprintf("and %d more", more))
	}
	what := fmt.Sprintf("%d xDS servers that serve %s do not know %s", len(without), v.from.name, v.to.name)
	if len(without) == 1 {
		what = fmt.Sprintf("1 xDS server that serves %s does not know %s", v.from.name, v.to.name)
	}
	return fmt.Errorf("%w: %s: %s. Nothing was changed: add the cell to their --cells-file and restart them. One that has it cannot open the cell, and its log says why. One that was killed counts for a few seconds more",
		fleet.ErrConflict, what, strings.Join(who, ", "))
}

// open are the tenant's streams that servers with a lease have not told the end of, those of most first.
func (c *cell) open(ctx context.Context, t fleet.TenantID) ([]OpenStreams, error) {
	rows, err := c.conn.Query(ctx, `
		SELECT x.server_id, x.name, sum(greatest(s.streams, 1))::integer FROM node_status s JOIN xds_servers x ON x.server_id = s.server_id AND x.lease_until > clock_timestamp()
		 WHERE s.tenant_id = $1 AND s.connected GROUP BY x.server_id, x.name ORDER BY 3 DESC, 1`, t.String())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o OpenStreams, err error) {
		return o, row.Scan((*[16]byte)(&o.Server), &o.Name, &o.Streams)
	})
}
