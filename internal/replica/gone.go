package replica

import (
	"maps"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// The nodes of a deleted fleet try again and again. A server remembers for a while that it is
// gone, so that they cost no question each.
const (
	goneFor = 30 * time.Second
	maxGone = 10_000 // fleets that are remembered
)

// goneFleets are those that were not there lately. It is safe for concurrent use and calls
// nobody.
type goneFleets struct {
	mu    sync.Mutex // guards until
	until map[fleet.ID]goneFleet
}

type goneFleet struct {
	tenant fleet.TenantID
	until  time.Time
}

// add forgets another where there are many: which, is left to chance, and costs a question.
func (g *goneFleets) add(key fleet.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until == nil {
		g.until = make(map[fleet.ID]goneFleet)
	}
	for id := range g.until {
		if len(g.until) < maxGone {
			break
		}
		delete(g.until, id)
	}
	g.until[key.Fleet] = goneFleet{key.Tenant, time.Now().Add(goneFor)}
}

func (g *goneFleets) has(key fleet.Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	x, ok := g.until[key.Fleet]
	return ok && x.tenant == key.Tenant && time.Now().Before(x.until)
}

// forget is for a fleet of which somebody has heard since.
func (g *goneFleets) forget(id fleet.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.until, id)
}

// trim forgets those whose time is over.
func (g *goneFleets) trim() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(g.until, func(_ fleet.ID, x goneFleet) bool { return !now.Before(x.until) })
}
