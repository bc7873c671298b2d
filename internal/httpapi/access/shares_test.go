package access

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// TestT44_ATenantsRequestsHaveAShare: of a tenant so many are worked on at once, another tenant's wait for none of them, and what takes long
// keeps the next one waiting for so long alone.
func TestT44_ATenantsRequestsHaveAShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hold = 20 * time.Millisecond
		s := &Shares{Places: 2, Hold: hold}
		busy, other, start := fleet.NewTenantID(), fleet.NewTenantID(), time.Now()
		enter := func(id fleet.TenantID, after time.Duration) *Place {
			t.Helper()
			p, err := s.Enter(t.Context(), id)
			if took := time.Since(start); err != nil || took != after {
				t.Errorf("entered after %v, want %v: %v", took, after, err)
			}
			return p
		}
		places := []*Place{enter(busy, 0), enter(busy, 0), enter(other, 0)}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, cancel)
		if _, err := s.Enter(ctx, busy); !errors.Is(err, context.Canceled) {
			t.Errorf("its client has gone: %v", err)
		}
		time.AfterFunc(5*time.Millisecond, places[0].Leave)
		places = append(places[1:], enter(busy, 10*time.Millisecond), enter(busy, hold), enter(busy, 10*time.Millisecond+hold))
		for _, p := range places {
			p.Leave()
		}
		if len(s.tenants) != 0 {
			t.Errorf("kept: %v", s.tenants)
		}
	})
}
