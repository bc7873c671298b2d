package replica

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// Bounds of what is kept of clients that are not let in, so that they write no faster to the database than this.
const (
	mostDenied    = 1000             // kinds of refusals, of all fleets; what is over is counted
	mostOfTenant  = mostDenied / 2   // the same, of a tenant, which may have many fleets
	mostDeniedOf  = 100              // the same, of a fleet; those that are over are told as one for each reason
	deniedAgain   = time.Minute      // from telling of one to telling how often it came again
	forgetDenied  = 10 * time.Minute // without another one
	deniedPerCall = 500              // that are told at once
)

// deniedError is a refusal of which the fleet is told.
type deniedError struct {
	error
	key        fleet.Key
	credential fleet.CredentialID
	reason     fleet.DeniedReason
}

func (e *deniedError) Unwrap() error { return e.error }

// deniedFor is why with what the fleet is told: of an unknown token there is no fleet, and of a fleet that is gone nobody asks.
func deniedFor(key fleet.Key, c fleet.Credential, why error) error {
	reason := fleet.DeniedExpired
	switch {
	case errors.Is(why, errGone):
		return why
	case errors.Is(why, ErrUnknown):
		reason = fleet.DeniedToken
	case !c.RevokedAt.IsZero():
		reason = fleet.DeniedRevoked
	}
	return &deniedError{error: why, key: key, credential: c.ID, reason: reason}
}

// deniedKey is what counts as the same refusal.
type deniedKey struct {
	fleet         fleet.Key
	reason        fleet.DeniedReason
	credential    fleet.CredentialID
	node, address string
	note          string
}

// deniedCount is how often it came since it was told, and when that was.
type deniedCount struct {
	attempts    int64
	first, last time.Time
	told        time.Time
}

// deniedClients counts clients that were not let in. It is safe for concurrent use, calls nobody, and holds as much as its
// bounds say, whoever comes.
type deniedClients struct {
	mu  sync.Mutex // guards all below
	all map[deniedKey]*deniedCount
	of  map[fleet.Key]int // how many of all are the fleet's
	// ofTenant are how many are the tenant's.
	ofTenant map[fleet.TenantID]int
	lost     int64 // that there was no room for
}

func newDeniedClients() *deniedClients {
	return &deniedClients{all: map[deniedKey]*deniedCount{}, of: map[fleet.Key]int{}, ofTenant: map[fleet.TenantID]int{}}
}

// add counts one. Of an unknown token, which is no fleet's, it does as much work and keeps one number (T07).
func (d *deniedClients) add(k deniedKey, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.all[k]
	if x == nil && d.of[k.fleet] >= mostDeniedOf-len(fleet.DeniedReasons()) {
		k = deniedKey{fleet: k.fleet, reason: k.reason}
		x = d.all[k]
	}
	if x == nil {
		if len(d.all) >= mostDenied || d.ofTenant[k.fleet.Tenant] >= mostOfTenant {
			d.lost++
			return
		}
		x = &deniedCount{}
		d.all[k] = x
		d.of[k.fleet]++
		d.ofTenant[k.fleet.Tenant]++
	}
	if x.attempts == 0 {
		x.first = now
	}
	x.attempts, x.last = x.attempts+1, now
}

// due returns what is to be told now, forgets what has not come for long, and says how many were not counted apart. end: all is due.
func (d *deniedClients) due(now time.Time, end bool) (out []fleet.Denied, lost int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lost, d.lost = d.lost, 0
	maps.DeleteFunc(d.all, func(k deniedKey, x *deniedCount) bool {
		gone := x.attempts == 0 && now.Sub(x.last) >= forgetDenied || k.fleet == (fleet.Key{})
		if gone {
			if d.of[k.fleet]--; d.of[k.fleet] == 0 {
				delete(d.of, k.fleet)
			}
			if d.ofTenant[k.fleet.Tenant]--; d.ofTenant[k.fleet.Tenant] == 0 {
				delete(d.ofTenant, k.fleet.Tenant)
			}
		}
		return gone
	})
	for k, x := range d.all {
		if x.attempts > 0 && (end || now.Sub(x.told) >= deniedAgain) {
			out = append(out, fleet.Denied{
				Key: k.fleet, Reason: k.reason, Credential: k.credential, Node: k.node, Address: k.address, Note: k.note, Attempts: x.attempts, First: x.first, Last: x.last,
			})
		}
	}
	return out, lost
}

// told notes that these were told; what came meanwhile is told later.
func (d *deniedClients) told(xs []fleet.Denied, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, y := range xs {
		if x := d.all[deniedKey{y.Key, y.Reason, y.Credential, y.Node, y.Address, y.Note}]; x != nil {
			x.attempts, x.told, x.first = x.attempts-y.Attempts, now, y.Last
		}
	}
}

// denied counts a refusal if its fleet is told of it.
func (r *Replica) denied(err error, node, address string) {
	var d *deniedError
	if errors.As(err, &d) {
		r.deny(deniedKey{d.key, d.reason, d.credential, node, address, ""})
	}
}

// Denied counts a client that was not let in for what it says of itself, or not given what it asks for.
func (r *Replica) Denied(id xds.Identity, reason fleet.DeniedReason, node, address, note string) {
	r.deny(deniedKey{id.Key, reason, id.Credential, node, address, note})
}

func (r *Replica) deny(k deniedKey) {
	if host, _, err := net.SplitHostPort(k.address); err == nil {
		k.address = host
	}
	if k.fleet == (fleet.Key{}) {
		k = deniedKey{reason: k.reason}
	}
	r.cfg.Metrics.Denied(k.reason)
	r.turnedAway.add(k, r.clock.now())
}

// TellDenied gives tell what is due of clients that were not let in; at the end of the process all. What it does not take is due
// again the next time. Call it every few seconds, from one place.
func (r *Replica) TellDenied(ctx context.Context, end bool, tell func(context.Context, []fleet.Denied) error) error {
	all, lost := r.turnedAway.due(r.clock.now(), end)
	if lost > 0 {
		r.log.Warn("clients were not let in of which no event tells: there are too many kinds of them", "attempts", lost)
	}
	for part := range slices.Chunk(all, deniedPerCall) {
		if err := tell(ctx, part); err != nil {
			return err
		}
		r.turnedAway.told(part, r.clock.now())
	}
	return nil
}
