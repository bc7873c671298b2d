package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/replica"
	"fairlead/internal/xds"
)

// TestT08_AnIDDoesNotPassThoseInDoubt: an id is no secret. Whoever has one that a cell knows waits with wrong secrets like all other guesses, and the token itself does not.
func TestT08_AnIDDoesNotPassThoseInDoubt(t *testing.T) {
	c := &xdsCell{name: "a"}
	c.stack.Store(&xdsStack{})
	x := &xdsCells{cells: []*xdsCell{c}, lookups: auth.NewLookups(0, cellsDoubted), known: map[[32]byte]*xdsCell{}}
	id, right := fleet.NewCredentialID(), auth.Hash("right")
	asked := 0
	ask := func(err error) askCell {
		return func(context.Context, *replica.Replica) (xds.Identity, error) {
			asked++
			return xds.Identity{Credential: id}, err
		}
	}
	if _, err := x.find(t.Context(), id, right, ask(nil)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		x.lookups.Doubt("", time.Now())
	}
	for range cellsDoubted { // a flood has all places
		leave, err := x.lookups.Begin(t.Context(), "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // whoever waits waits in vain
	asked = 0
	if _, err := x.find(ctx, id, auth.Hash("wrong"), ask(replica.ErrUnknown)); !errors.Is(err, fleet.ErrUnavailable) || asked != 0 {
		t.Errorf("a wrong secret was asked about %d times: %v", asked, err)
	}
	if who, err := x.find(ctx, id, right, ask(nil)); err != nil || who.Credential != id || who.Cell != "a" || asked != 1 {
		t.Errorf("the token was asked about %d times: %+v, %v", asked, who, err)
	}
}

// TestT08_ACellThatIsNotAskedForAFloodDoesNotRest: that many wait for look-ups does not have its tenants turned away for a second.
func TestT08_ACellThatIsNotAskedForAFloodDoesNotRest(t *testing.T) {
	c := &xdsCell{name: "a"}
	c.stack.Store(&xdsStack{})
	lookups := auth.NewLookups(1, 1)
	leave, err := lookups.Begin(t.Context(), "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	for _, wait := range []struct {
		ask   askCell
		rests bool
	}{
		{func(ctx context.Context, _ *replica.Replica) (xds.Identity, error) {
			_, err := lookups.Begin(ctx, "", time.Now())
			return xds.Identity{}, err
		}, false},
		{func(context.Context, *replica.Replica) (xds.Identity, error) {
			return xds.Identity{}, fleet.ErrUnavailable
		}, true},
	} {
		if _, err := c.askWithin(t.Context(), time.Millisecond, wait.ask); !errors.Is(err, fleet.ErrUnavailable) || c.rests() != wait.rests {
			t.Errorf("after %v it rests: %t", err, c.rests())
		}
	}
}
