package load

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// What was not written down for an hour is discarded, and not what is a little younger.
func TestSumsAreKeptForAnHour(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]int{59 * time.Minute: 1, 61 * time.Minute: 0} {
		now := time.Unix(6000, 0)
		r := at(&now, Bounds{})
		r.Add(key, requests("a", 10), time.Second)
		now = now.Add(30*time.Second + age)
		if got, _ := r.Take(); len(got) != want {
			t.Errorf("after %s there are %v", age, got)
		}
		if got, _ := r.Take(); len(got) != 0 {
			t.Errorf("after %s it gives twice: %v", age, got)
		}
	}
}

// What could not be written down comes back as far as there is room; the rest is counted as left out.
func TestReturnedSumsHaveBounds(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]Bounds{"a fleet's": {Fleet: 3}, "a tenant's": {Tenant: 3}, "those of all": {All: 3}} {
		now := time.Unix(6000, 0)
		r := at(&now, b)
		add := func(kind string) {
			for i := range 3 {
				r.Add(key, requests(fmt.Sprint(kind, i), 2), time.Second)
			}
		}
		add("old")
		taken, _ := r.Take()
		if now = now.Add(time.Minute); name == "a fleet's" { // its bound is of a minute: both in one
			now = now.Add(-time.Minute)
			r = at(&now, b)
		}
		add("new")
		r.Return(taken)
		got, leftOut := r.Take()
		sums := 0
		for _, l := range got {
			if l.Kind != fleet.LoadLeftOut {
				sums++
			}
		}
		if sums != 3 || leftOut != 3 {
			t.Errorf("%s: %d sums, %d left out: %v", name, sums, leftOut, got)
		}
	}
}
