package httpapi

import (
	"context"
	"errors"
	"net/http"
	"runtime"
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
		s := &shares{places: 2, hold: hold}
		busy, other, start := fleet.NewTenantID(), fleet.NewTenantID(), time.Now()
		enter := func(id fleet.TenantID, after time.Duration) *held {
			t.Helper()
			p, err := s.enter(t.Context(), id)
			if took := time.Since(start); err != nil || took != after {
				t.Errorf("entered after %v, want %v: %v", took, after, err)
			}
			return p
		}
		places := []*held{enter(busy, 0), enter(busy, 0), enter(other, 0)}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, cancel)
		if _, err := s.enter(ctx, busy); !errors.Is(err, context.Canceled) {
			t.Errorf("its client has gone: %v", err)
		}
		time.AfterFunc(5*time.Millisecond, places[0].leave)
		places = append(places[1:], enter(busy, 10*time.Millisecond), enter(busy, hold), enter(busy, 10*time.Millisecond+hold))
		for _, p := range places {
			p.leave()
		}
		if len(s.tenants) != 0 {
			t.Errorf("kept: %v", s.tenants)
		}
	})
}

// TestT44_RequestsWaitForTheirTenantsShare: while others go on.
func TestT44_RequestsWaitForTheirTenantsShare(t *testing.T) {
	t.Parallel()
	w := setup(t)
	other := w.fleetOf("other")
	w.put("c")
	other.put("c")
	w.api.shares.hold = time.Hour
	var places []*held
	for range w.api.shares.places {
		p, err := w.api.shares.enter(t.Context(), w.tenant.ID)
		must(t, err)
		places = append(places, p)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.do(http.MethodGet, w.at("resources", "clusters", "c"), "").is(200, nil)
	}()
	for w.api.shares.requests(w.tenant.ID) <= len(places) {
		select {
		case <-done:
			t.Fatal("a request beyond the share does not wait")
		default:
			runtime.Gosched()
		}
	}
	other.do(http.MethodGet, other.at("resources", "clusters", "c"), "").is(200, nil)
	for _, p := range places {
		p.leave()
	}
	<-done
}

// requests is how many of a tenant have a place, had one, or wait.
func (s *shares) requests(id fleet.TenantID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.tenants[id]; of != nil {
		return of.requests
	}
	return 0
}
