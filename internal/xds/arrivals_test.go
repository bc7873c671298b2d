package xds_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// TestARefusedCallHasArrived: nobody waits for a connection's time to arrive when its call was refused, and those that say
// nothing give their places up.
func TestARefusedCallHasArrived(t *testing.T) {
	for name, c := range map[string]struct {
		call bool
		most time.Duration
	}{"refused": {true, 0}, "silent": {false, 10 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				places := 16 * runtime.GOMAXPROCS(0)
				d := openDoor(t, func(c *xds.Config) {
					c.Limits.Unauthenticated, c.Limits.UnauthenticatedPerAddress = 2*places, 2*places
				})
				refuse := func() {
					r := d.raw("10.0.0.1")
					if code, err := r.End(r.Call(deltaADS, "bad")); code != codes.Unauthenticated {
						t.Errorf("ended with %v (%v), want Unauthenticated", code, err)
					}
				}
				began := time.Now()
				for range places {
					if c.call {
						refuse()
					} else {
						_ = d.dial("10.0.0.1")
					}
				}
				refuse() // the next one
				synctest.Wait()
				if took := time.Since(began); took != c.most {
					t.Errorf("one more had to wait %s, want %s", took, c.most)
				}
			})
		})
	}
}

// TestACrowdIsToldOf when connections have to wait, once, and when none has had to for long.
func TestACrowdIsToldOf(t *testing.T) {
	bubble(t, func(t *testing.T) {
		places := 16 * runtime.GOMAXPROCS(0)
		began := time.Now()
		var told []string
		var mu sync.Mutex
		d := openDoor(t, func(c *xds.Config) {
			c.Limits.Unauthenticated, c.Limits.UnauthenticatedPerAddress = 4*places, 4*places
			c.Crowd = func(here bool) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprintf("%s %v", time.Since(began), here))
			}
		})
		come := func(n int) {
			for range n {
				_ = d.dial("10.0.0.1")
			}
		}
		come(places)
		time.Sleep(time.Second)
		come(places + 1)
		time.Sleep(9 * time.Second)
		come(places + 1) // it is not over yet
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"1s true", "20s false"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// TestWhoWaitsForTheDatabaseLetsOthersArrive: connections that come after those take no longer than if there were none.
func TestWhoWaitsForTheDatabaseLetsOthersArrive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		places, answered := 16*runtime.GOMAXPROCS(0), make(chan struct{})
		d := openDoor(t, func(c *xds.Config) {
			c.Limits.Unauthenticated, c.Limits.UnauthenticatedPerAddress = 3*places, 3*places
			source, _ := c.Source.(*xdstest.Source)
			source.Busy(answered)
		})
		began := time.Now()
		for range 2 * places {
			listening(t, d.raw("10.0.0.1"))
		}
		synctest.Wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("they took %s to arrive, though nobody had anything to do", took)
		}
		close(answered)
		synctest.Wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("they took %s to be attached", took)
		}
	})
}
