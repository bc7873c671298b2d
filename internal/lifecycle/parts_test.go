package lifecycle_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/lifecycle"
)

func TestInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		part := 64 * runtime.GOMAXPROCS(0)
		for _, n := range []int{0, 1, part, part + 1, 3 * part} {
			for name, c := range map[string]struct {
				looked func(from, to int) bool
				pause  time.Duration // between two parts
			}{
				"nobody knows":         {nil, time.Millisecond},
				"all look":             {func(int, int) bool { return true }, time.Millisecond},
				"they wait for others": {func(int, int) bool { return false }, 10 * time.Millisecond},
			} {
				next, parts, began := 0, 0, time.Now()
				lifecycle.InParts(n, func(from, to int) {
					if from != next || to-from > part || time.Since(began) != time.Duration(parts)*c.pause {
						t.Errorf("%d, %s: %d to %d after %s, want from %d", n, name, from, to, time.Since(began), next)
					}
					next = to
					parts++
				}, c.looked)
				if next != n || time.Since(began) != time.Duration(max(0, parts-1))*c.pause {
					t.Errorf("%d, %s: %d are woken, after %s", n, name, next, time.Since(began))
				}
			}
		}
	})
}
