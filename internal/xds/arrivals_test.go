package xds_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/xds"
)

// TestARefusedCallHasArrived: nobody waits for a connection's time to arrive when its call was refused, and those that say
// nothing give their places up.
func TestARefusedCallHasArrived(t *testing.T) {
	for name, c := range map[string]struct {
		call bool
		most time.Duration
	}{"refused": {true, 0}, "silent": {false, 20 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				places := 64 * runtime.GOMAXPROCS(0)
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
