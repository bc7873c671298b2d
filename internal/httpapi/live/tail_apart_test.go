package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// brokenScript is a script in which the events of one tenant are not to be had, or what is asked for all fleets of tenants.
type brokenScript struct {
	*script
	tenant fleet.TenantID
	events func(context.Context) error // of the tenant
	scopes error
}

func (s *brokenScript) EventsAfter(ctx context.Context, t fleet.TenantID, f fleet.ID, after store.EventPosition, limit int) ([]store.Event, store.EventPosition, bool, error) {
	if t == s.tenant {
		if err := s.events(ctx); err != nil {
			s.read.Add(1)
			return nil, after, false, err
		}
	}
	return s.script.EventsAfter(ctx, t, f, after, limit)
}

func (s *brokenScript) TenantMarks(ctx context.Context, scopes []fleet.Key) ([][]store.NamedMarks, error) {
	if s.scopes != nil {
		return nil, s.scopes
	}
	return s.script.TenantMarks(ctx, scopes)
}

// TestT44_ATenantsEventsHoldUpNobodyElses: the events of a tenant that cannot be read, at once or after seconds each time, end that tenant's streams and hold up
// no other's, however many fleets it has.
func TestT44_ATenantsEventsHoldUpNobodyElses(t *testing.T) {
	t.Parallel()
	busy := &store.TimeoutError{Wait: store.WaitShare, Limit: 5 * time.Second}
	for name, events := range map[string]func(context.Context) error{
		"slow": func(ctx context.Context) error {
			select {
			case <-time.After(5 * time.Second):
				return busy
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		"broken": func(context.Context) error { return busy },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := &brokenScript{script: newScript(), tenant: fleet.TenantID{9}, events: events}
				tl := New(db, time.Now)
				begun := time.Now()
				var all sync.WaitGroup
				for i := range 20 {
					k := fleet.Key{Tenant: db.tenant, Fleet: fleet.ID{byte(i)}}
					db.happens(k, 1)
					all.Go(func() {
						l := tl.Listen(k, Holder{Token: testToken}, store.EventPosition{})
						defer l.Leave()
						_, end, err := l.Next(t.Context(), nil, nil)
						if after := time.Since(begun); end != EndDatabase || !errors.Is(err, busy) || after > 3*patience {
							t.Errorf("after %v: %q, %v", after, end, err)
						}
					})
				}
				synctest.Wait()
				l := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
				defer l.Leave()
				for n := range 30 {
					db.happens(testKey, 1)
					happened := time.Now()
					es, end, err := l.Next(t.Context(), nil, nil)
					if len(es) != 1 || es[0].Node != fmt.Sprint("n", n) || end != "" || err != nil {
						t.Fatalf("%v, %q, %v", es, end, err)
					}
					if took := time.Since(happened); took > 2*tick {
						t.Errorf("event %d is told after %v", n, took)
					}
					time.Sleep(time.Second)
				}
				all.Wait()
				if n := db.read.Load(); n > 20*4*30+31 {
					t.Errorf("%d readings", n)
				}
			})
		})
	}
}

// TestT44_AQuestionThatFailsEndsWhatLivesByIt, and nothing else: what is asked for all fleets of tenants grows with them.
func TestT44_AQuestionThatFailsEndsWhatLivesByIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &brokenScript{script: newScript(), scopes: &store.TimeoutError{Wait: store.WaitWork, Limit: 5 * time.Second}}
		tl := New(db, time.Now)
		var all sync.WaitGroup
		all.Go(func() {
			l := tl.FollowTenant(fleet.Key{Tenant: fleet.TenantID{1}}, Holder{Token: testToken}, nil, TenantMarks{}, TenantMarks{})
			defer l.Leave()
			if _, end, err := l.Next(t.Context(), nil, nil); end != EndDatabase || !errors.Is(err, fleet.ErrUnavailable) {
				t.Errorf("who follows all fleets: %q, %v", end, err)
			}
		})
		l := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
		defer l.Leave()
		time.AfterFunc(time.Minute, func() { db.happens(testKey, 1) })
		if es, end, err := l.Next(t.Context(), nil, nil); len(es) != 1 || end != "" || err != nil {
			t.Errorf("who listens to events: %v, %q, %v", es, end, err)
		}
		all.Wait()
	})
}

// idleScript is a database in which nothing happens: reading on leads no further than a place.
type idleScript struct {
	*script
	upto  store.EventPosition
	asked atomic.Int32
}

func (s *idleScript) EventsAfter(context.Context, fleet.TenantID, fleet.ID, store.EventPosition, int) ([]store.Event, store.EventPosition, bool, error) {
	if s.asked.Add(1) > 1000 {
		panic("the database is asked without a pause")
	}
	return nil, s.upto, false, nil
}

// TestT44_AListenerThatIsBehindPauses: one that is behind where another one began, which nothing that is read leads to, asks once in a tick.
func TestT44_AListenerThatIsBehindPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := store.EventPosition{Transaction: 7}
		db := &idleScript{script: newScript(), upto: at}
		tl := New(db, time.Now)
		ahead := at
		ahead.At = time.Date(9998, 1, 1, 0, 0, 0, 0, time.UTC)
		first := tl.Listen(testKey, Holder{Token: testToken}, ahead)
		defer first.Leave()
		second := tl.Listen(testKey, Holder{Token: testToken}, at)
		defer second.Leave()
		wake := time.NewTimer(time.Minute)
		if es, end, err := second.Next(t.Context(), nil, wake.C); len(es) != 0 || end != "" || err != nil {
			t.Errorf("%v, %q, %v", es, end, err)
		}
		if n := db.asked.Load(); n < 2 || n > 250 {
			t.Errorf("%d questions in a minute", n)
		}
	})
}
