package store

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// maxNodes is how many nodes of a tenant are remembered (SEMANTICS 6.4): a client that
// comes with a fresh id each time must not fill the database until the old ones are due.
const maxNodes = 100_000

// overCapAtOnce is how many nodes above the cap one statement removes: a call has two seconds, and what it has removed by then is kept.
const overCapAtOnce = 1000

// forgetOverCap removes those of the tenant's nodes above $1, $2 at most, that were seen last the longest
// ago, none that is connected. It reads what is known of all of them once, after setJoins. One that comes at this moment is locked, or seen just now.
const forgetOverCap = `
WITH o AS MATERIALIZED (
  SELECT n.fleet_id, n.node_id FROM nodes n
   WHERE n.tenant_id = app_tenant() AND n.last_seen < clock_timestamp() - interval '1 minute'
     AND NOT EXISTS (SELECT FROM node_status s JOIN xds_servers x USING (server_id)
                      WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id
                        AND s.connected AND x.lease_until > clock_timestamp())
   ORDER BY n.last_seen
   LIMIT least($2, greatest(0, (SELECT count(*) FROM nodes c WHERE c.tenant_id = app_tenant()) - $1))
     FOR UPDATE OF n SKIP LOCKED)
DELETE FROM nodes d USING o WHERE d.tenant_id = app_tenant() AND d.fleet_id = o.fleet_id AND d.node_id = o.node_id`

// nodeCap counts what was reported of each tenant's nodes since they were last counted:
// they cannot have become more by more than that.
type nodeCap struct {
	most int

	mu       sync.Mutex // guards reported
	reported map[fleet.TenantID]int
}

// due notes n rows and says whether it is time to count: after each twentieth of the most.
func (c *nodeCap) due(t fleet.TenantID, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reported == nil {
		c.reported = make(map[fleet.TenantID]int)
	}
	if c.reported[t] += n; c.reported[t] <= c.most/20 {
		return false
	}
	delete(c.reported, t)
	return true
}

// capNodes forgets the oldest nodes of a tenant that has too many. A failure is no matter of
// the report, which is written: it is tried again after the next rows, and so is what is left.
func (s *Store) capNodes(ctx context.Context, t fleet.TenantID, n int) {
	if !s.cap.due(t, n) {
		return
	}
	var gone int64
	err := s.transact(ctx, call{limit: writeTimeout, plans: setJoins}, t, func(b *pgx.Batch) {
		b.Queue(forgetOverCap, s.cap.most, overCapAtOnce).Exec(func(c pgconn.CommandTag) error {
			gone = c.RowsAffected()
			return nil
		})
	})
	if err != nil || gone == overCapAtOnce {
		s.cap.due(t, s.cap.most/20)
	}
}
