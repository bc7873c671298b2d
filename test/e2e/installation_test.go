package e2e

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/localpg"
	"fairlead/test/world"
)

// both runs a test with an Envoy that speaks delta and with one that speaks state of the
// world.
func both(t *testing.T, test func(t *testing.T, delta bool)) {
	t.Parallel()
	t.Run("delta", func(t *testing.T) { t.Parallel(); test(t, true) })
	t.Run("SotW", func(t *testing.T) { t.Parallel(); test(t, false) })
}

// installation is a world and what these tests alone do with it.
type installation struct {
	*world.World
	apart bool // programs are started as if each had a machine; see on
}

func setup(t testing.TB) *installation {
	t.Helper()
	return &installation{World: world.New(t)}
}

// setupPostgres is setup with a Postgres of its own, for tests that kill it.
func setupPostgres(t testing.TB) (*installation, *localpg.Server) {
	t.Helper()
	w, pg := world.NewAlone(t)
	return &installation{World: w}, pg
}

// atOnce is how long it may take when nothing has to be waited for but processes that
// share two cores.
const atOnce = time.Second

// promptly waits until it holds, and fails when that took longer than the bound of atOnce.
func promptly(t testing.TB, what string, holds func() bool) {
	t.Helper()
	took := world.Eventually(t, world.Soon, "not "+what, holds)
	t.Logf("%s after %s", what, took.Round(time.Millisecond))
	if took > bound(atOnce) {
		t.Errorf("%s after %s, want at once", what, took)
	}
}

// bound is how long something may take that should take d at most. Beside other tests, on processors that others use, it is three times
// that: a timer for which it should not have waited is told still. In make soak it is d.
func bound(d time.Duration) time.Duration {
	if full() {
		return d
	}
	return 3 * d
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
