package xds

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// TestT40_ATenantsSlowPollsHoldUpNobodyElses: one tenant has an eighth of the room in which polls are read, and what it gives back is had by who waits.
func TestT40_ATenantsSlowPollsHoldUpNobodyElses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, atOnceOrLater)
}

func atOnceOrLater(t *testing.T) {
	r, slow, other := newReadRoom(), fleet.NewTenantID(), fleet.NewTenantID()
	soon := func(of fleet.TenantID, size int64) (func(), error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		return r.take(ctx, of, size)
	}
	var gives []func()
	for {
		give, err := soon(slow, smallPoll)
		if err != nil {
			break
		}
		gives = append(gives, give)
	}
	if want := mostRead / 8 / smallPoll; len(gives) != want {
		t.Errorf("a tenant has %d of the longest polls read at once, want %d", len(gives), want)
	}
	give, err := soon(other, smallPoll)
	if err != nil {
		t.Fatalf("another tenant's poll: %v", err)
	}
	give()
	got := make(chan error)
	go func() {
		give, err := r.take(t.Context(), slow, smallPoll)
		if err == nil {
			give()
		}
		got <- err
	}()
	for _, give := range gives {
		give()
	}
	if err := <-got; err != nil {
		t.Errorf("one that waited: %v", err)
	}
	if len(r.of) != 0 {
		t.Errorf("%d tenants are remembered that have nothing read", len(r.of))
	}
	if _, err := soon(slow, 2*mostRead); !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("no room: %v", err)
	}
}
