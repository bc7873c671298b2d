package store

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// trimAfter is how many bytes of refusals a server reports of a fleet before the fleet is
// trimmed to its limits: by so much can each server exceed them for a moment.
const trimAfter = 2 << 20

// reportCap counts what was reported of each fleet since it was last trimmed. It holds one
// number for each fleet that refuses something.
type reportCap struct {
	mu       sync.Mutex // guards reported
	reported map[fleet.Key]int
}

// due notes what the refusals count and says whether it is time to trim.
func (c *reportCap) due(k fleet.Key, bytes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reported == nil {
		c.reported = make(map[fleet.Key]int)
	}
	if c.reported[k] += bytes; c.reported[k] <= trimAfter {
		return false
	}
	delete(c.reported, k)
	return true
}

// bytesOf is what refusals count in events and refusals together, at least.
func bytesOf(xs []fleet.Refusal) (n int) {
	for _, x := range xs {
		n += 512 + len(x.Node) + len(x.Name) + len(x.Detail)
	}
	return n
}

// capReports keeps a client that refuses with new words without end from filling the
// database: the oldest go. A failure is no matter of the report, which is written: it is
// tried again after the next rows.
func (s *Store) capReports(ctx context.Context, k fleet.Key, xs []fleet.Refusal) {
	if len(xs) == 0 || !s.reports.due(k, bytesOf(xs)) {
		return
	}
	err := s.transact(ctx, call{limit: longTimeout, lane: laneReport}, k.Tenant, func(b *pgx.Batch) { b.Queue(trimReports, k.Fleet.String()) })
	if err != nil {
		s.reports.due(k, trimAfter)
	}
}

const trimReports = `SELECT fleet_trim_reports($1)`
