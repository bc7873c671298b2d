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

// A thousand who follow all fleets of ten tenants cost one question per tick, and each is told once, of its own.
func TestAThousandFollowersOfTenantsAreOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newScript()
		tl := New(db, time.Now)
		now, err := db.TenantMarks(t.Context(), []fleet.Key{{Tenant: fleet.TenantID{1}}}) // that of the others is alike
		if err != nil {
			t.Fatal(err)
		}
		var f tenantFeed
		f.post(now[0], time.Now())
		var all sync.WaitGroup
		var told atomic.Int32
		for i := range 1000 {
			all.Go(func() {
				l := tl.FollowTenant(fleet.Key{Tenant: fleet.TenantID{1, byte(i % 10)}}, Holder{Token: testToken}, now[0], f.marks, f.marks)
				defer l.Leave()
				what, end, err := l.Next(t.Context(), nil, nil)
				if err != nil || end != "" || len(what) != 1 || what[0] != oapi.TenantLiveWhatEvents || !slices.Equal(l.names, []string{"f3"}) {
					t.Errorf("%v of %v, %q, %v", what, l.names, end, err)
				}
				told.Add(1)
			})
		}
		time.Sleep(60*time.Second + tick/2)
		if n := db.scoped.Load() - 1; n < 45 || n > 61 {
			t.Errorf("%d questions in a minute", n)
		}
		if told.Load() != 0 {
			t.Errorf("%d were told of nothing", told.Load())
		}
		for i := range 10 {
			db.happens(fleet.Key{Tenant: fleet.TenantID{1, byte(i)}, Fleet: fleet.ID{3}}, 3)
		}
		all.Wait()
		if told.Load() != 1000 || len(tl.tenants)+len(tl.holders) != 0 {
			t.Errorf("%d told, %d and %d are remembered", told.Load(), len(tl.tenants), len(tl.holders))
		}
	})
}

// Which fleets have changed is told where it is known and short.
func TestNamesOfManyFleetsAreLeftOut(t *testing.T) {
	t.Parallel()
	var f tenantFeed
	fleets := func(n int, revision string) (all []store.NamedMarks) {
		for i := range n {
			all = append(all, store.NamedMarks{Fleet: fleet.ID{byte(i)}, Name: fmt.Sprintf("f%03d", i), FleetMarks: store.FleetMarks{Revision: revision}})
		}
		return all
	}
	f.post(fleets(tenantNames+1, "1"), time.Now())
	step, was := f.upto, f.marks
	f.post(fleets(tenantNames+1, "1"), time.Now())
	if f.upto != step || f.marks != was {
		t.Error("nothing has changed")
	}
	f.post(fleets(tenantNames, "1"), time.Now())
	if got := f.namesAfter(step); !slices.Equal(got, []string{"f100"}) {
		t.Errorf("one that is gone is told as %v", got)
	}
	all := fleets(tenantNames, "1")
	for i := range tenantSteps - 1 {
		all[i%2].Revision = fmt.Sprint("2.", i)
		f.post(all, time.Now())
	}
	if got := f.namesAfter(step); !slices.Equal(got, []string{"f000", "f001", "f100"}) {
		t.Errorf("changes of before are told as %v", got)
	}
	all[2].Revision = "3"
	f.post(all, time.Now())
	if got := f.namesAfter(step); got != nil {
		t.Errorf("those that are not kept are told as %v", got)
	}
	if got := f.namesAfter(step + 1); !slices.Equal(got, []string{"f000", "f001", "f002"}) || len(f.steps) != tenantSteps {
		t.Errorf("%v of %d steps", got, len(f.steps))
	}
	step = f.upto
	if f.post(fleets(tenantNames, "4"), time.Now()); len(f.namesAfter(step)) != tenantNames {
		t.Error("a hundred can be told")
	}
	if f.post(fleets(tenantNames+1, "5"), time.Now()); f.namesAfter(step) != nil {
		t.Error("more cannot")
	}
}
