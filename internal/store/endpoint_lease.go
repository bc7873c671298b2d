package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// EndpointLease is the right to be an endpoint until a time, by the database's clock.
type EndpointLease struct {
	ID        fleet.LeaseID
	TTL       time.Duration // whole milliseconds, LeastLease to MostLease
	KeepLast  bool          // when it runs out the last endpoints of a cluster stay
	ExpiresAt time.Time
}

// How long a lease may be.
const (
	LeastLease = 5 * time.Second
	MostLease  = 24 * time.Hour
)

// TakeEndpointLease makes a lease, and returns it with its end. A fleet that has too many is a *NoRoomError.
func (s *Store) TakeEndpointLease(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, l EndpointLease) (EndpointLease, error) {
	at, err := one(ctx, s, t, pgx.RowTo[time.Time], `SELECT endpoint_lease_take($1, $2, $3, $4, $5)`, f.String(), l.ID.String(), l.TTL.Milliseconds(), l.KeepLast, a.json())
	if err != nil {
		return EndpointLease{}, fmt.Errorf("take a lease of endpoints in fleet %s: %w", f, err)
	}
	l.ExpiresAt = at.UTC()
	return l, nil
}

// EndEndpointLease ends a lease, and removes its endpoints. One that is not there is fleet.ErrNotFound.
func (s *Store) EndEndpointLease(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, id fleet.LeaseID) error {
	changed, err := one(ctx, s, t, pgx.RowTo[bool], `SELECT endpoint_lease_end($1, $2, $3)`, f.String(), id.String(), a.json())
	if err != nil {
		return fmt.Errorf("end lease %s: %w", id, err)
	}
	if changed {
		s.built.set()
	}
	return nil
}

// renewLeases is one statement for all that are renewed together.
const renewLeases = `SELECT o_fleet, o_id, o_ttl_ms, o_keep_last, o_expires_at FROM endpoint_leases_renew($1::uuid[], $2::uuid[])`

// RenewEndpointLease gives a lease its whole time again. One that has run out and is swept, or was never there, is fleet.ErrNotFound: who
// held it registers anew. Renewals of a tenant that come while one is made go together in the next statement.
func (s *Store) RenewEndpointLease(ctx context.Context, t fleet.TenantID, f fleet.ID, id fleet.LeaseID) (EndpointLease, error) {
	l, err := s.renewals.join(ctx, t, leaseRenewal{f, id}, s.renew)
	if err != nil {
		return EndpointLease{}, fmt.Errorf("renew lease %s: %w", id, err)
	}
	return l, nil
}

func (s *Store) renew(ctx context.Context, t fleet.TenantID, of []leaseRenewal) (map[leaseRenewal]EndpointLease, error) {
	fleets, ids := make([][16]byte, len(of)), make([][16]byte, len(of))
	for i, r := range of {
		fleets[i], ids[i] = r.fleet, r.id
	}
	out := make(map[leaseRenewal]EndpointLease, len(of))
	_, err := manyIn(ctx, s, call{limit: writeTimeout}, t, func(row pgx.CollectableRow) (_ struct{}, err error) {
		var in fleet.ID
		var l EndpointLease
		var ms int64
		err = row.Scan((*[16]byte)(&in), (*[16]byte)(&l.ID), &ms, &l.KeepLast, &l.ExpiresAt)
		l.TTL, l.ExpiresAt = time.Duration(ms)*time.Millisecond, l.ExpiresAt.UTC()
		out[leaseRenewal{in, l.ID}] = l
		return struct{}{}, err
	}, renewLeases, fleets, ids)
	return out, err
}

// leaseRenewal is one lease to be renewed.
type leaseRenewal struct {
	fleet fleet.ID
	id    fleet.LeaseID
}

// renewals puts those together that come while others are made. The first one of a group makes it, when the group before is done. The zero
// value is ready to use, and holds nothing of a tenant that renews nothing.
type renewals struct {
	mu     sync.Mutex // guards groups, and of a group that stands in it what is in it
	groups map[fleet.TenantID]*renewalGroup
}

// renewalGroup is done when done is closed.
type renewalGroup struct {
	of     []leaseRenewal
	before *renewalGroup // is made first; nil: none
	done   chan struct{}
	leases map[leaseRenewal]EndpointLease
	err    error
}

// mostRenewals bounds one statement.
const mostRenewals = 1000

type renewFunc func(context.Context, fleet.TenantID, []leaseRenewal) (map[leaseRenewal]EndpointLease, error)

// join waits until the renewal is made, whoever makes it. Who makes it for others goes on when its own caller has gone.
func (r *renewals) join(ctx context.Context, t fleet.TenantID, one leaseRenewal, renew renewFunc) (EndpointLease, error) {
	g, mine := r.enter(t, one)
	if mine {
		r.lead(context.WithoutCancel(ctx), t, g, renew)
	}
	select {
	case <-g.done:
	case <-ctx.Done():
		return EndpointLease{}, fmt.Errorf("%w: given up by the caller: %w", fleet.ErrUnavailable, ctx.Err())
	}
	if g.err != nil {
		return EndpointLease{}, g.err
	}
	l, ok := g.leases[one]
	if !ok {
		return EndpointLease{}, fleet.ErrNotFound
	}
	return l, nil
}

// enter puts the renewal into the group that is not begun yet; mine: there was none, and the caller leads it.
func (r *renewals) enter(t fleet.TenantID, one leaseRenewal) (g *renewalGroup, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.groups[t]
	if last != nil && last.of != nil && len(last.of) < mostRenewals {
		last.of = append(last.of, one)
		return last, false
	}
	if r.groups == nil {
		r.groups = map[fleet.TenantID]*renewalGroup{}
	}
	g = &renewalGroup{of: []leaseRenewal{one}, before: last, done: make(chan struct{})}
	r.groups[t] = g
	return g, true
}

// lead makes the group when the one before it is done: what comes meanwhile joins it.
func (r *renewals) lead(ctx context.Context, t fleet.TenantID, g *renewalGroup, renew renewFunc) {
	if g.before != nil {
		<-g.before.done
		g.before = nil
	}
	r.mu.Lock()
	of := g.of
	g.of = nil // it is begun
	r.mu.Unlock()
	g.err = fleet.ErrUnavailable // of a panic
	defer func() {
		r.mu.Lock()
		if r.groups[t] == g {
			delete(r.groups, t)
		}
		r.mu.Unlock()
		close(g.done)
	}()
	g.leases, g.err = renew(ctx, t, of)
}
