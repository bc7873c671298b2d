package metrics

import (
	"sync"

	"fairlead/internal/fleet"
)

// other is the value of a label for all that have none of their own.
const other = "other"

// fleetLabels decides which fleets have series of their own: those that come first, as long as there is room. A fleet keeps its place
// until the process ends, so that its counters never begin again.
type fleetLabels struct {
	most int

	mu  sync.Mutex // guards own
	own map[fleet.Key]struct{}
}

func newFleetLabels(most int) *fleetLabels {
	return &fleetLabels{most: most, own: make(map[fleet.Key]struct{})}
}

// of returns the values of the labels tenant and fleet, and gives the fleet a place if there is one.
func (l *fleetLabels) of(key fleet.Key) (tenant, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.own) < l.most {
		l.own[key] = struct{}{}
	}
	return l.lookLocked(key)
}

// look is of, and gives no place.
func (l *fleetLabels) look(key fleet.Key) (tenant, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lookLocked(key)
}

func (l *fleetLabels) lookLocked(key fleet.Key) (tenant, name string) {
	if _, ok := l.own[key]; !ok {
		return other, other
	}
	return key.Tenant.String(), key.Fleet.String()
}

// byFleet are the labels of what is told of one fleet.
func byFleet() []Label {
	return []Label{{"tenant", "the tenant's id, or `other`"}, {"fleet", "the fleet's id, or `other`"}}
}
