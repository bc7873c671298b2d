package endpoints_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/endpoints"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// fake is a store of some fleets, of which some panic, fail, have no turn, or are slow: somebody else holds their head.
type fake struct {
	keys       []fleet.Key
	sweeps     atomic.Int64
	slow       fleet.Key
	slowTenant fleet.TenantID
	mu         sync.Mutex // guards claims
	claims     map[fleet.Key]int
	panics     fleet.Key
	fails      fleet.Key
	noTurn     fleet.Key
	built      chan fleet.Key
	building   chan struct{}
}

func (f *fake) SweepEndpoints(context.Context) ([]fleet.Key, error) {
	f.sweeps.Add(1)
	return f.keys, nil
}
func (f *fake) Building() <-chan struct{} { return f.building }

func (f *fake) ClaimEndpoints(_ context.Context, t fleet.TenantID, id fleet.ID) ([]store.Unbuilt, bool, error) {
	k := fleet.Key{Tenant: t, Fleet: id}
	f.mu.Lock()
	if f.claims != nil {
		f.claims[k]++
	}
	f.mu.Unlock()
	switch k {
	case f.panics:
		panic("a fault")
	case f.fails:
		return nil, true, errors.New("a failure")
	case f.noTurn:
		return nil, false, nil
	}
	return []store.Unbuilt{{Cluster: "c", Endpoints: []store.Endpoint{{Address: "10.0.0.1:80", Weight: 1, Health: store.Healthy}}}}, true, nil
}

func (f *fake) CommitEndpoints(ctx context.Context, t fleet.TenantID, id fleet.ID, _ []store.Unbuilt, of [][]store.Built) (fleet.Revision, error) {
	if (fleet.Key{Tenant: t, Fleet: id}) == f.slow || t == f.slowTenant {
		select {
		case <-time.After(7500 * time.Millisecond):
		case <-ctx.Done():
		}
		return 0, fleet.ErrUnavailable
	}
	if len(of) != 1 || len(of[0]) != 1 || of[0][0].Version == "" {
		return 0, errors.New("nothing is built")
	}
	f.built <- fleet.Key{Tenant: t, Fleet: id}
	return 1, nil
}

func keys(n int) (ks []fleet.Key) {
	for range n {
		ks = append(ks, fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()})
	}
	return ks
}

// T36: what panics or fails holds up no other fleet, and is tried less and less often.
func TestT36_AFleetThatCannotBeBuiltHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ks := keys(5)
		f := &fake{keys: ks, panics: ks[0], fails: ks[1], noTurn: ks[2], built: make(chan fleet.Key, 1000), claims: map[fleet.Key]int{}}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- endpoints.NewBuilder(f, slog.New(slog.DiscardHandler)).Run(ctx) }()
		time.Sleep(8 * time.Second) // after 0, 1, 3 and 7 s
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n, m := f.claims[ks[0]], f.claims[ks[1]]; n != 4 || m != 4 {
			t.Errorf("what cannot be built was tried %d and %d times in 8 s, want 4", n, m)
		}
		close(f.built)
		got := map[fleet.Key]int{}
		for k := range f.built {
			got[k]++
		}
		if len(got) != 2 || got[ks[3]] < 10 || got[ks[4]] < 10 {
			t.Errorf("built %v", got)
		}
	})
}

// T44: the look is the clock of all leases: more than 3 s without one count as an outage of the database. However slow some fleets are to build, it goes on, and
// so do the builds of others.
func TestT44_AFleetThatIsSlowToBuildStopsNoClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ks := keys(3)
		f := &fake{keys: ks, slow: ks[0], built: make(chan fleet.Key, 100), claims: map[fleet.Key]int{}}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- endpoints.NewBuilder(f, slog.New(slog.DiscardHandler)).Run(ctx) }()
		time.Sleep(5100 * time.Millisecond)
		if n := f.sweeps.Load(); n < 10 || n > 60 {
			t.Errorf("%d looks in 5 s while a fleet is built, want 10 at least", n)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if f.claims[ks[0]] != 1 || f.claims[ks[1]] < 10 || f.claims[ks[2]] < 10 {
			t.Errorf("the fleets were built %d, %d and %d times", f.claims[ks[0]], f.claims[ks[1]], f.claims[ks[2]])
		}
	})
}

// T44: a tenant whose fleets are all slow to build leaves half of the places to others, and those get them in turn.
func TestT44_ATenantsSlowFleetsHoldUpNobodyElses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hostile := fleet.NewTenantID()
		var ks []fleet.Key
		for range 20 {
			ks = append(ks, fleet.Key{Tenant: hostile, Fleet: fleet.NewID()})
		}
		others := keys(20)
		f := &fake{keys: append(ks, others...), slowTenant: hostile, built: make(chan fleet.Key, 1000), claims: map[fleet.Key]int{}}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- endpoints.NewBuilder(f, slog.New(slog.DiscardHandler)).Run(ctx) }()
		time.Sleep(2 * time.Second)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for i, k := range others {
			if f.claims[k] == 0 {
				t.Errorf("the fleet %d of another tenant was not built", i)
			}
		}
	})
}

// A write is built at once, not with the next look.
func TestABuilderIsWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{keys: keys(1), built: make(chan fleet.Key), building: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- endpoints.NewBuilder(f, slog.New(slog.DiscardHandler)).Run(ctx) }()
		<-f.built // of the start
		begin := time.Now()
		for range 5 {
			f.building <- struct{}{}
			<-f.built
		}
		if took := time.Since(begin); took >= 500*time.Millisecond { // the next look
			t.Errorf("five builds took %v", took)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
