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

// script is a database of events for a tail.
type script struct {
	mu     sync.Mutex // guards what follows
	events map[fleet.Key][]store.Event
	gone   map[fleet.Key]bool
	dead   map[fleet.CredentialID]bool
	over   map[fleet.SessionID]bool
	err    error

	asked, read, looked, marked, scoped atomic.Int32
}

func newScript() *script {
	return &script{events: map[fleet.Key][]store.Event{}, gone: map[fleet.Key]bool{}, dead: map[fleet.CredentialID]bool{}, over: map[fleet.SessionID]bool{}}
}

func (s *script) happens(k fleet.Key, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		i := len(s.events[k])
		s.events[k] = append(s.events[k], store.Event{Transaction: uint64(i + 1), At: time.Unix(int64(1000-i), 0), Node: fmt.Sprint("n", i), ID: [16]byte{byte(i)}})
	}
}

func (s *script) EventsMoved(_ context.Context, feeds []store.EventFeed) (moved, gone []fleet.Key, err error) {
	s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range feeds {
		if s.gone[f.Key] {
			gone = append(gone, f.Key)
		} else if es := s.events[f.Key]; len(es) > 0 && es[len(es)-1].Position().Compare(f.Known) > 0 {
			moved = append(moved, f.Key)
		}
	}
	return moved, gone, s.err
}

func (s *script) EventsAfter(_ context.Context, t fleet.TenantID, f fleet.ID, after store.EventPosition, limit int) (es []store.Event, upto store.EventPosition, more bool, err error) {
	s.read.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	upto = after
	for _, e := range s.events[fleet.Key{Tenant: t, Fleet: f}] {
		if e.Position().Compare(after) > 0 && len(es) < limit {
			es, upto = append(es, e), e.Position()
		}
	}
	return es, upto, false, s.err
}

func (s *script) Marks(_ context.Context, keys []fleet.Key) (map[fleet.Key]store.FleetMarks, error) {
	s.marked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[fleet.Key]store.FleetMarks{}
	for _, k := range keys {
		if !s.gone[k] {
			all[k] = store.FleetMarks{Revision: "1", Events: fmt.Sprint(len(s.events[k]))}
		}
	}
	return all, s.err
}

// TenantMarks has ten fleets of each tenant, as happens names them.
func (s *script) TenantMarks(ctx context.Context, scopes []fleet.Key) ([][]store.NamedMarks, error) {
	s.scoped.Add(1)
	defer s.marked.Add(-int32(len(scopes)))
	all := make([][]store.NamedMarks, len(scopes))
	for i, scope := range scopes {
		var keys []fleet.Key
		for n := range 10 {
			keys = append(keys, fleet.Key{Tenant: scope.Tenant, Fleet: fleet.ID{byte(n)}})
		}
		marks, err := s.Marks(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			if m, there := marks[k]; there {
				all[i] = append(all[i], store.NamedMarks{Fleet: k.Fleet, Name: fmt.Sprint("f", k.Fleet[0]), FleetMarks: m})
			}
		}
	}
	return all, nil
}

func (s *script) MarksOf(k fleet.Key) Marks {
	all, _ := s.Marks(context.Background(), []fleet.Key{k})
	s.marked.Add(-1)
	return MarksOf(all[k])
}

func (s *script) LiveTokens(_ context.Context, ids []fleet.CredentialID) (map[fleet.CredentialID]bool, error) {
	s.looked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	live := map[fleet.CredentialID]bool{}
	for _, id := range ids {
		live[id] = !s.dead[id]
	}
	return live, s.err
}

func (s *script) LiveSessions(_ context.Context, ids []fleet.SessionID) (map[fleet.SessionID]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := map[fleet.SessionID]bool{}
	for _, id := range ids {
		live[id] = !s.over[id]
	}
	return live, s.err
}

var (
	testToken = fleet.CredentialID{7}
	testKey   = fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{2}}
)

// A thousand who listen, to ten fleets, cost one question per tick, and a reading for each
// fleet that has news.
func TestAThousandListenersAreOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newScript()
		tl := New(db, time.Now)
		var all sync.WaitGroup
		var told atomic.Int32
		for i := range 1000 {
			k := fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{byte(i % 10)}}
			all.Go(func() {
				l := tl.Listen(k, Holder{Token: testToken}, store.EventPosition{})
				defer l.Leave()
				for n := 0; n < 3; {
					es, end, err := l.Next(t.Context(), nil, nil)
					if err != nil || end != "" {
						t.Errorf("%q, %v", end, err)
						return
					}
					for _, e := range es {
						if e.Node != fmt.Sprint("n", n) {
							t.Errorf("%s came as number %d", e.Node, n)
						}
						n++
						told.Add(1)
					}
				}
			})
		}
		time.Sleep(60*time.Second + tick/2)
		if n := db.asked.Load(); n < 200 || n > 250 {
			t.Errorf("%d questions in a minute", n)
		}
		if n := db.looked.Load(); n < 13 || n > 16 {
			t.Errorf("the tokens were looked up %d times in a minute", n)
		}
		if n := db.read.Load(); n != 0 {
			t.Errorf("%d readings of nothing", n)
		}
		for i := range 10 {
			db.happens(fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{byte(i)}}, 3)
		}
		all.Wait()
		if told.Load() != 3000 || db.read.Load() != 10 {
			t.Errorf("%d events told, %d readings", told.Load(), db.read.Load())
		}
		if len(tl.feeds)+len(tl.holders) != 0 {
			t.Error("the tail remembers who has gone")
		}
	})
}

// What is kept is bounded; who is slower than that reads for itself, and misses nothing.
func TestASlowListenerMissesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newScript()
		tl := New(db, time.Now)
		slow := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
		defer slow.Leave()
		quick := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
		defer quick.Leave()
		for want := 0; want < 5000; {
			db.happens(testKey, 500)
			for want < len(db.events[testKey]) {
				es, _, err := quick.Next(t.Context(), nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				want += len(es)
			}
		}
		if f := tl.feeds[testKey]; len(f.events) > keptEvents || f.bytes > keptBytes {
			t.Errorf("%d events of %d bytes are kept", len(f.events), f.bytes)
		}
		for n := 0; n < 5000; {
			es, _, err := slow.Next(t.Context(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range es {
				if e.Node != fmt.Sprint("n", n) {
					t.Fatalf("%s came as number %d", e.Node, n)
				}
				n++
			}
		}
	})
}

func TestWhatEndsAListener(t *testing.T) {
	t.Parallel()
	testSession := fleet.SessionID{8}
	for _, c := range []struct {
		end    End
		within time.Duration
		begin  func(*script)
	}{
		{EndToken, 5 * time.Second, func(s *script) { s.dead[testToken] = true }},
		{EndSession, 5 * time.Second, func(s *script) { s.over[testSession] = true }},
		{EndFleet, 2 * tick, func(s *script) { s.gone[testKey] = true }},
		{EndDatabase, patience + 3*tick, func(s *script) { s.err = fleet.ErrUnavailable }},
	} {
		t.Run(string(c.end), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := newScript()
				tl := New(db, time.Now)
				with := Holder{Token: testToken}
				if c.end == EndSession {
					with.Session = testSession
					beside := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
					defer beside.Leave()
				}
				l := tl.Listen(testKey, with, store.EventPosition{})
				defer l.Leave()
				c.begin(db)
				begun := time.Now()
				_, end, err := l.Next(t.Context(), nil, nil)
				if end != c.end || errors.Is(err, fleet.ErrUnavailable) != (c.end == EndDatabase) || time.Since(begun) > c.within {
					t.Errorf("after %v: %q, %v", time.Since(begun), end, err)
				}
			})
		})
	}
	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			tl := New(newScript(), time.Now)
			l := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
			defer l.Leave()
			stop := make(chan struct{})
			time.AfterFunc(time.Minute, func() { close(stop) })
			begun := time.Now()
			if _, end, err := l.Next(t.Context(), stop, nil); end != EndServer || err != nil || time.Since(begun) != time.Minute {
				t.Errorf("after %v: %q, %v", time.Since(begun), end, err)
			}
		})
	})
}

// A database that is away for less than that ends nothing.
func TestListenersOutliveAFailover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newScript()
		db.err = fleet.ErrUnavailable
		tl := New(db, time.Now)
		l := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
		defer l.Leave()
		time.AfterFunc(patience-time.Second, func() {
			db.happens(testKey, 1)
			db.mu.Lock()
			defer db.mu.Unlock()
			db.err = nil
		})
		if es, end, err := l.Next(t.Context(), nil, nil); len(es) != 1 || end != "" || err != nil {
			t.Errorf("%v, %q, %v", es, end, err)
		}
	})
}

// T36: a reader that panics or leaves gives the turn back.
func TestT36_AListenerThatLeavesGivesTheTurnBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newScript()
		tl := New(db, time.Now)
		first := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			defer first.Leave()
			if _, _, err := first.Next(ctx, nil, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("err = %v", err)
			}
		})
		synctest.Wait() // it has the turn
		second := tl.Listen(testKey, Holder{Token: testToken}, store.EventPosition{})
		defer second.Leave()
		cancel()
		db.happens(testKey, 1)
		if es, _, err := second.Next(t.Context(), nil, nil); len(es) != 1 || err != nil {
			t.Errorf("%v, %v", es, err)
		}
		all.Wait()
	})
}
