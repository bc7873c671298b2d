package endpoints

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

const (
	lookEvery = 500 * time.Millisecond // leases that run out, and what other servers have left
	lookSoon  = 50 * time.Millisecond  // what had no turn
	lookRest  = 10 * time.Millisecond  // between two looks, however many writes come
	atOnce    = 4                      // fleets that are built at the same time
)

// Store is what a Builder needs of one.
type Store interface {
	SweepEndpoints(ctx context.Context) ([]fleet.Key, error)
	Building() <-chan struct{}
	ClaimEndpoints(ctx context.Context, t fleet.TenantID, f fleet.ID) ([]store.Unbuilt, bool, error)
	CommitEndpoints(ctx context.Context, t fleet.TenantID, f fleet.ID, us []store.Unbuilt, of [][]store.Built) (fleet.Revision, error)
}

// Builder ends leases that have run out, and builds what has changed.
type Builder struct {
	store Store
	log   *slog.Logger
}

// NewBuilder returns a Builder that works once it runs.
func NewBuilder(s Store, log *slog.Logger) *Builder { return &Builder{store: s, log: log} }

// Run works until ctx ends. It looks at once after a write of this process, and twice a second.
func (b *Builder) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-b.store.Building():
		}
		left := false
		err := lifecycle.Contain(b.log, "the builder of endpoints", func() (err error) {
			left, err = b.Look(ctx)
			return err
		})
		if err != nil && !failing && ctx.Err() == nil {
			b.log.Warn("endpoints are not all built: the next look goes on", "error", err)
		}
		failing = err != nil
		next := lookEvery
		if left && !failing {
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

// Look sweeps and builds once. left: a fleet had no turn, or has more to be built. What fails does not hold up other fleets; the error is the first one.
func (b *Builder) Look(ctx context.Context) (left bool, err error) {
	keys, err := b.store.SweepEndpoints(ctx)
	if err != nil {
		return false, err
	}
	var more atomic.Bool
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, k := range keys {
		g.Go(func() error { return b.fleet(ctx, k, &more) })
	}
	err = g.Wait()
	return more.Load(), err
}

func (b *Builder) fleet(ctx context.Context, k fleet.Key, more *atomic.Bool) error {
	return lifecycle.Contain(b.log, "the build of a fleet's endpoints", func() error {
		done, err := b.Build(ctx, k)
		if !done {
			more.Store(true)
		}
		if errors.Is(err, fleet.ErrNotFound) { // deleted meanwhile
			return nil
		}
		return err
	}, "tenant", k.Tenant, "fleet", k.Fleet)
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
