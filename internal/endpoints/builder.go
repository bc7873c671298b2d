package endpoints

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

const (
	lookEvery = 500 * time.Millisecond // leases that expire, and what other servers have left
	lookSoon  = 50 * time.Millisecond  // what had no turn, or no place
	lookRest  = 10 * time.Millisecond  // between two looks, however many writes come
	atOnce    = 8                      // fleets that are built at the same time
	firstRest = time.Second            // of a fleet that could not be built; twice as long each time
	lastRest  = 30 * time.Second
)

// Store is what a Builder needs of one.
type Store interface {
	SweepEndpoints(ctx context.Context) ([]fleet.Key, error)
	Building() <-chan struct{}
	ClaimEndpoints(ctx context.Context, t fleet.TenantID, f fleet.ID) ([]store.Unbuilt, bool, error)
	CommitEndpoints(ctx context.Context, t fleet.TenantID, f fleet.ID, us []store.Unbuilt, of [][]store.Built) (fleet.Revision, error)
}

// Builder ends leases that have expired, and builds what has changed.
type Builder struct {
	store Store
	log   *slog.Logger

	again chan struct{} // capacity 1: a fleet has changed while it was built
	mu    sync.Mutex    // guards what follows
	busy  map[fleet.Key]bool
	held  map[fleet.TenantID]int // places
	last  fleet.Key              // that was begun
	rests map[fleet.Key]resting
}

// resting is why a fleet is not built yet.
type resting struct {
	until time.Time
	fails time.Duration // how long it rests if it fails again; 0: it had no turn
}

// NewBuilder returns a Builder that works once it runs.
func NewBuilder(s Store, log *slog.Logger) *Builder {
	return &Builder{store: s, log: log, again: make(chan struct{}, 1), busy: map[fleet.Key]bool{}, held: map[fleet.TenantID]int{}, rests: map[fleet.Key]resting{}}
}

// Run works until ctx ends. It looks at once after a write of this process, and twice a second. The look is the clock by which leases expire, of all
// tenants: it waits for no build.
func (b *Builder) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var builds sync.WaitGroup
	defer builds.Wait()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-b.store.Building():
		case <-b.again:
		}
		var keys []fleet.Key
		err := lifecycle.Contain(b.log, "the sweep of leases", func() (err error) {
			keys, err = b.store.SweepEndpoints(ctx)
			return err
		})
		if err != nil && !failing && ctx.Err() == nil {
			b.log.Warn("leases of endpoints are not swept: the next look goes on", "error", err)
		}
		failing = err != nil
		next := lookEvery
		if b.begin(ctx, keys, &builds) {
			next = lookSoon
		}
		timer.Reset(next)
		if !rest(ctx, lookRest) {
			return nil
		}
	}
}

func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// begin begins the builds of fleets, each once at a time, those first that stand behind the one that was begun last. A tenant has half of the places at
// most. soon: some had no turn, or have no place.
func (b *Builder) begin(ctx context.Context, keys []fleet.Key, builds *sync.WaitGroup) (soon bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for k, r := range b.rests {
		if now.Sub(r.until) > lastRest { // nothing is to be built any more
			delete(b.rests, k)
		}
	}
	from := 1 + slices.Index(keys, b.last)
	for i := range keys {
		k := keys[(from+i)%len(keys)]
		r := b.rests[k]
		_, built := b.busy[k]
		switch {
		case built:
			b.busy[k] = true
		case now.Before(r.until):
			soon = soon || r.fails == 0
		case len(b.busy) >= atOnce, b.held[k.Tenant] >= atOnce/2:
			soon = true
		default:
			b.busy[k], b.last = false, k
			b.held[k.Tenant]++
			builds.Go(func() { b.fleet(ctx, k) })
		}
	}
	return soon
}

// fleet builds one, and notes how that went.
func (b *Builder) fleet(ctx context.Context, k fleet.Key) {
	turn := false
	err := lifecycle.Contain(b.log, "the build of a fleet's endpoints", func() (err error) {
		turn, err = b.Build(ctx, k)
		return err
	}, "tenant", k.Tenant, "fleet", k.Fleet)
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.rests[k]
	switch {
	case err != nil && !errors.Is(err, fleet.ErrNotFound): // that one was deleted meanwhile
		if was.fails == 0 && ctx.Err() == nil {
			b.log.Warn("the endpoints of a fleet are not built: it is tried again", "tenant", k.Tenant, "fleet", k.Fleet, "error", err)
		}
		d := max(was.fails, firstRest)
		b.rests[k] = resting{time.Now().Add(d), min(2*d, lastRest)}
	case !turn:
		b.rests[k] = resting{until: time.Now().Add(lookSoon)}
	default:
		delete(b.rests, k)
	}
	if b.busy[k] {
		select {
		case b.again <- struct{}{}:
		default:
		}
	}
	delete(b.busy, k)
	if b.held[k.Tenant]--; b.held[k.Tenant] == 0 {
		delete(b.held, k.Tenant)
	}
}

// Build takes a turn of the fleet, and makes of it a revision if something that is served has changed. done: there was a turn.
func (b *Builder) Build(ctx context.Context, k fleet.Key) (done bool, err error) {
	us, turn, err := b.store.ClaimEndpoints(ctx, k.Tenant, k.Fleet)
	if err != nil || !turn || len(us) == 0 {
		return turn, err
	}
	built := make([][]store.Built, len(us))
	for i, u := range us {
		if built[i], err = serve(u); err != nil {
			return true, fmt.Errorf("build the endpoints of cluster %q of fleet %s: %w", u.Cluster, k.Fleet, err)
		}
	}
	_, err = b.store.CommitEndpoints(ctx, k.Tenant, k.Fleet, us, built)
	return true, err
}

// serve merges a cluster's endpoints into each variant of its document, and into nothing where there is no default one.
func serve(u store.Unbuilt) ([]store.Built, error) {
	docs := u.Documents
	if !slices.ContainsFunc(docs, func(d store.EndpointDocument) bool { return d.Variant == "" }) {
		docs = append(slices.Clone(docs), store.EndpointDocument{})
	}
	es := make([]resource.Endpoint, len(u.Endpoints))
	for i, e := range u.Endpoints {
		es[i] = resource.Endpoint{Address: e.Address, Region: e.Locality.Region, Zone: e.Locality.Zone, SubZone: e.Locality.SubZone, Weight: uint32(e.Weight), Health: string(e.Health), Metadata: e.Metadata} //nolint:gosec // from 1 to 65535
	}
	out := make([]store.Built, len(docs))
	for i, d := range docs {
		out[i].Variant = d.Variant
		s, err := resource.ServeEndpoints(u.Cluster, d.Body, d.TTL, es)
		if err != nil {
			return nil, err
		}
		if d.Variant == "" {
			out[i].Documented = s.Documented
		}
		if len(es) > 0 && (d.Variant == "" || d.Body != nil) {
			out[i].Version, out[i].Body = s.Version, s.Value
		}
	}
	return out, nil
}
