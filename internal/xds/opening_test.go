package xds_test

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// TestT08_StreamsThatAskForNothingCount: they are held for 10 s, and nobody else counts them.
func TestT08_StreamsThatAskForNothingCount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.Limits.Opening = 3 })
		r, other := w.Raw(), w.Raw()
		for range 3 {
			r.Call(deltaADS, "*")
		}
		synctest.Wait()
		if code, err := other.End(other.Call(deltaADS, "*")); code != codes.ResourceExhausted {
			t.Errorf("the fourth, of another connection, ended with %v (%v), want ResourceExhausted", code, err)
		}
		time.Sleep(11 * time.Second)
		for range 5 {
			listening(t, r)
			synctest.Wait()
		}
		if n := w.Attached(); n != 5 {
			t.Errorf("%d streams that have asked for something live, want 5", n)
		}
	})
}
