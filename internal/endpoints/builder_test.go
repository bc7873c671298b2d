package endpoints_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"fairlead/internal/endpoints"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// fake is a store of some fleets, one of which panics and one of which fails.
type fake struct {
	keys     []fleet.Key
	sweeps   int
	panics   fleet.Key
	fails    fleet.Key
	noTurn   fleet.Key
	built    chan fleet.Key
	building chan struct{}
}

func (f *fake) SweepEndpoints(context.Context) ([]fleet.Key, error) { f.sweeps++; return f.keys, nil }
func (f *fake) Building() <-chan struct{}                           { return f.building }

func (f *fake) ClaimEndpoints(_ context.Context, t fleet.TenantID, id fleet.ID) ([]store.Unbuilt, bool, error) {
	switch k := (fleet.Key{Tenant: t, Fleet: id}); k {
	case f.panics:
		panic("a fault")
	case f.fails:
		return nil, true, errors.New("a failure")
	case f.noTurn:
		return nil, false, nil
	}
	return []store.Unbuilt{{Cluster: "c", Endpoints: []store.Endpoint{{Address: "10.0.0.1:80", Weight: 1, Health: store.Healthy}}}}, true, nil
}

func (f *fake) CommitEndpoints(_ context.Context, t fleet.TenantID, id fleet.ID, _ []store.Unbuilt, of [][]store.Built) (fleet.Revision, error) {
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

// T36: what panics or fails holds up no other fleet.
func TestT36_AFleetThatCannotBeBuiltHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	ks := keys(5)
	f := &fake{keys: ks, panics: ks[0], fails: ks[1], noTurn: ks[2], built: make(chan fleet.Key, 5)}
	left, err := endpoints.NewBuilder(f, slog.New(slog.DiscardHandler)).Look(t.Context())
	if err == nil || !left {
		t.Errorf("the look left something: %t, %v", left, err)
	}
	close(f.built)
	var got []fleet.Key
	for k := range f.built {
		got = append(got, k)
	}
	if len(got) != 2 || !slices.Contains(got, ks[3]) || !slices.Contains(got, ks[4]) {
		t.Errorf("built %v", got)
	}
}

// A write is built at once, not with the next look.
func TestABuilderIsWoken(t *testing.T) {
	t.Parallel()
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
	if took := time.Since(begin); took > 2*time.Second { // five looks without being woken
		t.Errorf("five builds took %v", took)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
