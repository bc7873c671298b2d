package live

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// A node that moves all the time has the findings looked at once in a while, and at last.
func TestFindingsOfNodesAreToldSeldom(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	marks := func(n int) Marks { return MarksOf(store.FleetMarks{Revision: "1", Nodes: fmt.Sprint(n)}) }
	f := &fleetFeed{marks: marks(0)}
	l := f.marks
	told := 0
	for i := range 101 { // 25 s, of which the first 20 have news
		f.post(marks(min(i, 80)), now.Add(time.Duration(i)*tick))
		if slices.Contains(f.marks.Since(l), oapi.LiveWhatFindings) {
			told++
		}
		l = f.marks
	}
	if told != 3 || l != marks(80) {
		t.Errorf("told %d times in 25 s, and at last %v", told, l.Since(marks(80)))
	}
	f.post(MarksOf(store.FleetMarks{Revision: "2"}), now.Add(26*time.Second))
	if !slices.Contains(f.marks.Since(l), oapi.LiveWhatFindings) {
		t.Error("a revision has to wait")
	}
	if got := (Marks{}).Since(MarksOf(store.FleetMarks{})); len(got) != len(whats) {
		t.Errorf("%v", got)
	}
}

// A thousand who follow ten fleets cost one question per tick, and each is told once.
func TestAThousandFollowersAreOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newScript()
		tl := New(db, time.Now)
		var all sync.WaitGroup
		var told atomic.Int32
		for i := range 1000 {
			k := fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{byte(i % 10)}}
			all.Go(func() {
				l := tl.Follow(k, Holder{Token: testToken}, db.MarksOf(k), db.MarksOf(k))
				defer l.Leave()
				what, end, err := l.Next(t.Context(), nil, nil)
				if err != nil || end != "" || len(what) != 1 || what[0] != oapi.LiveWhatEvents {
					t.Errorf("%v, %q, %v", what, end, err)
				}
				told.Add(1)
			})
		}
		time.Sleep(60*time.Second + tick/2)
		if n := db.marked.Load(); n < 200 || n > 250 {
			t.Errorf("%d questions in a minute", n)
		}
		if told.Load() != 0 {
			t.Errorf("%d were told of nothing", told.Load())
		}
		for i := range 10 {
			db.happens(fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{byte(i)}}, 3)
		}
		all.Wait()
		if told.Load() != 1000 || len(tl.lives)+len(tl.holders) != 0 {
			t.Errorf("%d told, %d and %d are remembered", told.Load(), len(tl.lives), len(tl.holders))
		}
	})
}

func TestWhatEndsAFollower(t *testing.T) {
	t.Parallel()
	for end, begin := range map[End]func(*script){
		EndToken:    func(s *script) { s.dead[testToken] = true },
		EndFleet:    func(s *script) { s.gone[testKey] = true },
		EndDatabase: func(s *script) { s.err = fleet.ErrUnavailable },
	} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := newScript()
				tl := New(db, time.Now)
				l := tl.Follow(testKey, Holder{Token: testToken}, db.MarksOf(testKey), db.MarksOf(testKey))
				defer l.Leave()
				begin(db)
				if what, got, _ := l.Next(t.Context(), nil, nil); got != end || len(what) > 0 {
					t.Errorf("%q, %v", got, what)
				}
			})
		})
	}
}
